// SPDX-License-Identifier: Apache-2.0
/* Makes heap dumps for tests, record by record. */
#ifndef BRAID_TESTS_HPROF_FIXTURE_H
#define BRAID_TESTS_HPROF_FIXTURE_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "unit/program.h"

struct made {
	uint8_t bytes[1 << 17];
	size_t length;
	unsigned id_bytes;
	size_t dump;	       /* where the length of the open heap dump is; 0: none is open */
	uint32_t allocated_by; /* the stack of the objects that follow */
};

static inline void put(struct made *m, uint64_t value, unsigned bytes)
{
	ck_assert_uint_le(m->length + bytes, sizeof(m->bytes));
	while (bytes--)
		m->bytes[m->length++] = (uint8_t)(value >> 8 * bytes);
}

static inline void put_id(struct made *m, uint64_t id)
{
	put(m, id, m->id_bytes);
}

static inline void made_begin(struct made *m, char version, unsigned id_bytes)
{
	*m = (struct made){.id_bytes = id_bytes};
	m->length = (size_t)sprintf((char *)m->bytes, "JAVA PROFILE 1.0.%c", version) + 1;
	put(m, id_bytes, 4);
	put(m, 1700000000000ULL, 8);
}

static inline size_t record(struct made *m, unsigned tag)
{
	put(m, tag, 1);
	put(m, 0, 4);
	put(m, 0, 4);
	return m->length;
}

static inline void record_end(struct made *m, size_t from)
{
	size_t length = m->length;

	m->length = from - 4;
	put(m, length - from, 4);
	m->length = length;
}

static inline void made_string(struct made *m, uint64_t id, const char *text)
{
	size_t from = record(m, 0x01);

	put_id(m, id);
	while (*text)
		put(m, (uint8_t)*text++, 1);
	record_end(m, from);
}

/* Its name is the string with the id `name`. */
static inline void made_load(struct made *m, uint32_t serial, uint64_t id, uint64_t name)
{
	size_t from = record(m, 0x02);

	put(m, serial, 4);
	put_id(m, id);
	put(m, 0, 4);
	put_id(m, name);
	record_end(m, from);
}

static inline void made_frame(struct made *m, uint64_t id, uint64_t method, uint64_t source, uint32_t class,
			      uint32_t line)
{
	size_t from = record(m, 0x04);

	put_id(m, id);
	put_id(m, method);
	put_id(m, 0);
	put_id(m, source);
	put(m, class, 4);
	put(m, line, 4);
	record_end(m, from);
}

static inline void made_trace(struct made *m, uint32_t serial, uint32_t thread, uint64_t frame)
{
	size_t from = record(m, 0x05);

	put(m, serial, 4);
	put(m, thread, 4);
	put(m, 1, 4);
	put_id(m, frame);
	record_end(m, from);
}

/* Sites with as many live bytes each, for consecutive stacks. */
static inline void made_sites(struct made *m, uint32_t trace, const uint32_t *live, unsigned count)
{
	size_t from = record(m, 0x06);

	put(m, 0, 2 + 4);
	for (int i = 0; i < 6; i++)
		put(m, 0, 4);
	put(m, count, 4);
	for (unsigned i = 0; i < count; i++) {
		put(m, 0, 1 + 4);
		put(m, trace + i, 4);
		put(m, live[i], 4);
		for (int rest = 0; rest < 3; rest++)
			put(m, 0, 4);
	}
	record_end(m, from);
}

/* 0x0c: one heap dump; 0x1c: a segment of one. */
static inline void made_dump(struct made *m, unsigned tag)
{
	m->dump = record(m, tag);
}

static inline void made_dump_end(struct made *m, bool last)
{
	record_end(m, m->dump);
	m->dump = 0;
	if (last)
		record_end(m, record(m, 0x2c));
}

/*
 * "S100 I101 s500": fields with their types and the ids of their names; what begins with '=' is static, with a value.
 */
