// SPDX-License-Identifier: Apache-2.0
#include "probes.h"

#include "jvm_emit.h"
#include "libjvm.h"
#include "probe_links.h"
#include "kernel/kernel_side.h"
#include "kernel/probe_holder.h"
#include "proc/jvm_proc.h"
#include "util/apart.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

/*
 * A libjvm.so file. Probes for one process do not affect others, but each takes time to set and to remove. So when the
 * part of their user is used up, JVMs share probes that are set for a trusted file; JVMs that are not recorded then pay
 * for the traps.
 */
struct library {
	struct libjvm *jvm;
	const struct module *module;
	struct probe_links links;
	bool attached, set, reported;
	struct library *next;
};

/* One JVM. */
struct probed {
	struct process *process;
	pid_t pid; /* kept for the thread, and for when the process is forgotten */
	struct library *library;
	struct libjvm_copy copy;
	uint64_t spent_ns; /* for reading it before it was ready */
	struct probe_links links;
	bool reserved;		      /* of its process's budget */
	bool shared;		      /* it uses those of its library */
	bool linked;		      /* it has links of its own, or will have */
	bool ready;		      /* nothing more is to be read from it */
	bool set;		      /* the thread has attached what it can */
	bool gone;		      /* nothing more is reported for it */
	int error;		      /* the thread's result */
	struct braid_probed reported; /* what was counted until now */
	struct probed *next, *next_queued;
	UT_hash_handle hh;
};

#define SPEND_NS 1000000000ULL

/*
 * Setting a probe waits for all CPUs, and for other users of probes on the machine. So a thread loads the programs and
 * sets the probes, while the event loop goes on.
 */
struct probes {
	struct jvms *jvms;
	struct library *libraries;
	struct probed *probed;	/* by process */
	struct probed *left;	/* with links, whose processes are forgotten */
	struct probed *queue;	/* waiting for their probes */
	struct probed *at_work; /* the thread's while it runs */
	pthread_t thread;
	bool works, threaded;
	atomic_bool done, stop;
};

int probes_new(struct probes **out, struct jvms *jvms)
{
	*out = NULL;
	if (!(jvms->options->config.enabled &
	      (BRAID_EVENT_TYPE(SAFEPOINT) | BRAID_EVENT_TYPE(JIT) | BRAID_EVENT_TYPE(GC))) &&
	    !options_probe_jvms(jvms->options))
		return 0;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->jvms = jvms;
	return 0;
}

/* ---- notices ---- */

static struct probe_links *links_of(struct probed *j)
{
	return j->shared ? &j->library->links : &j->links;
}

/* Whether its links no longer change. */
static bool is_set(const struct probed *j)
{
	return j->shared ? j->library->set : j->set;
}

/* Once for each library. */
static void report_missing(struct probes *p, struct probed *j)
{
	size_t groups, probes;
	char what[256], names[256];

	groups = probe_links_missing(links_of(j), p->jvms->options->config.enabled, what, sizeof(what));
	probes = probe_links_unknown(links_of(j), p->jvms->options, names, sizeof(names));
	if ((!groups && !probes) || j->library->reported)
		return;
	j->library->reported = true;
	if (probes)
		account_notice(&j->process->account, p->jvms->sink, BRAID_NOTICE_WARNING,
			       "no USDT probe %s in %s of JVM %d; `readelf -n` lists those of a file", names,
			       j->library->module->path, (int)j->process->pid);
	if (groups)
		account_notice(
			&j->process->account, p->jvms->sink, BRAID_NOTICE_WARNING,
			"JVM %d does not report %s: %s has neither the symbols nor the USDT probes for it; the package "
			"with its debug symbols has them (openjdk-N-dbg on Debian, java-N-openjdk-debuginfo on Fedora), "
			"installed where braid runs",
			(int)j->process->pid, what, j->library->module->path);
}

static void report_untrusted(struct probes *p, struct probed *j)
{
	account_notice(
		&j->process->account, p->jvms->sink, BRAID_NOTICE_WARNING,
		"no probes are set in JVM %d: %s is a file of another user, or others can write it; if it can be "
		"trusted, make it root's (chown root, chmod go-w)",
		(int)j->process->pid, j->library->module->path);
}

static void report_result(struct probes *p, struct probed *j)
{
	if (j->error == -ECANCELED || (j->error == -ESRCH && !process_is_there(j->process)))
		return;
	if (j->error && j->error != -ENOENT)
		account_notice(&j->process->account, p->jvms->sink, BRAID_NOTICE_WARNING,
			       "cannot set probes in %s for JVM %d: %s", j->library->module->path, (int)j->process->pid,
			       strerror(-j->error));
	else
		report_missing(p, j);
}

