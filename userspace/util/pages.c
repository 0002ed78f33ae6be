// SPDX-License-Identifier: Apache-2.0
#include "pages.h"

#include <stdint.h>
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

static size_t whole(size_t size)
{
	return (size + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
}

/* Aligned as large pages are: what was mapped before and behind it is given back. */
void *pages_map(size_t size)
{
	char *all, *begin;

	if (!size || size > SIZE_MAX - 2 * LARGE_PAGE)
		return NULL;
	size = whole(size);
	all = mmap(NULL, size + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return NULL;
	begin = (char *)whole((uintptr_t)all);
	if (begin > all)
		(void)munmap(all, (size_t)(begin - all));
	(void)munmap(begin + size, (size_t)(all + LARGE_PAGE - begin));
	(void)madvise(begin, size, MADV_HUGEPAGE);
	return begin;
}

void pages_unmap(void *pages, size_t size)
{
	(void)munmap(pages, whole(size));
}
