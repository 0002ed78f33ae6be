// SPDX-License-Identifier: Apache-2.0
/* Calls functions whose returns are probed: one that calls itself, one whose calls take a while now and then. */
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

int depth(int n);
const char *slow(int n);

static char text[] = "some text"; /* written, so that it is in memory */

NOINLINE int depth(int n)
{
	int below = n ? depth(n - 1) : -1;

	usleep(2000);
	return below + 1;
}

NOINLINE const char *slow(int n)
{
	if (n % 5 == 0)
		usleep(30000);
	return n % 10 == 0 ? text : NULL;
}

static NOINLINE int calls(int n)
{
	return slow(n) != NULL;
}

int main(void)
{
	int sum = depth(4);

	text[0] = 's';
	for (int i = 0; i < 20; i++)
		sum += calls(i);
	return sum == 0;
}
