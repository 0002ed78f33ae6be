// SPDX-License-Identifier: Apache-2.0
#include "module_load.h"

#include "file_reader.h"
#include "module_budget.h"
#include "processes.h"
#include "kernel/kernel_side.h"
#include "sink/sources.h"
#include "unwind/table.h"
#include "util/descriptors.h"
#include "util/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define SYMBOLS_KEPT_MAX (192UL << 20) /* of all modules; libjvm.so has 5 MiB */
#define FINISH_NS 2000000000ULL

/*
 * How much CPU time of the thread the loop waits for files that processes of root and of the recording user map, and
 * for others: at most, and how much of that each tick gives back. On a busy machine that takes longer, as all does that
 * is recorded there. What hangs in a file system uses no CPU time: the wait is `patience_stretch` times as long at
 * most.
 */
enum mapped_by { BY_KNOWN, BY_STRANGERS, MAPPED_BY };
static const uint64_t patience_most_ns[MAPPED_BY] = {250000000, 80000000};
static const uint64_t patience_tick_ns[MAPPED_BY] = {250000000, 10000000};
static const uint64_t patience_stretch[MAPPED_BY] = {4, 1};
#define PATIENCE_LOOK_NS 20000000ULL /* how often the thread's time is read meanwhile */

struct loader {
	struct sink *sink;
	struct kernel_side *kernel;
	struct processes *processes; /* for counting losses, and to be shown new tables */
	struct sources *sources;
	struct file_reader *reader; /* NULL: files are read at once */
	struct source done;
	struct module *queue; /* in the order of arrival */
	struct module *at_work;
	struct file_job job; /* of at_work, and its result */
	uint64_t since_ns;
	uint64_t patience_ns[MAPPED_BY]; /* left */
	uint64_t turn;			 /* counts jobs */
	uint64_t results;		 /* counts those that have ended, or never will */
	size_t symbols_kept;		 /* bytes */
	bool keeps_files;		 /* for names and lines at the end */
	bool tables_full_reported;
	bool symbols_full_reported;
};

int loader_new(struct loader **out, struct sink *sink, struct kernel_side *kernel, bool keeps_files)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->sink = sink;
	(*out)->kernel = kernel;
	(*out)->keeps_files = keeps_files;
	(*out)->since_ns = now_ns();
	return 0;
}

static void stop(struct loader *l)
{
	if (!l->reader)
		return;
	source_unwatch(l->sources, &l->done);
	file_reader_free(l->reader);
	l->reader = NULL;
}

void loader_free(struct loader *l)
{
	if (!l)
		return;
	stop(l);
	free(l);
}

void loader_count_for(struct loader *l, struct processes *processes)
{
	l->processes = processes;
}

void loader_left_out(struct loader *l, struct share *share, pid_t pid, const char *path, const char *kind)
{
	const struct process *process = processes_latest(l->processes, pid);
	uint32_t id = process ? process->id : 0;

	sink_loss(l->sink, id, "collector", kind, 1);
	if (share && module_first_left_out(share))
		sink_notice(
			l->sink, id, BRAID_NOTICE_WARNING,
			"the files that processes of the user of process %d have mapped need more time or memory than "
			"allowed: %s and others are left out, frames in them may have no names or callers",
			(int)pid, path);
}

static void left_out(struct loader *l, struct module *module, const char *kind)
{
	module->left_out = true;
	loader_left_out(l, module->share, module->seen_in, module->path, kind);
}

/* ---- results ---- */

void loader_upload(struct loader *l, struct module *module, struct unwind_table *t)
{
	if (!module_may_have_table(module->share, t->row_count, t->page_count)) {
		left_out(l, module, "unwind_table");
		unwind_table_free(t);
		return;
	}
	module->table = kernel_side_add_table(l->kernel, t);
	unwind_table_free(t);
	if (module->table != BRAID_NO_TABLE || l->tables_full_reported)
		return;
	l->tables_full_reported = true;
	sink_notice(l->sink, 0, BRAID_NOTICE_WARNING,
		    "no room left for unwind tables at %s: its frames are walked by frame pointer", module->path);
}

static bool has_room_for_symbols(struct loader *l, const struct module *module)
{
	if (l->symbols_kept < SYMBOLS_KEPT_MAX)
		return true;
	if (!l->symbols_full_reported)
		sink_notice(l->sink, 0, BRAID_NOTICE_WARNING,
			    "the symbols of this recording's files use %lu MiB, which is the maximum: functions "
			    "of %s and of later files have no names",
			    SYMBOLS_KEPT_MAX >> 20, module->path);
	l->symbols_full_reported = true;
	return false;
}

static void keep_symbols(struct loader *l, struct module *module, struct symbols *symbols)
{
	module->symbols = symbols;
	l->symbols_kept += symbols_bytes(symbols);
	module_has_symbols(module->share, symbols_bytes(symbols));
}

