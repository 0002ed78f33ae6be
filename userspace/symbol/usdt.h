// SPDX-License-Identifier: Apache-2.0
/* Where an ELF file says that its USDT probes are (<sys/sdt.h>, section .note.stapsdt). */
#ifndef BRAID_SYMBOL_USDT_H
#define BRAID_SYMBOL_USDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usdt_place {
	uint64_t address;
	const uint8_t *code; /* of the function that it lies in, from its beginning; NULL: no description covers it */
	size_t before;	     /* bytes of that in front of the place */
	size_t size;	     /* of the function's part that the file has */
	bool counter_fits;   /* it has no semaphore, or one in data that the program can write */
};

/* Calls back with each place of a probe until that is false. 0, or a negative errno; -ENOENT: there is none. */
int usdt_places(int fd, const char *provider, const char *name, bool (*fn)(void *ctx, const struct usdt_place *place),
		void *ctx);

#endif
