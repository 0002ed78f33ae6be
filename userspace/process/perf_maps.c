// SPDX-License-Identifier: Apache-2.0
#include "perf_maps.h"

#include "module_budget.h"
#include "proc/jvm_proc.h"
#include "sink/records.h"
#include "symbol/perf_map.h"
#include "util/clock.h"
#include "util/root_file.h"
#include "util/stint.h"
#include "util/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#define RETRY_NS 100000000ULL /* time until a file is looked for again */
#define WORK_NS 100000000ULL  /* CPU time for one file: the event loop waits meanwhile */
#define END_NS 5000000000ULL  /* time for all files at the end of the recording */

struct unnamed {
	struct trace_frame frame;
	const struct module *module;
	uint64_t bias;
};

/* One program image. */
struct program {
	struct process *process;
	int fd;	      /* -1: no file yet */
	bool refused; /* the file is another user's, or there are too many */
	uint64_t looked_ns;
	VEC(struct unnamed) frames;
	UT_hash_handle hh;
};

struct perf_maps {
	struct sink *sink;
	struct modules *modules;
	struct program *programs;
	uint64_t since_ns; /* the recording's start */
	uint64_t until_ns; /* when no further file is read; 0: not known yet */
};

int perf_maps_new(struct perf_maps **out, struct sink *sink, struct modules *modules)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->sink = sink;
	(*out)->modules = modules;
	(*out)->since_ns = now_ns();
	return 0;
}

static void program_free(struct perf_maps *p, struct program *g)
{
	HASH_DEL(p->programs, g);
	account_release(&g->process->account, BUDGET_MAP_FRAMES, g->frames.count);
	if (g->fd >= 0) {
		account_release(&g->process->account, BUDGET_PERF_MAPS, 1);
		close(g->fd);
	}
	free(g->frames.at);
	free(g);
}

void perf_maps_free(struct perf_maps *p)
{
	struct program *g, *next;

	if (!p)
		return;
	HASH_ITER (hh, p->programs, g, next) {
		program_free(p, g);
	}
	free(p);
}

/*
 * Opens the file in the program's own root directory, by its pid there. Anyone can create that name in /tmp, so the
 * file counts only when the program's user or root owns it.
 */
