// SPDX-License-Identifier: Apache-2.0
/* The tables of what samples and events refer to by ids: processes, threads, spans, modules. */
#include <stdio.h>

#include <analyze/spans.h>

#include "table.h"

static uint64_t count_rows(const struct query *q, const struct query_table *t)
{
	return query_table_at(q->an->a, t)->count;
}

static int begin(struct query_cursor *c)
{
	query_from_table(c, query_table_of(c), ROLE_KEY);
	return 0;
}

/* Ids that are only referred to are no definitions. */
static bool is_defined(const struct query_cursor *c)
{
	const struct analyzer *a = c->query->an->a;
	const struct table *t = query_table_of(c);

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
#define GET(name, type, expression) GETTER(name, const struct type *r = table_row(query_table_of(c), c->at); expression)

GETTER(get_key, put_row(to, query_table_of(c), (uint32_t)c->at))

#define KEY(name, about) LIMITED(name, ROLE_KEY, get_key, about)

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

/* ---- threads ---- */

GET(thread_process, thread_row, put_id(to, r->process))
GET(thread_tid, thread_row, put_id(to, r->tid))
GET(thread_ns_tid, thread_row, put_id(to, r->ns_tid))
GETTER(thread_name, put_text(to, analysis_thread_name(c->query->an, (uint32_t)c->at)))
GET(thread_java, thread_row, put_number(to, (r->flags & TRACE_THREAD_JAVA) != 0))
GET(thread_daemon, thread_row, put_number(to, (r->flags & TRACE_THREAD_DAEMON) != 0))
GET(thread_kernel, thread_row, put_number(to, (r->flags & TRACE_THREAD_KERNEL) != 0))
GET(thread_group, thread_row, put_number(to, r->virtual))

static const struct query_column threads[] = {
	KEY("thread_id", "id of the thread"),
	INTEGER("process_id", thread_process, "its process"),
	INTEGER("tid", thread_tid, "in the host's pid namespace"),
	INTEGER("ns_tid", thread_ns_tid, "in the innermost pid namespace"),
	TEXT("name", thread_name, "the Java name; else the whole name, if known, or comm"),
	INTEGER("is_java", thread_java, "1: the JVM has announced it"),
	INTEGER("is_daemon", thread_daemon, "1: a Java daemon thread"),
	INTEGER("is_kernel", thread_kernel, "1: a kernel thread"),
	INTEGER("is_virtual", thread_group, "1: a group of virtual threads whose names differ in numbers only"),
};

GET(vthread_process, vthread_row, put_id(to, r->process))
GET(vthread_number, vthread_row, put_id(to, r->number))
GET(vthread_name, vthread_row, put_string(to, c, r->name))
GET(vthread_thread, vthread_row, put_id(to, r->group))

static const struct query_column vthreads[] = {
	KEY("vthread_id", "id of the virtual thread"),
	INTEGER("process_id", vthread_process, "its process"),
	INTEGER("number", vthread_number, "Thread.threadId()"),
	TEXT("name", vthread_name, "its name, if it has one"),
	INTEGER("thread_id", vthread_thread, "the group of virtual threads that it belongs to"),
};

/* ---- spans ---- */

static void put_hex(sqlite3_context *to, uint64_t hi, uint64_t lo, bool both)
{
	char text[SPANS_ID_TEXT];

	sqlite3_result_text(to, both ? spans_trace_text(text, hi, lo) : spans_id_text(text, lo), -1, SQLITE_TRANSIENT);
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

/* ---- all of them ---- */

int query_definitions(struct query *q)
{
	static const struct query_table all[] = {
		TABLE_OF(processes, "process images", &rows, processes),
		TABLE_OF(jvms, "process images that are JVMs", &rows, jvms),
		TABLE_OF(threads, "threads, and groups of virtual threads whose names differ in numbers only", &rows,
			 threads),
		TABLE_OF(vthreads, "virtual threads that were hit", &rows, vthreads),
		TABLE_OF(spans, "requests, and parts of them, that processes serve", &rows, spans),
		TABLE_OF(modules, "files that code is mapped from", &rows, modules),
	};

	return query_add_tables(q, all, sizeof(all) / sizeof(all[0]));
}
