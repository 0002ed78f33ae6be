// SPDX-License-Identifier: Apache-2.0
#include "hotspot_memory.h"

#include "proc/procfs.h"

#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>

#include <braid/ring.h>

/* A segment map entry gives a minimum distance to the block's first segment. At most this many hops are followed. */
#define SEGMENT_HOPS_MAX 4096U
#define SEGMENT_FREE 0xffU
/* Longer names exist only in hostile memory or generated code; they are cut. */
#define SYMBOL_BYTES_MAX 4096U

int hotspot_read_process(void *ctx, uint64_t address, void *to, size_t size)
{
	const pid_t *pid = ctx;
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	ssize_t n = process_vm_readv(*pid, &local, 1, &remote, 1, 0);

	if (n < 0 && errno == ESRCH) /* its first thread has ended */
		n = process_vm_readv(procfs_living_thread(*pid), &local, 1, &remote, 1, 0);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EFAULT;
}

/* Reads a metadata pointer; HotSpot aligns them to words. */
static int memory_pointer(const struct memory *m, uint64_t address, uint64_t *to)
{
	int err = memory_word(m, address, to);

	if (err)
		return err;
	return *to < 4096 || *to >= ADDRESS_END || (*to & 7) ? -EFAULT : 0;
}

/* Reads the bytes of a Symbol (symbol.hpp): at least one, at most SYMBOL_BYTES_MAX. */
static int symbol_read(const struct braid_layout *l, const struct memory *m, uint64_t symbol, char *to, size_t *length)
{
	uint16_t n;
	int err = memory_u16(m, symbol + l->symbol_length, &n);

	if (err)
		return err;
	if (!n)
		return -EFAULT;
	*length = n > SYMBOL_BYTES_MAX ? SYMBOL_BYTES_MAX : n;
	return memory_read(m, symbol + l->symbol_body, to, *length);
}

/* Reads the Symbol in a constant pool's slot. Older versions may tag its low bit. */
static int pool_symbol(const struct braid_layout *l, const struct memory *m, uint64_t pool, uint16_t slot, char *to,
		       size_t *length)
{
	uint64_t symbol;
	int err;

	if (!slot) /* slot 0 is never used */
		return -EFAULT;
	err = memory_read(m, pool + l->pool_size + 8ULL * slot, &symbol, sizeof(symbol));
	if (err)
		return err;
	symbol &= ~1ULL;
	return symbol & 7 ? -EFAULT : symbol_read(l, m, symbol, to, length);
}

static bool layout_names(const struct braid_layout *l)
{
	return (l->flags & BRAID_LAYOUT_NAMES) && l->method_const && l->const_constants && l->const_name_index &&
	       l->const_signature_index && l->pool_size && l->pool_holder && l->klass_name && l->symbol_body;
}

static int method_class(const struct braid_layout *l, const struct memory *m, uint64_t pool, struct hotspot_method *out)
{
	char bytes[SYMBOL_BYTES_MAX];
	uint64_t holder, symbol;
	size_t length;
	int err = memory_pointer(m, pool + l->pool_holder, &holder);

	if (!err)
		err = memory_pointer(m, holder + l->klass_name, &symbol);
	if (!err)
		err = symbol_read(l, m, symbol, bytes, &length);
	if (!err)
		class_name_from_signature(out->class_name, sizeof(out->class_name), bytes, length);
	return err;
}

int hotspot_method_read(const struct braid_layout *l, hotspot_read_fn read, void *ctx, uint64_t method,
			struct hotspot_method *out)
{
	const struct memory m = {read, ctx};
	char bytes[SYMBOL_BYTES_MAX];
	uint64_t constant, pool;
	uint16_t name, signature, code_size = 0;
	uint32_t flags = 0;
	size_t length;
	int err;

	memset(out, 0, sizeof(*out));
	if (!layout_names(l))
		return -EINVAL;
	if (method & 7)
		return -EFAULT;
	err = memory_pointer(&m, method + l->method_const, &constant);
	if (!err)
		err = memory_pointer(&m, constant + l->const_constants, &pool);
	if (!err)
		err = memory_u16(&m, constant + l->const_name_index, &name);
	if (!err)
		err = memory_u16(&m, constant + l->const_signature_index, &signature);
	if (!err && l->const_code_size)
		err = memory_u16(&m, constant + l->const_code_size, &code_size);
	if (!err && l->method_access_flags)
		err = memory_read(&m, method + l->method_access_flags, &flags, sizeof(flags));
	if (!err)
		err = method_class(l, &m, pool, out);
	if (!err)
		err = pool_symbol(l, &m, pool, name, bytes, &length);
	if (!err)
		utf8_from_modified(out->name, sizeof(out->name), bytes, length);
	if (!err)
		err = pool_symbol(l, &m, pool, signature, bytes, &length);
	if (err)
		return err;
	if (bytes[0] != '(') /* every method descriptor begins with this: a cheap check that it is one */
		return -EFAULT;
	utf8_from_modified(out->signature, sizeof(out->signature), bytes, length);
	out->modifiers = flags & HOTSPOT_MODIFIERS;
	out->code_size = code_size;
	return 0;
}

int hotspot_source_read(const struct braid_layout *l, const struct braid_names *n, hotspot_read_fn read, void *ctx,
			uint64_t const_method, char *to, size_t size)
{
	const struct memory m = {read, ctx};
	char bytes[SYMBOL_BYTES_MAX];
	uint64_t pool, holder;
	uint16_t index = 0;
	size_t length;
	int err = memory_pointer(&m, const_method + l->const_constants, &pool);

	to[0] = '\0';
	if (!err && n->pool_source) {
		err = memory_u16(&m, pool + n->pool_source, &index);
	} else if (!err && n->klass_source) {
		err = memory_pointer(&m, pool + l->pool_holder, &holder);
		if (!err)
			err = memory_u16(&m, holder + n->klass_source, &index);
	}
	if (err || !index)
		return err;
	err = pool_symbol(l, &m, pool, index, bytes, &length);
	if (!err)
		utf8_from_modified(to, size, bytes, length);
	return err;
}