static int map_open(pid_t pid)
{
	struct proc_status status;
	struct stat st;
	char path[64];
	int root, fd, err = proc_status_read(pid, &status);

	if (err)
		return err;
	root = proc_root_open(pid);
	if (root < 0)
		return root;
	snprintf(path, sizeof(path), "tmp/perf-%d.map", (int)status.ns_pid);
	fd = root_open_regular(root, path, O_NOFOLLOW, &st);
	close(root);
	if (fd >= 0 && st.st_uid != status.uid && st.st_uid != 0) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static void look(struct perf_maps *p, struct program *g)
{
	if (g->fd >= 0 || g->refused || g->process->ended_ns)
		return;
	g->looked_ns = now_ns();
	g->fd = map_open(g->process->pid);
	if (g->fd >= 0 && !account_reserve(&g->process->account, p->sink, BUDGET_PERF_MAPS, 1)) {
		close(g->fd);
		g->fd = -1;
		g->refused = true;
		return;
	}
	g->refused = g->fd == -EPERM || g->fd == -ELOOP;
	if (g->refused)
		account_notice(&g->process->account, p->sink, BRAID_NOTICE_WARNING,
			       "the perf map of process %d is not read: it is not a regular file of the process's user",
			       (int)g->process->pid);
}

static struct program *program_of(struct perf_maps *p, struct process *process)
{
	struct program *g;

	HASH_FIND_PTR(p->programs, &process, g);
	if (g)
		return g;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->process = process;
	g->fd = -1;
	HASH_ADD_PTR(p->programs, process, g);
	return g;
}

/* A frame beyond the limit has no name. */
static void perf_map_keep(struct perf_maps *p, struct program *g, const struct unnamed *frame)
{
	struct account *a = &g->process->account;

	if (account_reserve(a, p->sink, BUDGET_MAP_FRAMES, 1) && VEC_PUSH(&g->frames, *frame))
		account_release(a, BUDGET_MAP_FRAMES, 1);
}

void perf_maps_request(struct perf_maps *p, struct process *process, const struct process_mapping *mapping,
		       const struct trace_frame *frame)
{
	const struct unnamed one = {.frame = *frame, .module = mapping->module, .bias = mapping->bias};
	struct program *g;

	/* ELF files have symbols, and the agent names what a JVM generates. */
	if (mapping->module->segment_count || process->libjvm_ns)
		return;
	g = program_of(p, process);
	if (!g)
		return;
	perf_map_keep(p, g, &one);
	if (now_ns() - g->looked_ns > RETRY_NS)
		look(p, g);
}

/* Return addresses are looked up at the call. */
static uint64_t address_of(const struct trace_frame *f)
{
	return f->exact ? f->address : f->address - 1;
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = address_of(&((const struct unnamed *)a)->frame),
		 y = address_of(&((const struct unnamed *)b)->frame);

	return x < y ? -1 : x > y;
}

/* Queries and frames are sorted alike, so the frames of one function are adjacent. */
static void write_names(struct perf_maps *p, struct program *g, const struct perf_map_query *queries)
{
	const struct perf_map_query *last = NULL;
	uint32_t id = 0;

	for (size_t i = 0; i < g->frames.count; i++) {
		const struct perf_map_query *q = &queries[i];
		struct unnamed *u = &g->frames.at[i];

		if (!q->name)
			continue;
		if (!last || last->start != q->start || last->size != q->size || strcmp(last->name, q->name) != 0)
			id = modules_symbol_named(
				p->modules, u->module,
				&(struct symbol){.address = q->start - u->bias, .size = q->size, .name = q->name});
		last = q;
		u->frame.symbol = id;
		sink_frame(p->sink, &u->frame);
	}
}

/* The time is that of its user for files. After -ETIME some queries are answered, or none. */
static int map_read(struct perf_maps *p, struct program *g, struct perf_map_query *queries, bool *cut)
{
	struct share *share = module_share(g->process->account.share);
	uint64_t before = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	int err;

	if (!module_may_work(share, p->since_ns) || (p->until_ns && now_ns() > p->until_ns))
		return -ETIME;
	stint_begin(WORK_NS, NULL);
	err = perf_map_find(g->fd, queries, g->frames.count, cut);
	stint_end();
	module_spent(share, clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before);
	return err;
}

static void report_late(struct perf_maps *p, struct program *g, const struct perf_map_query *queries)
{
	uint64_t unnamed = 0;

	for (size_t i = 0; i < g->frames.count; i++)
		unnamed += !queries[i].name;
	sink_loss(p->sink, g->process->id, "collector", "perf_map", unnamed);
	account_notice(&g->process->account, p->sink, BRAID_NOTICE_WARNING,
		       "reading the perf map of process %d takes too long: code that it generates has no names",
		       (int)g->process->pid);
}

static void name_program(struct perf_maps *p, struct program *g)
{
	struct perf_map_query *queries;
	bool cut = false;
	int err;

	look(p, g);
	if (g->fd < 0 || !g->frames.count)
		return;
	queries = calloc(g->frames.count, sizeof(*queries));
	if (!queries)
		return;
	VEC_SORT(&g->frames, by_address);
	for (size_t i = 0; i < g->frames.count; i++)
		queries[i].address = address_of(&g->frames.at[i].frame);
	err = map_read(p, g, queries, &cut);
	if (err == -ETIME)
		report_late(p, g, queries);
	else if (err)
		account_notice(&g->process->account, p->sink, BRAID_NOTICE_WARNING,
			       "the perf map of process %d cannot be read completely: %s", (int)g->process->pid,
			       strerror(-err));
	else if (cut)
		account_notice(
			&g->process->account, p->sink, BRAID_NOTICE_WARNING,
			"the perf map of process %d is too large: only its last %llu MiB were read, and older code "
			"has no names",
			(int)g->process->pid, PERF_MAP_BYTES_MAX >> 20);
	write_names(p, g, queries);
	for (size_t i = 0; i < g->frames.count; i++)
		free(queries[i].name);
	free(queries);
}

void perf_maps_forget(struct perf_maps *p, const struct process *process)
{
	struct program *g;

	HASH_FIND_PTR(p->programs, &process, g);
	if (!g)
		return;
	name_program(p, g);
	program_free(p, g);
}

void perf_maps_name(struct perf_maps *p)
{
	struct program *g, *next;

	p->until_ns = now_ns() + END_NS;
	HASH_ITER (hh, p->programs, g, next) {
		name_program(p, g);
	}
}
