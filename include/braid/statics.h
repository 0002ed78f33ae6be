// SPDX-License-Identifier: Apache-2.0
/*
 * Reads a JVM's code heaps, interpreter and first stubs, as they are now, from its memory. The agent, the collector
 * and the eBPF programs share this source; the programs read them at each walk while the JVM starts. The including
 * file defines
 *
 *	static long statics_read(void *ctx, void *to, __u32 size, __u64 address);	0: all bytes were read
 *
 * Values are untrusted: impossible heaps are left out, and the walk trusts none of the rest.
 */
#ifndef BRAID_STATICS_H
#define BRAID_STATICS_H

#include <braid/layout.h>

#ifdef __bpf__
#define STATICS_FN static __attribute__((always_inline)) inline
#else
#define STATICS_FN static inline
#endif

static long statics_read(void *ctx, void *to, __u32 size, __u64 address);

/* The word at an address; 0 when it is not readable or the address is 0. */
STATICS_FN __u64 statics_word(void *ctx, __u64 address)
{
	__u64 word = 0;

	return address && !statics_read(ctx, &word, sizeof(word), address) ? word : 0;
}

STATICS_FN __s32 statics_int(void *ctx, __u64 address)
{
	__s32 value = 0;

	return statics_read(ctx, &value, sizeof(value), address) ? 0 : value;
}

/* Reads the CodeHeap at an address; returns 1 if it is plausible. */
STATICS_FN __u32 statics_heap(void *ctx, const struct braid_statics *v, __u64 heap, struct braid_code_heap *to)
{
	struct braid_code_heap h = {0};

	if (!heap)
		return 0;
	h.low = statics_word(ctx, heap + v->heap_low);
	h.high = statics_word(ctx, heap + v->heap_high);
	h.segmap = statics_word(ctx, heap + v->heap_segmap);
	h.log2_segment = (__u32)statics_int(ctx, heap + v->heap_log2);
	if (!braid_code_heap_fits(&h))
		return 0;
	to->segmap = h.segmap;
	to->log2_segment = h.log2_segment;
	to->low = h.low;
	to->high = h.high;
	return 1;
}

/* An unreadable heap keeps its old value: another walk may be using it. */
STATICS_FN void statics_heaps(void *ctx, const struct braid_statics *v, struct braid_layout *l)
{
	__u64 at = statics_word(ctx, v->heaps), data;
	__u32 length = 1, count = 0;

	if (!at)
		return;
	data = v->array ? statics_word(ctx, at + v->array_data) : 0;
	if (v->array)
		length = data ? (__u32)statics_int(ctx, at + v->array_length) : 0;
	for (__u32 i = 0; i < BRAID_CODE_HEAPS; i++)
		if (i == count && i < length)
			count += statics_heap(ctx, v, v->array ? statics_word(ctx, data + i * 8) : at, &l->heaps[i]);
	if (count)
		l->heap_count = count;
}

STATICS_FN void statics_interpreter(void *ctx, const struct braid_statics *v, struct braid_layout *l)
{
	__u64 queue = statics_word(ctx, v->interpreter), call_stub = statics_word(ctx, v->call_stub);
	__u64 start = queue ? statics_word(ctx, queue + v->queue_buffer) : 0;
	__s32 limit = start ? statics_int(ctx, queue + v->queue_limit) : 0;

	if (limit > 0) {
		l->interpreter_start = start;
		l->interpreter_end = start + (__u32)limit;
	}
	if (call_stub)
		l->call_stub_return = call_stub;
}

/* True when all of them exist. Until VM start the interpreter may still return the end of its buffer. */
STATICS_FN bool statics_is_whole(const struct braid_layout *l)
{
	return l->heap_count && l->interpreter_start && l->call_stub_return;
}

#endif
