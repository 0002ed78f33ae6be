// SPDX-License-Identifier: Apache-2.0
/*
 * Heap dumps that the JVM writes itself, with its own dumper, while the program stands still. heap_dump.c calls this.
 */
#ifndef BRAID_CLI_HEAP_VM_H
#define BRAID_CLI_HEAP_VM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "heapdump/output.h"

struct heap_vm {
	pid_t pid;
	uint64_t used_bytes;  /* of the heap; 0: not known */
	uint64_t expected_ns; /* as the agent expects; 0: not known */
	uint64_t max_pause_ns;
	bool live; /* garbage is collected first */
	struct output *output;
	uint64_t bytes, spent_ns; /* of the dump, afterwards */
	bool has_stood_still;
	uint64_t stood_still_ns; /* meanwhile, also for other reasons */
};

/* Says how long it is expected to take, and has it written to `output`. False, with the reason printed: it is not. */
bool heap_vm_dump(struct heap_vm *v);

#endif
