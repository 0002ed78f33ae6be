// SPDX-License-Identifier: Apache-2.0
#include "process_context.h"

#include "util/varint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KEYS 256 /* an index has eight bits */
#define KEY_MAP "threadlocal.attribute_key_map"
#define ABOUT_THREADS "threadlocal." /* begins the keys of what readers of threads' contexts need, and nobody else */

/* Types of fields (wire types of Protocol Buffers). */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* Numbers of fields, by the message that has them. */
enum { CONTEXT_RESOURCE = 1, CONTEXT_ATTRIBUTE = 2 };
enum { RESOURCE_ATTRIBUTE = 1 };
enum { PAIR_KEY = 1, PAIR_VALUE = 2 };
enum { VALUE_STRING = 1, VALUE_BOOL = 2, VALUE_INT = 3, VALUE_DOUBLE = 4, VALUE_ARRAY = 5 };
enum { ARRAY_VALUE = 1 };

struct part {
	const uint8_t *at, *end;
};

struct field {
	uint32_t number; /* 0: the message has ended */
	unsigned type;
	uint64_t value;	  /* of a number */
	struct part part; /* of BYTES */
};

/* Takes the next field off a message. -EINVAL if it is cut, or of a type that is not used any more. */
static int next_field(struct part *m, struct field *f)
{
	uint64_t head;

	memset(f, 0, sizeof(*f));
	if (m->at == m->end)
		return 0;
	m->at = varint_get(m->at, m->end, &head);
	if (!m->at || !(head >> 3) || head >> 3 > UINT32_MAX)
		return -EINVAL;
	f->number = (uint32_t)(head >> 3);
	f->type = head & 7;
	if (f->type == VARINT || f->type == BYTES)
		m->at = varint_get(m->at, m->end, &f->value);
	else if (f->type == FIXED64)
		f->value = 8;
	else if (f->type == FIXED32)
		f->value = 4;
	else
		return -EINVAL;
	if (!m->at)
		return -EINVAL;
	if (f->type == VARINT)
		return 0;
	if (f->value > (uint64_t)(m->end - m->at))
		return -EINVAL;
	f->part = (struct part){m->at, m->at + f->value};
	m->at = f->part.end;
	return 0;
}

static struct context_text text_of(struct part p)
{
	return (struct context_text){(const char *)p.at, (size_t)(p.end - p.at)};
}

static bool begins(struct context_text t, const char *with)
{
	return t.bytes >= strlen(with) && memcmp(t.at, with, strlen(with)) == 0;
}

/* ---- values ---- */

/* The text of a number. */
static struct context_text scalar(const struct field *f, char *buf, size_t size)
{
	double d;
	int n = 0;

	if (f->number == VALUE_BOOL && f->type == VARINT) {
		n = snprintf(buf, size, "%s", f->value ? "true" : "false");
	} else if (f->number == VALUE_INT && f->type == VARINT) {
		n = snprintf(buf, size, "%" PRId64, (int64_t)f->value);
	} else if (f->number == VALUE_DOUBLE && f->type == FIXED64) {
		memcpy(&d, f->part.at, sizeof(d));
		n = snprintf(buf, size, "%g", d);
	}
	return (struct context_text){buf, (size_t)n};
}

/* The names of keys, each with the index of its place. `r` is NULL while the payload is only checked. */
static int read_keys(struct part array, const struct process_context_reader *r)
{
	unsigned index = 0;
	struct field f, v = {0};
	int err = 0;

	while (!(err = next_field(&array, &f)) && f.number) {
		if (f.number != ARRAY_VALUE || f.type != BYTES)
			continue;
		if ((err = next_field(&f.part, &v)))
			break;
		if (r && index < KEYS && v.number == VALUE_STRING && v.type == BYTES)
			r->key(r->ctx, index, text_of(v.part));
		index++;
	}
	return err;
}

static int read_value(struct part value, struct context_text key, const struct process_context_reader *r)
{
	bool keys = begins(key, KEY_MAP) && key.bytes == strlen(KEY_MAP), hidden = begins(key, ABOUT_THREADS);
	struct context_text text;
	char number[32];
	struct field f;
	int err = 0;

	while (!err && !(err = next_field(&value, &f)) && f.number) {
		if (f.number == VALUE_ARRAY && f.type == BYTES && keys)
			err = read_keys(f.part, r);
		if (hidden || f.number == VALUE_ARRAY)
			continue;
		text = f.number == VALUE_STRING && f.type == BYTES ? text_of(f.part)
								   : scalar(&f, number, sizeof(number));
		if (r && key.bytes && text.bytes)
			r->attribute(r->ctx, key, text);
	}
	return err;
}

static int read_pair(struct part pair, const struct process_context_reader *r)
{
	struct part key = {0}, value = {0};
	struct field f;
	int err;

	while (!(err = next_field(&pair, &f)) && f.number) {
		if (f.number == PAIR_KEY && f.type == BYTES)
			key = f.part;
		else if (f.number == PAIR_VALUE && f.type == BYTES)
			value = f.part;
	}
	return err ?: read_value(value, text_of(key), r);
}

static int read_resource(struct part resource, const struct process_context_reader *r)
{
	struct field f;
	int err = 0;

	while (!err && !(err = next_field(&resource, &f)) && f.number)
		if (f.number == RESOURCE_ATTRIBUTE && f.type == BYTES)
			err = read_pair(f.part, r);
	return err;
}

static int read_context(struct part context, const struct process_context_reader *r)
{
	struct field f;
	int err = 0;

	while (!err && !(err = next_field(&context, &f)) && f.number) {
		if (f.number == CONTEXT_RESOURCE && f.type == BYTES)
			err = read_resource(f.part, r);
		else if (f.number == CONTEXT_ATTRIBUTE && f.type == BYTES)
			err = read_pair(f.part, r);
	}
	return err;
}

bool process_context_is(const struct braid_process_context *h)
{
	return memcmp(h->signature, BRAID_PROCESS_CONTEXT, sizeof(h->signature)) == 0 &&
	       h->version == BRAID_PROCESS_CONTEXT_VERSION;
}

int process_context_parse(const void *payload, size_t bytes, const struct process_context_reader *r)
{
	const struct part all = {payload, (const uint8_t *)payload + bytes};

	return read_context(all, NULL) ?: read_context(all, r);
}
