// SPDX-License-Identifier: Apache-2.0
/* Keeps every tenth of its blocks, and prints how many it has allocated of each size; t_musl.sh builds it with musl. */
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 5000

void *keep(size_t size)
{
	void *volatile block = malloc(size);

	return block;
}

void drop(size_t size)
{
	void *volatile block = malloc(size);

	free(block);
}

int main(void)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		drop(100);
		if (i % 10 == 0)
			kept += keep(1000) != NULL;
	}
	printf("%u %u\n", kept, ROUNDS);
	return 0;
}
