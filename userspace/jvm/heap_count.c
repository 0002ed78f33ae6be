// SPDX-License-Identifier: Apache-2.0
#include "heap_count.h"

#include "jvm_emit.h"
#include "libjvm.h"

#include "heapdump/histogram.h"
#include "util/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct heap_count {
	struct heapdump copy;
	uint64_t symbols[VM_SYMBOLS];
	struct histogram histogram;
	struct trace_jvm_event event; /* of the result */
	pthread_t thread;
	bool has_thread;
	bool refused; /* by the JVM or the kernel, which the agent has reported */
	atomic_bool done;
	bool emitted;
	int err;
};

static void *count_main(void *ctx)
{
	struct heap_count *c = ctx;

	c->err = histogram_read(&c->histogram, &c->copy);
	atomic_store(&c->done, true);
	return NULL;
}

/* 0, or a negative errno: nothing is counted. */
static int start(struct jvm *j, struct heap_count *c, const struct trace_jvm_event *copy)
{
	const struct process_mapping *m = libjvm_mapping(j->process);
	int err;

	if (!m)
		return -ENOENT;
	memcpy(c->symbols, m->module->vm, sizeof(c->symbols));
	c->copy.symbols = c->symbols;
	c->copy.jvm = j->process->pid;
	c->copy.copy = (pid_t)copy->number;
	c->copy.roots = copy->value;
	err = pthread_create(&c->thread, NULL, count_main, c);
	c->has_thread = !err;
	return -err;
}

void heap_count_begin(struct jvm *j, const struct trace_jvm_event *copy)
{
	struct heap_count *c;

	if (j->heap_count || j->jvms->config.heap_copy != BRAID_HEAP_COPY_COUNT)
		return;
	c = j->heap_count = calloc(1, sizeof(*c));
	if (!c) {
		sink_loss(j->jvms->sink, j->process->id, "collector", "heap", 1);
		return;
	}
	c->event = (struct trace_jvm_event){.time_ns = copy->time_ns,
					    .duration_ns = copy->duration_ns,
					    .kind = BRAID_JVM_HEAP,
					    .number = BRAID_HEAP_COUNTED,
					    .flags = BRAID_HEAP_COPIED};
	c->refused = copy->flags & BRAID_HEAP_FAILED;
	c->err = c->refused ? -ECANCELED : start(j, c, copy);
	if (!c->has_thread)
		atomic_store(&c->done, true);
}

static struct trace_jvm_event row_begin(struct heap_count *c, uint64_t bytes, uint64_t objects)
{
	c->event.value += bytes;
	c->event.weight += objects;
	return (struct trace_jvm_event){
		.time_ns = now_ns(), .number = BRAID_HEAP_COUNTED, .value = bytes, .weight = objects};
}

static void class_emit(struct jvm *j, struct heap_count *c, const struct histogram_row *row)
{
	struct trace_jvm_event e = row_begin(c, row->bytes, row->objects);
	struct loader_texts loader = {
		.class = row->loader ?: "", .name = row->loader_name ?: "", .hash = row->loader_number};

	loader.class_len = strlen(loader.class);
	loader.name_len = strlen(loader.name);
	named_events_heap_class(j, &e, row->class, strlen(row->class), &loader);
}

static void rows_emit(struct jvm *j, struct heap_count *c)
{
	const struct histogram *h = &c->histogram;
	struct trace_jvm_event rest;

	for (size_t i = 0; i < h->rows.count; i++)
		class_emit(j, c, &h->rows.at[i]);
	if (h->rest_classes) {
		rest = row_begin(c, h->rest_bytes, h->rest_objects);
		named_events_heap_others(j, &rest, HEAP_REST, h->rest_classes);
	}
}

void heap_count_tick(struct jvm *j)
{
	struct heap_count *c = j->heap_count;

	if (!c || c->emitted || !atomic_load(&c->done))
		return;
	if (!c->err)
		rows_emit(j, c);
	else
		c->event.flags |= BRAID_HEAP_FAILED;
	if (c->err && !c->refused)
		account_notice(&j->process->account, j->jvms->sink, BRAID_NOTICE_WARNING,
			       "the heap cannot be read from a copy: %s",
			       c->copy.why[0] ? c->copy.why : strerror(-c->err));
	jvm_events_emit(j->jvms, j->process, &c->event);
	c->emitted = true;
}

void heap_count_free(struct jvm *j)
{
	struct heap_count *c = j->heap_count;

	j->heap_count = NULL;
	if (!c || (c->has_thread && !heapdump_end(&c->copy, c->thread)))
		return;
	histogram_free(&c->histogram);
	free(c);
}
