// SPDX-License-Identifier: Apache-2.0
/*
 * Files in which probes are set, and the places in them. A probe is an instruction of the kernel's in somebody's code:
 * it may only replace the beginning of an instruction, so what a file says of itself is checked. hits.c and jvm/ call
 * this.
 */
#ifndef BRAID_KERNEL_PROBE_FILE_H
#define BRAID_KERNEL_PROBE_FILE_H

#include "config/options.h"

/* Whether the file has a USDT probe whose place can have a probe: a nop that its function reaches. */
bool probe_file_usdt(int fd, const char *provider, const char *name);

/*
 * Opens the file of a hit event, and finds the place of a function in it. Returns the descriptor, or a negative errno
 * after reporting the failure. The file belongs to root or to the recording user, or all processes of -p to its owner.
 */
int probe_file_open(const struct probe_spec *spec, const struct record_options *o, uint64_t *offset);

#endif
