// SPDX-License-Identifier: Apache-2.0
/*
 * Encodes records to bytes and decodes them. One table (schema.c) lists every kind's name and fields; encoder, decoder,
 * printer and the file's SCHEMA block are derived from it. docs/trace-format.md describes the coding. reader.c,
 * writer.c and print.c use it.
 */
#ifndef BRAID_TRACE_CODEC_H
#define BRAID_TRACE_CODEC_H

#include <stdint.h>
#include <stdio.h>

#include "record.h"

/* How a field is coded. Each starts with one varint, which is 0 for the field's most frequent value. */
enum trace_type {
	TRACE_TYPE_U,	/* the number itself */
	TRACE_TYPE_S,	/* zigzag */
	TRACE_TYPE_T,	/* a time: zigzag of the difference to the block's previous field of this type */
	TRACE_TYPE_D,	/* zigzag of the difference to the same field of the block's previous record of the kind */
	TRACE_TYPE_R,	/* zigzag of the difference to the preceding number in the record */
	TRACE_TYPE_N,	/* as D, less one: 0 for the next id */
	TRACE_TYPE_B,	/* zigzag of (the preceding number in the record) - 1 - (this): 0 for the id before */
	TRACE_TYPE_STR, /* length in bytes, UTF-8 */
	TRACE_TYPE_US,	/* count, then pairs of (u, s) */
	TRACE_TYPE_DD,	/* count, then pairs of zigzag differences to the previous pair, the first one to (0, 0) */
	TRACE_TYPES,
};

#define TRACE_KIND_LIMIT 128  /* the limit of kinds in every version of the format */
#define TRACE_FIELDS_MAX 32   /* fields of a kind */
#define TRACE_NAME_MAX 31     /* bytes of a kind's or field's name */
#define TRACE_SCHEMA_MAX 8192 /* bytes of this program's own schema */

struct trace_field {
	const char *name;
	uint8_t type;	       /* enum trace_type */
	uint8_t size;	       /* of the number in its struct: 4 or 8; other types: not 0. 0: unknown, dropped */
	bool hex;	       /* printed in hexadecimal */
	uint16_t offset;       /* in struct trace_rec: of the number, struct trace_str or array pointer */
	uint16_t count_offset; /* in struct trace_rec: of an array's count */
};

/* The layout of one kind: this program's own, or a file's. */
struct trace_layout {
	const char *name;  /* NULL: no such kind, or unknown here */
	uint16_t rec_size; /* bytes of struct trace_rec in use, 0: unknown here */
	uint8_t count;
	bool defined;	/* by the file */
	bool newer;	/* has fields that are unknown here */
	bool has_array; /* has an array that is known here; trace_schema_parse sets it */
	bool frequent;	/* trace_line_is_frequent() */
	struct trace_field fields[TRACE_FIELDS_MAX];
};

struct trace_schema {
	uint16_t id;
	struct trace_layout layouts[TRACE_KIND_LIMIT];
};

struct trace_delta {
	uint64_t time_ns;
	bool used[TRACE_KIND_LIMIT]; /* those of the other kinds are zero */
	uint64_t last[TRACE_KIND_LIMIT][TRACE_FIELDS_MAX];
};

/* Memory for the pairs of one record's array. */
struct trace_pairs {
	uint32_t (*pairs)[2];
	size_t capacity;
};

/* ---- schema.c ---- */

/* This program's layout of a kind, NULL when there is none. */
const struct trace_layout *trace_layout(uint32_t kind);

/* The schema as text, one line a kind: "13 node frame:d node:n parent:b". Returns its length, or -ENOSPC. */
int trace_schema_text(char *buf, size_t capacity);

/* The id of a schema, in the header of the blocks that are coded with it. */
uint16_t trace_schema_id(const char *text, size_t len);

/*
 * Parses a file's schema and matches its fields by name to this program's. -EINVAL when it is no schema of this
 * version; `schema` is undefined then.
 */
int trace_schema_parse(struct trace_schema *schema, const char *text, size_t len);

/* This program's own, as text and parsed. */
struct trace_schema_own {
	int err; /* 0 or a negative errno */
	size_t len;
	char text[TRACE_SCHEMA_MAX];
	struct trace_schema schema;
};

/* It is made once. */
const struct trace_schema_own *trace_schema_own(void);

/* ---- codec.c ---- */

/* Makes all of them zero. */
void trace_delta_reset(struct trace_delta *d);

/* 0 and the maximum size of `rec`, or -EINVAL when it cannot be coded: invalid kind, string or array, or too large. */
int trace_rec_bound(const struct trace_rec *rec, size_t *bound_bytes);

/* Writes `rec`, which has passed trace_rec_bound, and returns the end. */
uint8_t *trace_rec_encode(struct trace_delta *delta, const struct trace_rec *rec, uint8_t *out);

/*
 * Whether a schema's line, without its newline, is that of a kind with a decoder of its own: few kinds are nearly all.
 */
bool trace_line_is_frequent(uint32_t kind, const char *line, size_t len);

/* Reads a record's head: sets kind and length and returns the body; NULL when the record does not fit before `end`. */
const uint8_t *trace_rec_head(const uint8_t *p, const uint8_t *end, uint32_t *kind, size_t *len);

/*
 * Decodes the body [p, end) of a record of `kind`. 1: *rec is filled, 0: the kind is unknown here. *newer is set when
 * unknown fields were omitted. -EBADMSG when the bytes do not match the schema, -ENOMEM.
 */
int trace_rec_decode(const struct trace_schema *schema, struct trace_delta *delta, uint32_t kind, const uint8_t *p,
		     const uint8_t *end, struct trace_rec *rec, struct trace_pairs *pairs, bool *newer);

/* ---- print.c ---- */

/*
 * Prints one line: kind field=value ..., in the order of record.h; strings are quoted, and bytes that could control a
 * terminal are escaped. 0 or -errno.
 */
int trace_rec_print(FILE *out, const struct trace_rec *rec);

#endif
