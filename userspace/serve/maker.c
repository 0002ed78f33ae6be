// SPDX-License-Identifier: Apache-2.0
#include "maker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NICE 10

int maker_open(struct maker *m)
{
	void *shared = mmap(NULL, sizeof(*m->result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*m = (struct maker){.fd = -1, .floor = -1};
	if (shared == MAP_FAILED)
		return -errno;
	m->result = shared;
	m->floor = open("/dev/null", O_RDWR | O_CLOEXEC);
	return m->floor < 0 ? -errno : 0;
}

static void limit(int resource, rlim_t to)
{
	struct rlimit now;

	if (getrlimit(resource, &now))
		return;
	now.rlim_cur = now.rlim_max < to ? now.rlim_max : to;
	setrlimit(resource, &now);
}

static _Noreturn void child_main(const struct maker *m, const struct data_request *request)
{
	sigset_t none;
	FILE *out;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "braid-page");
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit fails */
	limit(RLIMIT_CORE, 0);
#ifndef BRAID_SANITIZED /* which maps terabytes */
	limit(RLIMIT_DATA, MAKER_MEMORY);
#endif
	limit(RLIMIT_FSIZE, MAKER_OUTPUT);
	setpriority(PRIO_PROCESS, 0, NICE);
	if (dup2(m->fd, m->floor) < 0 || syscall(SYS_close_range, (long)m->floor + 1, (long)~0U, 0L) < 0)
		_exit(1);
	out = fdopen(m->floor, "w");
	m->result->err = out ? data_write(out, request, &m->result->facts) : -errno;
	_exit(0);
}

int maker_start(struct maker *m, const struct data_request *request)
{
	m->fd = memfd_create("braid-page", MFD_CLOEXEC);
	if (m->fd < 0)
		return -errno;
	*m->result = (struct maker_result){.err = -ENOMEM}; /* as long as it says nothing else */
	m->pid = fork();
	if (m->pid == 0)
		child_main(m, request);
	if (m->pid < 0) {
		m->pid = 0;
		close(m->fd);
		m->fd = -1;
		return -errno;
	}
	return 0;
}

static uint64_t time_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

bool maker_ended(struct maker *m, int *fd, struct maker_result *result)
{
	struct rusage used;

	if (!m->pid || wait4(m->pid, NULL, WNOHANG, &used) != m->pid)
		return false;
	m->pid = 0;
	*result = *m->result;
	result->cpu_ns = time_ns(&used.ru_utime) + time_ns(&used.ru_stime);
	result->memory_bytes = (uint64_t)used.ru_maxrss * 1024;
	*fd = m->fd;
	m->fd = -1;
	if (!result->err)
		return true;
	close(*fd);
	*fd = -1;
	return true;
}

void maker_close(struct maker *m)
{
	if (m->pid) {
		kill(m->pid, SIGKILL);
		waitpid(m->pid, NULL, 0);
	}
	if (m->fd >= 0)
		close(m->fd);
	if (m->floor >= 0)
		close(m->floor);
	if (m->result)
		munmap(m->result, sizeof(*m->result));
	*m = (struct maker){.fd = -1, .floor = -1};
}
