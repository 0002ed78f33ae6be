// SPDX-License-Identifier: Apache-2.0
#include "java_outside.h"

#include "jvm.h"
#include "layouts.h"
#include "libjvm.h"

#include "hotspot/java_threads.h"
#include "proc/procfs.h"
#include "util/utf8.h"

#include <errno.h>
#include <string.h>

struct outside {
	struct jvms *jvms;
	struct process *process;
};

/* The list is not stopped: it may have an address that is no thread any more, with any number in it. */
static void on_thread(void *ctx, const struct java_thread *found)
{
	const struct outside *o = ctx;
	struct threads *threads = o->jvms->threads;
	pid_t tid = found->tid <= INT32_MAX ? threads_host_tid(threads, o->process, (pid_t)found->tid) : 0;
	char name[THREAD_NAME_MAX];
	struct thread *t;

	if (!tid || procfs_comm(o->process->pid, tid, name, sizeof(name)))
		return;
	t = threads_now(threads, o->process, tid);
	if (!t)
		return;
	t->java_thread = found->address;
	t->java_runs = true;
	if (found->name_length)
		utf8_from_modified(name, sizeof(name), found->name, found->name_length);
	if (t->flags & TRACE_THREAD_JAVA && !strcmp(t->name, name))
		return;
	t->flags |= TRACE_THREAD_JAVA;
	thread_call(t, name);
	threads_emit(threads, t);
}

/* A thread's end is the kernel's to report, so `java_runs` stays. */
static void forget(struct process *process)
{
	for (struct thread *t = process->threads; t; t = t->next)
		t->java_thread = 0;
}

int java_outside_read(struct jvms *jvms, struct process *process, struct braid_layout *layout)
{
	struct outside o = {.jvms = jvms, .process = process};
	const struct process_mapping *m;
	struct java_heap heap;
	int err;

	layouts_find(jvms, process);
	m = process->jvm ? libjvm_mapping(process) : NULL;
	if (!m || !jvm_layout(process->jvm))
		return -ENOENT;
	err = java_heap_open(&heap, process->pid, m->bias, m->module->vm, jvm_layout(process->jvm));
	if (!err) {
		int count;

		*layout = heap.layout;
		forget(process);
		count = java_threads_each(&heap, on_thread, &o);
		err = count < 0 ? count : 0;
	}
	java_heap_close(&heap);
	return err;
}
