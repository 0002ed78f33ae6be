// SPDX-License-Identifier: Apache-2.0
/*
 * What an agent says of a call of a timed method in a record of its own, until the event with the call's stack comes by
 * another way. It is kept in a table of the last ones: an event that was lost leaves its record there until another one
 * takes the place.
 */
#include "jvm_state.h"

#include "sink/names.h"
#include "util/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_KEPT 4096U

struct call_record {
	uint64_t number;
	uint32_t exception; /* id of a name in the trace */
	char *values;	    /* NULL: none */
};

static void forget(struct call_record *c)
{
	free(c->values);
	*c = (struct call_record){0};
}

bool calls_on_call(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_call *r = (const void *)rec;
	const char *at = (const char *)(r + 1), *end = (const char *)rec + size, *exception, *values;
	char text[CALL_VALUES_MAX], name[HOTSPOT_NAME_MAX];
	struct call_record *to;

	if (size < sizeof(*r) || !jvm_take_string(&at, end, r->exception_len, &exception) ||
	    !jvm_take_string(&at, end, r->values_len, &values) || !r->number)
		return false;
	if (!j->calls) {
		if (!jvm_keep(j, CALLS_KEPT * (sizeof(*to) + CALL_VALUES_MAX)))
			return true; /* the events miss it, and count it */
		j->calls = calloc(CALLS_KEPT, sizeof(*j->calls));
		if (!j->calls)
			return true;
	}
	to = &j->calls[r->number % CALLS_KEPT];
	forget(to);
	to->number = r->number;
	if (class_name_from_signature(name, sizeof(name), exception, r->exception_len))
		to->exception = names_id(j->jvms->names, &j->process->account, trace_str_of(name));
	if (utf8_printable(text, sizeof(text), values, r->values_len))
		to->values = strdup(text);
	return true;
}

bool calls_known(const struct jvm *j, uint64_t number)
{
	return !number || (j->calls && j->calls[number % CALLS_KEPT].number == number);
}

void calls_explain(struct jvm *j, uint64_t number, struct trace_jvm_event *e, char text[CALL_VALUES_MAX])
{
	struct call_record *c;

	e->number = 0;
	if (!calls_known(j, number)) {
		sink_loss(j->jvms->sink, j->process->id, "collector", "call", 1);
		return;
	}
	if (!number)
		return;
	c = &j->calls[number % CALLS_KEPT];
	e->detail = c->exception;
	snprintf(text, CALL_VALUES_MAX, "%s", c->values ?: "");
	e->text = trace_str_of(text);
	forget(c);
}

void calls_free(struct jvm *j)
{
	for (size_t i = 0; j->calls && i < CALLS_KEPT; i++)
		forget(&j->calls[i]);
	free(j->calls);
	j->calls = NULL;
}
