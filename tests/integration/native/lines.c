// SPDX-License-Identifier: Apache-2.0
/* Its hot line, and the inlining of the function with it, are in the debug information. */
#include <stdlib.h>

static volatile unsigned long sink;

static inline __attribute__((always_inline)) void inlined(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * i; /* HOT */
}

__attribute__((noipa)) static void outer(unsigned long n)
{
	inlined(n); /* CALL */
	sink++;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 300); i++)
		outer(1000000);
	return 0;
}
