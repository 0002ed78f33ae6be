// SPDX-License-Identifier: Apache-2.0
#include "braid_event.h"

#include <stdlib.h>
#include <string.h>

#include <analyze/event_fields.h>
#include <analyze/kinds.h>
#include <braid/ring.h>

#define VALUE_MAX 4096 /* bytes of a text; what is longer is cut */

/* Where a field goes. */
enum to {
	TO_NONE,
	TO_NAME,
	TO_DETAIL,
	TO_TEXT,
	TO_DURATION,
	TO_VALUE,
	TO_WEIGHT,
	TO_CPU,
	TO_OTHER_CPU,
	TO_NUMBER,
	TO_FLAGS,
	TO_OTHER,
};

struct key {
	const char *key;
	enum to to;
};

/* A time off the CPU has its fields under names of their own. Its reason follows from its flags and its stack. */
static const struct key off_cpu[] = {{"duration_ns", TO_DURATION}, {"runnable_ns", TO_VALUE}, {"cpu", TO_CPU},
				     {"to_cpu", TO_OTHER_CPU},	   {"object", TO_NAME},	      {"futex", TO_NUMBER},
				     {"inode", TO_NUMBER},	   {"flags", TO_FLAGS},	      {"waker_tid", TO_OTHER},
				     {"owner_tid", TO_OTHER},	   {"woken_by", TO_TEXT}};

static const struct key common[] = {
	{"duration_ns", TO_DURATION}, {"collections", TO_FLAGS}, {"flags", TO_FLAGS}, {"owner_tid", TO_OTHER}};

static enum to find(const struct key *keys, size_t count, struct trace_str key)
{
	for (size_t i = 0; i < count; i++)
		if (str_equals(key, keys[i].key))
			return keys[i].to;
	return TO_NONE;
}

static bool is_called(struct trace_str key, const struct kind_field *field, const char *suffix)
{
	size_t length = field->title ? strlen(field->title) : 0;

	return length && str_begins(key, field->title) && str_equals(str_part(key, length, key.len), suffix);
}

static enum to to_of(const struct kind *k, uint32_t kind, struct trace_str key)
{
	if (kind == BRAID_JVM_OFFCPU)
		return find(off_cpu, sizeof(off_cpu) / sizeof(off_cpu[0]), key);
	if (is_called(key, &k->name_is, ""))
		return TO_NAME;
	if (is_called(key, &k->detail_is, ""))
		return TO_DETAIL;
	if (is_called(key, &k->text_is, ""))
		return TO_TEXT;
	if (is_called(key, &k->value_is, field_suffix(k->value_is.unit)))
		return TO_VALUE;
	if (is_called(key, &k->weight_is, field_suffix(k->weight_is.unit)))
		return TO_WEIGHT;
	if (is_called(key, &k->number_is, field_suffix(k->number_is.unit)))
		return TO_NUMBER;
	if (is_called(key, &k->other_is, "_tid"))
		return TO_OTHER;
	return find(common, sizeof(common) / sizeof(common[0]), key);
}

static void put_number(struct reader *r, struct trace_jvm_event *e, enum to to, uint64_t number)
{
	switch (to) {
	case TO_DURATION:
		e->duration_ns = number;
		break;
	case TO_VALUE:
		e->value = number;
		break;
	case TO_WEIGHT:
		e->weight = number;
		break;
	case TO_CPU:
		e->weight |= (uint32_t)number;
		break;
	case TO_OTHER_CPU:
		e->weight |= number << 32;
		break;
	case TO_NUMBER:
		e->number = number;
		break;
	case TO_FLAGS:
		e->flags = (uint32_t)number;
		break;
	case TO_OTHER:
		if (number && number <= INT32_MAX)
			e->other = builder_thread(
				&r->b, &(const struct import_thread){.process = e->process, .tid = (uint32_t)number});
		break;
	default:
		break;
	}
}

static void put_text(struct reader *r, struct trace_jvm_event *e, enum to to, struct trace_str text)
{
	if (to == TO_NAME)
		e->name = builder_name(&r->b, text);
	else if (to == TO_DETAIL)
		e->detail = builder_name(&r->b, text);
	else if (to == TO_TEXT)
		e->text = builder_text(&r->b, text);
}

