// SPDX-License-Identifier: Apache-2.0
/* Reads the roots from the agent's table, checks and marks them, and writes them. */
#include "writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART 8192U   /* roots that are read at once */
#define PADDING 256U /* alignment of objects may add less than this to a size */

int roots_each(struct writer *w, int (*fn)(struct writer *w, const struct braid_heap_root *r, void *ctx), void *ctx)
{
	uint64_t at = w->d->roots + sizeof(struct braid_heap_roots);
	struct braid_heap_root *part = malloc(PART * sizeof(*part));
	int err = part ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < w->head.count && !err; i += PART) {
		uint32_t n = w->head.count - i < PART ? w->head.count - i : PART;

		err = copy_check(&w->copy);
		err = err ?: copy_read(&w->copy, at + i * sizeof(*part), part, n * sizeof(*part));
		for (uint32_t k = 0; k < n && !err; k++) {
			part[k].object = vm_where(&w->vm, part[k].object);
			err = fn(w, &part[k], ctx);
		}
	}
	free(part);
	return err;
}

/* ---- marking ---- */

/* The bytes of an object by its class and its header; 0: they depend on more. */
static uint64_t bytes_of(const struct writer *w, const struct class *k, const uint8_t *header)
{
	int32_t length;

	if (k->flags & (CLASS_IS_CLASS | CLASS_IS_CHUNK))
		return 0;
	if (k->kind == CLASS_INSTANCE)
		return k->size;
	memcpy(&length, header + w->vm.array_length, sizeof(length));
	return length < 0 ? 0 : (k->size + ((uint64_t)length << k->element_log2) + 7) & ~7ULL;
}

/*
 * What the agent has taken for an object's address, and what the tables say of classes, are right if the size that
 * comes out is the one that the JVM has reported.
 */
int64_t roots_class_at(struct writer *w, uint64_t object, uint64_t reported)
{
	uint8_t header[24] = {0};
	uint64_t bytes;
	int64_t i;

	if (!marks_cover(&w->reach.marks, object) || copy_read_some(&w->copy, object, header, sizeof(header)) < 16)
		return -1;
	i = klasses_find(&w->classes, vm_klass(&w->vm, header));
	bytes = i < 0 ? 0 : bytes_of(w, &w->classes.at.at[i], header);
	return i >= 0 && (!bytes || (bytes <= reported && reported - bytes < PADDING)) ? i : -1;
}

static int root_mark(struct writer *w, const struct braid_heap_root *r, void *ctx)
{
	(void)ctx;
	int err = 0;

	if (!w->classes.at.count) {
		uint8_t header[16];

		err = copy_read(&w->copy, r->object, header, sizeof(header)) ? -EPROTO : 0;
		err = err ?: klasses_read(&w->classes, vm_klass(&w->vm, header));
	}
	if (!err && roots_class_at(w, r->object, r->bytes) < 0)
		err = -EPROTO;
	if (!err)
		reach_mark_root(&w->reach, r->object);
	return err;
}

int roots_mark(struct writer *w)
{
	return roots_each(w, root_mark, NULL);
}

/* ---- writing ---- */

static void write_simple(struct writer *w, enum hprof_heap_tag tag, uint64_t object)
{
	records_heap(&w->out, tag, 8);
	records_u8(&w->out, object);
}

static void write_local(struct writer *w, enum hprof_heap_tag tag, const struct braid_heap_root *r)
{
	const struct pair_entry *thread = pair_find(&w->thread_of, r->thread, 0);

	if (!thread) {
		write_simple(w, HPROF_ROOT_UNKNOWN, r->object);
		return;
	}
	records_heap(&w->out, tag, 8 + 4 + 4);
	records_u8(&w->out, r->object);
	records_u4(&w->out, thread->value);
	records_u4(&w->out, r->depth < w->threads.at[thread->value - 1].frames ? r->depth : UINT32_MAX);
}

static void write_thread(struct writer *w, uint32_t thread)
{
	records_heap(&w->out, HPROF_ROOT_THREAD, 8 + 4 + 4);
	records_u8(&w->out, w->threads.at[thread].object);
	records_u4(&w->out, thread + 1);
	records_u4(&w->out, writer_trace(thread));
	w->d->roots_written++;
}

static int root_write(struct writer *w, const struct braid_heap_root *r, void *ctx)
{
	(void)ctx;
	if (!marks_has(&w->reach.marks, r->object)) /* a class that is not loaded, or another root than was marked */
		return 0;
	if (r->kind == BRAID_ROOT_THREAD) /* all threads are written as they are known, also those that JVM TI hides */
		return 0;
	w->d->roots_written++;
	switch (r->kind) {
	case BRAID_ROOT_JNI_GLOBAL: /* the reference has no id that would be known here */
		records_heap(&w->out, HPROF_ROOT_JNI_GLOBAL, 8 + 8);
		records_u8(&w->out, r->object);
		records_u8(&w->out, r->object);
		break;
	case BRAID_ROOT_SYSTEM_CLASS:
		write_simple(w,
			     reach_class_that_is(&w->reach, r->object) >= 0 ? HPROF_ROOT_STICKY_CLASS
									    : HPROF_ROOT_UNKNOWN,
			     r->object);
		break;
	case BRAID_ROOT_MONITOR:
		write_simple(w, HPROF_ROOT_MONITOR, r->object);
		break;
	case BRAID_ROOT_STACK_LOCAL:
		write_local(w, HPROF_ROOT_FRAME, r);
		break;
	case BRAID_ROOT_JNI_LOCAL:
		write_local(w, HPROF_ROOT_JNI_LOCAL, r);
		break;
	default:
		write_simple(w, HPROF_ROOT_UNKNOWN, r->object);
	}
	return w->out.error;
}

int roots_write(struct writer *w)
{
	for (uint32_t i = 0; i < w->threads.count && !w->out.error; i++)
		write_thread(w, i);
	return w->out.error ?: roots_each(w, root_write, NULL);
}
