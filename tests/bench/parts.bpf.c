// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The parts of the sampling program, each many times in a row. parts.c runs them. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct words {
	__u64 word[512];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64[8]);
} lines SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct words);
} buffers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64[3]);
} hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} ring SEC(".maps");

/* The program's arguments. */
struct parts_args {
	__u64 memory; /* a page of the caller's memory */
	__u32 part;
	__u32 times;
	__u64 ns;
	__u64 sum; /* keeps the compiler from omitting anything */
};

struct state {
	__u64 memory;
	__u64 sum;
};

static __always_inline struct words *buffer(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&buffers, &zero);
}

static __noinline int callee(struct state *s)
{
	s->sum++;
	return 0;
}

#define PART(name, body)                                                                                               \
	static long part_##name(__u32 i, void *ctx)                                                                    \
	{                                                                                                              \
		struct state *s = ctx;                                                                                 \
		struct words *b = buffer();                                                                            \
                                                                                                                       \
		if (!b)                                                                                                \
			return 1;                                                                                      \
		body;                                                                                                  \
		s->sum += b->word[0] + i;                                                                              \
		return 0;                                                                                              \
	}

#define READ(size) bpf_probe_read_user(b, size, (const void *)s->memory)

PART(nothing, )
PART(call, callee(s))
PART(time, s->sum += bpf_ktime_get_ns())
PART(mix, s->sum = (s->sum ^ i) * 0x9e3779b97f4a7c15ULL; s->sum ^= s->sum >> 29)
PART(array, __u32 key = i * 7 & 4095; __u64 *v = bpf_map_lookup_elem(&lines, &key); if (v) s->sum += *v)
PART(hash, __u32 key = 1; __u64 *v = bpf_map_lookup_elem(&hash, &key); if (v) s->sum += *v)
PART(read_8, READ(8))
PART(read_80, READ(80))
PART(read_1024, READ(1024))
PART(read_4096, READ(4096))
PART(output_48, bpf_ringbuf_output(&ring, b, 48, BPF_RB_NO_WAKEUP))
PART(output_528, bpf_ringbuf_output(&ring, b, 528, BPF_RB_NO_WAKEUP))

#define CASE(number, name)                                                                                             \
	case number:                                                                                                   \
		bpf_loop(a->times, part_##name, &s, 0);                                                                \
		break

SEC("syscall")
int parts(struct parts_args *a)
{
	struct state s = {.memory = a->memory};
	__u64 begin = bpf_ktime_get_ns();

	switch (a->part) {
		CASE(0, nothing);
		CASE(1, call);
		CASE(2, time);
		CASE(3, mix);
		CASE(4, array);
		CASE(5, hash);
		CASE(6, read_8);
		CASE(7, read_80);
		CASE(8, read_1024);
		CASE(9, read_4096);
		CASE(10, output_48);
		CASE(11, output_528);
	}
	a->ns = bpf_ktime_get_ns() - begin;
	a->sum = s.sum;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
