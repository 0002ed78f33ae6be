// SPDX-License-Identifier: Apache-2.0
#include "kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int coder_init(struct coder *c)
{
	const struct trace_schema_own *own = trace_schema_own();

	c->schema = &own->schema;
	return own->err;
}

void coder_free(struct coder *c)
{
	free(c->pairs.pairs);
	free(c->scratch.at);
}

/* What records are coded as differences to. */
static void begin(struct coder *c, uint32_t kind)
{
	memset(c->delta.last[kind], 0, sizeof(c->delta.last[kind]));
	c->delta.time_ns = 0;
}

size_t coder_encode(struct coder *c, const struct trace_rec *rec, uint8_t *to)
{
	begin(c, rec->kind);
	return (size_t)(trace_rec_encode(&c->delta, rec, to) - to);
}

int coder_decode(struct coder *c, const uint8_t *code, size_t bytes, struct trace_rec *rec)
{
	uint32_t kind;
	size_t length;
	const uint8_t *body = trace_rec_head(code, code + bytes, &kind, &length);
	bool newer;
	int got;

	if (!body)
		return -EBADMSG;
	begin(c, kind);
	got = trace_rec_decode(c->schema, &c->delta, kind, body, body + length, rec, &c->pairs, &newer);
	return got < 0 ? got : 0;
}

struct kept *kept_new(struct coder *c, const struct trace_rec *rec)
{
	struct kept *k;
	size_t bound, bytes;

	c->scratch.count = 0;
	if (trace_rec_bound(rec, &bound) || VEC_RESERVE(&c->scratch, bound))
		return NULL;
	bytes = coder_encode(c, rec, c->scratch.at);
	k = malloc(sizeof(*k) + bytes);
	if (!k)
		return NULL;
	*k = (struct kept){.kind = rec->kind, .bytes = (uint32_t)bytes};
	memcpy(k->code, c->scratch.at, bytes);
	return k;
}

size_t kept_bytes(const struct kept *k)
{
	return sizeof(*k) + k->bytes + sizeof(void *); /* with malloc's own */
}

void kept_free_list(struct kept *k)
{
	while (k) {
		struct kept *next = k->next;

		free(k);
		k = next;
	}
}
