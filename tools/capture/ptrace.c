// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <dirent.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP_END_TRIES 100
#define PUSHF 0x9c
#define TRAP_FLAG 0x100L
#define STEP_PATIENCE_US 100000 /* an instruction that takes longer is a waiting system call */

static int regs_get(pid_t tid, struct host_regs *to)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &r))
		return -errno;
	*to = (struct host_regs){
		.pc = r.rip, .sp = r.rsp, .fp = r.rbp, .rax = r.rax, .rbx = r.rbx, .r10 = r.r10, .r13 = r.r13};
	return 0;
}

static bool is_trap_stop(int status)
{
	return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP;
}

int thread_stop(pid_t tid, struct host_regs *regs)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return -ESRCH;
	for (;;) {
		if (waitpid(tid, &status, __WALL) != tid) {
			if (errno == EINTR)
				continue;
			return -ESRCH;
		}
		if (!WIFSTOPPED(status))
			return -ESRCH;
		if (is_trap_stop(status))
			return regs_get(tid, regs);
		ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)WSTOPSIG(status));
	}
}

static bool trap_is_pending(pid_t tid)
{
	unsigned long long pending = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigPnd: %llx", &pending) == 1)
			break;
	if (f)
		fclose(f);
	return pending >> (SIGTRAP - 1) & 1;
}

/* An interrupted step may have left its trap pending, which would kill the thread once nobody traces it. */
static void steps_end(pid_t tid)
{
	int status = 0, tries = 0;

	do {
		if (ptrace(PTRACE_CONT, tid, NULL,
			   (void *)(uintptr_t)(WIFSTOPPED(status) && !is_trap_stop(status) &&
							       WSTOPSIG(status) != SIGTRAP
						       ? WSTOPSIG(status)
						       : 0)))
			return;
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
		if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
			return;
	} while ((!is_trap_stop(status) || trap_is_pending(tid)) && ++tries < STEP_END_TRIES);
}

/*
 * The kernel hides the flag when it set it itself: a visible one was loaded by the program, from what a step had
 * stored.
 */
static void trap_flag_lower(pid_t tid)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) || !(r.eflags & TRAP_FLAG))
		return;
	r.eflags &= ~(unsigned long long)TRAP_FLAG;
	ptrace(PTRACE_SETREGS, tid, NULL, &r);
}

void thread_go(pid_t tid, bool stepped)
{
	if (stepped) {
		steps_end(tid);
		trap_flag_lower(tid);
	}
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
}

static void on_alarm(int sig)
{
	(void)sig; /* makes waitpid return EINTR */
}

static void alarm_in(long us)
{
	struct itimerval t = {.it_value = {.tv_usec = us}, .it_interval = {.tv_usec = us}};
	struct sigaction sa = {.sa_handler = on_alarm};

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

/* A pushf that is stepped over stores the trap flag; its popf would set it after the stepping has ended. */
static void trap_flag_clear(pid_t tid, uint64_t sp)
{
	long flags;

	errno = 0;
	flags = ptrace(PTRACE_PEEKDATA, tid, (void *)(uintptr_t)sp, NULL);
	if (!errno)
		ptrace(PTRACE_POKEDATA, tid, (void *)(uintptr_t)sp, (void *)(flags & ~TRAP_FLAG));
}

int thread_step(pid_t tid, struct host_regs *regs, int *signal)
{
	bool pushes_flags =
		!*signal && (ptrace(PTRACE_PEEKTEXT, tid, (void *)(uintptr_t)regs->pc, NULL) & 0xff) == PUSHF;
	int status, given = *signal, err = 0;

	*signal = 0;
	if (ptrace(PTRACE_SINGLESTEP, tid, NULL, (void *)(uintptr_t)given))
		return -ESRCH;
	alarm_in(STEP_PATIENCE_US);
	while (waitpid(tid, &status, __WALL) != tid) {
		if (errno != EINTR) {
			err = -ESRCH;
			break;
		}
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	}
	alarm_in(0);
	if (err || !WIFSTOPPED(status))
		return -ESRCH;
	if (is_trap_stop(status))
		return -EAGAIN;
	if (WSTOPSIG(status) != SIGTRAP)
		*signal = WSTOPSIG(status);
	err = regs_get(tid, regs);
	if (!err && pushes_flags)
		trap_flag_clear(tid, regs->sp);
	return err ? -ESRCH : given != 0;
}

/* ---- choosing ---- */

#define THREADS 4096

static struct {
	pid_t tid;
	unsigned long long run_ns;
} threads[THREADS];
static size_t thread_count;

static unsigned long long *run_time(pid_t tid)
{
	for (size_t i = 0; i < thread_count; i++)
		if (threads[i].tid == tid)
			return &threads[i].run_ns;
	if (thread_count == THREADS)
		return NULL;
	threads[thread_count].tid = tid;
	threads[thread_count].run_ns = 0;
	return &threads[thread_count++].run_ns;
}

static unsigned long long read_run_time(pid_t pid, pid_t tid)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	if (f)
		fclose(f);
	return ns;
}

static bool has_name(pid_t pid, pid_t tid, const char *name)
{
	char path[64], comm[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	f = fopen(path, "r");
	if (f && !fgets(comm, sizeof(comm), f))
		comm[0] = '\0';
	if (f)
		fclose(f);
	return strncmp(comm, name, strlen(name)) == 0;
}

/* A thread that waits in the kernel cannot be stepped. */
static bool is_running(pid_t pid, pid_t tid)
{
	char path[64], line[512];
	const char *state = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f))
		state = strrchr(line, ')');
	if (f)
		fclose(f);
	return state && strncmp(state, ") R", 3) == 0;
}

/* A thread is selected with a probability equal to its share of the time. */
pid_t thread_choose(pid_t pid, const char *name, bool running)
{
	unsigned long long total = 0;
	char path[64];
	struct dirent *e;
	pid_t chosen = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((e = readdir(dir))) {
		pid_t tid = (pid_t)atoi(e->d_name);
		unsigned long long now, *last = tid > 0 ? run_time(tid) : NULL, used;

		if (!last || (name && !has_name(pid, tid, name)))
			continue;
		now = read_run_time(pid, tid);
		used = now > *last ? now - *last : 0;
		*last = now;
		total += used;
		if (used && (!running || is_running(pid, tid)) && (unsigned long long)random() % total < used)
			chosen = tid;
	}
	closedir(dir);
	return chosen;
}
