/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request that a thread serves: what a process keeps in its own memory, where the kernel side reads it. The thread
 * itself writes it, so a thread that is interrupted or has entered the kernel leaves it as it is.
 *
 * Threads: the TLS variable `otel_thread_ctx_v1` of any module points to a record of OpenTelemetry's format (OTEP
 * 4947), or is NULL.
 *
 * The record's attributes follow it: a key, as a number that the process context names (OTEP 4719), a length in bytes,
 * and a text; and again. They are read when a span is seen first, and when their size has changed since.
 *
 * Virtual threads: they change their carriers, whose TLS therefore says nothing about them. libbraid-context.so has a
 * table in the variable `braid_vthread_ctx_v1` with their records, and attributes, by Thread.threadId(), which no two
 * threads of a JVM ever share. A walk that has identified the virtual thread with the frames takes the record with
 * exactly its number.
 */
#ifndef BRAID_CONTEXT_H
#define BRAID_CONTEXT_H

#include <braid/mix.h>

#define BRAID_CONTEXT_TLS "otel_thread_ctx_v1"
#define BRAID_CONTEXT_TABLE "braid_vthread_ctx_v1"

#define BRAID_CONTEXT_ATTRIBUTES 256 /* bytes of attributes that are read; more are cut */

/* The fixed part; attrs_size bytes of attributes follow. Ids are in network byte order. */
struct braid_context_record {
	__u8 trace[16];
	__u8 span[8];
	__u8 valid; /* 1 */
	__u8 flags;
	__u16 attrs_size;
};
_Static_assert(sizeof(struct braid_context_record) == 28, "context record");

/* The key of its span, which is odd; 0: it has none. */
static inline __u64 braid_context_key(const struct braid_context_record *r, __u32 tgid)
{
	__u64 trace[2], span;

	__builtin_memcpy(trace, r->trace, sizeof(trace));
	__builtin_memcpy(&span, r->span, sizeof(span));
	if (r->valid != 1 || !(trace[0] | trace[1]) || !span)
		return 0;
	return braid_mix(braid_mix(braid_mix(braid_mix(1, tgid), trace[0]), trace[1]), span) | 1;
}

struct braid_context_entry {
	__u64 thread; /* number of the virtual thread; 0: free */
	struct braid_context_record record;
	__u32 reserved;
};
_Static_assert(sizeof(struct braid_context_entry) == 40, "context entry");

/*
 * A thread's entry is anywhere in the bucket of its number modulo BRAID_CONTEXT_BUCKETS, so that consecutive threads
 * use consecutive buckets. An entry's number changes only while its record is not valid.
 */
#define BRAID_CONTEXT_WAYS 8
#define BRAID_CONTEXT_BUCKETS 16384
struct braid_context_bucket {
	struct braid_context_entry entries[BRAID_CONTEXT_WAYS];
};

/* The attributes of a record are apart from it, and of the first ways side by side, so that few pages are used. */
struct braid_context_table {
	struct braid_context_bucket buckets[BRAID_CONTEXT_BUCKETS];
	__u8 attributes[BRAID_CONTEXT_WAYS][BRAID_CONTEXT_BUCKETS][BRAID_CONTEXT_ATTRIBUTES];
};
#define BRAID_CONTEXT_ATTRIBUTES_AT(way, bucket)                                                                       \
	(sizeof(struct braid_context_bucket) * BRAID_CONTEXT_BUCKETS +                                                 \
	 ((way) * (__u64)BRAID_CONTEXT_BUCKETS + (bucket)) * BRAID_CONTEXT_ATTRIBUTES)

/*
 * The process context: a mapping with this name begins with a header, which points to a message. A reader that sees the
 * same time before and after has read a whole one, so one that is not pointed to can be written.
 */
#define BRAID_PROCESS_CONTEXT "OTEL_CTX"
#define BRAID_PROCESS_CONTEXT_VERSION 2

struct braid_process_context {
	char signature[8]; /* BRAID_PROCESS_CONTEXT */
	__u32 version;
	__u32 payload_bytes;
	__u64 published_ns; /* changes with each publication; 0: one is being made */
	__u64 payload;	    /* its address */
};
_Static_assert(sizeof(struct braid_process_context) == 32, "process context");

#endif
