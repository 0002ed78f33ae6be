// SPDX-License-Identifier: Apache-2.0
/*
 * tick HZ [PID]: the floor of sampling, which every sampler pays: a clock event with an empty BPF program, on each CPU,
 * or on each current thread of the process. It prints "ready"; SIGUSR1 switches it on, SIGUSR2 off, SIGTERM ends it.
 */
#include "tick.skel.h"

#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS_MAX 4096

static int fds[EVENTS_MAX];
static int count;

static int fail(const char *what)
{
	fprintf(stderr, "tick: %s: %s\n", what, strerror(errno));
	return EXIT_FAILURE;
}

static int open_event(const struct tick_bpf *skel, pid_t tid, int cpu, unsigned long hz)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.freq = 1,
		.sample_freq = hz,
		.exclude_idle = 1,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno == ENODEV ? 0 : -1; /* offline */
	if (!bpf_program__attach_perf_event(skel->progs.on_tick, fd))
		return -1;
	fds[count++] = fd;
	/* Attaching enables it. */
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

static int open_on_cpus(const struct tick_bpf *skel, unsigned long hz)
{
	int err = 0;

	for (int cpu = 0; cpu < libbpf_num_possible_cpus() && count < EVENTS_MAX && !err; cpu++)
		err = open_event(skel, -1, cpu, hz);
	return err;
}

static int open_on_threads(const struct tick_bpf *skel, const char *pid, unsigned long hz)
{
	char path[64];
	struct dirent *e;
	DIR *tasks;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return -1;
	while (!err && count < EVENTS_MAX && (e = readdir(tasks)))
		if (e->d_name[0] != '.')
			err = open_event(skel, atoi(e->d_name), -1, hz);
	closedir(tasks);
	return err;
}

/* Switches until SIGTERM. */
static int obey(const sigset_t *set)
{
	int number;

	while (!sigwait(set, &number) && number != SIGTERM)
		for (int i = 0; i < count; i++)
			if (ioctl(fds[i], number == SIGUSR1 ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0))
				return fail("switching");
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	unsigned long hz = argc == 2 || argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	struct tick_bpf *skel;
	sigset_t set;

	if (!hz) {
		fputs("usage: tick HZ [PID]\n", stderr);
		return EXIT_FAILURE;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	skel = tick_bpf__open_and_load();
	if (!skel)
		return fail("loading");
	if (argc == 3 ? open_on_threads(skel, argv[2], hz) : open_on_cpus(skel, hz))
		return fail("perf event");
	puts("ready");
	fflush(stdout);
	return obey(&set);
}
