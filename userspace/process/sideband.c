// SPDX-License-Identifier: Apache-2.0
#include "sideband.h"

#include "processes.h"
#include "util/log.h"
#include "util/vec.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_PAGES 128

struct sideband_cpu {
	struct source source; /* its fd is the perf event */
	struct perf_event_mmap_page *page;
	uint64_t lost; /* records, as far as the ring has said */
};

/* A record copied out of its ring. Records of all rings are applied in the order of time. */
struct sideband_record {
	uint64_t time_ns;
	uint32_t at; /* in `bytes` */
};

/* The process that most records of full rings were about. */
struct sideband_flood {
	uint32_t pid;
	size_t own, records; /* of it, and of all */
};

struct sideband {
	struct sink *sink;
	struct sources *sources;
	struct processes *processes;
	struct sideband_cpu *cpus;
	int cpu_count;
	size_t page_size;
	VEC(uint8_t) bytes;
	VEC(struct sideband_record) records;
	bool full; /* a ring was, at the last read */
	struct sideband_flood flood;
	uint32_t said; /* the pid that was last reported */
};

/* Follows every record with sample_id_all, in the form of the sample_type below. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, file_offset;
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint32_t protection, flags;
	char path[];
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct task_record {
	struct perf_event_header header;
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time_ns;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

static void copy_out(const uint8_t *data, uint64_t size, uint64_t at, void *to, size_t bytes)
{
	size_t first = size - (at & (size - 1));

	if (first > bytes)
		first = bytes;
	memcpy(to, data + (at & (size - 1)), first);
	memcpy((uint8_t *)to + first, data, bytes - first);
}

static void sideband_keep(struct sideband *sb, const uint8_t *data, uint64_t ring, uint64_t tail,
			  const struct perf_event_header *h)
{
	struct sample_id id;
	uint8_t *to;

	if (h->size < sizeof(*h) + sizeof(id))
		return;
	if (VEC_RESERVE(&sb->bytes, h->size + 8U) || VEC_RESERVE(&sb->records, 1)) {
		sink_loss(sb->sink, 0, "sideband", "record", 1);
		processes_missed(sb->processes);
		return;
	}
	to = sb->bytes.at + sb->bytes.count;
	copy_out(data, ring, tail, to, h->size);
	memcpy(&id, to + h->size - sizeof(id), sizeof(id));
	sb->records.at[sb->records.count++] =
		(struct sideband_record){.time_ns = id.time_ns, .at = (uint32_t)sb->bytes.count};
	sb->bytes.count += (h->size + 7U) & ~7U;
}

static uint64_t lost_of(const uint8_t *data, uint64_t ring, uint64_t at, const struct perf_event_header *h)
{
	struct lost_record r;

	if (h->type != PERF_RECORD_LOST || h->size < sizeof(r))
		return 0;
	copy_out(data, ring, at, &r, sizeof(r));
	return r.lost;
}

static void read_cpu(struct sideband *sb, struct sideband_cpu *cpu)
{
	const uint8_t *data = (const uint8_t *)cpu->page + sb->page_size;
	uint64_t ring = RING_PAGES * sb->page_size, tail = cpu->page->data_tail;
	/* Pairs with the release in perf_output_put_handle(): records before the head are whole. */
	uint64_t head = __atomic_load_n(&cpu->page->data_head, __ATOMIC_ACQUIRE);
	struct perf_event_header h;

	sb->full |= head - tail > ring / 4 * 3;
	while (tail < head) {
		copy_out(data, ring, tail, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - tail)
			break;
		sideband_keep(sb, data, ring, tail, &h);
		cpu->lost += lost_of(data, ring, tail, &h);
		tail += h.size;
	}
	/* The copies are complete before the kernel may overwrite them. */
	__atomic_store_n(&cpu->page->data_tail, head, __ATOMIC_RELEASE);
}

/* ---- floods ---- */

