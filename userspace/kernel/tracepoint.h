// SPDX-License-Identifier: Apache-2.0
/* Kernel tracepoints by name, CATEGORY:NAME, as perf has them. */
#ifndef BRAID_KERNEL_TRACEPOINT_H
#define BRAID_KERNEL_TRACEPOINT_H

/*
 * A perf event that makes the tracepoint fire: in all processes and on all CPUs, since it is the program attached to it
 * that is called then. Its descriptor, or a negative errno that was explained.
 */
int tracepoint_open(const char *event);

#endif
