// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes what the compilers and the class file parser wrote for HotSpot's own stack walks: scopes of compiled code and
 * line number tables, in compressed numbers (compressedStream.hpp, unsigned5.hpp). hotspot.h declares the functions.
 */
#include "hotspot_memory.h"
#include "unsigned5.h"

#include <braid/ring.h>

#include <stdlib.h>
#include <string.h>

#define PC_DESCS_MAX (1U << 16) /* in one nmethod */
#define SCOPE_BYTES 16		/* three numbers of at most five bytes */
#define LINE_BYTES_MAX 16384U

/* ---- compressed numbers ---- */

static int32_t take_signed(struct stream *s)
{
	uint32_t n = take_unsigned(s);

	return (int32_t)(n >> 1 ^ -(n & 1));
}

/* ---- scopes ---- */

/* Addresses of the parts of an nmethod that scopes need. */
struct places {
	uint64_t scopes, scopes_end;
	uint64_t pcs, pcs_end;
	uint64_t metadata, metadata_end;
};

static int find_immutable(const struct braid_names *n, const struct memory *m, uint64_t blob, struct places *p)
{
	int32_t scopes, pcs, size;
	uint64_t base;
	int err = memory_word(m, blob + n->nmethod_immutable, &base);

	err = err ?: memory_int(m, blob + n->nmethod_immutable_size, &size);
	err = err ?: memory_int(m, blob + n->nmethod_scopes_data, &scopes);
	err = err ?: memory_int(m, blob + n->nmethod_scopes_pcs, &pcs);
	if (err)
		return err;
	if (pcs < 0 || scopes < pcs || size < scopes)
		return -EFAULT;
	p->pcs = base + (uint64_t)pcs;
	p->pcs_end = p->scopes = base + (uint64_t)scopes;
	p->scopes_end = base + (uint64_t)size;
	return 0;
}

/* Before JDK 23 all parts are in the nmethod: metadata, scopes, PcDescs, dependencies. */
static int find_inside(const struct braid_names *n, const struct memory *m, uint64_t blob, struct places *p)
{
	int32_t scopes = 0, pcs, end;
	int err = memory_int(m, blob + n->nmethod_scopes_pcs, &pcs);

	err = err ?: memory_int(m, blob + n->nmethod_dependencies, &end);
	if (n->flags & BRAID_NAMES_POINTER)
		err = err ?: memory_word(m, blob + n->nmethod_scopes_data, &p->scopes);
	else
		err = err ?: memory_int(m, blob + n->nmethod_scopes_data, &scopes);
	if (err)
		return err;
	if (!(n->flags & BRAID_NAMES_POINTER))
		p->scopes = blob + (uint64_t)(int64_t)scopes;
	p->pcs = p->scopes_end = blob + (uint64_t)(int64_t)pcs;
	p->pcs_end = blob + (uint64_t)(int64_t)end;
	return p->scopes > blob && p->scopes <= p->scopes_end && p->pcs <= p->pcs_end ? 0 : -EFAULT;
}

static int find_metadata(const struct braid_names *n, const struct memory *m, uint64_t blob, struct places *p)
{
	int32_t offset = 0, size, data = 0;
	uint16_t small = 0;
	uint64_t base;
	int err;

	if (n->flags & BRAID_NAMES_MUTABLE) {
		err = memory_word(m, blob + n->blob_mutable, &base);
		err = err ?: memory_int(m, blob + n->blob_mutable_size, &size);
		err = err ?: memory_int(m, blob + n->blob_relocation_size, &offset);
		if (!err && (offset < 0 || size < offset))
			err = -EFAULT;
		p->metadata = base + (uint64_t)(int64_t)offset;
		p->metadata_end = base + (uint64_t)(int64_t)size;
		return err;
	}
	if (n->flags & BRAID_NAMES_SHORT_METADATA) {
		err = memory_read(m, blob + n->nmethod_metadata, &small, sizeof(small));
		err = err ?: memory_int(m, blob + n->blob_data, &data);
		p->metadata = blob + (uint64_t)(int64_t)data + small;
		p->metadata_end = p->metadata + 8 * 65536;
		return err;
	}
	err = memory_int(m, blob + n->nmethod_metadata, &offset);
	p->metadata = blob + (uint64_t)(int64_t)offset;
	p->metadata_end = p->scopes;
	return err ?: p->metadata <= p->metadata_end ? err : -EFAULT;
}

/* Finds the decode offset of the PcDesc for `offset`: the first at or after it. 0: there is none. */
static int find_scope(const struct braid_names *n, const struct memory *m, const struct places *p, int64_t offset,
		      int32_t *scope)
{
	size_t count = (size_t)(p->pcs_end - p->pcs) / n->pc_size, low = 0, high = count;
	int32_t at;
	int err = 0;

	*scope = 0;
	if (count > PC_DESCS_MAX)
		return -EFAULT;
	while (low < high && !err) {
		size_t middle = (low + high) / 2;

		err = memory_int(m, p->pcs + middle * n->pc_size + n->pc_offset, &at);
		if (at < offset)
			low = middle + 1;
		else
			high = middle;
	}
	/* The last PcDesc only marks the end. */
	if (err || low + 1 >= count)
		return err;
	return memory_int(m, p->pcs + low * n->pc_size + n->pc_scope, scope);
}

