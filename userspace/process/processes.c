// SPDX-License-Identifier: Apache-2.0
#include "process/processes.h"

#include "jvm/jvm.h"
#include "proc/procfs.h"
#include "util/log.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many late walks in a row come to nothing before a process is taken for one that they cannot help, as of programs
 * that make their own code. */
#define LATE_IN_VAIN_MAX 16

struct processes {
	struct session *session;
	struct process *by_pid;
	struct thread *by_tid;
	uint32_t last_process;
	uint32_t last_thread;
	uint32_t last_layout;
	size_t running;
	struct process *kernel; /* kernel threads' */
	bool full_told;
};

int processes_new(struct processes **out, struct session *s)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->session = s;
	return 0;
}

void processes_free(struct processes *p)
{
	struct process *pr, *pn, *older;
	struct thread *t, *tn, *told;

	if (!p)
		return;
	HASH_ITER (hh, p->by_tid, t, tn) {
		HASH_DEL(p->by_tid, t);
		for (; t; t = told) {
			told = t->older;
			free(t);
		}
	}
	HASH_ITER (hh, p->by_pid, pr, pn) {
		HASH_DEL(p->by_pid, pr);
		for (; pr; pr = older) {
			older = pr->older;
			jvm_free(pr->jvm);
			free(pr->mappings);
			free(pr->past);
			free(pr);
		}
	}
	free(p);
}

/* ---- identity ---- */

static void emit_process(struct processes *p, const struct process *pr, uint32_t parent)
{
	char exe[1024];

	procfs_exe(pr->pid, exe, sizeof(exe));
	session_emit(p->session,
		     &(struct trace_rec){.kind = TRACE_PROCESS,
					 .process = {.process = pr->id,
						     .pid = (uint32_t)pr->pid,
						     .parent = parent,
						     .start_ns = pr->since_ns ? pr->since_ns : procfs_start_ns(pr->pid),
						     .comm = trace_str_of(pr->comm),
						     .exe = trace_str_of(exe)}});
}

static void emit_state(struct processes *p, const struct process *pr, uint32_t what, uint64_t time_ns)
{
	session_emit(p->session,
		     &(struct trace_rec){.kind = TRACE_PROCESS_STATE,
					 .process_state = {.time_ns = time_ns, .process = pr->id, .what = what}});
}

/* A new image of `pid`, in front of the earlier ones. */
static struct process *new_image(struct processes *p, pid_t pid, uint64_t since_ns)
{
	struct process *pr = calloc(1, sizeof(*pr)), *old;

