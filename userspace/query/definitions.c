// SPDX-License-Identifier: Apache-2.0
/* The tables of what samples and events refer to by ids: processes, threads, spans, modules. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <analyze/spans.h>

#include "table.h"

static const struct table *table_of(const struct query_cursor *c)
{
	return c->table->of(c->query->an->a);
}

static uint64_t count_rows(const struct query *q, const struct query_table *t)
{
	return t->of(q->an->a)->count;
}

static int begin(struct query_cursor *c)
{
	const struct table *t = table_of(c);
	int64_t key = c->limits.equal[ROLE_KEY];
	size_t found;

	query_from_to(c, 0, t->count);
	if (!c->limits.has[ROLE_KEY])
		return 0;
	found = key > 0 && key <= UINT32_MAX ? table_find(t, (uint32_t)key) : TABLE_NONE;
	query_from_to(c, found == TABLE_NONE ? 0 : found, found == TABLE_NONE ? 0 : found + 1);
	return 0;
}

/* Ids that are only referred to are no definitions. */
static bool is_defined(const struct query_cursor *c)
{
	const struct analyzer *a = c->query->an->a;
	const struct table *t = table_of(c);

	if (t == &a->processes)
		return ((const struct process_row *)table_row(t, c->at))->defined;
	if (t == &a->threads)
		return ((const struct thread_row *)table_row(t, c->at))->defined;
	if (t == &a->spans) /* another definition of the same span has the id that counts */
		return ((const struct span_row *)table_row(t, c->at))->same == t->ids[c->at];
	return true;
}

static int next(struct query_cursor *c)
{
	while (query_next_at(c))
		if (is_defined(c))
			return 1;
	return 0;
}

static const struct query_rows rows = {.count = count_rows, .begin = begin, .next = next};

/* A getter of a column that shows an expression of a row `r`. */
#define GET(name, type, expression)                                                                                    \
	static void name(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)            \
	{                                                                                                              \
		const struct type *r = table_row(table_of(c), c->at);                                                  \
                                                                                                                       \
		(void)col;                                                                                             \
		expression;                                                                                            \
	}

static void get_key(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)
{
	(void)col;
	put_row(to, table_of(c), (uint32_t)c->at);
}

#define KEY(name, about)                                                                                               \
	{                                                                                                              \
		name, "INTEGER", ROLE_KEY, get_key, about, 0                                                           \
	}
#define INTEGER(name, get, about)                                                                                      \
	{                                                                                                              \
		name, "INTEGER", ROLE_NONE, get, about, 0                                                              \
	}
#define TEXT(name, get, about)                                                                                         \
	{                                                                                                              \
		name, "TEXT", ROLE_NONE, get, about, 0                                                                 \
	}

/* ---- processes ---- */

GET(process_pid, process_row, put_number(to, r->pid))
GET(process_parent, process_row, put_id(to, r->parent))
GET(process_start, process_row, put_time(to, c, r->start_ns))
GET(process_name, process_row, put_string(to, c, r->comm))
GET(process_exe, process_row, put_string(to, c, r->exe))
GET(process_cgroup, process_row, put_string(to, c, r->cgroup))
GET(process_container, process_row, put_string(to, c, r->container))

static const struct query_column processes[] = {
	KEY("process_id", "id of the process image; exec makes a new one"),
	INTEGER("pid", process_pid, "in the host's pid namespace; 0: the kernel"),
	INTEGER("parent_process_id", process_parent, "of the parent, if it is in the trace"),
	INTEGER("start_ns", process_start, "when it started"),
	TEXT("name", process_name, "short name (comm)"),
	TEXT("exe", process_exe, "path of the program"),
	TEXT("cgroup", process_cgroup, "its control group"),
	TEXT("container", process_container, "the container, as its control group names it"),
};

static const struct table *processes_of(const struct analyzer *a)
{
	return &a->processes;
}

/* ---- JVMs ---- */

static const char *const starts[] = {"none", "command", "attach"};

GET(jvm_agent, jvm_row, put_text(to, r->start < sizeof(starts) / sizeof(starts[0]) ? starts[r->start] : "unknown"))
GET(jvm_vm_name, jvm_row, put_string(to, c, r->vm_name))
GET(jvm_vm_version, jvm_row, put_string(to, c, r->vm_version))
GET(jvm_java_version, jvm_row, put_string(to, c, r->java_version))
GET(jvm_command, jvm_row, put_string(to, c, r->command))

static const struct query_column jvms[] = {
	KEY("process_id", "the process"),
	TEXT("agent", jvm_agent, "how the agent came: command, attach, or none"),
	TEXT("vm_name", jvm_vm_name, "java.vm.name"),
	TEXT("vm_version", jvm_vm_version, "java.vm.version"),
	TEXT("java_version", jvm_java_version, "java.version"),
	TEXT("command", jvm_command, "sun.java.command"),
};