struct made_field {
	uint8_t type;
	uint64_t name, value;
	bool is_static;
};

static inline void made_class(struct made *m, uint64_t id, uint64_t super, uint64_t loader,
			      const struct made_field *fields, size_t count)
{
	unsigned statics = 0, bytes;

	for (size_t i = 0; i < count; i++)
		statics += fields[i].is_static;
	put(m, 0x20, 1);
	put_id(m, id);
	put(m, 0, 4);
	put_id(m, super);
	put_id(m, loader);
	for (int i = 0; i < 4; i++)
		put_id(m, 0);
	put(m, 0, 4);
	put(m, 1, 2); /* a constant */
	put(m, 1, 2);
	put(m, 10, 1);
	put(m, 77, 4);
	put(m, statics, 2);
	for (size_t i = 0; i < count; i++) {
		if (!fields[i].is_static)
			continue;
		bytes = fields[i].type == 2 ? m->id_bytes : 4;
		put_id(m, fields[i].name);
		put(m, fields[i].type, 1);
		put(m, fields[i].value, bytes);
	}
	put(m, count - statics, 2);
	for (size_t i = 0; i < count; i++) {
		if (fields[i].is_static)
			continue;
		put_id(m, fields[i].name);
		put(m, fields[i].type, 1);
	}
}

/* Its fields are `count` references. */
static inline void made_instance(struct made *m, uint64_t id, uint64_t class, const uint64_t *refs, unsigned count)
{
	put(m, 0x21, 1);
	put_id(m, id);
	put(m, m->allocated_by, 4);
	put_id(m, class);
	put(m, count * m->id_bytes, 4);
	for (unsigned i = 0; i < count; i++)
		put_id(m, refs[i]);
}

static inline void made_objects(struct made *m, uint64_t id, uint64_t class, const uint64_t *refs, unsigned count)
{
	put(m, 0x22, 1);
	put_id(m, id);
	put(m, m->allocated_by, 4);
	put(m, count, 4);
	put_id(m, class);
	for (unsigned i = 0; i < count; i++)
		put_id(m, refs[i]);
}

static inline void made_bytes(struct made *m, uint64_t id, const char *bytes, unsigned count)
{
	put(m, 0x23, 1);
	put_id(m, id);
	put(m, m->allocated_by, 4);
	put(m, count, 4);
	put(m, 8, 1);
	for (unsigned i = 0; i < count; i++)
		put(m, bytes ? (uint8_t)bytes[i] : 0, 1);
}

static inline void made_root(struct made *m, unsigned type, uint64_t id, int thread, int number)
{
	put(m, type, 1);
	put_id(m, id);
	if (thread >= 0)
		put(m, (uint64_t)thread, 4);
	if (number >= 0)
		put(m, (uint64_t)number, 4);
}

/* The path of the compressed dump, and its length. */
static inline const char *compressed(const struct made *m, bool zstd, size_t *length)
{
	const char *path = path_in("made.z");
	static uint8_t to[1 << 18];
	FILE *f = fopen(path, "w");
	size_t half = m->length / 2;

	if (zstd) {
		*length = ZSTD_compress(to, sizeof(to), m->bytes, half, 3);
		*length += ZSTD_compress(to + *length, sizeof(to) - *length, m->bytes + half, m->length - half, 3);
		ck_assert_uint_eq(fwrite(to, 1, *length, f), *length);
		fclose(f);
		return path;
	}
	fclose(f);
	for (int part = 0; part < 2; part++) { /* two members */
		gzFile gz = gzopen(path, part ? "ab" : "wb");

		ck_assert_int_gt(gzwrite(gz, m->bytes + (part ? half : 0), (unsigned)(part ? m->length - half : half)),
				 0);
		ck_assert_int_eq(gzclose(gz), Z_OK);
	}
	f = fopen(path, "r");
	*length = fread(to, 1, sizeof(to), f);
	fclose(f);
	return path;
}

#endif