/* ---- the thread that sets probes ---- */

struct setting {
	struct probes *probes;
	const struct braid_bpf *programs;
};

static void set_each(void *ctx)
{
	const struct setting *s = ctx;
	struct probes *p = s->probes;
	struct probed *j;

	LL_FOREACH2(p->at_work, j, next_queued)
	{
		j->error = probe_links_attach(links_of(j), s->programs, j->library->jvm, p->jvms->options,
					      j->shared ? -1 : j->pid, &p->stop);
	}
}

static void *set_probes(void *ctx)
{
	struct setting s = {.probes = ctx};
	struct probes *p = ctx;
	struct probed *j;
	int err = kernel_side_load_probes(p->jvms->kernel, &s.programs);

	if (err) {
		LL_FOREACH2(p->at_work, j, next_queued)
		{
			j->error = err;
		}
	} else if (p->at_work) {
		apart_run(set_each, &s);
	}
	atomic_store_explicit(&p->done, true, memory_order_release);
	return NULL;
}

static void work_begin(struct probes *p)
{
	p->at_work = p->queue;
	p->queue = NULL;
	atomic_store(&p->done, false);
	p->works = true;
	p->threaded = !pthread_create(&p->thread, NULL, set_probes, p);
	if (!p->threaded)
		(void)set_probes(p);
}

static void work_end(struct probes *p)
{
	struct probed *j, *next;

	if (p->threaded)
		pthread_join(p->thread, NULL);
	LL_FOREACH_SAFE2(p->at_work, j, next, next_queued)
	{
		if (j->shared)
			j->library->set = true;
		else
			j->set = true;
		if (j->process)
			report_result(p, j);
	}
	p->at_work = NULL;
	p->works = false;
}

void probes_tick(struct probes *p)
{
	if (p && p->works && atomic_load_explicit(&p->done, memory_order_acquire))
		work_end(p);
	if (p && !p->works && p->queue)
		work_begin(p);
}

bool probes_pending(const struct probes *p)
{
	return p && (p->queue || p->at_work);
}

void probes_wait(struct probes *p, uint64_t until)
{
	probes_tick(p);
	while (p && p->works && now_ns() < until) {
		if (!atomic_load(&p->done))
			poll(NULL, 0, 1);
		probes_tick(p);
	}
}

/* Stops the thread, which sets at most one more probe. */
static void stop(struct probes *p)
{
	atomic_store(&p->stop, true);
	while (p->works || p->queue)
		if (p->works)
			work_end(p);
		else
			work_begin(p);
}

void probes_prepare(struct probes *p)
{
	if (p && !p->works)
		work_begin(p);
}

static void probed_free(struct probed *j)
{
	probe_links_destroy(&j->links);
	libjvm_copy_free(&j->copy);
	free(j);
}

void probes_free(struct probes *p)
{
	struct library *l, *next_l;
	struct probed *j, *next_j;

	if (!p)
		return;
	stop(p);
	HASH_ITER (hh, p->probed, j, next_j) {
		HASH_DEL(p->probed, j);
		probed_free(j);
	}
	LL_FOREACH_SAFE (p->left, j, next_j) {
		probed_free(j);
	}
	LL_FOREACH_SAFE (p->libraries, l, next_l) {
		probe_links_destroy(&l->links);
		libjvm_free(l->jvm);
		free(l);
	}
	free(p);
}

/* ---- JVMs ---- */

static struct library *library_of(struct probes *p, struct process *process, const struct process_mapping *m)
{
	const char *names[PROBE_FUNCTIONS_MAX];
	bool counts = m->module->foreign;
	struct library *l;

	LL_FOREACH (p->libraries, l) {
		if (l->module == m->module)
			return l;
	}
	if (counts && !account_reserve(&process->account, p->jvms->sink, BUDGET_LIBJVMS, 1))
		return NULL;
	l = calloc(1, sizeof(*l));
	if (l) {
		l->module = m->module;
		l->jvm = libjvm_open(process, m, names, probe_functions(names));
	}
	if (!l || !l->jvm) { /* opening it for another process may succeed */
		if (counts)
			account_release(&process->account, BUDGET_LIBJVMS, 1);
		free(l);
		return NULL;
	}
	if (counts)
		account_keep(&process->account, BUDGET_LIBJVMS, 1);
	LL_PREPEND(p->libraries, l);
	return l;
}

