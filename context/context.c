// SPDX-License-Identifier: Apache-2.0
/*
 * libbraid-context.so, the native part of BraidContext: keeps the request that each thread serves where recorders read
 * it, see <braid/context.h>. It needs libc only, and works the same whether or not anything reads it.
 */
#include <braid/context.h>

#include <endian.h>
#include <jni.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SPINS 100 /* the holder of a lock has a few stores to make, unless it was preempted */

/* ---- threads ---- */

__attribute__((visibility("default"))) __thread struct braid_context_record *otel_thread_ctx_v1;
static __thread struct braid_context_record own;

/*
 * The reader interrupts the thread, so only the compiler must keep the order; a record of a virtual thread's can be
 * changed by another thread, and readers rely on this CPU's order of stores then.
 */
static void record_fill(struct braid_context_record *r, uint64_t hi, uint64_t lo, uint64_t span)
{
	const uint64_t trace[] = {htobe64(hi), htobe64(lo)};
	const uint64_t id = htobe64(span);

	*(volatile __u8 *)&r->valid = 0;
	atomic_signal_fence(memory_order_seq_cst);
	memcpy(r->trace, trace, sizeof(trace));
	memcpy(r->span, &id, sizeof(id));
	r->flags = 0;
	r->attrs_size = 0;
	atomic_signal_fence(memory_order_seq_cst);
	*(volatile __u8 *)&r->valid = span && (hi | lo);
}

/* ---- virtual threads ---- */

__attribute__((visibility("default"))) struct braid_context_bucket braid_vthread_ctx_v1[BRAID_CONTEXT_BUCKETS];
static atomic_flag locks[BRAID_CONTEXT_BUCKETS];

static void bucket_lock(size_t bucket)
{
	for (int i = 0; atomic_flag_test_and_set_explicit(&locks[bucket], memory_order_acquire); i++)
		if (i >= SPINS)
			sched_yield();
}

static void bucket_unlock(size_t bucket)
{
	atomic_flag_clear_explicit(&locks[bucket], memory_order_release);
}

static void entry_assign(struct braid_context_entry *e, uint64_t number)
{
	*(volatile __u8 *)&e->record.valid = 0;
	atomic_signal_fence(memory_order_seq_cst);
	*(volatile __u64 *)&e->thread = number;
	atomic_signal_fence(memory_order_seq_cst);
}

/* The thread's entry, else a free one, else that of the oldest thread, which may have ended without a clear(). */
static struct braid_context_entry *entry_of(struct braid_context_bucket *b, uint64_t number)
{
	struct braid_context_entry *best = &b->entries[0];

	for (int i = 0; i < BRAID_CONTEXT_WAYS; i++) {
		struct braid_context_entry *e = &b->entries[i];

		if (e->thread == number)
			return e;
		if (e->thread < best->thread)
			best = e;
	}
	return best;
}

static void virtual_set(uint64_t number, uint64_t hi, uint64_t lo, uint64_t span)
{
	size_t bucket = number % BRAID_CONTEXT_BUCKETS;
	struct braid_context_entry *e;

	bucket_lock(bucket);
	e = entry_of(&braid_vthread_ctx_v1[bucket], number);
	if (e->thread != number && span)
		entry_assign(e, number);
	if (e->thread == number && span)
		record_fill(&e->record, hi, lo, span);
	else if (e->thread == number)
		entry_assign(e, 0);
	bucket_unlock(bucket);
}

/* ---- BraidContext ---- */

JNIEXPORT void JNICALL Java_braid_context_BraidContext_publish(JNIEnv *jni, jclass c, jlong number, jlong hi, jlong lo,
							       jlong span);

/* `number`: of a virtual thread; 0: the calling thread. Without a span it clears. */
JNIEXPORT void JNICALL Java_braid_context_BraidContext_publish(JNIEnv *jni, jclass c, jlong number, jlong hi, jlong lo,
							       jlong span)
{
	(void)jni;
	(void)c;
	if (number) {
		virtual_set((uint64_t)number, (uint64_t)hi, (uint64_t)lo, (uint64_t)span);
	} else if (span) {
		record_fill(&own, (uint64_t)hi, (uint64_t)lo, (uint64_t)span);
		*(struct braid_context_record *volatile *)&otel_thread_ctx_v1 = &own;
	} else {
		*(struct braid_context_record *volatile *)&otel_thread_ctx_v1 = NULL;
	}
}
