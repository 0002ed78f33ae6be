// SPDX-License-Identifier: Apache-2.0
/* Runs programs that iterate over all threads of the machine. offcpu.c and programs.c call this. */
#ifndef BRAID_KERNEL_ITERATOR_H
#define BRAID_KERNEL_ITERATOR_H

#include <stddef.h>

struct bpf_program;

typedef void (*iterator_fn)(void *ctx, const void *record);

#define ITERATOR_RECORD_MAX 1024

/*
 * Runs the program for every thread, and calls back with every record of `size` bytes that it writes. 0 or a negative
 * errno.
 */
int iterator_run(struct bpf_program *program, size_t size, iterator_fn fn, void *ctx);

#endif
