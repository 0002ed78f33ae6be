// SPDX-License-Identifier: Apache-2.0
/*
 * Calls a function as often as its argument says, with the numbers from 0 on, and passes a USDT probe as often that has
 * the same number as its argument, and one with a semaphore. Then it calls another function with text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

/* As <sys/sdt.h> makes them: location, base and semaphore, then names and arguments. */
#define PROBE(name, semaphore, arguments, value)                                                                       \
	__asm__ volatile("990: nop\n"                                                                                  \
			 ".pushsection .note.stapsdt, \"\", \"note\"\n"                                                \
			 ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"        \
			 "993: .8byte 990b, 0, " semaphore "\n.asciz \"hit\"\n.asciz \"" name "\"\n"                   \
			 ".asciz \"" arguments "\"\n994: .balign 4\n.popsection"                                       \
			 :                                                                                             \
			 : "D"(value))

__attribute__((section(".probes"), used)) volatile unsigned short hit_semaphore;

int hit_function(int n);

NOINLINE int hit_function(int n)
{
	PROBE("plain", "0", "-4@%%edi", n);
	if (hit_semaphore)
		PROBE("counted", "hit_semaphore", "-4@%%edi", n);
	return n + 1;
}

int hit_named(const char *name, long number);

NOINLINE int hit_named(const char *name, long number)
{
	__asm__ volatile("" : : "r"(name), "r"(number) : "memory");
	return 1;
}

static NOINLINE int calls(int n)
{
	return hit_function(n) * 2;
}

int main(int argc, char **argv)
{
	char name[8] = "";
	volatile int sum = 0;

	if (argc > 2 && getchar() == EOF)
		return 2;
	for (int i = 0, n = argc > 1 ? atoi(argv[1]) : 0; i < n; i++)
		sum += calls(i);
	memcpy(name, "a \"b\"\n", 7);
	sum += hit_named(name, -7) + hit_named(NULL, 0x7fff00000000);
	return 0;
}
