// SPDX-License-Identifier: Apache-2.0
#include "pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void pages_release(const void *from, const void *to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = ((uintptr_t)from + page - 1) & ~(page - 1), end = (uintptr_t)to & ~(page - 1);

	if (begin < end)
		(void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}
