// SPDX-License-Identifier: Apache-2.0
/* A JVM whose agent's records a test sends, and what becomes of them in the trace. */
#ifndef TESTS_UNIT_JVM_FIXTURE_H
#define TESTS_UNIT_JVM_FIXTURE_H

#include "jvm/jvm.h"
#include "jvm/vthreads.h"
#include "sink/names.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALL_TYPES ((1U << BRAID_EVENT_TYPES) - 1)
#define TID 4000000 /* higher than the kernel's default maximum */

static struct sink sink;
static struct jvms jvms;
static struct process process;
static struct jvm *jvm;
static char path[] = "/tmp/braid-jvm-events-XXXXXX";

/* The last record of each kind. */
static struct trace_jvm_event last[BRAID_JVM_EVENTS];
static unsigned count[BRAID_JVM_EVENTS], loads, losses;
static struct trace_loss last_loss;
static char names[256][256], last_text[256], last_thread[256], last_notice[256];
static unsigned notices;

static inline void copy(char to[256], struct trace_str from)
{
	snprintf(to, 256, "%.*s", (int)(from.len < 255 ? from.len : 255), from.str ? from.str : "");
}

static inline void tap(void *ctx, const struct trace_rec *rec)
{
	(void)ctx;
	if (rec->kind == TRACE_NAME && rec->name.name < 256)
		copy(names[rec->name.name], rec->name.text);
	loads += rec->kind == TRACE_CODE_LOAD;
	if (rec->kind == TRACE_NOTICE) {
		notices++;
		copy(last_notice, rec->notice.text);
	}
	if (rec->kind == TRACE_LOSS) {
		losses++;
		last_loss = rec->loss;
	}
	if (rec->kind == TRACE_THREAD)
		copy(last_thread, rec->thread.name);
	if (rec->kind == TRACE_JVM_EVENT && rec->jvm_event.kind < BRAID_JVM_EVENTS) {
		last[rec->jvm_event.kind] = rec->jvm_event;
		count[rec->jvm_event.kind]++;
		copy(last_text, rec->jvm_event.text);
	}
}

static inline void setup(void)
{
	static const struct record_options options;
	int fd = mkstemp(strcpy(path, "/tmp/braid-jvm-events-XXXXXX"));

	ck_assert_int_ge(fd, 0);
	close(fd);
	sink = (struct sink){0};
	jvms = (struct jvms){.sink = &sink, .options = &options, .config.enabled = ALL_TYPES};
	process = (struct process){.id = 7, .pid = getpid()};
	memset(last, 0, sizeof(last));
	memset(count, 0, sizeof(count));
	notices = 0;
	ck_assert_int_eq(trace_writer_open(&sink.writer, path), 0);
	trace_writer_tap(sink.writer, tap, NULL);
	ck_assert_int_eq(modules_new(&jvms.modules, &sink, NULL, false), 0);
	ck_assert_int_eq(threads_new(&jvms.threads, &sink), 0);
	ck_assert_int_eq(processes_new(&jvms.processes, &sink, NULL, jvms.modules, jvms.threads, jvms.options), 0);
	ck_assert_int_eq(vthreads_new(&jvms.vthreads, &sink), 0);
	ck_assert_int_eq(names_new(&jvms.names, &sink), 0);
	jvm = process.jvm = jvm_new(&jvms, &process, 0, 1);
	ck_assert_ptr_nonnull(jvm);
}

static inline void teardown(void)
{
	jvm_free(jvm);
	names_free(jvms.names);
	vthreads_free(jvms.vthreads);
	processes_free(jvms.processes);
	threads_free(jvms.threads);
	modules_free(jvms.modules);
	ck_assert_int_eq(trace_writer_close(sink.writer), 0);
	unlink(path);
}

/* Sends a record in its own memory, so that a read beyond its end is detected. */
static inline void send(const void *fixed, size_t fixed_size, const char *strings)
{
	size_t length = strings ? strlen(strings) : 0;
	char *record = malloc(fixed_size + length);

	ck_assert_ptr_nonnull(record);
	memcpy(record, fixed, fixed_size);
	if (length)
		memcpy(record + fixed_size, strings, length);
	((struct braid_rec *)record)->size = (uint32_t)(fixed_size + length);
	jvm_record(jvm, (const struct braid_rec *)record, fixed_size + length);
	free(record);
}

#endif
