// SPDX-License-Identifier: Apache-2.0
/*
 * Burns CPU time under everything that makes native stacks hard to walk without CFI: big frames, saved registers, a
 * switch, recursion, a callback through libc, a function that is called only by its address. The names show whether a
 * stack is right.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OWN __attribute__((noinline))

volatile unsigned long sink;

OWN unsigned long burn(unsigned long n)
{
	for (int i = 0; i < 3000; i++) {
		n = n * 6364136223846793005UL + 1442695040888963407UL;
		n ^= n >> 13;
	}
	return n;
}

OWN unsigned long with_buffer(unsigned long n)
{
	char buffer[20000];

	memset(buffer, (int)n, sizeof(buffer));
	n = burn(n);
	for (size_t i = 0; i < sizeof(buffer); i += 64)
		n += (unsigned char)buffer[i];
	return n;
}

OWN unsigned long with_registers(unsigned long a, unsigned long b, unsigned long c, unsigned long d, unsigned long e,
				 unsigned long f, unsigned long g, unsigned long h)
{
	unsigned long first = burn(a + b), second = burn(c ^ d);

	return first * e + second * f + g * h;
}

OWN unsigned long with_alloca(unsigned long n)
{
	char *p = __builtin_alloca(64 + (n & 255));

	memset(p, 1, 64 + (n & 255));
	return burn(n) + (unsigned long)p[n & 63];
}

OWN unsigned long by_switch(unsigned long n)
{
	unsigned long l[8];

	for (unsigned long i = 0; i < 8; i++)
		l[i] = n + i;
	switch (n & 7) {
	case 0:
		return burn(l[0]) + 1;
	case 1:
		return with_buffer(l[1]) ^ 2;
	case 2:
		return with_registers(l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7]) + 3;
	case 3:
		l[3] += burn(l[2]);
		return l[3] + burn(l[5]) + 4;
	case 4:
		return burn(n) * 5;
	case 5:
		l[1] = burn(l[6]) * 6;
		return l[1] + burn(l[1]);
	case 6:
		return with_buffer(n * 7) + burn(n);
	default:
		if (n == 0x7777777)
			abort();
		return burn(n + 8);
	}
}

OWN unsigned long dive(int depth, unsigned long n)
{
	unsigned long kept[4] = {n, n + 1, n + 2, n + 3}, r;

	if (depth == 0)
		return by_switch(n);
	r = dive(depth - 1, n);
	return r + kept[r & 3];
}

static int compare(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	sink += burn(x & 7);
	return (x > y) - (x < y);
}

static unsigned long (*volatile by_address[2])(unsigned long) = {with_buffer, with_alloca};

OWN void run(double seconds)
{
	unsigned long v[32];
	double start = (double)clock() / CLOCKS_PER_SEC;

	for (unsigned long n = 0; (double)clock() / CLOCKS_PER_SEC < start + seconds; n++) {
		sink += dive(10, n);
		sink += by_address[n & 1](n);
		if (n % 64 == 0) {
			for (unsigned long i = 0; i < 32; i++)
				v[i] = burn(n + i);
			qsort(v, 32, sizeof(v[0]), compare);
		}
	}
}

int main(int argc, char **argv)
{
	run(argc > 1 ? atof(argv[1]) : 0.5);
	return 0;
}
