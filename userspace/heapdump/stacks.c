// SPDX-License-Identifier: Apache-2.0
/*
 * The stacks of all Java threads. Every thread of a copied JVM stands in native code or in the VM and has left the
 * registers of its last Java frame (JavaFrameAnchor). The walk of samples goes on from there. Where native code has
 * called Java, the call's own anchor leads over the native frames.
 */
#include "writer.h"

#include "hotspot/hotspot.h"
#include "hotspot/vm_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <braid/walk.h>

#define THREADS_MAX (1U << 20)
#define STEPS_MAX (4U << 20) /* of all walks, with the frames that they find: some seconds */
#define DEPTH_MAX 4096U	     /* of one */
#define SCOPES_MAX 256
#define LINES_MAX 4096
#define CALL_WRAPPER (-6) /* slot of the JavaCallWrapper in the call stub's frame (frame_x86.hpp), in words */
#define ACC_NATIVE 0x100U
#define LINE_UNKNOWN (-1)
#define LINE_NATIVE (-3)

enum { F_LIST, F_LIST_COUNT, F_LIST_THREADS, F_LIST_OLD, F_NEXT, F_ANCHOR_OF_THREAD, F_ANCHOR_OF_CALL, THREAD_FIELDS };

static const struct vm_field thread_fields[THREAD_FIELDS] = {
	[F_LIST] = {.type = "ThreadsSMRSupport", .name = "_java_thread_list"},
	[F_LIST_COUNT] = {.type = "ThreadsList", .name = "_length"},
	[F_LIST_THREADS] = {.type = "ThreadsList", .name = "_threads"},
	[F_LIST_OLD] = {.type = "Threads", .name = "_thread_list"}, /* 8 and 11 */
	[F_NEXT] = {.type = "JavaThread", .name = "_next"},
	[F_ANCHOR_OF_THREAD] = {.type = "JavaThread", .name = "_anchor"},
	[F_ANCHOR_OF_CALL] = {.type = "JavaCallWrapper", .name = "_anchor"},
};

struct stack_walk {
	struct braid_walk w; /* first, since callbacks of the walk get a pointer to it */
	struct writer *writer;
	uint64_t java_thread;
	const struct vm_field *fields;
	uint32_t depth;
	int err;
};

/* ---- the walk ---- */

static int memory_read(void *ctx, uint64_t address, void *to, size_t size)
{
	return copy_peek(ctx, address, to, size) ? 0 : -EFAULT;
}

static struct copy *memory_of(struct writer *w)
{
	return &w->copy;
}

static long walk_read(struct braid_walk *w, void *to, __u32 size, __u64 address)
{
	return memory_read(memory_of(((struct stack_walk *)w)->writer), address, to, size);
}

/* Native code is not walked. */
static bool walk_mapping(struct braid_walk *w, __u64 pc, struct braid_mapping *m)
{
	(void)w;
	(void)pc;
	(void)m;
	return false;
}

static __u32 walk_rule(struct braid_walk *w, const struct braid_mapping *m, __u64 vaddr)
{
	(void)w;
	(void)m;
	(void)vaddr;
	return 0;
}

static __u64 walk_java_thread(struct braid_walk *w)
{
	return ((struct stack_walk *)w)->java_thread;
}

static void frame_add(struct stack_walk *s, uint64_t method, int32_t bci)
{
	struct writer *w = s->writer;
	const struct braid_layout *l = &w->vm.layout;
	uint64_t constants = copy_word(&w->copy, method + l->method_const);
	uint64_t pool = constants ? copy_word(&w->copy, constants + l->const_constants) : 0;
	int64_t class = pool ? klasses_find(&w->classes, copy_word(&w->copy, pool + l->pool_holder)) : -1;
	bool native = copy_int(&w->copy, method + l->method_access_flags) & ACC_NATIVE;
	struct writer_frame f = {.constants = constants,
				 .pool = pool,
				 .class = (uint32_t) class,
				 .bci = native ? WRITER_BCI_NATIVE : bci};

	w->steps++;
	if (class < 0 || w->steps > STEPS_MAX) {
		w->d->frames_lost++;
		return;
	}
	reach_mark_loader(&w->reach, w->classes.at.at[class].loader);
	s->err = s->err ?: VEC_PUSH(&w->frames, f);
	s->depth++;
}

