// SPDX-License-Identifier: Apache-2.0
#include "sampler.h"

#include "config/counters.h"
#include "util/log.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns the descriptor or a negative errno. */
static int open_counter(const char *counter, int frequency_hz, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.freq = 1,
		.sample_freq = (uint64_t)frequency_hz,
		.exclude_idle = 1,
		.disabled = 1,
	};
	uint64_t config;
	uint32_t type;
	int fd;

	if (counter_find(counter, &type, &config)) {
		attr.type = type;
		attr.config = config;
	}
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int sampler_explain(int err, const char *counter, int frequency_hz, int cpu)
{
	if (err == -ENOENT || err == -EOPNOTSUPP)
		log_error("no '%s' event on this machine (virtual machines often have no PMU); use -e cpu-clock",
			  counter);
	else if (err == -EINVAL)
		log_error("cannot sample at %d Hz: the limit is sysctl kernel.perf_event_max_sample_rate",
			  frequency_hz);
	else if (err == -EACCES || err == -EPERM)
		log_error("cannot open a perf event on CPU %d: permission denied; run as root or with CAP_PERFMON",
			  cpu);
	else
		log_error("cannot open a perf event on CPU %d: %s", cpu, strerror(-err));
	return err;
}

int sampler_each_cpu(const char *counter, int frequency_hz, sampler_take_fn take, void *ctx)
{
	int n = libbpf_num_possible_cpus(), fd, err = 0;

	for (int cpu = 0; !err && cpu < n; cpu++) {
		fd = open_counter(counter, frequency_hz, cpu);
		if (fd == -ENODEV) /* the CPU is offline */
			continue;
		if (fd < 0)
			return sampler_explain(fd, counter, frequency_hz, cpu);
		err = take(ctx, cpu, fd);
		if (err)
			close(fd);
	}
	return err;
}

static int explain_attach(int err)
{
	log_error("cannot attach the sampling program to its event: %s; `braid doctor` shows what this kernel lacks",
		  strerror(-err));
	return err;
}

static int make_room(struct sampler *s)
{
	int n = libbpf_num_possible_cpus();

	s->fds = calloc((size_t)n, sizeof(*s->fds));
	s->links = calloc((size_t)n, sizeof(struct bpf_link *));
	return s->fds && s->links ? 0 : -ENOMEM;
}

struct attaching {
	struct sampler *sampler;
	const struct bpf_program *program;
};

/* The link owns the event. */
static int attach(void *ctx, int cpu, int fd)
{
	const struct attaching *a = ctx;
	struct sampler *s = a->sampler;

	(void)cpu;
	s->links[s->count] = bpf_program__attach_perf_event(a->program, fd);
	if (!s->links[s->count])
		return explain_attach(-errno);
	s->fds[s->count++] = fd;
	return 0;
}

int sampler_start_clock(struct sampler *s, const struct bpf_program *program, const struct record_options *o)
{
	struct attaching a = {.sampler = s, .program = program};
	int err = make_room(s);

	if (!err)
		err = sampler_each_cpu(o->event, o->frequency_hz, attach, &a);
	for (int i = 0; !err && i < s->count; i++)
		if (ioctl(s->fds[i], PERF_EVENT_IOC_ENABLE, 0))
			return sampler_explain(-errno, o->event, o->frequency_hz, i);
	return err;
}

int sampler_enable(const struct sampler *s, bool on)
{
	if (!s->count)
		return -ENOENT;
	for (int i = 0; i < s->count; i++)
		if (ioctl(s->fds[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0))
			return -errno;
	return 0;
}

void sampler_stop(struct sampler *s)
{
	for (int i = 0; i < s->count; i++)
		bpf_link__destroy(s->links[i]);
	free(s->fds);
	free(s->links);
	*s = (struct sampler){0};
}
