// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzzes the trace reader, and the JFR format, which reads a trace a second time. An even first byte means that the rest
 * is a file as it is, which a checksum rejects early. An odd one means that the rest is a schema's text, a zero byte and
 * records; the target makes a file with valid blocks from them. An empty text selects this program's own schema.
 *
 * With libFuzzer: clang -fsanitize=fuzzer,address. Over files: -DBRAID_FUZZ_MAIN, and the files as arguments.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jfr/jfr.h"
#include "trace/block.h"
#include "trace/codec.h"
#include "trace/trace.h"

#include "must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes every record that the reader accepts again, and prints it. */
static void read_all(const char *path, FILE *out)
{
	struct trace_reader *r;
	struct trace_rec rec;
	const char *why = NULL;
	size_t bound;
	int err = trace_reader_open(&r, path, &why);

	must(why != NULL, "no reason given");
	if (err) {
		must(r == NULL, "a reader in spite of an error");
		return;
	}
	while ((err = trace_reader_next(r, &rec)) == 1) {
		must(trace_rec_print(out, &rec) == 0, "record cannot be printed");
		/* Except those with arrays: a record that is small in the file may take more than a block. */
		if (rec.kind != TRACE_LINES && rec.kind != TRACE_FRAME)
			must(trace_rec_bound(&rec, &bound) == 0, "record cannot be coded");
	}
	must(err == 0, "reading ended with an error");
	must(trace_reader_damage(r)->skipped_bytes <= trace_reader_bytes(r), "more skipped than there is");
	trace_reader_close(r);
}

static void feed_all(struct trace_reader *r, struct analyzer *a)
{
	struct trace_rec rec;

	while (trace_reader_next(r, &rec) == 1)
		must(analyzer_feed(a, &rec) == 0, "record not taken");
}

/* Definitions and events need not fit together: an export takes what it can. */
static void export_all(const char *path, FILE *out)
{
	static const struct timed_options all = {.own_stacks = true};
	static const struct filter everything;
	struct analysis *an = NULL;
	struct analyzer *a = NULL;
	struct timed_source s;
	struct trace_reader *r;

	if (trace_reader_open(&r, path, NULL))
		return;
	must(analyzer_new(&a) == 0, "no analyzer");
	feed_all(r, a);
	must(analysis_new(&an, a, &everything) == 0, "no analysis");
	must(timed_open(&s, r, an, &all) == 0, "no stream");
	must(jfr_write_chunks(out, &s, 1024) == 0, "not exported");
	timed_close(&s);
	analysis_free(an);
	analyzer_free(a);
	trace_reader_close(r);
}

static void put_block(FILE *f, struct braid_block *head, const void *raw, size_t len)
{
	static uint8_t block[TRACE_BLOCK_MAX];
	static ZSTD_CCtx *zstd;
	long bytes;

	if (!zstd)
		zstd = ZSTD_createCCtx();
	bytes = trace_block_pack(zstd, head, raw, len, block);
	must(bytes > 0 && fwrite(block, 1, (size_t)bytes, f) == (size_t)bytes, "block not made");
	head->sequence++;
}

static void put_forged(FILE *f, const uint8_t *data, size_t size)
{
	static const uint16_t kinds[] = {BRAID_BLOCK_DEFS, BRAID_BLOCK_EVENTS, BRAID_BLOCK_SAMPLES};
	struct braid_block head = {.kind = BRAID_BLOCK_SCHEMA};
	char own[TRACE_SCHEMA_MAX];
	const char *text = (const char *)data;
	size_t text_len = strnlen(text, size), records = text_len < size ? text_len + 1 : size;

	if (text_len == 0) {
		text = own;
		text_len = (size_t)trace_schema_text(own, sizeof(own));
	}
	head.schema = trace_schema_id(text, text_len);
	put_block(f, &head, text, text_len);
	/* Any record may be in any block, and the last two are read together. */
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		head.kind = kinds[i];
		put_block(f, &head, data + records, size - records);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *out;
	char path[64];
	FILE *f;
	int fd;

	if (size < 2 || size > BRAID_BLOCK_RAW_MAX / 2)
		return 0;
	if (!out)
		out = fopen("/dev/null", "w");
	fd = memfd_create("fuzz_trace", MFD_CLOEXEC);
	must(out && fd >= 0, "no file to work with");
	f = fdopen(fd, "w");
	if (data[0] & 1)
		put_forged(f, data + 1, size - 1);
	else
		must(fwrite(data + 1, 1, size - 1, f) == size - 1, "file not made");
	fflush(f);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_all(path, out);
	export_all(path, out);
	fclose(f);
	return 0;
}

#ifdef BRAID_FUZZ_MAIN
int main(int argc, char **argv)
{
	static uint8_t data[BRAID_BLOCK_RAW_MAX];

	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "r");

		if (!f) {
			perror(argv[i]);
			return 1;
		}
		LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof(data), f));
		fclose(f);
	}
	return 0;
}
#endif
