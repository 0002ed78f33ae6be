// SPDX-License-Identifier: Apache-2.0
/* Trace files for tests: written, kept as bytes, and read back as text. */
#ifndef BRAID_TESTS_TRACE_FIXTURE_H
#define BRAID_TESTS_TRACE_FIXTURE_H

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/block.h"
#include "trace/codec.h"
#include "trace/trace.h"
#include "util/varint.h"

#define S(literal) ((struct trace_str){.str = (literal), .len = sizeof(literal) - 1})

/* Check records every assertion that holds in a file, which is too slow for a million checks. */
#define MUST(condition)                                                                                                \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			ck_abort_msg("%s", #condition);                                                                \
	} while (0)

/* A new path for every call; the file does not exist. */
static inline char *fixture_path(void)
{
	char *path = strdup("/tmp/braid-test-trace-XXXXXX");
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	unlink(path);
	return path;
}

static inline void fixture_store(const char *path, const void *bytes, size_t len)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
}

static inline uint8_t *fixture_load(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	uint8_t *bytes;
	long size;

	ck_assert_ptr_nonnull(f);
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	bytes = malloc((size_t)size + 1);
	*len = fread(bytes, 1, (size_t)size, f);
	ck_assert_uint_eq(*len, (size_t)size);
	fclose(f);
	return bytes;
}

struct fixture_text {
	char *text;
	size_t len;
	uint64_t records;
	struct trace_damage damage;
};

/* Prints everything in a trace. Returns the error of opening it; then there is no text. */
static inline int fixture_read(const char *path, struct fixture_text *out)
{
	struct trace_reader *r = NULL;
	struct trace_rec rec;
	const char *why = NULL;
	FILE *f;
	int err = trace_reader_open(&r, path, &why);

	memset(out, 0, sizeof(*out));
	ck_assert_ptr_nonnull(why);
	if (err)
		return err;
	f = open_memstream(&out->text, &out->len);
	while ((err = trace_reader_next(r, &rec)) == 1) {
		MUST(trace_rec_print(f, &rec) == 0);
		out->records++;
	}
	ck_assert_int_eq(err, 0);
	fclose(f);
	out->damage = *trace_reader_damage(r);
	trace_reader_close(r);
	return 0;
}

static inline void fixture_put(struct trace_writer *w, struct trace_rec rec)
{
	MUST(trace_writer_put(w, &rec) == 0);
}

static inline void fixture_sample(struct trace_writer *w, uint64_t time_ns, uint32_t node)
{
	fixture_put(w, (struct trace_rec){
			       .kind = TRACE_SAMPLE,
			       .sample = {.time_ns = time_ns, .thread = 3, .cpu = 1, .node = node, .weight = 1},
		       });
}

/* A hand-made trace. */
struct fixture_file {
	uint8_t *bytes;
	size_t len;
	uint64_t sequence;
	uint16_t schema;
};

static inline void fixture_block(struct fixture_file *f, uint16_t kind, const void *raw, size_t raw_len)
{
	struct braid_block head = {.kind = kind, .schema = f->schema, .sequence = f->sequence++};
	uint8_t *block = malloc(TRACE_BLOCK_MAX);
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	long len = trace_block_pack(zstd, NULL, &head, &(struct trace_payload){raw, raw_len, NULL}, block);

	ck_assert_int_gt(len, 0);
	f->bytes = realloc(f->bytes, f->len + (size_t)len);
	memcpy(f->bytes + f->len, block, (size_t)len);
	f->len += (size_t)len;
	ZSTD_freeCCtx(zstd);
	free(block);
}

static inline void fixture_schema(struct fixture_file *f, const char *text)
{
	f->schema = trace_schema_id(text, strlen(text));
	fixture_block(f, BRAID_BLOCK_SCHEMA, text, strlen(text));
}

static inline void fixture_own_schema(struct fixture_file *f)
{
	char text[TRACE_SCHEMA_MAX + 1];
	int len = trace_schema_text(text, TRACE_SCHEMA_MAX);

	ck_assert_int_gt(len, 0);
	text[len] = 0;
	fixture_schema(f, text);
}

/* Reads a hand-made trace and frees it. */
static inline int fixture_read_file(struct fixture_file *f, struct fixture_text *out)
{
	char *path = fixture_path();
	int err;

	fixture_store(path, f->bytes, f->len);
	err = fixture_read(path, out);
	unlink(path);
	free(path);
	free(f->bytes);
	memset(f, 0, sizeof(*f));
	return err;
}

#endif
