// SPDX-License-Identifier: Apache-2.0
/*
 * Stop-the-world pauses. These handlers run inside the pause: no JNI, none but callback-safe JVM TI, nothing that
 * allocates or locks; not even thread-local storage, whose first use on a thread allocates.
 */
#include "agent.h"

#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint64_t sequence; /* of the pause that began last; pauses never nest */

static void publish(uint16_t kind, uint64_t number)
{
	struct braid_rec_gc r = {
		.hdr = {.kind = kind, .tid = (uint32_t)syscall(SYS_gettid), .time_ns = clock_ns()},
		.sequence = number,
	};

	publish_event((struct iovec[]){PART(&r, sizeof(r))}, 1);
}

void JNICALL gc_on_start(jvmtiEnv *env)
{
	(void)env;
	if (!agent_enter())
		return;
	publish(BRAID_REC_GC_START, atomic_fetch_add_explicit(&sequence, 1, memory_order_relaxed) + 1);
	agent_leave();
}

void JNICALL gc_on_finish(jvmtiEnv *env)
{
	(void)env;
	if (!agent_enter())
		return;
	publish(BRAID_REC_GC_FINISH, atomic_load_explicit(&sequence, memory_order_relaxed));
	agent_leave();
}
