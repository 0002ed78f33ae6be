// SPDX-License-Identifier: Apache-2.0
#include "pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE_PAGE (2UL << 20)

void pages_release(const void *from, const void *to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = ((uintptr_t)from + page - 1) & ~(page - 1), end = (uintptr_t)to & ~(page - 1);

	if (begin < end)
		(void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}

void *pages_alloc(size_t size)
{
	size_t rest = size % LARGE_PAGE;
	void *pages;

	if (size < LARGE_PAGE / 2 || size > SIZE_MAX - LARGE_PAGE)
		return malloc(size);
	if (rest >= LARGE_PAGE / 4) /* the last one is large as well */
		size += LARGE_PAGE - rest;
	if (posix_memalign(&pages, LARGE_PAGE, size))
		return NULL;
	(void)madvise(pages, size - size % LARGE_PAGE, MADV_HUGEPAGE);
	return pages;
}
