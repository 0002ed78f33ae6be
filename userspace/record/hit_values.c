// SPDX-License-Identifier: Apache-2.0
#include "hit_values.h"

#include "util/quantity.h"
#include "util/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD offsetof(struct braid_event_hit, bytes)

void hit_values_keep(struct hit_values **v, const struct braid_event_hit *e)
{
	size_t size = e->hdr.size < sizeof(*e) ? e->hdr.size : sizeof(*e);

	if (!*v)
		*v = calloc(1, sizeof(**v));
	if (*v && size >= HEAD)
		memcpy(&(*v)->at[(*v)->next++ % HIT_VALUES], e, size);
}

const struct braid_event_hit *hit_values_of(const struct hit_values *v, uint32_t tid, uint64_t time_ns)
{
	for (uint32_t i = 1; v && i <= HIT_VALUES && i <= v->next; i++) {
		const struct braid_event_hit *e = &v->at[(v->next - i) % HIT_VALUES];

		if (e->tid == tid && e->hdr.time_ns == time_ns)
			return e;
	}
	return NULL;
}

/* ---- text ---- */

struct writing {
	char *to;
	size_t used;
};

static void put(struct writing *w, const char *text)
{
	size_t length = strlen(text), room = HIT_VALUES_TEXT - 1 - w->used;

	if (length > room)
		length = room;
	memcpy(w->to + w->used, text, length);
	w->used += length;
}

/* In quotes, without what controls a terminal. */
static void put_text(struct writing *w, const char *from, size_t length, bool cut)
{
	char printable[3 * BRAID_VALUE_TEXT_MAX + 1];

	put(w, "\"");
	(void)utf8_printable(printable, sizeof(printable), from, length);
	for (const char *c = printable; *c; c++)
		put(w, *c == '"' ? "\\\"" : *c == '\\' ? "\\\\" : (char[]){*c, 0});
	put(w, cut ? "\"..." : "\"");
}

static void put_number(struct writing *w, const struct braid_hit_term *t, uint64_t value)
{
	char text[NUMBER_TEXT];

	if (t->flags & BRAID_HIT_TIME)
		snprintf(text, sizeof(text), "%" PRIu64 "ns", value);
	else if (t->flags & BRAID_HIT_HEX)
		number_text(text, value, t->operand == BRAID_HIT_ARGUMENT ? 1ULL << 32 : 0x10000);
	else
		snprintf(text, sizeof(text), t->flags & BRAID_HIT_SIGNED ? "%" PRId64 : "%" PRIu64, value);
	put(w, text);
}

/* A value that is there. Returns its bytes behind the first, which are at most `size`. */
static size_t put_value(struct writing *w, const struct probe_field *f, const uint8_t *at, size_t size)
{
	const char *text = (const char *)at + 1;
	uint64_t number;
	size_t length;

	put(w, w->used ? " " : "");
	put(w, f->name);
	put(w, "=");
	if (*at == BRAID_VALUE_NUMBER) {
		if (size < sizeof(number))
			return size;
		memcpy(&number, text, sizeof(number));
		put_number(w, &f->term, number);
		return sizeof(number);
	}
	length = strnlen(text, size);
	put_text(w, text, length, *at == BRAID_VALUE_CUT);
	return length < size ? length + 1 : size;
}

void hit_values_text(const struct probe_spec *spec, const struct braid_event_hit *e, char to[HIT_VALUES_TEXT])
{
	size_t size = e->hdr.size < sizeof(*e) ? e->hdr.size : sizeof(*e), at = 0;
	struct writing w = {.to = to};

	size = size > HEAD ? size - HEAD : 0;
	for (uint32_t i = 0; i < e->count && i < spec->fields && at < size; i++) {
		const struct probe_field *f = &spec->field[i];

		if (e->bytes[at] != BRAID_VALUE_NONE) {
			at += put_value(&w, f, &e->bytes[at], size - at - 1);
		} else if (f->term.operand >= BRAID_HIT_STRING) { /* else there is no such argument */
			put(&w, w.used ? " " : "");
			put(&w, f->name);
			put(&w, "=?");
		}
		at++;
	}
	if (w.used == HIT_VALUES_TEXT - 1)
		memcpy(to + w.used - 3, "...", 3);
	to[w.used] = '\0';
}
