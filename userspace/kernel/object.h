// SPDX-License-Identifier: Apache-2.0
/* The object with all BPF programs and maps, which is embedded in the program. */
#ifndef BRAID_KERNEL_OBJECT_H
#define BRAID_KERNEL_OBJECT_H

struct braid_bpf;

/* Opens it once more: nothing of it is loaded yet. NULL, with errno; braid_bpf__destroy() frees it. */
struct braid_bpf *object_open(void);

#endif
