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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define SPINS 100 /* the holder of a lock has a few stores to make, unless it was preempted */

/* ---- threads ---- */

/* In front of all that begins with zeros, so the record is beside it: a recorder reads both at once. */
__attribute__((visibility("default"), section(".tdata"))) __thread struct braid_context_record *otel_thread_ctx_v1;

/* The attributes follow the record without a gap. */
static __thread struct {
	struct braid_context_record record;
	__u8 attributes[BRAID_CONTEXT_ATTRIBUTES];
} own;

static void record_invalidate(struct braid_context_record *r)
{
	*(volatile __u8 *)&r->valid = 0;
	atomic_signal_fence(memory_order_seq_cst);
}

/*
 * The reader interrupts the thread, so only the compiler must keep the order; a record of a virtual thread's can be
 * changed by another thread, and readers rely on this CPU's order of stores then.
 */
static void record_fill(struct braid_context_record *r, uint64_t hi, uint64_t lo, uint64_t span)
{
	const uint64_t trace[] = {htobe64(hi), htobe64(lo)};
	const uint64_t id = htobe64(span);

	record_invalidate(r);
	memcpy(r->trace, trace, sizeof(trace));
	memcpy(r->span, &id, sizeof(id));
	r->flags = 0;
	atomic_signal_fence(memory_order_seq_cst);
	*(volatile __u8 *)&r->valid = span && (hi | lo);
}

/* Copies attributes as the record has them; NULL: none. Returns their size. */
static size_t attributes_copy(JNIEnv *jni, jbyteArray from, __u8 to[BRAID_CONTEXT_ATTRIBUTES])
{
	jsize bytes = from ? (*jni)->GetArrayLength(jni, from) : 0;

	if (!bytes || bytes > BRAID_CONTEXT_ATTRIBUTES)
		return 0;
	(*jni)->GetByteArrayRegion(jni, from, 0, bytes, (jbyte *)to);
	return (size_t)bytes;
}

/* Sets the calling thread's request and its attributes. */
static void thread_set(JNIEnv *jni, uint64_t hi, uint64_t lo, uint64_t span, jbyteArray attributes)
{
	record_invalidate(&own.record);
	own.record.attrs_size = (__u16)attributes_copy(jni, attributes, own.attributes);
	record_fill(&own.record, hi, lo, span);
	*(struct braid_context_record *volatile *)&otel_thread_ctx_v1 = &own.record;
}

/* ---- virtual threads ---- */

__attribute__((visibility("default"))) struct braid_context_table braid_vthread_ctx_v1;
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
	record_invalidate(&e->record);
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

/* `text`: `bytes` of attributes, which the caller has copied, because nothing else can be done with a bucket locked. */
static void virtual_set(uint64_t number, uint64_t hi, uint64_t lo, uint64_t span, const __u8 *text, size_t bytes)
{
	struct braid_context_table *t = &braid_vthread_ctx_v1;
	size_t bucket = number % BRAID_CONTEXT_BUCKETS;
	struct braid_context_entry *e;

	bucket_lock(bucket);
	e = entry_of(&t->buckets[bucket], number);
	if (e->thread != number && span)
		entry_assign(e, number);
	if (e->thread == number && span) {
		record_invalidate(&e->record);
		memcpy(t->attributes[e - t->buckets[bucket].entries][bucket], text, bytes);
		e->record.attrs_size = (__u16)bytes;
		record_fill(&e->record, hi, lo, span);
	} else if (e->thread == number)
		entry_assign(e, 0);
	bucket_unlock(bucket);
}

/* ---- the names of attributes ---- */

#define MESSAGE_MAX (1 << 15)

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

/* Whether the program has one already: a process has one only. */
static bool process_context_exists(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char *line = NULL;
	bool found = false;
	size_t size = 0;

	while (maps && !found && getline(&line, &size, maps) > 0)
		found = strstr(line, BRAID_PROCESS_CONTEXT) != NULL;
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

/* NULL: it exists, or cannot be made. */
static struct braid_process_context *process_context_map(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct braid_process_context *p;
	int fd;

	if (process_context_exists())
		return NULL;
	fd = memfd_create(BRAID_PROCESS_CONTEXT, MFD_CLOEXEC);
	if (fd >= 0 && ftruncate(fd, (off_t)page)) {
		close(fd);
		return NULL;
	}
	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED)
		return NULL;
	(void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, page, BRAID_PROCESS_CONTEXT); /* the memfd names it, too */
	(void)madvise(p, page, MADV_DONTFORK);					       /* a child is another process */
	return p;
}

/* The caller has a lock. */
static bool process_context_publish(JNIEnv *jni, jbyteArray message)
{
	static uint8_t messages[2][MESSAGE_MAX];
	static struct braid_process_context *p;
	static uint64_t last_ns;
	jsize bytes = (*jni)->GetArrayLength(jni, message);
	uint8_t *to = messages[p && p->payload == (uintptr_t)messages[0]];
	struct timespec now;
	uint64_t now_ns;

	if (bytes > MESSAGE_MAX || (!p && !(p = process_context_map())))
		return false;
	(*jni)->GetByteArrayRegion(jni, message, 0, bytes, (jbyte *)to);
	clock_gettime(CLOCK_BOOTTIME, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	last_ns = now_ns > last_ns ? now_ns : last_ns + 1;
	__atomic_store_n(&p->published_ns, 0, __ATOMIC_SEQ_CST);
	p->version = BRAID_PROCESS_CONTEXT_VERSION;
	p->payload_bytes = (uint32_t)bytes;
	p->payload = (uintptr_t)to;
	memcpy(p->signature, BRAID_PROCESS_CONTEXT, sizeof(p->signature));
	__atomic_store_n(&p->published_ns, last_ns, __ATOMIC_SEQ_CST);
	return true;
}

/* ---- BraidContext ---- */

JNIEXPORT void JNICALL Java_braid_context_BraidContext_publish(JNIEnv *jni, jclass c, jlong number, jlong hi, jlong lo,
							       jlong span, jbyteArray attributes);

/* `number`: of a virtual thread; 0: the calling thread. Without a span it clears. */
JNIEXPORT void JNICALL Java_braid_context_BraidContext_publish(JNIEnv *jni, jclass c, jlong number, jlong hi, jlong lo,
							       jlong span, jbyteArray attributes)
{
	__u8 copy[BRAID_CONTEXT_ATTRIBUTES];

	(void)c;
	if (number)
		virtual_set((uint64_t)number, (uint64_t)hi, (uint64_t)lo, (uint64_t)span, copy,
			    attributes_copy(jni, attributes, copy));
	else if (span)
		thread_set(jni, (uint64_t)hi, (uint64_t)lo, (uint64_t)span, attributes);
	else
		*(struct braid_context_record *volatile *)&otel_thread_ctx_v1 = NULL;
}

JNIEXPORT jboolean JNICALL Java_braid_context_Attributes_publish(JNIEnv *jni, jclass c, jbyteArray message);

JNIEXPORT jboolean JNICALL Java_braid_context_Attributes_publish(JNIEnv *jni, jclass c, jbyteArray message)
{
	(void)c;
	return process_context_publish(jni, message);
}
