// SPDX-License-Identifier: Apache-2.0
/* Calls malloc and free by its global offset table. Linked twice, as calls and, with PAGES, as calls_pages. */
#include <stdlib.h>

void *take(size_t size);
void give(void *p);

#ifdef PAGES /* what the linker writes here becomes read-only, too: more than a page in front of the table */
extern void (*const pages[PAGES * 512])(void *);
#define FOUR give, give, give, give
#define SIXTY_FOUR FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR
void (*const pages[PAGES * 512])(void *) = {SIXTY_FOUR, SIXTY_FOUR, SIXTY_FOUR, SIXTY_FOUR};
#endif

void *take(size_t size)
{
	return malloc(size);
}

void give(void *p)
{
	free(p);
}
