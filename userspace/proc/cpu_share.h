// SPDX-License-Identifier: Apache-2.0
/* How busy the CPUs are for a thread that only computes. heap_vm.c asks before it announces what a JVM will take. */
#ifndef BRAID_PROC_CPU_SHARE_H
#define BRAID_PROC_CPU_SHARE_H

/*
 * How many times its CPU time such a thread takes at present: 1 if it never waits for a CPU. It computes for a tenth of
 * a second.
 */
double cpu_share_factor(void);

#endif
