// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* How the programs read structures of the kernel that the verifier does not follow by itself. */
#ifndef BRAID_KERNEL_READ_BPF_H
#define BRAID_KERNEL_READ_BPF_H

#include "kernel.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include <braid/cast_types.h>

/*
 * Set before loading: bpf_rdonly_cast() exists (Linux 6.2). With it the kernel's structures are read by plain loads,
 * which are 0 where there is no memory, and not by a call for each field.
 */
const volatile bool kernel_casts;
const volatile __u32 cast_ids[BRAID_CAST_COUNT]; /* of these structures in the kernel's BTF */

/* The loader puts the kernel's function here (userspace/kernel/sections.c). Without it, these calls are dead code. */
static void *(*const bpf_rdonly_cast)(void *object, __u32 type) = (void *)BRAID_CALL_RDONLY_CAST;

/*
 * `type` is the name of a structure. Its id does not come by CO-RE, which is shown copies of the kernel's types
 * (named_types.h).
 */
#define CAST(type, object) ((struct type *)bpf_rdonly_cast((void *)(object), cast_ids[BRAID_CAST_##type]))
#define READ(type, object, field)                                                                                      \
	(kernel_casts ? CAST(type, object)->field : BPF_CORE_READ((struct type *)(object), field))

/*
 * A field of a thread that is a pointer. For one that is loaded from a trusted thread, the verifier looks through all
 * names of the kernel's BTF for a list of trusted fields, each time it comes by (since Linux 6.3): a third of the time
 * of loading.
 */
#define TASK_POINTER(task, field) (kernel_casts ? CAST(task_struct, task)->field : (task)->field)

#endif
