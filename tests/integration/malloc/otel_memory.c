// SPDX-License-Identifier: Apache-2.0
/*
 * An allocator that samples by itself, and reports what it samples by OpenTelemetry's USDT probes: otel_memory:alloc
 * with address, size and the bytes that it represents, and otel_memory:free with the address. The arguments are how
 * many, and how many times: it waits for a line before each of them, and at the end.
 */
#include <stdio.h>
#include <stdlib.h>

/* As <sys/sdt.h> makes them: location, base and semaphore, then names and arguments. */
#define PROBE(name, arguments, a, b, c)                                                                                \
	__asm__ volatile("990: nop\n"                                                                                  \
			 ".pushsection .note.stapsdt, \"\", \"note\"\n"                                                \
			 ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"        \
			 "993: .8byte 990b, 0, 0\n.asciz \"otel_memory\"\n.asciz \"" name "\"\n.asciz \"" arguments    \
			 "\"\n994: .balign 4\n.popsection"                                                             \
			 :                                                                                             \
			 : "D"(a), "S"(b), "d"(c))

__attribute__((noinline)) static void *allocate(size_t size)
{
	void *p = malloc(size);

	PROBE("alloc", "8@%%rdi 8@%%rsi 8@%%rdx", p, size, size * 1000);
	return p;
}

__attribute__((noinline)) static void give_back(void *p)
{
	PROBE("free", "8@%%rdi", p, p, p);
	free(p);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

/* A probe in the last function of a file is not found: its end is not known. */
__attribute__((noinline)) static int is_kept(int i)
{
	__asm__ volatile("" ::: "memory");
	return i % 4 == 0;
}

__attribute__((noinline)) static void make(int n)
{
	for (int i = 0; i < n; i++) {
		void *p = allocate(64 + (size_t)i);

		if (!is_kept(i))
			give_back(p);
	}
}

/* The next line, or the end, of standard input. */
static void wait_line(const char *word)
{
	int c;

	puts(word);
	fflush(stdout);
	do
		c = getchar();
	while (c != '\n' && c != EOF);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : 0;

	if (!rounds)
		make(n);
	for (int i = 0; i < rounds; i++) {
		wait_line(i ? "made" : "ready");
		make(n);
	}
	if (rounds)
		wait_line("made");
	return 0;
}