static const struct braid_code_heap *heap_of(const struct braid_layout *l, uint64_t pc)
{
	for (uint32_t i = 0; i < l->heap_count && i < BRAID_CODE_HEAPS; i++) {
		const struct braid_code_heap *h = &l->heaps[i];

		if (pc >= h->low && pc < h->high && braid_code_heap_fits(h))
			return h;
	}
	return NULL;
}

/* heap.cpp, CodeHeap::find_block_for: hop back by the map's entries until one is 0. */
static int segment_start(const struct memory *m, const struct braid_code_heap *h, uint64_t *segment)
{
	for (uint32_t hops = 0; hops < SEGMENT_HOPS_MAX; hops++) {
		uint8_t back;
		int err = memory_read(m, h->segmap + *segment, &back, 1);

		if (err)
			return err;
		if (!back)
			return 0;
		if (back == SEGMENT_FREE || back > *segment)
			return -ENOENT;
		*segment -= back;
	}
	return -ENOENT;
}

/*
 * Reads a C string in libjvm's read-only data or on its C heap. It may end just before unmapped memory, so it is read
 * in pieces.
 */
static int name_read(const struct memory *m, uint64_t address, char *to, size_t size)
{
	char raw[64] = {0};
	size_t n = 0;
	int err;

	while (n < sizeof(raw) - 8 && !memchr(raw, 0, n)) {
		size_t step = 8 - (address + n) % 8;

		err = memory_read(m, address + n, raw + n, step);
		if (err)
			return err;
		n += step;
	}
	utf8_printable(to, size, raw, strnlen(raw, sizeof(raw)));
	return 0;
}

static int blob_code_begin(const struct braid_layout *l, const struct memory *m, struct hotspot_blob *out)
{
	int32_t offset;
	int err;

	if (!(l->flags & BRAID_LAYOUT_CODE_OFFSET))
		return memory_read(m, out->address + l->blob_code, &out->code_begin, sizeof(out->code_begin));
	err = memory_read(m, out->address + l->blob_code, &offset, sizeof(offset));
	if (!err)
		out->code_begin = out->address + (uint64_t)(int64_t)offset;
	return err;
}

static int nmethod_read(const struct braid_layout *l, const struct memory *m, bool wrapper, struct hotspot_blob *out)
{
	int32_t level = -1;
	int8_t short_level;
	int err = memory_read(m, out->address + l->nmethod_method, &out->method, sizeof(out->method));

	if (!err && ((out->method & 7) || out->method >= ADDRESS_END))
		err = -EFAULT;
	if (!err && l->nmethod_compile_id)
		err = memory_read(m, out->address + l->nmethod_compile_id, &out->compile_id, sizeof(out->compile_id));
	if (!err && l->nmethod_comp_level && l->nmethod_comp_level_size == 1) {
		err = memory_read(m, out->address + l->nmethod_comp_level, &short_level, 1);
		level = short_level;
	} else if (!err && l->nmethod_comp_level && l->nmethod_comp_level_size == 4) {
		err = memory_read(m, out->address + l->nmethod_comp_level, &level, sizeof(level));
	}
	out->tier = level >= 0 && level <= BRAID_TIER_C2 ? (uint32_t)level : BRAID_TIER_UNKNOWN;
	if (wrapper)
		out->tier = BRAID_TIER_NATIVE_WRAPPER;
	return err;
}

int hotspot_blob_find(const struct braid_layout *l, hotspot_read_fn read, void *ctx, uint64_t pc,
		      struct hotspot_blob *out)
{
	const struct memory m = {read, ctx};
	const struct braid_code_heap *h = heap_of(l, pc);
	uint64_t segment, name, end;
	int32_t size;
	int err;

	memset(out, 0, sizeof(*out));
	out->tier = BRAID_TIER_UNKNOWN;
	if (!l->blob_size || !l->blob_name || !l->blob_code || !l->heap_block_header)
		return -EINVAL;
	if (!h)
		return -ENOENT;
	segment = (pc - h->low) >> h->log2_segment;
	err = segment_start(&m, h, &segment);
	if (err)
		return err;
	out->address = h->low + (segment << h->log2_segment) + l->heap_block_header;
	err = memory_read(&m, out->address + l->blob_size, &size, sizeof(size));
	if (!err)
		err = blob_code_begin(l, &m, out);
	if (!err)
		err = memory_read(&m, out->address + l->blob_name, &name, sizeof(name));
	if (!err)
		err = name_read(&m, name, out->name, sizeof(out->name));
	if (err)
		return err;
	/* A free block has a header and no blob; its remains are inconsistent. */
	if (size <= 0 || out->address >= h->high || (uint64_t)size > h->high - out->address)
		return -ENOENT;
	end = out->address + (uint64_t)size;
	if (pc < out->address || pc >= end || out->code_begin < out->address || out->code_begin > end)
		return -ENOENT;
	out->size = (uint32_t)size;
	if (l->nmethod_method && strcmp(out->name, "nmethod") == 0)
		return nmethod_read(l, &m, false, out);
	if (l->nmethod_method && strcmp(out->name, "native nmethod") == 0)
		return nmethod_read(l, &m, true, out);
	return 0;
}
