// SPDX-License-Identifier: Apache-2.0
/*
 * A chunk of a Flight Recorder file in memory. A chunk declares its own types, and its events refer to constants, which
 * are in pools, one for each type. Nothing of it is trusted: a value that does not fit is marked as bad, and the work
 * for a chunk is limited, because types can be declared that make much of few bytes.
 */
#ifndef BRAID_IMPORT_JFR_CHUNK_H
#define BRAID_IMPORT_JFR_CHUNK_H

#include <analyze/hash.h>
#include <trace/record.h>

/* A place in the chunk from which values are taken. */
struct jfr_at {
	const uint8_t *at, *end;
	bool bad; /* a value did not fit */
};

enum jfr_form { JFR_STRUCT, JFR_BYTE, JFR_NUMBER, JFR_FLOAT, JFR_DOUBLE, JFR_TEXT };

struct jfr_member {
	uint32_t name; /* in `strings` */
	uint32_t type; /* index; UINT32_MAX: not declared */
	bool pooled, array;
	uint8_t role; /* its user's */
};

struct jfr_declared {
	uint64_t id;
	uint32_t name;
	enum jfr_form form;
	size_t first, count; /* of its members */
	struct u64map of;    /* its pool: keys to places in `entries`, plus one */
};

struct jfr_chunk {
	const uint8_t *data;
	size_t size;
	uint16_t major, minor;
	uint64_t pools_at, metadata_at, start_ns, duration_ns, start_ticks, ticks_per_second;
	struct strpool strings; /* of the declarations */
	VEC(struct jfr_declared) types;
	VEC(struct jfr_member) members;
	VEC(size_t) entries; /* offsets of the constants' values */
	struct u64map type_of;
	uint64_t work; /* values that may still be looked at */
	bool no_memory;
};

#define JFR_CHUNK_MAX (1ULL << 30)

/* Reads the header, of which `data` has all bytes. NULL, or why it cannot be read. */
const char *jfr_chunk_head(struct jfr_chunk *c, const uint8_t *data);
/* Reads declarations and pools of a chunk whose data is set. NULL, or what is wrong. */
const char *jfr_chunk_open(struct jfr_chunk *c);
void jfr_chunk_close(struct jfr_chunk *c);

/* ---- values ---- */

uint64_t jfr_number(struct jfr_at *p);
/* Skips a value of a type, or of a member. */
void jfr_skip(struct jfr_chunk *c, struct jfr_at *p, uint32_t type, unsigned depth);
void jfr_skip_member(struct jfr_chunk *c, struct jfr_at *p, const struct jfr_member *m, unsigned depth);

/* A member's value, that was found but not looked at. */
struct jfr_value {
	bool set, pooled;
	uint32_t type;
	uint64_t number;  /* of a number; the key of a constant */
	struct jfr_at at; /* where the value is, unless it is a constant */
};

/* Takes the value of a member that is no array. */
struct jfr_value jfr_take(struct jfr_chunk *c, struct jfr_at *p, const struct jfr_member *m);
/* The value of a member, by name, of a constant or of what is in its place. */
struct jfr_value jfr_get(struct jfr_chunk *c, const struct jfr_value *of, const char *member);
/* Where a value is: in its pool if it is a constant. False: nowhere. */
bool jfr_find(const struct jfr_chunk *c, const struct jfr_value *v, struct jfr_at *p);
/*
 * The text of a value: its own, or that of its first member, as names, symbols and causes have it. Empty if there is
 * none. It is in `buffer` where it is not in the chunk as UTF-8.
 */
#define JFR_TEXT_MAX 4096
struct trace_str jfr_text(struct jfr_chunk *c, const struct jfr_value *v, char buffer[JFR_TEXT_MAX]);

const char *jfr_name(const struct jfr_chunk *c, uint32_t string);

#endif
