// SPDX-License-Identifier: Apache-2.0
#include "processes.h"

#include "charges.h"
#include "contexts.h"
#include "identity.h"
#include "proc/procfs.h"
#include "sink/records.h"
#include "util/log.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/*
 * After this many deferred unwinds in a row without a whole stack, a process gets no more: they do not help with
 * programs that generate code.
 */
#define DEFERRED_IN_VAIN_MAX 16

#define LEADERLESS_LOOKS 64	      /* at each tick */
#define MISSED_AGAIN_NS 5000000000ULL /* all processes are checked at most this often */

struct processes {
	struct sink *sink;
	struct kernel_side *kernel;
	struct modules *modules;
	struct threads *threads;
	const struct record_options *options;
	struct process_hooks hooks;
	struct process *by_pid;
	struct process *to_show;    /* whose entry on the kernel side is out of date */
	struct process *gone;	    /* images that have ended, in the order of gone_ns */
	struct process *leaderless; /* processes whose first thread has ended */
	uint32_t last_process;
	uint32_t last_layout;
	size_t running;
	uint32_t layouts_wanted; /* JVMs whose layout is still to be read */
	uint64_t contexts;
	bool full_reported;
	bool missed;	    /* the end of a process may not have been reported */
	uint64_t missed_ns; /* when that was last checked */
};

int processes_new(struct processes **out, struct sink *sink, struct kernel_side *kernel, struct modules *modules,
		  struct threads *threads, const struct record_options *options)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->sink = sink;
	(*out)->kernel = kernel;
	(*out)->modules = modules;
	(*out)->threads = threads;
	(*out)->options = options;
	modules_count_for(modules, *out);
	return 0;
}

void processes_hook(struct processes *p, const struct process_hooks *hooks)
{
	p->hooks = *hooks;
}

static void call(const struct processes *p, void (*hook)(void *ctx, struct process *process), struct process *pr)
{
	if (hook)
		hook(p->hooks.ctx, pr);
}

static void free_image(struct processes *p, struct process *pr)
{
	threads_forget(p->threads, pr);
	call(p, p->hooks.freed, pr);
	account_close(&pr->account);
	pair_map_free(&pr->vthreads);
	free(pr->resource);
	free(pr->late_attributes.at);
	free(pr->exe);
	free(pr->mappings.at);
	free(pr->past.at);
	free(pr);
}

void processes_free(struct processes *p)
{
	struct process *pr, *pn, *older;

	if (!p)
		return;
	HASH_ITER (hh, p->by_pid, pr, pn) {
		HASH_DEL(p->by_pid, pr);
		for (; pr; pr = older) {
			older = pr->older;
			free_image(p, pr);
		}
	}
	free(p);
}

/* No later record refers to this image. */
static void process_forget(struct processes *p, struct process *pr)
{
	call(p, p->hooks.forgotten, pr);
	account_report(&pr->account, p->sink);
	DL_DELETE(p->gone, pr);
	if (pr->older)
		pr->older->newer = pr->newer;
	if (pr->newer)
		pr->newer->older = pr->older;
	else
		HASH_DEL(p->by_pid, pr);
	if (!pr->newer && pr->older)
		HASH_ADD_INT(p->by_pid, pid, pr->older);
	free_image(p, pr);
}

/* ---- identity ---- */

static void emit_state(struct processes *p, const struct process *pr, uint32_t what, uint64_t time_ns)
{
	sink_process_state(p->sink, time_ns, pr->id, what);
}

uint32_t processes_layouts_wanted(const struct processes *p)
{
	return p->layouts_wanted;
}

void processes_layout_done(struct processes *p, struct process *process)
{
	p->layouts_wanted -= process->layout_wanted;
	process->layout_wanted = false;
}

static void list(struct processes *p, struct process *pr)
{
	if (!pr->listed && !pr->gone_ns)
		DL_APPEND(p->to_show, pr);
	pr->listed = true;
}

void processes_changed(struct processes *p, struct process *pr)
{
	pr->dirty = true;
	list(p, pr);
}

uint64_t processes_contexts(const struct processes *p)
{
	return p->contexts;
}

static void unlist(struct processes *p, struct process *pr)
{
	if (pr->listed && !pr->gone_ns)
		DL_DELETE(p->to_show, pr);
	pr->listed = false;
}

static void end_image(struct processes *p, struct process *pr, uint64_t time_ns)
{
	unlist(p, pr);
	pr->ended_ns = time_ns;
	pr->gone_ns = now_ns();
	DL_APPEND(p->gone, pr);
	p->running--;
	if (pr->last_exit_ns)
		DL_DELETE2(p->leaderless, pr, leaderless_prev, leaderless_next);
	processes_layout_done(p, pr);
	call(p, p->hooks.ended, pr);
}

