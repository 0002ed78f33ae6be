// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzzes the trace reader. The first byte's bits say what the rest is: a file, whose blocks get right checksums if
 * FUZZ_SUMMED is set; or, with FUZZ_FORGED, what forge.h makes a file of. With FUZZ_PRINTED, records are printed, too.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "trace/block.h"
#include "trace/codec.h"
#include "trace/trace.h"

#include "forge.h"
#include "input.h"

enum { FUZZ_FORGED = 1, FUZZ_SUMMED = 2, FUZZ_PRINTED = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every record that the reader accepts can be coded again and, if asked for, printed. */
static void read_all(const char *path, bool print)
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
		must(!print || trace_rec_print(nowhere(), &rec) == 0, "record cannot be printed");
		/* Except those with arrays: a record that is small in the file may take more than a block. */
		if (rec.kind != TRACE_LINES && rec.kind != TRACE_FRAME)
			must(trace_rec_bound(&rec, &bound) == 0, "record cannot be coded");
	}
	must(err == 0, "reading ended with an error");
	must(trace_reader_damage(r)->skipped_bytes <= trace_reader_bytes(r), "more skipped than there is");
	trace_reader_close(r);
}

/*
 * A block without the number of a schema gets that of this program's own. Definitions that continue any block
 * continue the one before them; those of version 2 that have any dictionary get the last block that can be one.
 */
static void sum_blocks(struct forged *f)
{
	uint8_t *at = f->bytes, *end = f->bytes + f->size;
	uint64_t dictionary = 1, before = 1;

	while ((at = memmem(at, (size_t)(end - at), BRAID_BLOCK_MAGIC, sizeof(BRAID_BLOCK_MAGIC) - 1))) {
		struct braid_block head;

		if ((size_t)(end - at) < sizeof(head))
			return;
		memcpy(&head, at, sizeof(head));
		if (trace_block_check_head(&head) || head.stored_bytes > (size_t)(end - at) - sizeof(head)) {
			at++;
			continue;
		}
		if (!head.schema)
			memcpy(at + offsetof(struct braid_block, schema), &trace_schema_own()->schema.id,
			       sizeof(head.schema));
		if (head.kind == BRAID_BLOCK_DEFS && head.continues)
			memcpy(at + offsetof(struct braid_block, continues),
			       head.version == BRAID_TRACE_DICTIONARIES ? &dictionary : &before, sizeof(before));
		forge_sum(at, sizeof(head) + head.stored_bytes);
		if (head.kind == BRAID_BLOCK_DEFS)
			memcpy(&before, at + offsetof(struct braid_block, checksum), sizeof(before));
		if (head.kind == BRAID_BLOCK_DEFS && !head.continues)
			dictionary = before;
		at += sizeof(head) + head.stored_bytes;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory_file file;
	static struct forged f;

	if (size < 2 || size > FORGE_MAX)
		return 0;
	f.size = f.sequence = 0;
	if (data[0] & FUZZ_FORGED)
		forge(&f, data + 1, size - 1);
	else
		forge_put(&f, data + 1, size - 1);
	if (data[0] & FUZZ_SUMMED)
		sum_blocks(&f);
	memory_file_set(&file, f.bytes, f.size);
	read_all(file.path, data[0] & FUZZ_PRINTED);
	return 0;
}
