// SPDX-License-Identifier: Apache-2.0
/*
 * Records in memory, coded as in a trace, but each for itself, so that any of them can be read or dropped alone.
 * recent.c uses it.
 */
#ifndef BRAID_TOP_KEPT_H
#define BRAID_TOP_KEPT_H

#include <trace/codec.h>
#include <util/vec.h>

struct coder {
	const struct trace_schema *schema;
	struct trace_delta delta;
	struct trace_pairs pairs;
	VEC(uint8_t) scratch;
};

/* 0 or a negative errno. */
int coder_init(struct coder *c);
void coder_free(struct coder *c);

/* Writes a record that has passed trace_rec_bound(). Returns its bytes. */
size_t coder_encode(struct coder *c, const struct trace_rec *rec, uint8_t *to);
/* Reads it again; pointers of *rec are into `code`, or valid until the next call. 0 or a negative errno. */
int coder_decode(struct coder *c, const uint8_t *code, size_t bytes, struct trace_rec *rec);

struct kept {
	struct kept *next;
	uint32_t kind, bytes;
	uint8_t code[];
};

/* NULL: no memory, or no trace can have the record. */
struct kept *kept_new(struct coder *c, const struct trace_rec *rec);
/* What it takes, roughly. */
size_t kept_bytes(const struct kept *k);
void kept_free_list(struct kept *k);

#endif