static void code_add(struct stack_walk *s, uint64_t pc, bool exact)
{
	struct writer *w = s->writer;
	struct hotspot_scope scopes[SCOPES_MAX];
	struct hotspot_blob b;
	int n;

	if (hotspot_blob_find(&w->vm.layout, memory_read, memory_of(w), pc, &b) || !b.method)
		return;
	n = b.tier == BRAID_TIER_NATIVE_WRAPPER
		    ? 0
		    : hotspot_scopes_read(&w->vm.layout, &w->vm.names, memory_read, memory_of(w), b.address,
					  (uint32_t)(pc - b.code_begin), exact, scopes, SCOPES_MAX);
	if (n <= 0)
		frame_add(s, b.method, WRITER_BCI_UNKNOWN);
	for (int i = 0; i < n; i++)
		frame_add(s, scopes[i].method, scopes[i].bci);
}

static void walk_push(struct braid_walk *w, __u64 frame)
{
	struct stack_walk *s = (struct stack_walk *)w;

	if (braid_frame_kind(frame) == BRAID_FRAME_CODE_CACHE) {
		bool exact = frame & BRAID_FRAME_EXACT;

		code_add(s, braid_frame_addr(frame) - !exact, exact);
	} else if (braid_frame_kind(frame) == BRAID_FRAME_INTERPRETED) {
		uint32_t bci = braid_frame_bci(frame);

		frame_add(s, braid_frame_method(frame),
			  bci == BRAID_FRAME_BCI_NONE ? WRITER_BCI_UNKNOWN : (int32_t)bci);
	}
}

/* Continues below the native code that has called Java. False: it is the first that did. */
static bool below_call(struct stack_walk *s)
{
	const struct braid_layout *l = &s->writer->vm.layout;
	const struct vm_field *f = s->fields;
	uint64_t low = f[F_ANCHOR_OF_THREAD].offset, wrapper, at, sp;

	if (!f[F_ANCHOR_OF_CALL].found || !f[F_ANCHOR_OF_THREAD].found || l->thread_anchor_sp < low)
		return false;
	wrapper = copy_word(&s->writer->copy, s->w.fp + 8 * CALL_WRAPPER);
	at = wrapper + f[F_ANCHOR_OF_CALL].offset - low;
	sp = wrapper ? copy_word(&s->writer->copy, at + l->thread_anchor_sp) : 0;
	if (sp <= s->w.sp || sp & 7)
		return false;
	s->w.sp = sp;
	s->w.fp = copy_word(&s->writer->copy, at + l->thread_anchor_fp);
	s->w.pc = copy_word(&s->writer->copy, at + l->thread_anchor_pc) ?: copy_word(&s->writer->copy, sp - 8);
	s->w.leaf = 0;
	s->w.fp_at = WALK_FP_ELSEWHERE;
	return true;
}

static void walk(struct stack_walk *s)
{
	const struct braid_layout *l = &s->writer->vm.layout;

	s->w.end = WALK_GOING;
	if (!(l->flags & BRAID_LAYOUT_WALKABLE) || walk_anchor(&s->w, l))
		return;
	for (uint32_t i = 0; i < DEPTH_MAX && s->depth < DEPTH_MAX && !s->err; i++) {
		if (s->writer->steps++ > STEPS_MAX)
			return;
		if (s->w.pc == l->call_stub_return) {
			if (!below_call(s))
				return;
		} else if (walk_step(&s->w, l)) {
			return;
		}
	}
}

/* ---- threads ---- */

static int thread_read(struct writer *w, const struct vm_field *f, uint64_t java_thread)
{
	struct stack_walk s = {.writer = w, .java_thread = java_thread, .fields = f};
	const struct braid_objects *o = &w->vm.layout.objects;
	struct writer_thread t = {.first = (uint32_t)w->frames.count};

	t.object = copy_word(&w->copy, java_thread + o->carrier);
	if (o->flags & BRAID_OBJECTS_HANDLES && t.object)
		t.object = copy_word(&w->copy, t.object);
	t.object = vm_where(&w->vm, t.object);
	if (!t.object || !marks_cover(&w->reach.marks, t.object))
		return 0; /* it is being created, or ends */
	reach_mark_root(&w->reach, t.object);
	t.id = copy_word(&w->copy, t.object + o->thread_id);
	walk(&s);
	t.frames = (uint32_t)w->frames.count - t.first;
	if (s.err || VEC_PUSH(&w->threads, t) || !pair_put(&w->thread_of, t.id, 0, (uint32_t)w->threads.count))
		return -ENOMEM;
	return copy_check(&w->copy);
}

