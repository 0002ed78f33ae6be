// SPDX-License-Identifier: Apache-2.0
/* The scopes of compiled code: turns JVM TI's inlining records or address maps into rows of CODE_SCOPES records. code.c
 * calls it for each compiled method. */
#include "handlers.h"

#include <jvmticmlr.h>

#include <stdlib.h>
#include <string.h>

/* No compiler inlines this deep, and a row of this depth still fits into a record. */
#define DEPTH_MAX 1024U
#define BYTES_MAX (8U << 20)
#define RECORDS_MAX 64 /* in a compile_info chain */
#define RECORD_ROOM (BRAID_REC_MAX - sizeof(struct braid_rec_code_scopes))

_Static_assert(sizeof(struct braid_scope_row) + DEPTH_MAX * sizeof(struct braid_scope) <= RECORD_ROOM, "a row fits");

static size_t row_bytes(uint32_t depth)
{
	return sizeof(struct braid_scope_row) + depth * sizeof(struct braid_scope);
}

static struct braid_scope_row *row_last(const struct scopes *s)
{
	return s->rows ? (struct braid_scope_row *)(void *)(s->bytes + s->last) : NULL;
}

/* Returns room for one more row, or NULL. */
static struct braid_scope_row *row_begin(struct scopes *s, uint32_t depth)
{
	size_t need = s->used + row_bytes(depth);
	size_t room = s->room ? s->room : 4096;
	uint8_t *bytes;

	while (room < need)
		room *= 2;
	if (need > BYTES_MAX) {
		s->truncated = true;
		return NULL;
	}
	if (room != s->room) {
		bytes = realloc(s->bytes, room);
		if (!bytes) {
			s->truncated = true;
			return NULL;
		}
		s->bytes = bytes;
		s->room = room;
	}
	return (struct braid_scope_row *)(void *)(s->bytes + s->used);
}

/* A row with the same scopes as the row before extends that one. */
static void row_end(struct scopes *s, struct braid_scope_row *row)
{
	size_t bytes = row_bytes(row->depth);
	struct braid_scope_row *before = row_last(s);

	if (before && before->depth == row->depth && !memcmp(before + 1, row + 1, bytes - sizeof(*row))) {
		before->pc_offset = row->pc_offset;
		return;
	}
	s->last = s->used;
	s->used += bytes;
	s->rows++;
}

/* The offset of a pc inside the code and after the last row's; false when the row cannot be right. */
static bool offset_check(const struct scopes *s, uint64_t pc, uint64_t code, uint32_t code_size, uint32_t *out)
{
	const struct braid_scope_row *before = row_last(s);

	if (pc < code || pc > code + code_size)
		return false;
	*out = (uint32_t)(pc - code);
	return !before || *out > before->pc_offset;
}

static void row_from_inlining(struct scopes *s, const PCStackInfo *info, uint64_t code, uint32_t code_size)
{
	uint32_t depth = info->numstackframes > 0 ? (uint32_t)info->numstackframes : 0;
	struct braid_scope_row *row;
	struct braid_scope *scope;
	uint32_t offset;

	if (!depth || !info->methods || !info->bcis ||
	    !offset_check(s, (uint64_t)(uintptr_t)info->pc, code, code_size, &offset))
		return;
	if (depth > DEPTH_MAX) {
		depth = DEPTH_MAX;
		s->truncated = true;
	}
	row = row_begin(s, depth);
	if (!row)
		return;
	*row = (struct braid_scope_row){.pc_offset = offset, .depth = depth};
	scope = (struct braid_scope *)(row + 1);
	for (uint32_t i = 0; i < depth; i++) /* -1 is SynchronizationEntryBCI, the entry of the method */
		scope[i] = (struct braid_scope){.method = methods_id(info->methods[i], s->event),
						.bci = info->bcis[i] < 0 ? 0 : info->bcis[i]};
	row_end(s, row);
}

/*
 * jvmtiExport.cpp, create_inline_record: one entry per PcDesc, with the PcDesc's pc and the methods innermost first.
 * Rows have the same meaning.
 */
void scopes_from_inlining(struct scopes *s, const void *compile_info, const void *code, uint32_t code_size)
{
	const jvmtiCompiledMethodLoadRecordHeader *h = compile_info;

	for (int i = 0; h && i < RECORDS_MAX; i++, h = h->next) {
		const jvmtiCompiledMethodLoadInlineRecord *r = (const void *)h;

		if (h->kind != JVMTI_CMLR_INLINE_INFO || h->majorinfoversion != JVMTI_CMLR_MAJOR_VERSION_1)
			continue;
		for (jint k = 0; r->pcinfo && k < r->numpcs && !s->truncated; k++)
			row_from_inlining(s, &r->pcinfo[k], (uint64_t)(uintptr_t)code, code_size);
	}
}

static void row_add(struct scopes *s, uint32_t offset, uint32_t method, jlocation bci)
{
	const struct braid_scope_row *before = row_last(s);
	struct braid_scope_row *row;

	if (before && offset <= before->pc_offset)
		return;
	row = row_begin(s, 1);
	if (!row)
		return;
	*row = (struct braid_scope_row){.pc_offset = offset, .depth = 1};
	*(struct braid_scope *)(row + 1) =
		(struct braid_scope){.method = method, .bci = bci >= 0 && bci <= INT32_MAX ? (__s32)bci : -1};
	row_end(s, row);
}

/* Entry i covers [start_i, start_i+1), the last one the rest; a row covers up to and including its own offset. */
void scopes_from_map(struct scopes *s, uint32_t method, const jvmtiAddrLocationMap *map, jint length, const void *code,
		     uint32_t code_size)
{
	uint64_t base = (uint64_t)(uintptr_t)code;
	jlocation bci = -1;
	uint64_t at = base;

	s->outer_only = true;
	if (!agent.bci_locations || !map || length <= 0 || !code_size)
		return;
	for (jint i = 0; i < length && !s->truncated; i++) {
		uint64_t start = (uint64_t)(uintptr_t)map[i].start_address;

		if (start < at || start >= base + code_size)
			continue;
		if (start > at)
			row_add(s, (uint32_t)(start - 1 - base), method, bci);
		bci = map[i].location;
		at = start;
	}
	row_add(s, code_size, method, bci);
}

/* Publishes whole rows only, as many in one record as fit. */
void scopes_publish(const struct scopes *s, uint64_t address, uint16_t flags)
{
	size_t at = 0;

	while (at < s->used) {
		struct braid_rec_code_scopes r = {.address = address};
		size_t end = at;

		while (end < s->used) {
			const struct braid_scope_row *row =
				(const struct braid_scope_row *)(const void *)(s->bytes + end);

			if (end - at + row_bytes(row->depth) > RECORD_ROOM)
				break;
			end += row_bytes(row->depth);
			r.rows++;
		}
		r.bytes = (uint32_t)(end - at);
		record_init(&r.hdr, BRAID_REC_CODE_SCOPES, flags);
		publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(s->bytes + at, r.bytes)}, 2);
		at = end;
	}
}

void scopes_free(struct scopes *s)
{
	if (!s)
		return;
	free(s->bytes);
	s->bytes = NULL;
}
