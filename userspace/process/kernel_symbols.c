// SPDX-License-Identifier: Apache-2.0
#include "kernel_symbols.h"

#include "symbol/symbol.h"
#include "util/quiet_thread.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct kernel_symbols {
	pthread_t thread;
	bool reading; /* the thread has not been joined; what follows is its own */
	struct symbols *symbols;
	int err;
};

static void *read_symbols(void *ctx)
{
	struct kernel_symbols *k = ctx;

	k->err = symbols_open_kernel(&k->symbols);
	if (k->err)
		k->symbols = NULL;
	return NULL;
}

struct kernel_symbols *kernel_symbols_begin(void)
{
	struct kernel_symbols *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->reading = !quiet_thread_start(&k->thread, read_symbols, k);
	if (!k->reading)
		(void)read_symbols(k);
	return k;
}

static void finish(struct kernel_symbols *k)
{
	if (k->reading)
		pthread_join(k->thread, NULL);
	k->reading = false;
}

int kernel_symbols_take(struct kernel_symbols *k, struct symbols **out)
{
	*out = NULL;
	if (!k)
		return -ENOMEM;
	finish(k);
	*out = k->symbols;
	k->symbols = NULL;
	return k->err;
}

void kernel_symbols_free(struct kernel_symbols *k)
{
	if (!k)
		return;
	finish(k);
	symbols_free(k->symbols);
	free(k);
}
