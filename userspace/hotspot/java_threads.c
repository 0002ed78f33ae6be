// SPDX-License-Identifier: Apache-2.0
#include "java_threads.h"

#include "objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOMENT_TRIES 20U
#define MOMENT_WAIT_NS 2000000L

static struct braid_walk *reader(const struct java_heap *h)
{
	return objects_reader(&h->pid);
}

static uint64_t word_at(const struct java_heap *h, uint64_t address)
{
	uint64_t word;

	return walk_read(reader(h), &word, sizeof(word), address) ? 0 : word;
}

size_t java_threads_list(const struct java_heap *h, uint64_t *to, size_t room)
{
	uint64_t list = word_at(h, h->thread_list), at;
	uint32_t length = 0;
	size_t count = 0;

	if (!h->list_threads) {
		for (; list && count < room; list = word_at(h, list + h->thread_next))
			to[count++] = list;
		return count;
	}
	at = list ? word_at(h, list + h->list_threads) : 0;
	if (!at || walk_read(reader(h), &length, sizeof(length), list + h->list_length))
		return 0;
	count = length < room ? length : room;
	return count && !walk_read(reader(h), to, (uint32_t)(count * sizeof(*to)), at) ? count : 0;
}

static uint32_t tid_of(const struct java_heap *h, uint64_t java_thread)
{
	uint64_t os_thread = word_at(h, java_thread + h->layout.thread_osthread);
	uint32_t tid;

	if (!os_thread || walk_read(reader(h), &tid, sizeof(tid), os_thread + h->layout.osthread_tid))
		return 0;
	return tid;
}

/* A String's characters: byte[] with a coder, or char[] before 9. */
static void name_read(const struct java_heap *h, uint64_t string, struct java_thread *to)
{
	const struct braid_objects *o = &h->layout.objects;
	uint64_t array = java_heap_field(h, string, o->string_value ?: h->string_chars), elements;
	uint8_t units[JAVA_THREAD_NAME_BYTES], coder = 1;
	uint32_t length;

	to->name_length = 0;
	if (!array || !java_heap_array(h, array, &length, &elements) ||
	    (o->string_value && o->string_coder &&
	     walk_read(reader(h), &coder, sizeof(coder), string + o->string_coder)))
		return;
	length = length < sizeof(units) ? length : sizeof(units);
	if (!o->string_value)
		length = length < sizeof(units) / 2 ? length * 2 : sizeof(units);
	if (!walk_read(reader(h), units, length, elements))
		to->name_length = utf8_put_units(to->name, units, length, coder != 0);
}

/*
 * The thread's name, by way of its Thread object. What a collector that moves objects while threads run has left behind
 * is no object. False: the object belongs to another thread, so this one has ended.
 */
static bool object_read(const struct java_heap *h, struct java_thread *t)
{
	const struct braid_objects *o = &h->layout.objects;
	uint64_t object = object_of_thread(reader(h), &h->layout, t->address + o->carrier);

	t->name_length = 0;
	if (!object)
		return true;
	if (word_at(h, object + o->thread_eetop) != t->address)
		return false;
	name_read(h, java_heap_field(h, object, o->thread_name), t);
	return true;
}

/*
 * Reads the name of a thread. What the heap says is true if no collection has moved anything meanwhile; without such a
 * moment it has no name. *tries is what all threads of the list may spend on waiting for it. False: there is no such
 * thread.
 */
static bool name_of(const struct java_heap *h, uint32_t *tries, struct java_thread *to)
{
	const struct timespec pause = {.tv_nsec = MOMENT_WAIT_NS};
	struct java_moment before, after;

	for (;;) {
		bool still = java_heap_now(h, &before), there = object_read(h, to);

		if (still && java_heap_now(h, &after) && java_moment_same(&before, &after))
			return there;
		to->name_length = 0;
		if (!*tries)
			return true;
		--*tries;
		nanosleep(&pause, NULL);
	}
}

/* All tids at once: those of a list are far more than the names that are wanted. */
struct listed {
	uint64_t java_thread, os_thread;
	uint32_t tid;
};

static void tids_read(const struct java_heap *h, struct listed *list, struct java_read *reads, size_t count)
{
	for (size_t i = 0; i < count; i++)
		reads[i] = (struct java_read){.address = list[i].java_thread + h->layout.thread_osthread,
					      .to = &list[i].os_thread,
					      .size = sizeof(list[i].os_thread)};
	java_heap_read(h, reads, count);
	for (size_t i = 0; i < count; i++)
		reads[i] = (struct java_read){.address = list[i].os_thread + h->layout.osthread_tid,
					      .to = &list[i].tid,
					      .size = reads[i].ok ? sizeof(list[i].tid) : 0};
	java_heap_read(h, reads, count);
	for (size_t i = 0; i < count; i++)
		if (!reads[i].ok)
			list[i].tid = 0;
}

void java_threads_some(const struct java_heap *h, bool (*wanted)(void *ctx, uint32_t tid),
		       void (*fn)(void *ctx, const struct java_thread *t), void *ctx)
{
	uint64_t *addresses = malloc(JAVA_THREADS_NAMED * sizeof(*addresses));
	size_t count = addresses ? java_threads_list(h, addresses, JAVA_THREADS_NAMED) : 0;
	struct listed *list = calloc(count ?: 1, sizeof(*list));
	struct java_read *reads = calloc(count ?: 1, sizeof(*reads));
	struct java_thread t;
	uint32_t tries = 0;

	if (!list || !reads)
		count = 0;
	for (size_t i = 0; i < count; i++)
		list[i].java_thread = addresses[i];
	tids_read(h, list, reads, count);
	for (size_t i = 0; i < count; i++) {
		t.address = list[i].java_thread;
		t.tid = list[i].tid;
		if (t.tid && wanted(ctx, t.tid) && name_of(h, &tries, &t))
			fn(ctx, &t);
	}
	free(reads);
	free(list);
	free(addresses);
}

int java_threads_each(const struct java_heap *h, void (*fn)(void *ctx, const struct java_thread *t), void *ctx)
{
	uint64_t *list = malloc(JAVA_THREADS_MAX * sizeof(*list));
	uint32_t tries = MOMENT_TRIES;
	struct java_thread t;
	size_t count;
	int read = 0;

	if (!list)
		return -ENOMEM;
	count = java_threads_list(h, list, JAVA_THREADS_MAX);
	for (size_t i = 0; i < count; i++) {
		t.address = list[i];
		t.tid = tid_of(h, list[i]);
		if (!t.tid || !name_of(h, &tries, &t))
			continue;
		fn(ctx, &t);
		read++;
	}
	free(list);
	return read ?: -ENOENT;
}
