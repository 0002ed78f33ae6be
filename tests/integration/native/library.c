// SPDX-License-Identifier: Apache-2.0
/* Two libraries of the same shape; NAME distinguishes their inner functions. */
void work(unsigned long n);
unsigned long NAME(unsigned long n);

static volatile unsigned long sink;

__attribute__((noinline)) unsigned long NAME(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		sum += i ^ sink;
	return sum;
}

void work(unsigned long n)
{
	for (int i = 0; i < 3; i++)
		sink += NAME(n);
}
