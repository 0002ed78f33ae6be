// SPDX-License-Identifier: Apache-2.0
/*
 * A copy of this process as fork() makes one: its memory as it is at that moment, and one thread. Its end causes no
 * signal and no wait of the program sees it.
 */
#ifndef BRAID_AGENT_PROCESS_COPY_H
#define BRAID_AGENT_PROCESS_COPY_H

#include <braid/types.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Returns the copy's pid, in the copy 0, or a negative errno. No handler of pthread_atfork runs: it might wait for a
 * lock of a thread that a safepoint has stopped. So the copy must not use what such handlers protect.
 */
pid_t process_copy(void);

/*
 * In the copy: closes all descriptors, so that the program's files and connections end when the program ends them, and
 * leaves its signals alone. The copy ends with the thread that made it, is what the kernel ends first when memory runs
 * out, and leaves no core file.
 */
void process_copy_isolate(void);

/* In the copy: waits for its end. */
_Noreturn void process_copy_rest(void);

/* Ends the copy and waits until it is gone. */
void process_copy_end(pid_t copy);

/* True once it has ended by itself; it is not to be ended then. */
bool process_copy_ended(pid_t copy);

/*
 * How long making one is expected to take, and how much memory it would share. `page_ps`: for each page, as measured on
 * this machine; 0: not known. False: not known.
 */
bool process_copy_estimate(uint64_t page_ps, __u64 *ns, __u64 *bytes);

#endif
