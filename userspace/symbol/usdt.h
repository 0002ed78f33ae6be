// SPDX-License-Identifier: Apache-2.0
/* USDT probes of an ELF file (<sys/sdt.h>, section .note.stapsdt). jvm/probes.c calls it; notes are not trusted. */
#ifndef BRAID_SYMBOL_USDT_H
#define BRAID_SYMBOL_USDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usdt_place {
	uint64_t address;
	const uint8_t *code; /* the start of the surrounding function; NULL: no frame description covers the place */
	size_t before;	     /* the code's bytes before the place */
	size_t size;	     /* the size of the function's part in the file */
	bool counter_fits;   /* it has no semaphore, or one in data that the program can write */
};

/*
 * Calls back with each place of a probe until the callback returns false. 0, or a negative errno; -ENOENT: the file has
 * no such probe.
 */
int usdt_places(int fd, const char *provider, const char *name, bool (*fn)(void *ctx, const struct usdt_place *place),
		void *ctx);

#endif