static struct probed *probed_of(const struct probes *p, const struct process *process)
{
	struct probed *j;

	HASH_FIND_PTR(p->probed, &process, j);
	return j;
}

static struct probed *probed_new(struct probes *p, struct process *process)
{
	const struct process_mapping *m = libjvm_mapping(process);
	struct probed *j = m ? calloc(1, sizeof(*j)) : NULL;

	if (!j)
		return NULL;
	/* The number of processes that map a libjvm.so is not limited. */
	j->reserved = account_reserve(&process->account, p->jvms->sink, BUDGET_PROBED, 1);
	j->process = process;
	j->pid = process->pid;
	j->library = j->reserved ? library_of(p, process, m) : NULL;
	j->gone = !j->library;
	j->copy.file = j->library ? j->library->jvm : NULL;
	j->copy.bias = m->bias;
	HASH_ADD_PTR(p->probed, process, j);
	return j;
}

static int probed_map(const struct probes *p)
{
	return kernel_side_map(p->jvms->kernel, KERNEL_MAP_PROBED);
}

static uint64_t address_of(const struct libjvm_copy *c, enum libjvm_data data)
{
	return c->file->at[data] ? c->bias + c->file->at[data] : 0;
}

/* From here on, its hits are counted. */
static int show(struct probes *p, struct probed *j)
{
	const struct libjvm_copy *l = &j->copy;
	uint32_t key = (uint32_t)j->process->pid;
	struct braid_probed value = {
		.operation_at = address_of(l, OPERATION),
		.type_at = address_of(l, SAFEPOINT_TYPE),
		.begin_at = address_of(l, SAFEPOINT_BEGIN),
		.reached_at = address_of(l, SAFEPOINT_REACHED),
		.end_at = address_of(l, SAFEPOINT_END),
		.task_id = (uint16_t)l->field[TASK_ID].offset,
		.task_method = (uint16_t)l->field[TASK_METHOD].offset,
		.task_osr_bci = (uint16_t)l->field[TASK_OSR_BCI].offset,
		.task_level = (uint16_t)l->field[TASK_LEVEL].offset,
		.thread_virtual = libjvm_jfr_offset(l, JFR_VIRTUAL),
		.thread_number = libjvm_jfr_offset(l, JFR_NUMBER),
		.flags = BRAID_PROBED_TASK,
	};

	for (int i = 0; i < TASK_FIELDS; i++)
		if (!l->field[i].found)
			value.flags &= ~BRAID_PROBED_TASK;
	return bpf_map_update_elem(probed_map(p), &key, &value, BPF_ANY);
}

/*
 * Probes are instructions that the kernel puts into the file's code, at places that the file names. Probes of one
 * process change that process alone. So a file of its own user, who could change its code anyway, may have them; so may
 * a file of the owner of its root directory, as in a container. Probes that all processes share are only for trusted
 * files.
 */
static bool is_its_own(const struct probed *j)
{
	uid_t owner = j->library->jvm->owner;
	struct proc_status status;
	struct stat root;
	int fd;

	if (proc_status_read(j->process->pid, &status))
		return false;
	if (status.uid == owner)
		return true;
	fd = proc_root_open(j->process->pid);
	if (fd < 0 || fstat(fd, &root))
		root.st_uid = 0;
	if (fd >= 0)
		close(fd);
	return root.st_uid && root.st_uid == owner;
}

/* Probes of its own, for which there is room. They stay until the end of the recording. */
static void attach_own(struct probes *p, struct probed *j)
{
	account_keep(&j->process->account, BUDGET_OWN_PROBES, 1);
	j->linked = true;
	LL_APPEND2(p->queue, j, next_queued);
}

static void attach_untrusted(struct probes *p, struct probed *j)
{
	if (!is_its_own(j)) {
		report_untrusted(p, j);
	} else if (account_reserve(&j->process->account, p->jvms->sink, BUDGET_OWN_PROBES, 1)) {
		attach_own(p, j);
	}
}

static void attach_trusted(struct probes *p, struct probed *j)
{
	if (account_may_reserve(&j->process->account, BUDGET_OWN_PROBES, 1)) {
		(void)account_reserve(&j->process->account, p->jvms->sink, BUDGET_OWN_PROBES, 1);
		attach_own(p, j);
		return;
	}
	j->shared = true;
	if (!j->library->attached)
		LL_APPEND2(p->queue, j, next_queued);
	j->library->attached = true;
}