/* Takes a text in quotes from *s, in which '\' is before '"' and before itself. */
static bool take_quoted(struct trace_str *s, char text[VALUE_MAX], struct trace_str *value)
{
	size_t at = 1, length = 0;

	for (; at < s->len && s->str[at] != '"'; at++) {
		if (s->str[at] == '\\')
			at++;
		if (at < s->len && length < VALUE_MAX)
			text[length++] = s->str[at];
	}
	if (at >= s->len)
		return false;
	*value = (struct trace_str){text, (uint32_t)length};
	*s = str_part(*s, at + 1, s->len);
	return true;
}

/* "0x1f" or "31" */
static bool take_number(struct trace_str *s, uint64_t *number)
{
	char digits[sizeof("0xffffffffffffffff")] = "", *end;

	if (!str_begins(*s, "0x"))
		return str_number(s, number) && (!s->len || str_begins(*s, " "));
	for (size_t i = 0; i < s->len && i < sizeof(digits) - 1 && s->str[i] != ' '; i++)
		digits[i] = s->str[i];
	*number = strtoull(digits, &end, 16);
	*s = str_part(*s, strlen(digits), s->len);
	return !*end && (!s->len || str_begins(*s, " "));
}

uint32_t braid_event_kind(struct trace_str name)
{
	struct trace_str of = str_part(name, strlen(BRAID_EVENT_PREFIX), name.len);

	/* Of a choice of events, the line has the words only. */
	for (uint32_t k = 1; k < BRAID_JVM_EVENTS && str_begins(name, BRAID_EVENT_PREFIX); k++)
		if (kind_of(k) && k != BRAID_JVM_CONFIG && str_equals(of, jvm_event_name(k)))
			return k;
	return 0;
}

/* A field of a line: a text or a number. */
struct field {
	struct trace_str key, text;
	bool is_text;
	uint64_t number;
	char bytes[VALUE_MAX]; /* the text's */
};

/*
 * Takes the next field from *s. False: there is none, or none that can be read, of which the rest of the line is lost.
 */
static bool take_field(struct reader *r, struct trace_str *s, struct field *f)
{
	const char *equals = memchr(s->str, '=', s->len);

	if (!s->len)
		return false;
	f->key = str_part(*s, 0, equals ? (size_t)(equals - s->str) : 0);
	*s = str_part(*s, f->key.len + 1UL, s->len);
	f->is_text = str_begins(*s, "\"");
	if (f->is_text ? !take_quoted(s, f->bytes, &f->text) : !f->key.len || !take_number(s, &f->number)) {
		reader_lose(r, "field", 1, "line %llu has a field that is neither a text nor a number",
			    (unsigned long long)r->in.line);
		return false;
	}
	*s = str_part(*s, str_begins(*s, " "), s->len);
	return true;
}

void braid_event_take(struct reader *r, struct trace_jvm_event *e, struct trace_str fields)
{
	const struct kind *k = kind_of(e->kind);
	struct field f;

	while (take_field(r, &fields, &f)) {
		enum to to = to_of(k, e->kind, f.key);

		if (f.is_text)
			put_text(r, e, to, f.text);
		else
			put_number(r, e, to, f.number);
	}
}

void braid_loss_take(struct reader *r, struct trace_loss *loss, struct trace_str fields)
{
	struct field f;

	while (take_field(r, &fields, &f)) {
		if (f.is_text && str_equals(f.key, "hop"))
			loss->hop = builder_text(&r->b, f.text);
		else if (f.is_text && str_equals(f.key, "kind"))
			loss->kind = builder_text(&r->b, f.text);
		else if (!f.is_text && str_equals(f.key, "count"))
			loss->count = f.number;
	}
	if (loss->hop.len && loss->kind.len && loss->count)
		builder_loss(&r->b, loss);
	else
		reader_lose(r, "loss", 1, "line %llu does not say what was lost", (unsigned long long)r->in.line);
}

bool braid_event_is_of_process(uint32_t kind, const struct perf_header *h)
{
	const struct kind *k = kind_of(kind);

	return h->pid == h->tid && !k->stack && k->type != BRAID_EVENT_TYPE_THREAD && kind != BRAID_JVM_THREAD_TIME;
}
