// SPDX-License-Identifier: Apache-2.0
#include "vm_threads.h"

#include "hotspot_memory.h"
#include "vm_tables.h"

#define PIECE 2048U /* of a stack; divides a page */
#define STACK_MAX                                                                                                      \
	16384U /* of a thread that sleeps; those of the VM have some hundred bytes, and at most 1 KiB is left free */
#define TRIED_MAX 256U

_Static_assert(VM_THREAD_NAME_BYTES == VM_STRING_MAX, "a name is read as a string of the tables");

struct search {
	const struct java_heap *heap;
	struct memory memory;
	uint32_t tid;
	uint64_t tried[TRIED_MAX];
	size_t count;
};

static bool is_thread(const struct search *s, uint64_t address)
{
	const struct braid_layout *l = &s->heap->layout;
	uint64_t os_thread;
	uint32_t tid;

	return !memory_word(&s->memory, address + l->thread_osthread, &os_thread) &&
	       !memory_read(&s->memory, os_thread + l->osthread_tid, &tid, sizeof(tid)) && tid == s->tid;
}

/* A stack has the same address several times. */
static bool is_new(struct search *s, uint64_t address)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->tried[i] == address)
			return false;
	s->tried[s->count++] = address;
	return true;
}

/* The first of these words that is the address of the Thread; 0: none. Those of the stack itself are not. */
static uint64_t find_in(struct search *s, const uint64_t *words, size_t count, uint64_t stack)
{
	for (size_t i = 0; i < count && s->count < TRIED_MAX; i++) {
		uint64_t at = words[i];

		if (at % sizeof(at) || at < VM_PAGE || at >= ADDRESS_END || at - stack < STACK_MAX || !is_new(s, at))
			continue;
		if (is_thread(s, at))
			return at;
	}
	return 0;
}

static uint64_t find(struct search *s, uint64_t stack)
{
	uint64_t words[PIECE / sizeof(uint64_t)], found = 0;

	for (uint64_t at = stack, size; !found && at - stack < STACK_MAX && s->count < TRIED_MAX; at += size) {
		size = PIECE - at % PIECE;
		if (memory_read(&s->memory, at, words, size))
			break;
		found = find_in(s, words, size / sizeof(*words), stack);
	}
	return found;
}

bool vm_thread_find(const struct java_heap *h, uint64_t stack, uint32_t tid, char name[VM_THREAD_NAME_BYTES])
{
	pid_t pid = h->pid;
	const struct vm_tables strings = {.read = hotspot_read_process, .ctx = &pid};
	struct search s = {.heap = h, .memory = {.read = hotspot_read_process, .ctx = &pid}, .tid = tid};
	uint64_t thread, text;

	*name = '\0';
	if (!tid || stack % sizeof(uint64_t) || !h->layout.thread_osthread || !h->layout.osthread_tid)
		return false;
	thread = find(&s, stack);
	if (thread && h->vm_thread_name && !memory_word(&s.memory, thread + h->vm_thread_name, &text) &&
	    (text >= ADDRESS_END || !vm_string_read(&strings, text, name)))
		*name = '\0';
	return thread;
}
