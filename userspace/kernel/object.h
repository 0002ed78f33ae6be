// SPDX-License-Identifier: Apache-2.0
/* The object with all BPF programs and maps, which is embedded in the program. */
#ifndef BRAID_KERNEL_OBJECT_H
#define BRAID_KERNEL_OBJECT_H

#include <stddef.h>

struct braid_bpf;
struct bpf_program;

/* Opens it once more: nothing of it is loaded yet. NULL, with errno; braid_bpf__destroy() frees it. */
struct braid_bpf *object_open(void);

/* Runs a program that is a system call, with *arg to read and write: what it returns, or a negative errno. */
int object_run(const struct bpf_program *p, void *arg, size_t size);

#endif
