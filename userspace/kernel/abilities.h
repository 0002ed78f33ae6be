/* SPDX-License-Identifier: Apache-2.0 */
/* What the running kernel has, and not every one. */
#ifndef BRAID_ABILITIES_H
#define BRAID_ABILITIES_H

#include "braid/cast_types.h"

#include <stdbool.h>
#include <stdint.h>

struct abilities {
	bool switch_end; /* the tracepoint: otherwise the end of system calls takes its place */
	bool casts;	 /* the programs can read its structures by plain loads (bpf_rdonly_cast(), Linux 6.2) */
	uint32_t cast_ids[BRAID_CAST_COUNT]; /* of the structures in its BTF */
	char types[32]; /* path of a file with those of its types that the programs name; "": there is none */
	bool queues;	/* it notes when threads are queued for a CPU, and the programs can see that */
};

/* Read once, from the kernel's BTF, and kept; all false where it has none. May be called by any thread. */
const struct abilities *kernel_abilities(void);

#endif
