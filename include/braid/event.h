// SPDX-License-Identifier: Apache-2.0
/*
 * What the eBPF programs and the collector share: the values of the BPF maps, and the events that come up through the
 * BPF ring buffer. Both sides are built together, so nothing here is versioned; sizes are asserted all the same,
 * because the BPF and the host compilers must agree.
 */
#ifndef BRAID_EVENT_H
#define BRAID_EVENT_H

#include <braid/layout.h>

#define BRAID_MAX_JVMS 256
#define BRAID_MAX_DEPTH 2048	   /* user frames per stack */
#define BRAID_MAX_KERNEL_DEPTH 127 /* kernel frames per stack */
#define BRAID_MAX_FRAMES (BRAID_MAX_KERNEL_DEPTH + BRAID_MAX_DEPTH + 1)

/* One executable mapping of one process; a process's mappings are an extent of the map `mappings`, sorted by start. */
struct braid_mapping {
	__u64 start;
	__u64 end;
	__u64 bias;  /* address - bias = ELF virtual address */
	__u32 table; /* index into `tables`, or BRAID_NO_TABLE */
	__u32 reserved;
};
_Static_assert(sizeof(struct braid_mapping) == 32, "mapping");
#define BRAID_NO_TABLE 0xffffffffU

/* One module's unwind table (see <braid/unwind.h>): where it lies in the maps `pages` and `rows`. */
struct braid_table {
	__u32 first_page;
	__u32 page_count;
	__u32 pages_at; /* in `pages`: page_count entries */
	__u32 rows_at;	/* in `rows` */
};

/* A page's own rows, counted from the table's first: those with pc in the page. Eight bytes, as an array map's stride.
 */
struct braid_page {
	__u32 first;
	__u32 end;
};

/* Value of the map `processes`, key tgid. Replaced as a whole, so that a walk sees the old or the new one. */
struct braid_process {
	__u32 first_mapping;
	__u32 mapping_count;
	__u32 jvm; /* slot in `jvms` plus one; 0: no JVM */
	__u32 reserved;
};

/* Value of the map `jvms`, key slot. */
struct braid_jvm {
	__u32 generation; /* of the slot, so that late events of an earlier JVM are recognised; by the collector */
	__u32 epoch;	  /* counts class and code unloads: part of the hash of every stack with Java frames, because
			     addresses may      mean something new; by the drain */
	struct braid_layout layout; /* as the agent told it, by the drain; zeroes before */
};

enum braid_event_kind {
	BRAID_EVENT_SAMPLE = 1,
	BRAID_EVENT_AGENT = 2,
};

struct braid_event {
	__u32 kind; /* enum braid_event_kind */
	__u32 size; /* bytes, this header included */
	__u64 time_ns;
};

/* A sample; its frames (leaf first, <braid/frame.h>) follow only when the kernel side does not know that they were
 * sent. */
struct braid_event_sample {
	struct braid_event hdr;
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u32 frame_count; /* 0: known by `stack` */
	__u64 stack;	   /* hash of process, epoch and frames; never 0 */
};
_Static_assert(sizeof(struct braid_event_sample) == 40, "sample");

/* A ring record, validated for size and kind, stamped with the JVM whose ring it came through. */
struct braid_event_agent {
	struct braid_event hdr;
	__u32 slot;
	__u32 generation;
	/* struct braid_rec and what belongs to it */
};
_Static_assert(sizeof(struct braid_event_agent) == 24, "agent event");

/* Argument of the drain program. */
struct braid_drain {
	__u32 slot;
	__u32 more;    /* out: the drain stopped before the ring was empty */
	__u64 records; /* out */
	__u64 bad;     /* out: records refused, their size is out of range */
	__u64 lost;    /* out: records for which `records` had no room */
};

/* Value of the per-CPU map `counters`. */
struct braid_counters {
	__u64 samples;	    /* taken */
	__u64 samples_lost; /* no room in the event ring */
	__u64 stacks_sent;
	__u64 walk_ns;	   /* time spent in the sampling program */
	__u64 frames_java; /* walked: compiled and interpreted */
	__u64 frames_native;
	__u64 frames_kernel;
};

#endif