/* The process that a record is about, and whose doing it is. */
static uint32_t pid_of(const struct perf_event_header *h)
{
	const struct task_record *task = (const void *)h;

	return h->type == PERF_RECORD_LOST ? 0 : h->type == PERF_RECORD_FORK ? task->parent_pid : task->pid;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Remembers whose records fill the rings. */
static void look_flood(struct sideband *sb)
{
	size_t n = sb->records.count, run = 0;
	uint32_t *pids = calloc(n, sizeof(*pids));

	sb->flood = (struct sideband_flood){.records = n};
	for (size_t i = 0; pids && i < n; i++)
		pids[i] = pid_of((const void *)(sb->bytes.at + sb->records.at[i].at));
	if (pids)
		qsort(pids, n, sizeof(*pids), by_number);
	for (size_t i = 0; pids && i < n; i++) {
		run = i && pids[i] == pids[i - 1] ? run + 1 : 1;
		if (run <= sb->flood.own || !pids[i])
			continue;
		sb->flood.own = run;
		sb->flood.pid = pids[i];
	}
	free(pids);
}

/*
 * The kernel counts losses of all processes as one, and reports them when a ring has room again: what it held before
 * shows whose doing that was. The process may be one of many, as in a storm of forks.
 */
static void say_flood(struct sideband *sb)
{
	const struct sideband_flood *f = &sb->flood;
	struct process *p = processes_latest(sb->processes, (pid_t)f->pid);

	if (!f->own || f->pid == sb->said)
		return;
	sb->said = f->pid;
	account_notice(
		p ? &p->account : NULL, sb->sink, BRAID_NOTICE_WARNING,
		"reports of processes, threads and mappings were lost: of the %zu that there was room for, %zu are of "
		"process %u%s%s",
		f->records, f->own, f->pid, p ? ", " : "", p ? p->comm : "");
}

static void lose(struct sideband *sb, uint64_t records)
{
	sink_loss(sb->sink, 0, "sideband", "record", records);
	say_flood(sb);
	processes_missed(sb->processes);
}

/* ---- what the records say ---- */

static void apply_mmap(struct sideband *sb, const struct mmap2_record *r, uint64_t time_ns)
{
	struct mapping_fact fact = {.start = r->address,
				    .end = r->address + r->length,
				    .file_offset = r->file_offset,
				    .major = r->major,
				    .minor = r->minor,
				    .inode = r->inode,
				    .path = r->path};

	processes_map(sb->processes, (pid_t)r->pid, &fact, time_ns);
}

static void apply(struct sideband *sb, const struct sideband_record *rec)
{
	const struct perf_event_header *h = (const void *)(sb->bytes.at + rec->at);
	struct processes *p = sb->processes;
	const struct task_record *task = (const void *)h;
	const struct comm_record *comm = (const void *)h;

	switch (h->type) {
	case PERF_RECORD_MMAP2:
		apply_mmap(sb, (const void *)h, rec->time_ns);
		break;
	case PERF_RECORD_COMM:
		if (h->misc & PERF_RECORD_MISC_COMM_EXEC)
			processes_exec(p, (pid_t)comm->pid, comm->comm, rec->time_ns);
		else
			processes_comm(p, (pid_t)comm->pid, (pid_t)comm->tid, comm->comm);
		break;
	case PERF_RECORD_FORK:
		if (task->pid != task->parent_pid)
			processes_fork(p, (pid_t)task->pid, (pid_t)task->parent_pid, rec->time_ns);
		else
			processes_thread_started(p, (pid_t)task->pid, (pid_t)task->tid);
		break;
	case PERF_RECORD_EXIT:
		processes_exit(p, (pid_t)task->pid, (pid_t)task->tid, rec->time_ns);
		break;
	case PERF_RECORD_LOST:
		if (h->size >= sizeof(struct lost_record))
			lose(sb, ((const struct lost_record *)h)->lost);
		break;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct sideband_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void sideband_read(struct sideband *sb)
{
	if (!sb)
		return;
	sb->bytes.count = sb->records.count = 0;
	for (int i = 0; i < sb->cpu_count; i++)
		read_cpu(sb, &sb->cpus[i]);
	if (!sb->records.count)
		return;
	VEC_SORT(&sb->records, by_time);
	for (size_t i = 0; i < sb->records.count; i++)
		apply(sb, &sb->records.at[i]);
	if (sb->full)
		look_flood(sb);
	sb->full = false;
	processes_show(sb->processes);
}

void sideband_end(struct sideband *sb)
{
	struct {
		uint64_t value, lost;
	} counts;

	if (!sb)
		return;
	sideband_read(sb);
	for (int i = 0; i < sb->cpu_count; i++) {
		struct sideband_cpu *c = &sb->cpus[i];

		if (read(c->source.fd, &counts, sizeof(counts)) == sizeof(counts) && counts.lost > c->lost)
			lose(sb, counts.lost - c->lost);
	}
}

static void on_ready(struct source *src)
{
	sideband_read(src->ctx);
}

static int open_cpu(struct sideband *sb, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.read_format = PERF_FORMAT_LOST,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	struct sideband_cpu *c = &sb->cpus[sb->cpu_count];
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	void *page;

	if (fd < 0)
		return errno == ENODEV ? 0 : -errno;
	page = mmap(NULL, (RING_PAGES + 1) * sb->page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		int err = -errno;

		close(fd);
		return err;
	}
	c->page = page;
	c->source = (struct source){.fd = fd, .ready = on_ready, .ctx = sb};
	sb->cpu_count++;
	return source_watch(sb->sources, &c->source);
}

int sideband_open(struct sideband **out, struct sink *sink, struct sources *sources, struct processes *processes)
{
	struct sideband *sb = calloc(1, sizeof(*sb));
	int cpus = libbpf_num_possible_cpus(), err = -ENOMEM;

	*out = NULL;
	if (!sb)
		return -ENOMEM;
	sb->sink = sink;
	sb->sources = sources;
	sb->processes = processes;
	sb->page_size = (size_t)sysconf(_SC_PAGESIZE);
	sb->cpus = calloc((size_t)cpus, sizeof(*sb->cpus));
	if (!sb->cpus)
		goto out;
	for (int cpu = 0; cpu < cpus; cpu++) {
		err = open_cpu(sb, cpu);
		if (err) {
			log_error("cannot follow processes on CPU %d: %s; run as root or with CAP_PERFMON", cpu,
				  strerror(-err));
			goto out;
		}
	}
	*out = sb;
	return 0;
out:
	sideband_free(sb);
	return err;
}

void sideband_free(struct sideband *sb)
{
	if (!sb)
		return;
	for (int i = 0; i < sb->cpu_count; i++) {
		source_unwatch(sb->sources, &sb->cpus[i].source);
		munmap(sb->cpus[i].page, (RING_PAGES + 1) * sb->page_size);
		close(sb->cpus[i].source.fd);
	}
	free(sb->cpus);
	free(sb->bytes.at);
	free(sb->records.at);
	free(sb);
}