struct loaded {
	struct processes *processes;
	const struct module *module;
};

/* Its entry on the kernel side does not name the table yet, and what walks without it have led to is no longer true. */
static void show_again(void *ctx, struct process *pr)
{
	const struct loaded *c = ctx;

	if (!pr->shown || pr->ended_ns || pr->inherits)
		return;
	for (uint32_t i = 0; i < pr->mappings.count; i++)
		if (pr->mappings.at[i].module == c->module) {
			processes_walk_again(c->processes, pr);
			return;
		}
}

static void take_result(struct loader *l, struct module *module, const struct file_job *job)
{
	const char *kind = job->symbols ? "symbols" : "unwind_table";

	if (module->foreign)
		module_spent(module->share, job->cpu_ns);
	if (job->err == -ETIME)
		left_out(l, module, kind);
	else if (job->err)
		log_debug("no %s of %s: %s", kind, module->path, strerror(-job->err));
	else if (job->symbols)
		keep_symbols(l, module, job->found);
	else
		loader_upload(l, module, job->table);
}

static void done_with(struct loader *l, struct module *module)
{
	if (module->fd < 0 || !module->symbols_tried || module->left_out || module->wants_table ||
	    module->wants_symbols || (l->keeps_files && !descriptors_scarce(module->fd)))
		return;
	close(module->fd);
	module->fd = -1;
}

/* ---- jobs ---- */

/* False: the budget of its user is used up, which is counted. */
static bool may_load(struct loader *l, struct module *module, bool symbols)
{
	if (symbols && !has_room_for_symbols(l, module))
		return false;
	if ((!module->foreign || module_may_work(module->share, l->since_ns)) &&
	    (!symbols || module_may_have_symbols(module->share)))
		return true;
	left_out(l, module, symbols ? "symbols" : "unwind_table");
	return false;
}

static struct file_job *job_of(struct loader *l, const struct module *module, bool symbols)
{
	struct file_job *job = &l->job;

	*job = (struct file_job){.fd = module->fd, .symbols = symbols, .limit_ns = module_work_limit(module->foreign)};
	snprintf(job->path, sizeof(job->path), "%s", module->path);
	snprintf(job->root, sizeof(job->root), "/proc/%d/root", module->seen_in);
	if (access(job->root, F_OK))
		job->root[0] = '\0';
	return job;
}

static void load_now(struct loader *l, struct module *module, bool symbols)
{
	struct file_job *job;

	if (!may_load(l, module, symbols))
		return;
	job = job_of(l, module, symbols);
	file_job_run(job);
	take_result(l, module, job);
}

/* ---- the queue ---- */

/* Whether `a` is read before `b`, which has waited longer. */
static bool precedes(const struct module *a, const struct module *b)
{
	uint64_t spent_a = module_user_turn(a->share), spent_b = module_user_turn(b->share);

	return spent_a != spent_b ? spent_a < spent_b : a->turn < b->turn;
}

static struct module *next_of(const struct loader *l)
{
	struct module *m, *best = l->queue;

	DL_FOREACH (l->queue, m) {
		if (precedes(m, best))
			best = m;
	}
	return best;
}

/* The other files of the process wait until other processes have had a turn. */
static void end_turn(struct loader *l, const struct module *served)
{
	struct module *m;

	l->turn++;
	DL_FOREACH (l->queue, m) {
		if (m->seen_in == served->seen_in)
			m->turn = l->turn;
	}
}

static void dequeue(struct loader *l, struct module *module)
{
	module_waits_no_more(module->share);
	DL_DELETE(l->queue, module);
	module->prev = module->next = NULL;
}

static void give_next(struct loader *l)
{
	struct module *module;
	bool symbols;

	while (!l->at_work && (module = next_of(l))) {
		symbols = !module->wants_table;
		if (may_load(l, module, symbols)) {
			l->at_work = module;
			file_reader_give(l->reader, job_of(l, module, symbols));
			end_turn(l, module);
		} else if (symbols) {
			module->wants_symbols = false;
		} else {
			module->wants_table = false;
		}
		if (!module->wants_table && !module->wants_symbols) {
			dequeue(l, module);
			done_with(l, module);
		}
	}
}

/* Takes what the thread has read, and gives it the next file. */
static bool take_done(struct loader *l, uint64_t wait_ns)
{
	struct module *module = l->at_work;
	struct loaded c = {.processes = l->processes, .module = module};

	if (!module || !file_reader_take(l->reader, &l->job, wait_ns))
		return false;
	l->at_work = NULL;
	l->results++;
	take_result(l, module, &l->job);
	if (l->job.symbols)
		module->wants_symbols = false;
	else
		module->wants_table = false;
	if (!l->job.symbols && module->table != BRAID_NO_TABLE)
		processes_each(l->processes, show_again, &c);
	if (!module->wants_table && !module->wants_symbols) {
		dequeue(l, module);
		done_with(l, module);
	}
	give_next(l);
	return true;
}

