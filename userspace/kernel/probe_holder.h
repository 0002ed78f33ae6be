// SPDX-License-Identifier: Apache-2.0
/*
 * Lets this process close probes without waiting for the kernel. hits.c and jvm/ call it at the end of a recording.
 */
#ifndef BRAID_KERNEL_PROBE_HOLDER_H
#define BRAID_KERNEL_PROBE_HOLDER_H

/*
 * The kernel waits for all CPUs, one probe after the other, before it removes them: a minute on a busy machine. A child
 * waits instead. It holds the probes, which are disabled, and nothing else of this process. It exits when this process
 * closes the descriptor that is returned, after its own descriptors of the probes: the last to close them waits.
 * Negative: there is no child.
 */
int probe_holder_start(void);

#endif