/* Whether the image had ended by then. A later user of its pid is another process. */
static bool ended_before(const struct process *pr, uint64_t time_ns)
{
	return pr->ended_ns && pr->ended_ns < time_ns;
}

/* Adds an image of `pid` in front of the earlier ones. `parent`: the process that it was forked from, or NULL. */
static struct process *new_image(struct processes *p, pid_t pid, const struct process *parent, uint64_t since_ns)
{
	struct process *pr = calloc(1, sizeof(*pr)), *old;
	bool same;

	if (!pr)
		return NULL;
	pr->id = ++p->last_process;
	pr->pid = pid;
	pr->since_ns = pr->layout_ns = since_ns;
	pr->layout = pr->layout_replaced = ++p->last_layout;
	charges_open(pr, p->sink, parent);
	HASH_FIND_INT(p->by_pid, &pid, old);
	/* The same process, unless it was forked: then the end of the earlier one was not reported. */
	same = old && !old->ended_ns && !parent;
	pr->start_ticks = same ? old->start_ticks : procfs_start_ticks(pid);
	if (old) {
		HASH_DEL(p->by_pid, old);
		if (same)
			account_inherit(&pr->account, &old->account);
		if (!old->ended_ns)
			end_image(p, old, since_ns);
		pr->older = old;
		old->newer = pr;
		pr->shown = old->shown;
		charges_move(pr, old);
	}
	HASH_ADD_INT(p->by_pid, pid, pr);
	p->running++;
	return pr;
}

struct process *processes_latest(struct processes *p, pid_t pid)
{
	struct process *pr;

	HASH_FIND_INT(p->by_pid, &pid, pr);
	return pr;
}

struct process *processes_find(struct processes *p, pid_t pid, uint64_t time_ns)
{
	struct process *pr = processes_latest(p, pid);

	while (pr && pr->since_ns > time_ns && pr->older)
		pr = pr->older;
	return pr;
}

static void exit_image(struct processes *p, struct process *pr, uint64_t time_ns)
{
	end_image(p, pr, time_ns);
	emit_state(p, pr, 2, time_ns);
	kernel_side_remove_process(p->kernel, pr->pid);
	charges_drop(pr, p->kernel);
}

struct process *processes_get(struct processes *p, pid_t pid, uint64_t time_ns)
{
	struct process *pr = processes_find(p, pid, time_ns);

	if (pr || !p->options->system_wide)
		return pr;
	if (processes_add(p, pid)) { /* it has ended: only its pid is known */
		pr = new_image(p, pid, NULL, 0);
		if (pr) {
			snprintf(pr->comm, sizeof(pr->comm), "[%d]", pid);
			identity_emit(p->sink, pr, NULL);
			exit_image(p, pr, time_ns);
		}
		return pr;
	}
	return processes_latest(p, pid);
}

size_t processes_running(const struct processes *p)
{
	return p->running;
}

/* ---- mappings ---- */

void processes_walk_again(struct processes *p, struct process *pr)
{
	pr->deferred_in_vain = 0;
	pr->layout = ++p->last_layout;
	processes_changed(p, pr);
}

static void add_mapping(struct processes *p, struct process *pr, const struct mapping_fact *fact, uint64_t time_ns)
{
	struct process_mapping m = {.fact = *fact};
	struct module *module;
	bool changed;

	charges_follow_user(pr, p->sink);
	m.module = module = modules_get(p->modules, pr, fact);
	if (!module || !charges_may_map(pr, p->sink))
		return;
	m.bias = module_bias(module, fact);
	m.from_ns = pr->since_ns || pr->shown ? time_ns : 0;
	if (process_map(pr, &m, &changed) <= 0)
		return;
	charges_mapped(pr);
	processes_changed(p, pr);
	if (module->context) {
		context_wanted(pr);
		p->contexts++;
	}
	if (changed) { /* what was walked before does not hold for samples from now on */
		pr->layout = pr->layout_replaced = ++p->last_layout;
		pr->layout_ns = time_ns;
		pr->generation++;
	}
	if (module->kind != TRACE_MODULE_ANON)
		pr->deferred_in_vain = 0;
	if (module->is_libjvm && !pr->libjvm_ns) {
		pr->libjvm_ns = m.from_ns ? time_ns : procfs_start_ns(pr->pid) + 1;
		pr->layout_wanted = true;
		p->layouts_wanted++;
	}
	sink_mapping(p->sink, &(struct trace_mapping){.process = pr->id,
						      .module = module->id,
						      .start = fact->start,
						      .end = fact->end,
						      .file_offset = fact->file_offset,
						      .bias = m.bias,
						      .time_ns = time_ns});
}