static int metadata_at(const struct memory *m, const struct places *p, uint32_t index, uint64_t *to)
{
	uint64_t address = p->metadata + 8 * ((uint64_t)index - 1);

	if (!index || address >= p->metadata_end)
		return -EFAULT;
	return memory_word(m, address, to);
}

/* ScopeDesc::decode_body: the caller's offset, the method, the byte code index plus one. */
static int read_scope(const struct braid_names *n, const struct memory *m, const struct places *p, uint32_t *offset,
		      struct hotspot_scope *to)
{
	uint64_t address = p->scopes + *offset;
	struct stream s = {.no_zero = n->flags & BRAID_NAMES_NO_ZERO};
	uint8_t bytes[SCOPE_BYTES];
	uint32_t sender, method;
	size_t size;
	int err;

	if (address >= p->scopes_end)
		return -EFAULT;
	size = p->scopes_end - address < sizeof(bytes) ? (size_t)(p->scopes_end - address) : sizeof(bytes);
	err = memory_read(m, address, bytes, size);
	if (err)
		return err;
	s.at = bytes;
	s.end = bytes + size;
	sender = take_unsigned(&s);
	method = take_unsigned(&s);
	to->bci = (int32_t)take_unsigned(&s) - 1;
	if (to->bci == -1) /* SynchronizationEntryBCI, the method's entry: vframe.cpp reports 0 for it */
		to->bci = 0;
	if (s.failed || sender >= *offset) /* callers are written before their callees */
		return -EFAULT;
	*offset = sender;
	return metadata_at(m, p, method, &to->method);
}

int hotspot_scopes_read(const struct braid_layout *l, const struct braid_names *n, hotspot_read_fn read, void *ctx,
			uint64_t blob, uint32_t offset, bool exact, struct hotspot_scope *to, uint32_t room)
{
	const struct memory m = {read, ctx};
	struct places p = {0};
	uint32_t count = 0, scope;
	int32_t first;
	int err;

	if (!(n->flags & BRAID_NAMES_SCOPES) || !n->pc_size || !l->nmethod_method)
		return -EINVAL;
	err = n->flags & BRAID_NAMES_IMMUTABLE ? find_immutable(n, &m, blob, &p) : find_inside(n, &m, blob, &p);
	err = err ?: find_metadata(n, &m, blob, &p);
	err = err ?: find_scope(n, &m, &p, (int64_t)offset + exact, &first);
	if (err || first <= 0)
		return err ?: (first ? -EFAULT : 0);
	for (scope = (uint32_t)first; scope && count < room && !err; count++)
		err = read_scope(n, &m, &p, &scope, &to[count]);
	return err ?: (int)count;
}

/* ---- lines ---- */

static int take_lines(struct stream *s, uint32_t code_size, struct braid_line *to, uint32_t room)
{
	int32_t bci = 0, line = 0;
	uint32_t count = 0;

	while (count < room) {
		uint8_t b = take_byte(s);

		if (!b || s->failed)
			break;
		bci += b == 0xff ? take_signed(s) : b >> 3;
		line += b == 0xff ? take_signed(s) : b & 7;
		if (s->failed || bci < 0 || (uint32_t)bci >= code_size || line < 0 || line > UINT16_MAX)
			return -EFAULT;
		to[count++] = (struct braid_line){.bci = (uint32_t)bci, .line = (uint32_t)line};
	}
	return s->failed ? -EFAULT : (int)count;
}

static int compare_lines(const void *x, const void *y)
{
	const struct braid_line *a = x, *b = y;

	return a->bci < b->bci ? -1 : a->bci > b->bci;
}

int hotspot_lines_read(const struct braid_layout *l, const struct braid_names *n, hotspot_read_fn read, void *ctx,
		       uint64_t const_method, struct braid_line *to, uint32_t room)
{
	const struct memory m = {read, ctx};
	struct stream s = {.no_zero = n->flags & BRAID_NAMES_NO_ZERO};
	uint8_t bytes[LINE_BYTES_MAX];
	uint16_t code_size, flags;
	int32_t words;
	size_t size;
	int err;

	if (!n->const_method_size || !n->const_flags || !l->const_size || !l->const_code_size)
		return 0;
	err = memory_read(&m, const_method + n->const_flags, &flags, sizeof(flags));
	err = err ?: memory_read(&m, const_method + l->const_code_size, &code_size, sizeof(code_size));
	err = err ?: memory_int(&m, const_method + n->const_method_size, &words);
	if (err || !(flags & 1))
		return err;
	size = words > 0 ? (size_t)words * 8 : 0;
	if (size <= (size_t)l->const_size + code_size)
		return -EFAULT;
	size -= (size_t)l->const_size + code_size;
	size = size > sizeof(bytes) ? sizeof(bytes) : size;
	err = memory_read(&m, const_method + l->const_size + code_size, bytes, size);
	if (err)
		return err;
	s.at = bytes;
	s.end = bytes + size;
	err = take_lines(&s, code_size, to, room);
	if (err > 0)
		qsort(to, (size_t)err, sizeof(*to), compare_lines);
	return err;
}
