// SPDX-License-Identifier: Apache-2.0
#include "heap_count.h"

#include "jvm_emit.h"
#include "libjvm.h"

#include "heapdump/histogram.h"
#include "util/clock.h"

#include <braid/ring.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define END_S 30 /* for the thread to notice that it is to end */

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

static void row_emit(struct jvm *j, struct braid_rec_heap_class *r, const char *const text[3])
{
	union {
		struct braid_rec_heap_class head;
		char bytes[BRAID_REC_MAX];
	} record;
	uint16_t *lengths[] = {&r->class_len, &r->loader_len, &r->loader_name_len};
	size_t used = sizeof(*r);

	for (int i = 0; i < 3; i++) {
		size_t length = text[i] ? strnlen(text[i], (sizeof(record) - sizeof(*r)) / 3) : 0;

		*lengths[i] = (uint16_t)length;
		if (length)
			memcpy(record.bytes + used, text[i], length);
		used += length;
	}
	r->hdr = (struct braid_rec){.kind = BRAID_REC_HEAP_CLASS, .time_ns = now_ns()};
	r->number = BRAID_HEAP_COUNTED;
	record.head = *r;
	(void)named_events_on_heap_class(j, &record.head.hdr, used);
}

/* As the records of an agent. */
static void rows_emit(struct jvm *j, struct heap_count *c)
{
	const struct histogram *h = &c->histogram;

	for (size_t i = 0; i < h->rows.count; i++) {
		const struct histogram_row *row = &h->rows.at[i];

		row_emit(j,
			 &(struct braid_rec_heap_class){.which = BRAID_HEAP_ROW_CLASS,
							.bytes = row->bytes,
							.objects = row->objects,
							.loader_hash = row->loader_number},
			 (const char *[]){row->class, row->loader, row->loader_name});
		c->event.value += row->bytes;
		c->event.weight += row->objects;
	}
	c->event.value += h->rest_bytes;
	c->event.weight += h->rest_objects;
	if (h->rest_classes)
		row_emit(j,
			 &(struct braid_rec_heap_class){.which = BRAID_HEAP_ROW_REST,
							.bytes = h->rest_bytes,
							.objects = h->rest_objects,
							.classes = h->rest_classes},
			 (const char *[3]){NULL});
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
	struct timespec until;

	j->heap_count = NULL;
	if (!c)
		return;
	atomic_store(&c->copy.stop, true);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_S;
	/* A process can keep those who read its memory waiting for ever (userfaultfd). Then the thread keeps all of this. */
	if (c->has_thread && pthread_timedjoin_np(c->thread, NULL, &until))
		return;
	histogram_free(&c->histogram);
	free(c);
}
