// SPDX-License-Identifier: Apache-2.0
/*
 * JVM events with stacks: the thread runs a BPF program on itself, which walks its stack and emits the event with it.
 * Where the kernel does not allow that, events go through the ring without stacks. All event kinds call it.
 */

#include "handlers.h"

#include "core/seccomp.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIAL_STACK_BYTES 16384

static _Atomic bool usable;
static _Atomic int tried_filters; /* the number of seccomp filters under which `usable` was found */

static struct {
	_Atomic uint64_t count;
	_Atomic uint64_t ns;
} counted[BRAID_JVM_EVENTS];

/* Runs the program: 0 or a negative errno. Inlined and without libc, whose function would add a frame to the stack. */
static inline __attribute__((always_inline)) long stack_request_run(int fd, struct braid_stack_request *request,
								    uint32_t *answer)
{
	union bpf_attr attr;
	register long result __asm__("rax") = SYS_bpf;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)fd;
	attr.test.ctx_in = (uint64_t)(uintptr_t)request;
	attr.test.ctx_size_in = sizeof(*request);
	__asm__ volatile("syscall"
			 : "+r"(result)
			 : "D"((long)BPF_PROG_TEST_RUN), "S"(&attr), "d"(sizeof(attr.test) + 0L)
			 : "rcx", "r11", "memory");
	*answer = attr.test.retval;
	return result;
}

/* ---- permission ---- */

/* A filter may kill the child. It must leave no core file, because it shares the JVM's memory. */
static int try_in_child(void *arg)
{
	const struct rlimit none = {0, 0};
	struct braid_stack_request nothing = {.event.kind = BRAID_JVM_EVENTS};
	uint32_t answer;
	long err;

	setrlimit(RLIMIT_CORE, &none);
	err = stack_request_run(*(int *)arg, &nothing, &answer);
	_exit(err == -EPERM || err == -EACCES || err == -ENOSYS);
}

/*
 * A filter may kill the process that makes a system call. So a child, which inherits the filters and shares the memory
 * while it runs, tries the call first. It sends no signal when it ends, and only this function waits for it.
 */
static bool child_survives(int fd)
{
	char *stack = malloc(TRIAL_STACK_BYTES);
	int status = -1;
	pid_t child;

	if (!stack)
		return false;
	child = clone(try_in_child, stack + TRIAL_STACK_BYTES, CLONE_VM | CLONE_VFORK, &fd);
	if (child > 0)
		while (waitpid(child, &status, __WCLONE) < 0 && errno == EINTR)
			;
	free(stack);
	return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The program refuses an event of no kind, but the kernel has run it. */
static long try_here(int fd)
{
	struct braid_stack_request nothing = {.event.kind = BRAID_JVM_EVENTS};
	uint32_t answer;

	return stack_request_run(fd, &nothing, &answer);
}

void stack_request_start(void)
{
	int fd = agent.link.stack_request_fd, filters = seccomp_filters();
	long err;

	atomic_store(&usable, false);
	if (fd < 0)
		return;
	atomic_store(&tried_filters, filters);
	if (filters && (filters < 0 || !child_survives(fd))) {
		publish_notice(BRAID_NOTICE_WARNING,
			       "a seccomp filter keeps this JVM from running BPF programs: its events have no stacks "
			       "(allow the bpf system call, in a container for instance by its own seccomp profile)");
		return;
	}
	err = try_here(fd);
	if (err) {
		publish_notice(BRAID_NOTICE_WARNING,
			       "the kernel does not let this JVM request stacks (%s): its events "
			       "have none",
			       strerror((int)-err));
		return;
	}
	atomic_store(&usable, true);
}

/*
 * A thread may have installed filters since, under which the call is untested: the thread's first stack request could
 * kill it. Filters cannot be removed, so their number shows it.
 */
static bool may_run(void)
{
	int saved = errno;
	bool same;

	if (!atomic_load_explicit(&usable, memory_order_acquire))
		return false;
	same = seccomp_filters() == atomic_load_explicit(&tried_filters, memory_order_relaxed);
	errno = saved;
	if (!same && atomic_exchange(&usable, false))
		publish_notice(
			BRAID_NOTICE_WARNING,
			"a seccomp filter was installed in this JVM during the recording: from then on its events "
			"have no stacks");
	return same;
}

/* ---- events ---- */

static bool record_publish(const struct braid_jvm_event *d, uint32_t tid,
			   bool (*way)(const struct iovec *parts, int count))
{
	struct braid_rec_jvm_event r = {
		.hdr = {.kind = BRAID_REC_JVM_EVENT, .tid = tid, .time_ns = clock_ns()},
		.event = *d,
	};

	return way((struct iovec[]){PART(&r, sizeof(r))}, 1);
}

void jvm_event_emit_with(struct braid_stack_request *request)
{
	uint32_t answer = 0;

	if (may_run() && stack_request_run(agent.link.stack_request_fd, request, &answer) == 0 && !answer)
		return;
	/* Not self_tid(), whose thread-local storage may call malloc: the caller may be inside of that. */
	record_publish(&request->event, (uint32_t)syscall(SYS_gettid), publish_event);
}

void jvm_event_emit(const struct braid_jvm_event *d)
{
	struct braid_stack_request request = {.event = *d};

	jvm_event_emit_with(&request);
}

bool stack_request_usable(void)
{
	return atomic_load_explicit(&usable, memory_order_acquire);
}

void jvm_event_request(const struct braid_jvm_event *d)
{
	struct braid_stack_request request = {.event = *d};
	uint32_t answer;

	if (may_run())
		(void)stack_request_run(agent.link.stack_request_fd, &request, &answer);
}

void stack_request_take(struct braid_stack_request *request)
{
	uint32_t answer;

	*request = (struct braid_stack_request){.stack = 0};
	if (may_run())
		(void)stack_request_run(agent.link.stack_request_fd, request, &answer);
}

void jvm_event_publish(const struct braid_jvm_event *d, uint32_t tid)
{
	record_publish(d, tid, publish_definition);
}

void jvm_event_count(enum braid_jvm_event_kind kind, uint64_t ns)
{
	atomic_fetch_add_explicit(&counted[kind].count, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&counted[kind].ns, ns, memory_order_relaxed);
}

void jvm_event_publish_counted(void)
{
	for (uint32_t kind = 1; kind < BRAID_JVM_EVENTS; kind++) {
		uint64_t count = atomic_exchange(&counted[kind].count, 0);
		struct braid_jvm_event d = {.kind = BRAID_JVM_COUNTED, .value = count, .number = kind};

		if (!count)
			continue;
		d.weight = atomic_exchange(&counted[kind].ns, 0);
		jvm_event_publish(&d, 0);
	}
}

void jvm_event_reset_counts(void)
{
	for (uint32_t kind = 0; kind < BRAID_JVM_EVENTS; kind++) {
		atomic_store(&counted[kind].count, 0);
		atomic_store(&counted[kind].ns, 0);
	}
}
