// SPDX-License-Identifier: Apache-2.0
#include "recorded.h"

#include <stdio.h>

#include <config/event_config.h>

#include "events.h"

void recorded_find(struct recorded *r, const struct analyzer *a, const char *choices)
{
	char list[512], why[SELECTION_WHY];
	struct event_selection c;

	*r = (struct recorded){0};
	selection_init(&c);
	snprintf(list, sizeof(list), "%s", choices);
	if (*list && !selection_add(&c, list, why)) {
		r->types = c.config.enabled;
		r->min_ns[BRAID_EVENT_TYPE_LOCK] = c.config.lock_min_ns;
		r->min_ns[BRAID_EVENT_TYPE_WAIT] = c.config.wait_min_ns;
		r->min_ns[BRAID_EVENT_TYPE_OFFCPU] = c.config.offcpu_min_ns;
	}
	for (size_t i = 0; i < a->events.count; i++) {
		const struct jvm_event_row *e = &a->events.at[i];
		const struct kind *k = kind_of(e->kind);

		if (e->kind == BRAID_JVM_CONFIG)
			r->types |= (uint32_t)e->value;
		else if (k && k->type < BRAID_EVENT_TYPES)
			r->types |= 1U << k->type;
	}
}

bool events_recorded(const struct analysis *an, enum braid_event_type type)
{
	return an->recorded.types >> type & 1;
}

uint64_t events_min_ns(const struct analysis *an, uint32_t kind)
{
	const struct kind *k = kind_of(kind);

	return k && k->type < BRAID_EVENT_TYPES && events_recorded(an, k->type) ? an->recorded.min_ns[k->type] : 0;
}

bool events_blocked_recorded(const struct analysis *an)
{
	return events_recorded(an, BRAID_EVENT_TYPE_WAIT) || events_recorded(an, BRAID_EVENT_TYPE_OFFCPU);
}

/* The capability that a kind of events needs, with its number in jvmti.h. */
static const struct {
	enum braid_event_type type;
	unsigned int bit;
} needs[] = {
	{BRAID_EVENT_TYPE_EXCEPTION, 17}, {BRAID_EVENT_TYPE_JIT, 27},	      {BRAID_EVENT_TYPE_LOCK, 28},
	{BRAID_EVENT_TYPE_WAIT, 28},	  {BRAID_EVENT_TYPE_NATIVE_BIND, 30}, {BRAID_EVENT_TYPE_GC, 31},
	{BRAID_EVENT_TYPE_ALLOC, 43},	  {BRAID_EVENT_TYPE_LIVE, 43},	      {BRAID_EVENT_TYPE_VTHREAD, 44},
};

bool events_recorded_of(const struct analysis *an, uint32_t process, enum braid_event_type type)
{
	const struct jvm_row *jvm = table_get(&an->a->jvms, process);

	if (!events_recorded(an, type) || !jvm || !jvm->start)
		return false;
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (needs[i].type == type && !(jvm->got[needs[i].bit / 64] >> needs[i].bit % 64 & 1) &&
		    jvm->refused[needs[i].bit / 64] >> needs[i].bit % 64 & 1)
			return false;
	return true;
}
