// SPDX-License-Identifier: Apache-2.0
/* Which eBPF programs belong to which kernel event. programs.c and hits.c call this. */
#ifndef BRAID_KERNEL_KERNEL_PROGRAMS_H
#define BRAID_KERNEL_KERNEL_PROGRAMS_H

#include <bpf/libbpf.h>

#include <braid/hit.h>

struct braid_bpf;

#define KERNEL_PROGRAMS 5

/* Stores the programs of an event, and returns their number. */
int kernel_programs(const struct braid_bpf *b, enum braid_kernel_event event,
		    struct bpf_program *programs[KERNEL_PROGRAMS]);

/* Decides, before the object is loaded, that programs of events that it does not record are not loaded. */
int kernel_programs_configure(const struct braid_bpf *b);

#endif