int stacks_read(struct writer *w, const uint64_t at[VM_SYMBOLS])
{
	struct vm_field f[THREAD_FIELDS];
	uint64_t list, threads, thread;
	int err;

	memcpy(f, thread_fields, sizeof(f));
	err = vm_process_read(w->copy.pid, w->vm.layout.libjvm_base, at, f, THREAD_FIELDS, NULL, 0);
	if (err)
		return err;
	if (f[F_LIST].found && f[F_LIST_COUNT].found && f[F_LIST_THREADS].found) {
		list = copy_word(&w->copy, f[F_LIST].address);
		threads = copy_word(&w->copy, list + f[F_LIST_THREADS].offset);
		for (uint32_t i = 0; i < copy_int(&w->copy, list + f[F_LIST_COUNT].offset) && i < THREADS_MAX && !err;
		     i++)
			err = thread_read(w, f, copy_word(&w->copy, threads + 8ULL * i));
		return err;
	}
	if (!f[F_LIST_OLD].found || !f[F_NEXT].found)
		return -ENOENT;
	thread = copy_word(&w->copy, f[F_LIST_OLD].address);
	for (uint32_t i = 0; thread && i < THREADS_MAX && !err; i++) {
		err = thread_read(w, f, thread);
		thread = copy_word(&w->copy, thread + f[F_NEXT].offset);
	}
	return err;
}

/* ---- writing ---- */

static uint64_t symbol_of(const struct writer *w, uint64_t pool, uint16_t index)
{
	return index ? copy_word(&w->copy, pool + w->vm.layout.pool_size + 8ULL * index) & ~1ULL : 0;
}

static uint64_t source_of(const struct writer *w, const struct writer_frame *f)
{
	const struct braid_names *n = &w->vm.names;

	if (n->pool_source)
		return symbol_of(w, f->pool, copy_short(&w->copy, f->pool + n->pool_source));
	return n->klass_source
		       ? symbol_of(w, f->pool, copy_short(&w->copy, w->classes.at.at[f->class].klass + n->klass_source))
		       : 0;
}

static int32_t line_of(struct writer *w, const struct writer_frame *f)
{
	struct braid_line lines[LINES_MAX];
	int32_t line = LINE_UNKNOWN;
	int n;

	if (f->bci < 0)
		return f->bci == WRITER_BCI_NATIVE ? LINE_NATIVE : LINE_UNKNOWN;
	n = hotspot_lines_read(&w->vm.layout, &w->vm.names, memory_read, memory_of(w), f->constants, lines, LINES_MAX);
	for (int i = 0; i < n && (int32_t)lines[i].bci <= f->bci; i++)
		line = (int32_t)lines[i].line;
	return line;
}

/* Writes a frame once for all that are equal, and returns its id. */
static uint64_t frame_write(struct writer *w, const struct writer_frame *f)
{
	const struct braid_layout *l = &w->vm.layout;
	const struct pair_entry *e = pair_find(&w->frame_of, f->constants, (uint64_t)(int64_t)f->bci);
	uint64_t name, signature, source;

	if (e)
		return e->value;
	name = symbol_of(w, f->pool, copy_short(&w->copy, f->constants + l->const_name_index));
	signature = symbol_of(w, f->pool, copy_short(&w->copy, f->constants + l->const_signature_index));
	source = source_of(w, f);
	content_name(w, name);
	content_name(w, signature);
	if (source)
		content_name(w, source);
	records_record(&w->out, HPROF_FRAME, 8 + 8 + 8 + 8 + 4 + 4);
	records_u8(&w->out, w->frame_of.count + 1);
	records_u8(&w->out, name);
	records_u8(&w->out, signature);
	records_u8(&w->out, source);
	records_u4(&w->out, f->class + 1);
	records_u4(&w->out, (uint32_t)line_of(w, f));
	if (!pair_put(&w->frame_of, f->constants, (uint64_t)(int64_t)f->bci, (uint32_t)w->frame_of.count + 1) &&
	    !w->out.error)
		w->out.error = -ENOMEM;
	return w->frame_of.count;
}

void stacks_trace_write(struct writer *w, uint32_t serial, uint32_t thread, const uint64_t *frames, uint32_t count)
{
	records_record(&w->out, HPROF_TRACE, 4 + 4 + 4 + 8 * count);
	records_u4(&w->out, serial);
	records_u4(&w->out, thread);
	records_u4(&w->out, count);
	for (uint32_t i = 0; i < count; i++)
		records_u8(&w->out, frames[i]);
}

int stacks_write(struct writer *w)
{
	uint64_t frames[DEPTH_MAX + SCOPES_MAX];

	stacks_trace_write(w, WRITER_NO_TRACE, 0, NULL, 0);
	for (uint32_t i = 0; i < w->threads.count && !w->out.error; i++) {
		const struct writer_thread *t = &w->threads.at[i];

		for (uint32_t n = 0; n < t->frames; n++)
			frames[n] = frame_write(w, &w->frames.at[t->first + n]);
		stacks_trace_write(w, writer_trace(i), i + 1, frames, t->frames);
	}
	return w->out.error;
}