	if (!pr)
		return NULL;
	pr->id = ++p->last_process;
	pr->pid = pid;
	pr->since_ns = pr->layout_ns = since_ns;
	pr->layout = ++p->last_layout;
	HASH_FIND_INT(p->by_pid, &pid, old);
	if (old) {
		HASH_DEL(p->by_pid, old);
		if (!old->ended_ns) {
			old->ended_ns = since_ns;
			p->running--;
		}
		pr->older = old;
		pr->shown = old->shown;
		pr->extent = old->extent;
		old->extent = (struct mapping_extent){0};
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

struct process *processes_get(struct processes *p, pid_t pid, uint64_t time_ns)
{
	struct process *pr = processes_find(p, pid, time_ns);

	if (pr || !p->session->options->system_wide)
		return pr;
	if (processes_add(p, pid)) { /* gone already: its number is all that is left */
		pr = new_image(p, pid, 0);
		if (pr) {
			snprintf(pr->comm, sizeof(pr->comm), "[%d]", pid);
			emit_process(p, pr, 0);
			processes_exit(p, pid, time_ns);
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

bool process_layout_known(const struct process *process, uint32_t layout, uint64_t time_ns)
{
	return time_ns < process->layout_ns || !layout || layout == process->layout;
}

static void new_layout(struct processes *p, struct process *pr, uint64_t time_ns)
{
	pr->layout = ++p->last_layout;
	pr->layout_ns = time_ns;
	pr->generation++;
}

static void add_mapping(struct processes *p, struct process *pr, const struct mapping_fact *fact, uint64_t time_ns)
{
	struct module *module = modules_get(p->session->modules, pr->pid, fact);
	struct process_mapping m = {.fact = *fact, .module = module};
	bool changed;

	if (!module)
		return;
	m.bias = module_bias(module, fact);
	m.from_ns = pr->since_ns || pr->shown ? time_ns : 0;
	if (process_map(pr, &m, &changed) <= 0)
		return;
	pr->dirty = true;
	if (changed)
		new_layout(p, pr, time_ns);
	if (module->kind != TRACE_MODULE_ANON)
		pr->late_in_vain = 0;
	if (strstr(module->path, "/libjvm.so") && !pr->libjvm_ns)
		pr->libjvm_ns = m.from_ns ? time_ns : procfs_start_ns(pr->pid) + 1;
	session_emit(p->session, &(struct trace_rec){.kind = TRACE_MAPPING,
						     .mapping = {.process = pr->id,
								 .module = module->id,
								 .start = fact->start,
								 .end = fact->end,
								 .file_offset = fact->file_offset,
								 .bias = m.bias,
								 .time_ns = time_ns}});
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
	struct braid_mapping *m = calloc(pr->mapping_count + 1, sizeof(*m));
	struct braid_process entry = {.jvm = pr->jvm ? jvm_slot(pr->jvm) + 1 : 0,
				      .generation = pr->layout,
				      .flags = (pr->late_in_vain < LATE_IN_VAIN_MAX ? 0 : BRAID_PROCESS_NOT_LATE) |
					       (pr->libjvm_ns ? BRAID_PROCESS_LIBJVM : 0)};
	struct mapping_extent extent;
	int err;

	if (!m)
		return;
	for (uint32_t i = 0; i < pr->mapping_count; i++)
		m[i] = (struct braid_mapping){.start = pr->mappings[i].fact.start,
					      .end = pr->mappings[i].fact.end,
					      .bias = pr->mappings[i].bias,
					      .table = pr->mappings[i].module->table};
	err = kernel_side_add_mappings(p->session->kernel, m, pr->mapping_count, &extent);
	free(m);
	entry.first_mapping = extent.first;
	entry.mapping_count = extent.count;
	if (!err)
		err = kernel_side_set_process(p->session->kernel, pr->pid, &entry);
	if (err && !p->full_told) {
		p->full_told = true;
		session_notice(p->session, pr->id, BRAID_NOTICE_WARNING,
			       "no room for the mappings of process %d (%s): its native stacks will be incomplete",
			       pr->pid, strerror(-err));
	}
	kernel_side_drop_mappings(p->session->kernel, pr->extent);
	pr->extent = extent;
	pr->shown = true;
	pr->dirty = pr->inherits = false;
}

void processes_walked_late(struct processes *p, struct process *process, bool complete)
{
	if (complete)
		process->late_in_vain = 0;
	else if (++process->late_in_vain == LATE_IN_VAIN_MAX && !process->ended_ns)
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

	HASH_ITER (hh, p->by_pid, pr, next) {
		if (pr->dirty && !pr->ended_ns)
			show(p, pr);
	}
}

/*
 * Not at once: most children execute a program soon, and telling of the child then would undo what the kernel side
 * already knows of that. But before the extents that they share with their parents are used again.
 */
void processes_show_forked(struct processes *p)
{
	struct process *pr, *next;

	HASH_ITER (hh, p->by_pid, pr, next) {
		if (pr->inherits && !pr->ended_ns)
			show(p, pr);
	}
}

void processes_set_jvm(struct processes *p, struct process *process, struct jvm *jvm)
{
	process->jvm = jvm;
	process->in_namespace = procfs_ns_tid(process->pid, process->pid) != process->pid;
	if (!process->ended_ns)
		show(p, process);
}

/* ---- life ---- */

int processes_add(struct processes *p, pid_t pid)
{
	struct add_context c = {.p = p, .time_ns = now_ns()};
	char comm[16];
	int err = procfs_comm(pid, pid, comm, sizeof(comm));

	if (err)
		return err;
	c.process = new_image(p, pid, 0);
	if (!c.process)
		return -ENOMEM;
	memcpy(c.process->comm, comm, sizeof(comm));
	emit_process(p, c.process, 0);
	err = procfs_mappings(pid, add_mapping_fact, &c);
	show(p, c.process);
	return err == -ESRCH ? 0 : err; /* it ended meanwhile: its samples are told apart all the same */
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
			(void)processes_add(p, (pid_t)pid); /* it may be gone by now */
	}
	closedir(d);
	return 0;
}

void processes_fork(struct processes *p, pid_t pid, pid_t parent, uint64_t time_ns)
{
	struct process *from = processes_latest(p, parent), *pr;

	if (!from)
		return;
	pr = new_image(p, pid, time_ns);
	if (!pr)
		return;
	memcpy(pr->comm, from->comm, sizeof(pr->comm));
	emit_process(p, pr, from->id);
	emit_state(p, pr, 0, time_ns);
	if (process_map_as(pr, from))
		log_debug("no memory for the mappings of process %d", pid);
	pr->layout = from->layout; /* which is what the kernel side has copied, or has from its parent */
	pr->inherits = true;
}

void processes_exec(struct processes *p, pid_t pid, const char *comm, uint64_t time_ns)
{
	struct process *old = processes_latest(p, pid), *pr;

	if (!old && !p->session->options->system_wide)
		return;
	pr = new_image(p, pid, time_ns);
	if (!pr)
		return;
	snprintf(pr->comm, sizeof(pr->comm), "%.15s", comm);
	emit_process(p, pr, old ? old->id : 0);
	emit_state(p, pr, 1, time_ns);
	pr->dirty = true;
}

void processes_exit(struct processes *p, pid_t pid, uint64_t time_ns)
{
	struct process *pr = processes_latest(p, pid);

	if (!pr || pr->ended_ns)
		return;
	pr->ended_ns = time_ns;
	p->running--;
	emit_state(p, pr, 2, time_ns);
	kernel_side_remove_process(p->session->kernel, pid);
	kernel_side_drop_mappings(p->session->kernel, pr->extent);
	pr->extent = (struct mapping_extent){0};
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
	struct thread *t;

	if (!pr)
		return;
	if (pid == tid)
		snprintf(pr->comm, sizeof(pr->comm), "%.15s", comm);
	HASH_FIND_INT(p->by_tid, &tid, t);
	if (!t || t->process != pr || (t->flags & TRACE_THREAD_JAVA))
		return;
	snprintf(t->name, sizeof(t->name), "%.15s", comm);
	processes_emit_thread(p, t, trace_str_of(""));
}

/* ---- threads ---- */

void processes_emit_thread(struct processes *p, const struct thread *t, struct trace_str group)
{
	session_emit(p->session, &(struct trace_rec){.kind = TRACE_THREAD,
						     .thread = {.thread = t->id,
								.process = t->process->id,
								.tid = (uint32_t)t->tid,
								.ns_tid = (uint32_t)t->ns_tid,
								.flags = t->flags,
								.name = trace_str_of(t->name),
								.group = group}});
}

static struct thread *new_thread(struct processes *p, struct process *process, pid_t tid, struct thread *older)
{
	struct thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	if (older)
		HASH_DEL(p->by_tid, older);
	t->id = ++p->last_thread;
	t->tid = tid;
	t->ns_tid = procfs_ns_tid(process->pid, tid);
	t->process = process;
	t->older = older;
	if (procfs_comm(process->pid, tid, t->name, 16))
		snprintf(t->name, sizeof(t->name), "%s", process->comm);
	HASH_ADD_INT(p->by_tid, tid, t);
	return t;
}

struct thread *processes_thread_at(struct processes *p, struct process *process, pid_t tid, uint64_t time_ns)
{
	struct thread *t, *at, *found = NULL;

	HASH_FIND_INT(p->by_tid, &tid, t);
	for (at = t; at && !(found && found->since_ns <= time_ns); at = at->older)
		if (at->process == process)
			found = at;
	if (found)
		return found;
	t = new_thread(p, process, tid, t);
	if (t)
		processes_emit_thread(p, t, trace_str_of(""));
	return t;
}

struct thread *processes_thread(struct processes *p, struct process *process, pid_t tid)
{
	return processes_thread_at(p, process, tid, UINT64_MAX);
}

/* The youngest that was known by this number in the process's own pid namespace. */
static struct thread *find_ns_thread(struct processes *p, const struct process *process, pid_t ns_tid)
{
	struct thread *found = NULL, *t, *next, *at;

	HASH_ITER (hh, p->by_tid, t, next) {
		for (at = t; at && (at->process != process || at->ns_tid != ns_tid); at = at->older)
			;
		if (at && (!found || at->id > found->id))
			found = at;
	}
	return found;
}

struct thread *processes_java_thread(struct processes *p, struct process *process, pid_t ns_tid, const char *started_as)
{
	/* 0 in a pid namespace when the thread has ended: nobody can tell its number outside any more */
	pid_t tid = process->in_namespace ? procfs_host_tid(process->pid, ns_tid) : ns_tid;
	struct thread *latest, *t;

	HASH_FIND_INT(p->by_tid, &tid, latest);
	t = tid > 0 ? latest : find_ns_thread(p, process, ns_tid);
	if (!t || t->process != process ||
	    (started_as && (t->flags & TRACE_THREAD_JAVA) && strcmp(started_as, t->name) != 0)) {
		t = new_thread(p, process, tid, latest);
		if (t)
			t->ns_tid = ns_tid;
	}
	return t;
}
