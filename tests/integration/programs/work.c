// SPDX-License-Identifier: Apache-2.0
/* A library whose function FUNCTION burns CPU time, and a program that calls it until it reads a line. */
#include <poll.h>
#include <stdio.h>

void FUNCTION(void);

#ifdef LIBRARY
void FUNCTION(void)
{
	for (volatile int i = 0; i < 1000000; i++)
		;
}
#else
int main(void)
{
	struct pollfd p = {.events = POLLIN};

	puts("ready");
	fflush(stdout);
	while (!poll(&p, 1, 0))
		FUNCTION();
	return 0;
}
#endif
