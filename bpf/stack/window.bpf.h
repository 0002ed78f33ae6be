// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Reads a walked thread's memory, the stack by the page. It implements walk_read() for the walk. */
#ifndef BRAID_WINDOW_BPF_H
#define BRAID_WINDOW_BPF_H

#include "slot.bpf.h"
static __always_inline bool window_has(const struct sample *s, __u64 address, __u32 bytes)
{
	return !(address & 7) && address - s->window_at < s->window_bytes &&
	       s->window_bytes - (address - s->window_at) >= bytes;
}

static __always_inline __u64 window_word(const struct sample *s, __u64 address, __u32 i)
{
	return s->window[((address - s->window_at) / 8 + i) % WINDOW_WORDS];
}

/* Reads from the cache line of `address` to the end of its page; false when that is not in memory. */
static __always_inline bool window_load(struct sample *s, __u64 address)
{
	__u64 from = address & ~63ULL;
	__u32 bytes = 4096 - (from & 4095);

	s->window_bytes = 0;
	if (bpf_probe_read_user(s->window, bytes, (const void *)from))
		return false;
	s->window_at = from;
	s->window_bytes = bytes;
	return true;
}

static __noinline bool window_move(struct sample *s, __u64 address)
{
	return window_load(s, address);
}

/* Reads `count` words; the thread's own stack by the page. */
static __always_inline long stack_read(__u64 *to, __u32 count, __u64 address, __u64 sp, __u32 slot)
{
	struct sample *s = slot_at(slot);

	if (!s)
		return -1;
	if (!window_has(s, address, count * 8) &&
	    (address - sp + 256 > WINDOW_REACH || !window_load(s, address) || !window_has(s, address, count * 8)))
		return bpf_probe_read_user(to, count * 8, (const void *)address);
	for (__u32 i = 0; i < count; i++)
		to[i] = window_word(s, address, i);
	return 0;
}

struct stack_words {
	__u64 word[2];
};

/* Global functions, which the verifier checks once and not at each call. */
__noinline long stack_read_1(__u64 *to, __u64 address, __u64 sp, __u32 slot)
{
	return to ? stack_read(to, 1, address, sp, slot) : -1;
}

__noinline long stack_read_2(struct stack_words *to, __u64 address, __u64 sp, __u32 slot)
{
	return to ? stack_read(to->word, 2, address, sp, slot) : -1;
}

/* The words around the frame pointer of an interpreted frame. */
struct stack_frame {
	__u64 word[10];
};

__noinline long stack_read_10(struct stack_frame *to, __u64 address, __u64 sp, __u32 slot)
{
	return to ? stack_read(to->word, 10, address, sp, slot) : -1;
}

WALK_INLINE long walk_read(struct braid_walk *w, void *to, __u32 size, __u64 address)
{
	if (size == 8) {
		*(__u64 *)to = 0; /* older verifiers require initialised memory */
		return stack_read_1(to, address, w->sp, w->slot);
	}
	if (size == 16) {
		*(struct stack_words *)to = (struct stack_words){{0, 0}};
		return stack_read_2(to, address, w->sp, w->slot);
	}
	if (size == sizeof(struct stack_frame))
		return stack_read_10(to, address, w->sp, w->slot);
	return bpf_probe_read_user(to, size, (const void *)address);
}

#endif