/* A JVM can make its tables take long, and never be ready. */
static bool is_readable(struct probed *j)
{
	uint64_t began_ns = now_ns();
	int err = libjvm_copy_read(&j->copy, j->process->pid);

	j->spent_ns += now_ns() - began_ns;
	return err != -EAGAIN || j->spent_ns > SPEND_NS;
}

void probes_attach(struct probes *p, struct process *process)
{
	struct probed *j;
	pid_t pid = process->pid;

	if (!p || process->ended_ns)
		return;
	j = probed_of(p, process) ?: probed_new(p, process);
	if (!j || j->ready || j->gone || !is_readable(j))
		return;
	j->ready = true;
	if (show(p, j)) {
		account_notice(&process->account, p->jvms->sink, BRAID_NOTICE_WARNING,
			       "no room for the probes of JVM %d: %d JVMs have probes, which is the maximum", (int)pid,
			       BRAID_MAX_JVMS);
		return;
	}
	if (j->library->jvm->trusted)
		attach_trusted(p, j);
	else
		attach_untrusted(p, j);
}

/* ---- during the recording ---- */

static void count(struct probes *p, struct probed *j, enum braid_jvm_event_kind kind, __u64 now, __u64 *before)
{
	struct trace_jvm_event e = {.time_ns = now_ns(),
				    .kind = BRAID_JVM_COUNTED,
				    .value = now - *before,
				    .number = kind,
				    .source = BRAID_SOURCE_PROBE};

	if (now > *before)
		jvm_events_emit(p->jvms, j->process, &e);
	*before = now;
}

static void emit_counted(struct probes *p, struct probed *j)
{
	uint32_t key = (uint32_t)j->pid;
	struct braid_probed now;

	if (!j->ready || j->gone || bpf_map_lookup_elem(probed_map(p), &key, &now))
		return;
	count(p, j, BRAID_JVM_SAFEPOINT_STOP, now.stops_counted, &j->reported.stops_counted);
	count(p, j, BRAID_JVM_DEOPT, now.deopts_counted, &j->reported.deopts_counted);
}

static void give_up(struct probes *p, struct probed *j)
{
	uint32_t key = (uint32_t)j->pid;

	emit_counted(p, j);
	if (j->ready && processes_latest(p->jvms->processes, j->pid) == j->process)
		bpf_map_delete_elem(probed_map(p), &key);
	j->gone = true;
}

static void consider(void *ctx, struct process *process)
{
	if (process->libjvm_ns && !process->ended_ns)
		probes_attach(ctx, process);
}

void probes_discover(struct probes *p)
{
	struct probed *j, *next;

	if (!p)
		return;
	HASH_ITER (hh, p->probed, j, next) {
		if (!j->gone && j->process->ended_ns)
			give_up(p, j);
		else
			emit_counted(p, j);
	}
	processes_each(p->jvms->processes, consider, p);
	probes_tick(p);
}

static bool is_among(const struct probed *list, const struct probed *j)
{
	while (list && list != j)
		list = list->next_queued;
	return list;
}

/* Its few links remain until the end. */
void probes_forget(struct probes *p, const struct process *process)
{
	struct probed *j = p ? probed_of(p, process) : NULL;

	if (!j)
		return;
	if (!j->gone)
		give_up(p, j);
	HASH_DEL(p->probed, j);
	j->process = NULL;
	if (is_among(p->queue, j))
		LL_DELETE2(p->queue, j, next_queued);
	if (j->linked || is_among(p->at_work, j))
		LL_PREPEND(p->left, j);
	else
		probed_free(j);
}

void probes_stop(struct probes *p)
{
	struct library *l;
	struct probed *j, *next;
	int holder = -1;

	if (!p)
		return;
	stop(p);
	if (p->libraries)
		holder = probe_holder_start();
	LL_FOREACH (p->libraries, l) {
		probe_links_destroy(&l->links);
	}
	LL_FOREACH (p->left, j) {
		probe_links_destroy(&j->links);
	}
	HASH_ITER (hh, p->probed, j, next) {
		probe_links_destroy(&j->links);
		emit_counted(p, j);
	}
	if (holder >= 0)
		close(holder);
}

const struct libjvm_copy *probes_library(const struct probes *p, const struct process *process)
{
	const struct probed *j = p ? probed_of(p, process) : NULL;

	return j && j->ready ? &j->copy : NULL;
}

bool probes_compilations(const struct probes *p, const struct process *process)
{
	struct probed *j = p ? probed_of(p, process) : NULL;

	return j && is_set(j) && links_of(j)->way[PROBE_COMPILATIONS];
}
