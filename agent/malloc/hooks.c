// SPDX-License-Identifier: Apache-2.0
/*
 * Called by all code of the process, on every thread, also while it is created, ends, or stands in a signal handler. A
 * hook calls the process's own function, and adds a comparison. Threads may be inside when the slots are put back, and
 * the program may have kept a hook's address as that of a function, so the hooks work for ever; the library stays.
 */
#include "hooks.h"

#include "countdown.h"
#include "sampled.h"

#include "core/glibc.h"
#include <errno.h>
#include <stdint.h>

#define UNLIKELY(condition) __builtin_expect(condition, 0)

static struct {
	void *(*malloc)(size_t size);
	void (*free)(void *p);
	void *(*calloc)(size_t count, size_t size);
	void *(*realloc)(void *p, size_t size);
	int (*posix_memalign)(void **to, size_t alignment, size_t size);
	void *(*aligned_alloc)(size_t alignment, size_t size);
	void *(*memalign)(size_t alignment, size_t size);
	void *(*valloc)(size_t size);
} own;

/* What reports a sample allocates nothing by itself, but libc may when it formats a notice. */
static __attribute__((noinline)) void take_sample(struct countdown *c, void *p, size_t size, enum malloc_function f)
{
	uint64_t interval = countdown_draw(c);
	int saved = errno;

	if (atomic_exchange_explicit(&c->sampling, true, memory_order_relaxed))
		return;
	malloc_sampled(p, size, interval, f);
	atomic_store_explicit(&c->sampling, false, memory_order_relaxed);
	errno = saved;
}

static inline void allocated(void *p, size_t size, enum malloc_function f)
{
	struct countdown *c = countdown_own();

	if (UNLIKELY(countdown_hits(c, size)) && p)
		take_sample(c, p, size, f);
}

static void *hook_malloc(size_t size)
{
	void *p = own.malloc(size);

	allocated(p, size, MALLOC_MALLOC);
	return p;
}

/* The address must have left the table when another thread gets it. */
static void hook_free(void *p)
{
	struct sampled freed;

	if (UNLIKELY(sampled_may_have(p)))
		(void)sampled_take(p, &freed);
	own.free(p);
}

static void *hook_calloc(size_t count, size_t size)
{
	void *p = own.calloc(count, size);

	if (p) /* else the product may be wrong */
		allocated(p, count * size, MALLOC_CALLOC);
	return p;
}

/* As if the old block was freed and a new one allocated. */
static void *hook_realloc(void *p, size_t size)
{
	struct sampled freed;
	bool was = UNLIKELY(sampled_may_have(p)) && sampled_take(p, &freed);
	void *moved = own.realloc(p, size);

	if (moved)
		allocated(moved, size, MALLOC_REALLOC);
	else if (was && size)
		(void)sampled_put(p, &freed);
	return moved;
}

static int hook_posix_memalign(void **to, size_t alignment, size_t size)
{
	int err = own.posix_memalign(to, alignment, size);

	if (!err)
		allocated(*to, size, MALLOC_POSIX_MEMALIGN);
	return err;
}

static void *hook_aligned_alloc(size_t alignment, size_t size)
{
	void *p = own.aligned_alloc(alignment, size);

	allocated(p, size, MALLOC_ALIGNED_ALLOC);
	return p;
}

static void *hook_memalign(size_t alignment, size_t size)
{
	void *p = own.memalign(alignment, size);

	allocated(p, size, MALLOC_MEMALIGN);
	return p;
}

static void *hook_valloc(size_t size)
{
	void *p = own.valloc(size);

	allocated(p, size, MALLOC_VALLOC);
	return p;
}

struct got_function malloc_functions[MALLOC_FUNCTIONS + 1] = {
#define HOOK(number, function) [number] = {.name = #function, .hook = (uintptr_t)hook_##function}
	HOOK(MALLOC_MALLOC, malloc),
	HOOK(MALLOC_FREE, free),
	HOOK(MALLOC_CALLOC, calloc),
	HOOK(MALLOC_REALLOC, realloc),
	HOOK(MALLOC_POSIX_MEMALIGN, posix_memalign),
	HOOK(MALLOC_ALIGNED_ALLOC, aligned_alloc),
	HOOK(MALLOC_MEMALIGN, memalign),
	HOOK(MALLOC_VALLOC, valloc),
#undef HOOK
};

bool hooks_open(void)
{
	struct got_function *f = malloc_functions;

	if (own.malloc && own.free)
		return true;
	for (size_t i = 0; i < MALLOC_FUNCTIONS; i++)
		f[i].own = (uintptr_t)dlsym(RTLD_DEFAULT, f[i].name);
	own.malloc = (void *(*)(size_t))f[MALLOC_MALLOC].own;
	own.free = (void (*)(void *))f[MALLOC_FREE].own;
	own.calloc = (void *(*)(size_t, size_t))f[MALLOC_CALLOC].own;
	own.realloc = (void *(*)(void *, size_t))f[MALLOC_REALLOC].own;
	own.posix_memalign = (int (*)(void **, size_t, size_t))f[MALLOC_POSIX_MEMALIGN].own;
	own.aligned_alloc = (void *(*)(size_t, size_t))f[MALLOC_ALIGNED_ALLOC].own;
	own.memalign = (void *(*)(size_t, size_t))f[MALLOC_MEMALIGN].own;
	own.valloc = (void *(*)(size_t))f[MALLOC_VALLOC].own;
	return own.malloc && own.free;
}