struct add_context {
	struct processes *p;
	struct process *process;
	uint64_t time_ns;
};

static void add_mapping_fact(void *ctx, const struct mapping_fact *fact)
{
	struct add_context *c = ctx;

	add_mapping(c->p, c->process, fact, c->time_ns);
}

static void show(struct processes *p, struct process *pr)
{
	struct braid_process entry = {
		.jvm = pr->jvm ? pr->jvm_slot + 1 : 0,
		.generation = pr->layout,
		.user = pr->account.share ? pr->account.share->number : 0,
		.context = context_look(pr),
		.flags = (pr->deferred_in_vain < DEFERRED_IN_VAIN_MAX ? 0 : BRAID_PROCESS_NOT_DEFERRED) |
			 (pr->libjvm_ns ? BRAID_PROCESS_LIBJVM : 0)};
	struct mapping_extent extent;
	int err, full = charges_place(pr, p->sink, p->kernel, &extent);

	if (full == -ENOMEM)
		return;
	entry.first_mapping = extent.first;
	entry.mapping_count = extent.count;
	err = kernel_side_set_process(p->kernel, pr->pid, &entry) ?: full;
	if (err && !p->full_reported) {
		p->full_reported = true;
		account_notice(&pr->account, p->sink, BRAID_NOTICE_WARNING,
			       "no room for the mappings of process %d (%s): its native stacks will be incomplete",
			       pr->pid, strerror(-err));
	}
	pr->shown = true;
	pr->dirty = pr->inherits = false;
	unlist(p, pr);
}

void processes_unwound_deferred(struct processes *p, struct process *process, bool complete)
{
	if (complete)
		process->deferred_in_vain = 0;
	else if (++process->deferred_in_vain == DEFERRED_IN_VAIN_MAX && !process->ended_ns)
		show(p, process);
}

void processes_each(struct processes *p, void (*fn)(void *ctx, struct process *process), void *ctx)
{
	struct process *pr, *next;

	HASH_ITER (hh, p->by_pid, pr, next) {
		fn(ctx, pr);
	}
}

void processes_show(struct processes *p)
{
	struct process *pr, *next;

	DL_FOREACH_SAFE(p->to_show, pr, next)
	{
		if (pr->dirty)
			show(p, pr);
	}
}

/*
 * These are shown late, because most children execute a program soon, and showing the child then would overwrite what
 * the kernel side already knows of the new program. It has to be before the extents that they share with their parents
 * are reused.
 */
void processes_show_forked(struct processes *p)
{
	struct process *pr, *next;

	DL_FOREACH_SAFE(p->to_show, pr, next)
	{
		if (pr->inherits)
			show(p, pr);
	}
}

void processes_set_jvm(struct processes *p, struct process *process, struct jvm *jvm, uint32_t slot)
{
	process->jvm = jvm;
	process->jvm_slot = slot;
	if (!process->in_namespace && (procfs_ns_tid(process->pid, process->pid) ?: process->pid) != process->pid) {
		process->in_namespace = true;
		threads_read_numbers(process);
	}
	if (!process->ended_ns)
		show(p, process);
}

/* ---- life ---- */

static int add_running(struct processes *p, pid_t pid, const char *comm)
{
	struct add_context c = {.p = p, .time_ns = now_ns()};
	int err;

	c.process = new_image(p, pid, NULL, 0);
	if (!c.process)
		return -ENOMEM;
	snprintf(c.process->comm, sizeof(c.process->comm), "%s", comm);
	identity_read_exe(c.process);
	identity_emit(p->sink, c.process, NULL);
	if (procfs_living_thread(pid) != pid) { /* the end of its first thread is not reported again */
		c.process->last_exit_ns = c.time_ns;
		DL_APPEND2(p->leaderless, c.process, leaderless_prev, leaderless_next);
	}
	err = procfs_mappings(pid, add_mapping_fact, &c);
	show(p, c.process);
	return err == -ESRCH ? 0 : err; /* it ended meanwhile, but its samples still have a process */
}

int processes_add(struct processes *p, pid_t pid)
{
	char comm[16];

	return procfs_comm(pid, pid, comm, sizeof(comm)) ?: add_running(p, pid, comm);
}

int processes_add_launched(struct processes *p, pid_t pid)
{
	return add_running(p, pid, BEFORE_EXEC);
}

int processes_add_all(struct processes *p)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		char *end;
		long pid = strtol(e->d_name, &end, 10);

		if (*end == '\0' && pid > 0 && !processes_latest(p, (pid_t)pid))
			(void)processes_add(p, (pid_t)pid); /* it may have ended by now */
	}
	closedir(d);
	return 0;
}

