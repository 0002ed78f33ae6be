// SPDX-License-Identifier: Apache-2.0
/* A program of somebody else's: says when its own code is not what it was. */
#include <stdio.h>
#include <unistd.h>

int victim_add(int a);

#ifdef LIBRARY
int victim_add(int a)
{
	return a + 0x11223344;
}
#else
int main(void)
{
	puts("ready");
	fflush(stdout);
	if (read(STDIN_FILENO, &(char){0}, 1) < 0)
		return 2;
	return victim_add(1) == 0x11223345 ? 0 : 3;
}
#endif