static void on_done(struct source *src)
{
	struct loader *l = src->ctx;

	if (take_done(l, 0))
		processes_show(l->processes);
}

/* Waits for the file that is being read. Returns false if the loop has no patience with it, or none is being read. */
static bool be_patient(struct loader *l)
{
	enum mapped_by who = l->at_work && l->at_work->share ? BY_STRANGERS : BY_KNOWN;
	uint64_t *left_ns = &l->patience_ns[who], began_ns = now_ns(), cpu_ns, spent_ns = 0;
	bool done = false;

	if (!l->at_work || !*left_ns)
		return false;
	cpu_ns = file_reader_cpu_ns(l->reader);
	while (!done && spent_ns < *left_ns) {
		uint64_t wall_left_ns = (*left_ns - spent_ns) * patience_stretch[who], cpu_spent_ns;

		done = take_done(l, wall_left_ns < PATIENCE_LOOK_NS ? wall_left_ns : PATIENCE_LOOK_NS);
		cpu_spent_ns = file_reader_cpu_ns(l->reader) - cpu_ns;
		spent_ns = (now_ns() - began_ns) / patience_stretch[who];
		if (spent_ns < cpu_spent_ns)
			spent_ns = cpu_spent_ns;
	}
	*left_ns -= spent_ns < *left_ns ? spent_ns : *left_ns;
	return true;
}

static void enqueue(struct loader *l, struct module *module, bool *wants)
{
	bool waits = module->wants_table || module->wants_symbols; /* for the other one */

	if (!waits && !module_may_wait(module->share)) {
		left_out(l, module, wants == &module->wants_table ? "unwind_table" : "symbols");
		return;
	}
	*wants = true;
	if (!waits) {
		module->turn = l->turn;
		DL_APPEND(l->queue, module);
	}
	give_next(l);
	while (l->at_work == module && be_patient(l))
		;
}

void loader_table(struct loader *l, struct module *module)
{
	if (!l->reader) {
		load_now(l, module, false);
		return;
	}
	enqueue(l, module, &module->wants_table);
}

void loader_symbols(struct loader *l, struct module *module)
{
	if (module->symbols_tried || module->fd < 0)
		return;
	module->symbols_tried = true;
	if (!l->reader) {
		load_now(l, module, true);
		done_with(l, module);
		return;
	}
	enqueue(l, module, &module->wants_symbols);
}

void loader_again(struct loader *l, struct module *module, const struct process *process)
{
	struct share *share = module_share(process->account.share);

	if (!module->left_out || share == module->share || module->fd < 0 || module->wants_table ||
	    module->wants_symbols)
		return;
	module->left_out = false;
	module->share = share;
	module->seen_in = process->pid;
	if (!module->symbols)
		module->symbols_tried = false;
	if (module->table == BRAID_NO_TABLE)
		loader_table(l, module);
}

/* ---- the loop ---- */

void loader_start(struct loader *l, struct sources *sources)
{
	int err = file_reader_new(&l->reader);

	l->sources = sources;
	memcpy(l->patience_ns, patience_most_ns, sizeof(l->patience_ns));
	if (!err) {
		l->done = (struct source){.fd = file_reader_fd(l->reader), .ready = on_done, .ctx = l};
		err = source_watch(sources, &l->done);
	}
	if (!err)
		return;
	log_debug("files are read on the event loop: %s", strerror(-err));
	file_reader_free(l->reader);
	l->reader = NULL;
}

void loader_tick(struct loader *l)
{
	for (int i = 0; i < MAPPED_BY; i++) {
		l->patience_ns[i] += patience_tick_ns[i];
		if (l->patience_ns[i] > patience_most_ns[i])
			l->patience_ns[i] = patience_most_ns[i];
	}
}

void loader_wait(struct loader *l)
{
	bool waited = l->at_work;

	while (be_patient(l))
		;
	if (waited)
		processes_show(l->processes);
}

bool loader_works(const struct loader *l)
{
	return l->at_work;
}

uint64_t loader_results(const struct loader *l)
{
	return l->results;
}

void loader_finish(struct loader *l)
{
	uint64_t until = now_ns() + FINISH_NS, now;
	struct module *m, *next;

	while (l->at_work && (now = now_ns()) < until)
		(void)take_done(l, until - now);
	DL_FOREACH_SAFE(l->queue, m, next)
	{
		if (m->wants_table)
			left_out(l, m, "unwind_table");
		if (m->wants_symbols)
			left_out(l, m, "symbols");
		m->wants_table = m->wants_symbols = false;
		dequeue(l, m);
	}
	l->at_work = NULL;
	l->results++;
	stop(l);
}
