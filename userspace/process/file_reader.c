// SPDX-License-Identifier: Apache-2.0
#include "file_reader.h"

#include "symbol/symbol.h"
#include "unwind/table.h"
#include "util/clock.h"
#include "util/stint.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define END_NS 1000000000ULL

struct file_reader {
	pthread_t thread;
	int asked, done; /* eventfds */
	bool works;	 /* the job is the thread's */
	atomic_bool stop;
	struct file_job job;
};

static void job_run(struct file_job *job, const atomic_bool *stop)
{
	uint64_t began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	stint_begin(job->limit_ns, stop);
	if (job->symbols)
		job->err = symbols_open_elf(&job->found, job->fd, job->root, job->path);
	else
		job->err = unwind_table_get(&job->table, job->fd);
	stint_end();
	job->cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
}

void file_job_run(struct file_job *job)
{
	job_run(job, NULL);
}

static void file_job_drop(struct file_job *job)
{
	if (!job->err && job->symbols)
		symbols_free(job->found);
	else if (!job->err)
		unwind_table_free(job->table);
}

static void *read_files(void *ctx)
{
	struct file_reader *r = ctx;
	eventfd_t n;

	while (!eventfd_read(r->asked, &n) && !atomic_load(&r->stop)) {
		job_run(&r->job, &r->stop);
		if (eventfd_write(r->done, 1))
			break;
	}
	return NULL;
}

int file_reader_new(struct file_reader **out)
{
	struct file_reader *r = *out = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->asked = eventfd(0, EFD_CLOEXEC);
	r->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = r->asked < 0 || r->done < 0 ? -errno : -pthread_create(&r->thread, NULL, read_files, r);
	if (!err)
		return 0;
	if (r->asked >= 0)
		close(r->asked);
	if (r->done >= 0)
		close(r->done);
	free(r);
	*out = NULL;
	return err;
}

void file_reader_free(struct file_reader *r)
{
	struct file_job job;

	if (!r)
		return;
	atomic_store(&r->stop, true);
	if (file_reader_take(r, &job, END_NS))
		file_job_drop(&job);
	if (r->works) {
		pthread_detach(r->thread);
		return;
	}
	(void)eventfd_write(r->asked, 1);
	pthread_join(r->thread, NULL);
	close(r->asked);
	close(r->done);
	free(r);
}

int file_reader_fd(const struct file_reader *r)
{
	return r->done;
}

void file_reader_give(struct file_reader *r, const struct file_job *job)
{
	r->job = *job;
	r->works = true;
	(void)eventfd_write(r->asked, 1);
}

uint64_t file_reader_cpu_ns(const struct file_reader *r)
{
	clockid_t clock;

	return pthread_getcpuclockid(r->thread, &clock) ? 0 : clock_read_ns(clock);
}

bool file_reader_take(struct file_reader *r, struct file_job *job, uint64_t wait_ns)
{
	struct timespec wait = {.tv_sec = (time_t)(wait_ns / 1000000000), .tv_nsec = (long)(wait_ns % 1000000000)};
	struct pollfd p = {.fd = r->done, .events = POLLIN};
	eventfd_t n;

	if (!r->works || ppoll(&p, 1, &wait, NULL) <= 0 || eventfd_read(r->done, &n))
		return false;
	*job = r->job;
	r->works = false;
	return true;
}
