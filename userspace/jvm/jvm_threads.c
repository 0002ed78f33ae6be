// SPDX-License-Identifier: Apache-2.0
/* Java threads: applies the agent's records of their starts, ends and names. */
#include "jvm_state.h"

#include "jvm_emit.h"
#include "sink/names.h"

#include <stdlib.h>
#include <string.h>

static uint32_t thread_name_id(struct jvm *j, const char *text)
{
	return names_id(j->jvms->names, &j->process->account, trace_str_of(text));
}

static void thread_emit(struct jvm *j, struct thread *t, struct trace_jvm_event *e)
{
	threads_define(j->jvms->threads, t);
	e->thread = t->id;
	e->name = thread_name_id(j, t->name);
	jvm_events_emit(j->jvms, j->process, e);
}

/* Without memory it keeps its old group. */
static void set_group(struct thread *t, const char *text, uint16_t length)
{
	char *group = malloc(THREAD_GROUP_MAX);

	if (!group)
		return;
	utf8_from_modified(group, THREAD_GROUP_MAX, text, length);
	free(t->group);
	t->group = group;
}

/* Sets the thread's name and defines the thread in the trace. */
static void thread_define(struct jvm *j, struct thread *t, const char *name, uint64_t time_ns)
{
	bool renamed = t->java_runs && strcmp(t->name, name) != 0;

	t->flags |= TRACE_THREAD_JAVA;
	thread_call(t, name);
	threads_emit(j->jvms->threads, t);
	if (renamed && jvm_enabled(j, BRAID_EVENT_TYPE_THREAD))
		thread_emit(j, t, &(struct trace_jvm_event){.time_ns = time_ns, .kind = BRAID_JVM_THREAD_RENAME});
}

static void start(struct jvm *j, struct thread *t, const struct braid_rec_thread *r)
{
	j->threads_started++;
	t->java_started = true;
	t->java_cpu_ns = r->cpu_ns;
	t->java_system_ns = r->system_ns;
	if (jvm_enabled(j, BRAID_EVENT_TYPE_THREAD))
		thread_emit(j, t,
			    &(struct trace_jvm_event){.time_ns = r->hdr.time_ns,
						      .kind = BRAID_JVM_THREAD_START,
						      .value = r->priority,
						      .flags = r->flags & BRAID_THREAD_DAEMON,
						      .detail = thread_name_id(j, t->group ?: "")});
}

/* A thread may be reported twice: at its start, and in the list of threads that ran when the agent was loaded. */
bool threads_on_thread(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_thread *r = (const void *)rec;
	const char *at = (const char *)(r + 1);
	char name[THREAD_NAME_MAX];
	struct thread *t;
	bool is_start;

	if (size < sizeof(*r) || size - sizeof(*r) < (size_t)r->name_len + r->group_len)
		return false;
	is_start = !(r->flags & (BRAID_THREAD_INITIAL | BRAID_THREAD_AGAIN | BRAID_THREAD_AGENT));
	utf8_from_modified(name, sizeof(name), at, r->name_len);
	t = r->thread_tid ? threads_java(j->jvms->threads, j->process, (pid_t)r->thread_tid, is_start ? name : NULL)
			  : NULL;
	if (!t) { /* it has ended, and was never seen running */
		j->threads_started += is_start;
		return true;
	}
	/* The JVM still lists a thread whose end was reported. */
	if (r->flags & BRAID_THREAD_AGAIN && t->java_thread == r->java_thread && !t->java_runs)
		return true;
	if (t->java_thread != r->java_thread || !t->java_runs)
		t->java_started = t->java_runs = false;
	t->java_thread = r->java_thread;
	t->flags = TRACE_THREAD_JAVA | (r->flags & BRAID_THREAD_DAEMON ? TRACE_THREAD_DAEMON : 0);
	if (r->group_len)
		set_group(t, at + r->name_len, r->group_len);
	thread_define(j, t, name, rec->time_ns);
	t->java_runs = true;
	if (is_start && !t->since_ns)
		t->since_ns = rec->time_ns;
	if (is_start && !t->java_started)
		start(j, t, r);
	return true;
}

static uint64_t beyond(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* A thread without a known start began before the agent was loaded. */
bool threads_on_end(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_thread_end *r = (const void *)rec;
	struct trace_jvm_event e = {.time_ns = rec->time_ns, .kind = BRAID_JVM_THREAD_END};
	char name[THREAD_NAME_MAX];
	struct thread *t;

	if (size < sizeof(*r) || r->name_len > size - sizeof(*r))
		return false;
	j->threads_ended++;
	utf8_from_modified(name, sizeof(name), r + 1, r->name_len);
	t = threads_java(j->jvms->threads, j->process, (pid_t)rec->tid, NULL);
	if (!t)
		return true;
	if (!t->java_runs || (t->java_thread && r->java_thread && t->java_thread != r->java_thread)) {
		t->java_runs = false;
		t->java_cpu_ns = t->java_system_ns = 0;
	}
	if (r->name_len && (!(t->flags & TRACE_THREAD_JAVA) || strcmp(t->name, name) != 0))
		thread_define(j, t, name, rec->time_ns);
	t->java_runs = t->java_started = false;
	e.value = beyond(r->cpu_ns, t->java_cpu_ns);
	e.weight = beyond(r->system_ns, t->java_system_ns);
	if (e.weight > e.value)
		e.weight = e.value;
	if (jvm_enabled(j, BRAID_EVENT_TYPE_THREAD))
		thread_emit(j, t, &e);
	t->java_cpu_ns = t->java_system_ns = 0;
	return true;
}