void processes_fork(struct processes *p, pid_t pid, pid_t parent, uint64_t time_ns)
{
	struct process *from = processes_find(p, parent, time_ns), *pr;

	if (!from || ended_before(from, time_ns))
		return;
	pr = new_image(p, pid, from, time_ns);
	if (!pr)
		return;
	memcpy(pr->comm, from->comm, sizeof(pr->comm));
	identity_inherit_exe(pr, from);
	identity_emit(p->sink, pr, from);
	emit_state(p, pr, 0, time_ns);
	charges_inherit(pr, p->sink, from);
	pr->context = from->context;
	pr->layout = from->layout; /* the kernel side has copied that, or has it from the parent */
	pr->layout_replaced = from->layout_replaced;
	pr->inherits = true;
	list(p, pr);
}

void processes_exec(struct processes *p, pid_t pid, const char *comm, uint64_t time_ns)
{
	struct process *old = processes_latest(p, pid), *pr;

	if (old && ended_before(old, time_ns))
		old = NULL;
	if (!old && !p->options->system_wide)
		return;
	pr = new_image(p, pid, NULL, time_ns);
	if (!pr)
		return;
	snprintf(pr->comm, sizeof(pr->comm), "%.15s", comm);
	identity_read_exe(pr);
	identity_emit(p->sink, pr, old);
	emit_state(p, pr, 1, time_ns);
	processes_changed(p, pr);
}

/* The last thread ends the process. The first one may end long before, or make way for one that executes a program. */
void processes_exit(struct processes *p, pid_t pid, pid_t tid, uint64_t time_ns)
{
	struct process *pr = processes_latest(p, pid);

	threads_ended(p->threads, pid, tid);
	if (!pr || pr->ended_ns || (tid != pid && !pr->last_exit_ns))
		return;
	if (!process_is_there(pr)) {
		exit_image(p, pr, time_ns);
		return;
	}
	if (!pr->last_exit_ns)
		DL_APPEND2(p->leaderless, pr, leaderless_prev, leaderless_next);
	pr->last_exit_ns = time_ns;
}

/* A few at each tick: there may be any number, and the end of the last thread is usually seen at once. */
static void look_leaderless(struct processes *p)
{
	struct process *pr;

	for (int i = 0; p->leaderless && i < LEADERLESS_LOOKS; i++) {
		pr = p->leaderless;
		if (!process_is_there(pr)) {
			exit_image(p, pr, pr->last_exit_ns);
			continue;
		}
		DL_DELETE2(p->leaderless, pr, leaderless_prev, leaderless_next);
		DL_APPEND2(p->leaderless, pr, leaderless_prev, leaderless_next);
	}
}

void processes_missed(struct processes *p)
{
	p->missed = true;
}

/* Records that the side-band lost may include ends of processes and starts of threads. */
static void look_missed(struct processes *p)
{
	struct process *pr, *next;

	p->missed = false;
	p->missed_ns = now_ns();
	HASH_ITER (hh, p->by_pid, pr, next) {
		if (pr->ended_ns)
			continue;
		if (!process_is_there(pr))
			exit_image(p, pr, p->missed_ns);
		else if (pr->in_namespace)
			threads_read_numbers(pr);
	}
}

void processes_tick(struct processes *p)
{
	uint64_t now = now_ns();

	look_leaderless(p);
	if (p->missed && now - p->missed_ns > MISSED_AGAIN_NS)
		look_missed(p);
	threads_tick(p->threads);
	while (p->gone && p->gone->gone_ns + PROCESS_KEEP_NS < now)
		process_forget(p, p->gone);
}

void processes_thread_started(struct processes *p, pid_t pid, pid_t tid)
{
	struct process *pr = processes_latest(p, pid);

	if (pr && !pr->ended_ns)
		threads_started(pr, tid);
}

void processes_map(struct processes *p, pid_t pid, const struct mapping_fact *fact, uint64_t time_ns)
{
	struct process *pr = processes_find(p, pid, time_ns);

	if (pr)
		add_mapping(p, pr, fact, time_ns);
}

void processes_comm(struct processes *p, pid_t pid, pid_t tid, const char *comm)
{
	struct process *pr = processes_latest(p, pid);

	if (!pr)
		return;
	if (!account_has(&pr->account, p->sink, BUDGET_RENAMES, 1))
		return;
	account_spend(&pr->account, BUDGET_RENAMES, 1);
	if (pid == tid)
		snprintf(pr->comm, sizeof(pr->comm), "%.15s", comm);
	threads_comm(p->threads, pr, tid, comm);
}