static const struct table *jvms_of(const struct analyzer *a)
{
	return &a->jvms;
}

/* ---- threads ---- */

GET(thread_process, thread_row, put_id(to, r->process))
GET(thread_tid, thread_row, put_id(to, r->tid))
GET(thread_ns_tid, thread_row, put_id(to, r->ns_tid))
GET(thread_name, thread_row, (void)r; put_text(to, analysis_thread_name(c->query->an, (uint32_t)c->at)))
GET(thread_java, thread_row, put_number(to, (r->flags & TRACE_THREAD_JAVA) != 0))
GET(thread_daemon, thread_row, put_number(to, (r->flags & TRACE_THREAD_DAEMON) != 0))
GET(thread_kernel, thread_row, put_number(to, (r->flags & TRACE_THREAD_KERNEL) != 0))
GET(thread_group, thread_row, put_number(to, r->virtual))

static const struct query_column threads[] = {
	KEY("thread_id", "id of the thread"),
	INTEGER("process_id", thread_process, "its process"),
	INTEGER("tid", thread_tid, "in the host's pid namespace"),
	INTEGER("ns_tid", thread_ns_tid, "in the innermost pid namespace"),
	TEXT("name", thread_name, "the Java name, else comm"),
	INTEGER("is_java", thread_java, "1: the JVM has announced it"),
	INTEGER("is_daemon", thread_daemon, "1: a Java daemon thread"),
	INTEGER("is_kernel", thread_kernel, "1: a kernel thread"),
	INTEGER("is_virtual", thread_group, "1: stands for the virtual threads whose names differ in numbers only"),
};

static const struct table *threads_of(const struct analyzer *a)
{
	return &a->threads;
}

GET(vthread_process, vthread_row, put_id(to, r->process))
GET(vthread_number, vthread_row, put_id(to, r->number))
GET(vthread_name, vthread_row, put_string(to, c, r->name))
GET(vthread_thread, vthread_row, put_id(to, r->group))

static const struct query_column vthreads[] = {
	KEY("vthread_id", "id of the virtual thread"),
	INTEGER("process_id", vthread_process, "its process"),
	INTEGER("number", vthread_number, "Thread.threadId()"),
	TEXT("name", vthread_name, "its name, if it has one"),
	INTEGER("thread_id", vthread_thread, "the thread that stands for it and others"),
};

static const struct table *vthreads_of(const struct analyzer *a)
{
	return &a->vthreads;
}

/* ---- spans ---- */

static void put_hex(sqlite3_context *to, uint64_t hi, uint64_t lo, bool both)
{
	char text[33];

	if (both)
		snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, hi, lo);
	else
		snprintf(text, sizeof(text), "%016" PRIx64, lo);
	sqlite3_result_text(to, text, -1, SQLITE_TRANSIENT);
}

GET(span_process, span_row, put_id(to, r->process))
GET(span_trace, span_row, put_hex(to, r->trace_hi, r->trace_lo, true))
GET(span_number, span_row, put_hex(to, 0, r->span_id, false))

static const struct query_column spans[] = {
	KEY("span_id", "id of the span in this file"),
	INTEGER("process_id", span_process, "the process that serves it"),
	TEXT("trace", span_trace, "OpenTelemetry's trace id, hexadecimal"),
	TEXT("span", span_number, "OpenTelemetry's span id, hexadecimal"),
};

static const struct table *spans_of(const struct analyzer *a)
{
	return &a->spans;
}

/* ---- modules ---- */

static const char *const module_kinds[] = {"elf", "vdso", "kernel", "anonymous"};

GET(module_kind, module_row,
    put_text(to, r->kind < sizeof(module_kinds) / sizeof(module_kinds[0]) ? module_kinds[r->kind] : "unknown"))
GET(module_path, module_row, put_string(to, c, r->path))

static const struct query_column modules[] = {
	KEY("module_id", "id of the module"),
	TEXT("kind", module_kind, "elf, vdso, kernel or anonymous"),
	TEXT("path", module_path, "as the process sees it"),
};

static const struct table *modules_of(const struct analyzer *a)
{
	return &a->modules;
}

/* ---- all of them ---- */

#define TABLE(name, about)                                                                                             \
	{                                                                                                              \
#name, about, &rows, name, sizeof(name) / sizeof((name)[0]), name##_of, 0                              \
	}

int query_definitions(struct query *q)
{
	static const struct query_table all[] = {
		TABLE(processes, "process images"),
		TABLE(jvms, "process images that are JVMs"),
		TABLE(threads, "threads; one stands for virtual threads whose names differ in numbers only"),
		TABLE(vthreads, "virtual threads that were hit"),
		TABLE(spans, "requests, and parts of them, that processes serve"),
		TABLE(modules, "files that code is mapped from"),
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !err; i++)
		err = VEC_PUSH(&q->tables, all[i]);
	return err;
}
