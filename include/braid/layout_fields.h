// SPDX-License-Identifier: Apache-2.0
/*
 * Fills in a struct braid_layout and a struct braid_statics from HotSpot's own tables. The agent uses it from inside
 * its JVM, the collector from outside, before any agent is connected.
 */
#ifndef BRAID_LAYOUT_FIELDS_H
#define BRAID_LAYOUT_FIELDS_H

#include <braid/statics.h>
#include <braid/vm_tables.h>

enum layout_field {
	F_HEAPS,
	F_HEAP,
	F_ARRAY_LEN,
	F_ARRAY_LEN_OLD,
	F_ARRAY_DATA,
	F_HEAP_MEMORY,
	F_HEAP_SEGMAP,
	F_HEAP_LOG2,
	F_SPACE_LOW_BOUNDARY,
	F_SPACE_HIGH_BOUNDARY,
	F_SPACE_LOW,
	F_SPACE_HIGH,
	F_INTERPRETER,
	F_QUEUE_BUFFER,
	F_QUEUE_LIMIT,
	F_CALL_STUB,
	F_BLOB_NAME,
	F_BLOB_SIZE,
	F_BLOB_FRAME_SIZE,
	F_BLOB_COMPLETE,
	F_BLOB_CODE_BEGIN,
	F_BLOB_CODE_OFFSET,
	F_METHOD,
	F_METHOD_OLD,
	F_COMPILE_ID,
	F_COMP_LEVEL,
	F_ENTRY_BCI,
	F_BLOB_CODE_END,
	F_BLOB_DATA_OFFSET,
	F_STUB_OFFSET,
	F_ORIG_PC,
	F_DEOPT_POINTER,
	F_DEOPT_OFFSET,
	F_DEOPT_OFFSET_8,
	F_CONST_METHOD,
	F_ACCESS_FLAGS,
	F_CONSTANTS,
	F_CODE_SIZE,
	F_NAME_INDEX,
	F_SIGNATURE_INDEX,
	F_POOL_HOLDER,
	F_KLASS_NAME,
	F_SYMBOL_LENGTH,
	F_SYMBOL_BODY,
	F_ANCHOR,
	F_ANCHOR_SP,
	F_ANCHOR_FP,
	F_ANCHOR_PC,
	F_OSTHREAD,
	F_OSTHREAD_NEW,
	F_PENDING,
	F_PENDING_OLD,
	F_TID,
	LAYOUT_FIELDS
};

enum layout_type { T_HEAP_BLOCK, T_CONST_METHOD, T_POOL, T_COMP_LEVEL, LAYOUT_TYPES };

static const struct vm_field layout_fields[LAYOUT_FIELDS] = {
	[F_HEAPS] = {.type = "CodeCache", .name = "_heaps"}, /* 9 and later */
	[F_HEAP] = {.type = "CodeCache", .name = "_heap"},   /* 8 */
	[F_ARRAY_LEN] = {.type = "GrowableArrayBase", .name = "_len"},
	[F_ARRAY_LEN_OLD] = {.type = "GenericGrowableArray", .name = "_len"}, /* before 16 */
	[F_ARRAY_DATA] = {.type = "GrowableArray<int>", .name = "_data"},
	[F_HEAP_MEMORY] = {.type = "CodeHeap", .name = "_memory"},
	[F_HEAP_SEGMAP] = {.type = "CodeHeap", .name = "_segmap"},
	[F_HEAP_LOG2] = {.type = "CodeHeap", .name = "_log2_segment_size"},
	[F_SPACE_LOW_BOUNDARY] = {.type = "VirtualSpace", .name = "_low_boundary"},
	[F_SPACE_HIGH_BOUNDARY] = {.type = "VirtualSpace", .name = "_high_boundary"},
	[F_SPACE_LOW] = {.type = "VirtualSpace", .name = "_low"},
	[F_SPACE_HIGH] = {.type = "VirtualSpace", .name = "_high"},
	[F_INTERPRETER] = {.type = "AbstractInterpreter", .name = "_code"},
	[F_QUEUE_BUFFER] = {.type = "StubQueue", .name = "_stub_buffer"},
	[F_QUEUE_LIMIT] = {.type = "StubQueue", .name = "_buffer_limit"},
	[F_CALL_STUB] = {.type = "StubRoutines", .name = "_call_stub_return_address"},
	[F_BLOB_NAME] = {.type = "CodeBlob", .name = "_name"},
	[F_BLOB_SIZE] = {.type = "CodeBlob", .name = "_size"},
	[F_BLOB_FRAME_SIZE] = {.type = "CodeBlob", .name = "_frame_size"},
	[F_BLOB_COMPLETE] = {.type = "CodeBlob", .name = "_frame_complete_offset"},
	[F_BLOB_CODE_BEGIN] = {.type = "CodeBlob", .name = "_code_begin"},   /* 9 to 22 */
	[F_BLOB_CODE_OFFSET] = {.type = "CodeBlob", .name = "_code_offset"}, /* 8, 23 and later */
	[F_METHOD] = {.type = "nmethod", .name = "_method"},		     /* 8, 23 and later */
	[F_METHOD_OLD] = {.type = "CompiledMethod", .name = "_method"},	     /* 9 to 22 */
	[F_COMPILE_ID] = {.type = "nmethod", .name = "_compile_id"},
	[F_COMP_LEVEL] = {.type = "nmethod", .name = "_comp_level"},
	[F_STUB_OFFSET] = {.type = "nmethod", .name = "_stub_offset"}, /* the stubs follow the instructions */
	[F_ENTRY_BCI] = {.type = "nmethod", .name = "_entry_bci"},
	[F_BLOB_CODE_END] = {.type = "CodeBlob", .name = "_code_end"},	     /* 9 to 22 */
	[F_BLOB_DATA_OFFSET] = {.type = "CodeBlob", .name = "_data_offset"}, /* the data follow the code */
	[F_ORIG_PC] = {.type = "nmethod", .name = "_orig_pc_offset"},
	[F_DEOPT_POINTER] = {.type = "CompiledMethod", .name = "_deopt_handler_begin"}, /* 9 to 22 */
	[F_DEOPT_OFFSET] = {.type = "nmethod", .name = "_deopt_handler_offset"},	/* 23 and later */
	[F_DEOPT_OFFSET_8] = {.type = "nmethod", .name = "_deoptimize_offset"},
	[F_CONST_METHOD] = {.type = "Method", .name = "_constMethod"},
	[F_ACCESS_FLAGS] = {.type = "Method", .name = "_access_flags"},
	[F_CONSTANTS] = {.type = "ConstMethod", .name = "_constants"},
	[F_CODE_SIZE] = {.type = "ConstMethod", .name = "_code_size"},
	[F_NAME_INDEX] = {.type = "ConstMethod", .name = "_name_index"},
	[F_SIGNATURE_INDEX] = {.type = "ConstMethod", .name = "_signature_index"},
	[F_POOL_HOLDER] = {.type = "ConstantPool", .name = "_pool_holder"},
	[F_KLASS_NAME] = {.type = "Klass", .name = "_name"},
	[F_SYMBOL_LENGTH] = {.type = "Symbol", .name = "_length"},
	[F_SYMBOL_BODY] = {.type = "Symbol", .name = "_body"},
	[F_ANCHOR] = {.type = "JavaThread", .name = "_anchor"},
	[F_ANCHOR_SP] = {.type = "JavaFrameAnchor", .name = "_last_Java_sp"},
	[F_ANCHOR_FP] = {.type = "JavaFrameAnchor", .name = "_last_Java_fp"},
	[F_ANCHOR_PC] = {.type = "JavaFrameAnchor", .name = "_last_Java_pc"},
	[F_OSTHREAD] = {.type = "JavaThread", .name = "_osthread"},
	[F_OSTHREAD_NEW] = {.type = "Thread", .name = "_osthread"}, /* 25 */
	[F_PENDING] = {.type = "JavaThread", .name = "_current_pending_monitor"},
	[F_PENDING_OLD] = {.type = "Thread", .name = "_current_pending_monitor"},
	[F_TID] = {.type = "OSThread", .name = "_thread_id"},
};

static const struct vm_type layout_types[LAYOUT_TYPES] = {
	[T_HEAP_BLOCK] = {.name = "HeapBlock"},
	[T_CONST_METHOD] = {.name = "ConstMethod"},
	[T_POOL] = {.name = "ConstantPool"},
	[T_COMP_LEVEL] = {.name = "CompLevel"}, /* an enum of one byte from 21 on; before, the field is an int */
};

struct layout_tables {
	struct vm_field field[LAYOUT_FIELDS];
	struct vm_type type[LAYOUT_TYPES];
};

/* What the agent's self-check of an nmethod needs besides the layout. */
struct layout_check {
	uint16_t entry_bci;
	uint16_t stub_offset;
	uint16_t blob_code_end; /* pointer or int offset, like blob_code */
};

/* Takes the offset of field `a`, or of `b` where the VM lacks `a`. */
static bool offset_take(const struct layout_tables *t, uint16_t *to, int a, int b)
{
	const struct vm_field *f = t->field[a].found || b < 0 ? &t->field[a] : &t->field[b];

	if (!f->found || f->offset > UINT16_MAX)
		return false;
	*to = (uint16_t)f->offset;
	return true;
}

static bool size_take(const struct layout_tables *t, uint16_t *to, int of)
{
	if (!t->type[of].found || t->type[of].size > UINT16_MAX)
		return false;
	*to = (uint16_t)t->type[of].size;
	return true;
}

static bool blob_offsets_take(const struct layout_tables *t, struct braid_layout *l)
{
	bool ok = size_take(t, &l->heap_block_header, T_HEAP_BLOCK);

	ok = offset_take(t, &l->blob_name, F_BLOB_NAME, -1) && ok;
	ok = offset_take(t, &l->blob_size, F_BLOB_SIZE, -1) && ok;
	ok = offset_take(t, &l->blob_frame_size, F_BLOB_FRAME_SIZE, -1) && ok;
	ok = offset_take(t, &l->blob_frame_complete, F_BLOB_COMPLETE, -1) && ok;
	ok = offset_take(t, &l->blob_code, F_BLOB_CODE_BEGIN, F_BLOB_CODE_OFFSET) && ok;
	if (!t->field[F_BLOB_CODE_BEGIN].found)
		l->flags |= BRAID_LAYOUT_CODE_OFFSET;
	if (!strcmp(t->field[F_BLOB_COMPLETE].declared, "int16_t"))
		l->flags |= BRAID_LAYOUT_SHORT_COMPLETE;
	return ok;
}

static bool nmethod_offsets_take(const struct layout_tables *t, struct braid_layout *l)
{
	bool ok = offset_take(t, &l->nmethod_method, F_METHOD, F_METHOD_OLD);

	ok = offset_take(t, &l->nmethod_compile_id, F_COMPILE_ID, -1) && ok;
	ok = offset_take(t, &l->nmethod_comp_level, F_COMP_LEVEL, -1) && ok;
	l->nmethod_comp_level_size = 4;
	if (t->type[T_COMP_LEVEL].found && !strcmp(t->field[F_COMP_LEVEL].declared, "CompLevel"))
		ok = size_take(t, &l->nmethod_comp_level_size, T_COMP_LEVEL) && ok;
	offset_take(t, &l->nmethod_orig_pc_offset, F_ORIG_PC, -1);
	if (l->flags & BRAID_LAYOUT_CODE_OFFSET)
		offset_take(t, &l->nmethod_deopt_handler, F_DEOPT_OFFSET, F_DEOPT_OFFSET_8);
	else
		offset_take(t, &l->nmethod_deopt_handler, F_DEOPT_POINTER, -1);
	return ok;
}

static bool name_offsets_take(const struct layout_tables *t, struct braid_layout *l)
{
	bool ok = offset_take(t, &l->method_const, F_CONST_METHOD, -1);

	ok = offset_take(t, &l->method_access_flags, F_ACCESS_FLAGS, -1) && ok;
	ok = size_take(t, &l->const_size, T_CONST_METHOD) && ok;
	ok = offset_take(t, &l->const_constants, F_CONSTANTS, -1) && ok;
	ok = offset_take(t, &l->const_code_size, F_CODE_SIZE, -1) && ok;
	ok = offset_take(t, &l->const_name_index, F_NAME_INDEX, -1) && ok;
	ok = offset_take(t, &l->const_signature_index, F_SIGNATURE_INDEX, -1) && ok;
	ok = size_take(t, &l->pool_size, T_POOL) && ok;
	ok = offset_take(t, &l->pool_holder, F_POOL_HOLDER, -1) && ok;
	ok = offset_take(t, &l->klass_name, F_KLASS_NAME, -1) && ok;
	ok = offset_take(t, &l->symbol_length, F_SYMBOL_LENGTH, -1) && ok;
	ok = offset_take(t, &l->symbol_body, F_SYMBOL_BODY, -1) && ok;
	return ok;
}

static void thread_offsets_take(const struct layout_tables *t, struct braid_layout *l)
{
	uint16_t anchor;

	if (offset_take(t, &anchor, F_ANCHOR, -1) && offset_take(t, &l->thread_anchor_sp, F_ANCHOR_SP, -1) &&
	    offset_take(t, &l->thread_anchor_fp, F_ANCHOR_FP, -1) &&
	    offset_take(t, &l->thread_anchor_pc, F_ANCHOR_PC, -1)) {
		l->thread_anchor_sp = (uint16_t)(l->thread_anchor_sp + anchor);
		l->thread_anchor_fp = (uint16_t)(l->thread_anchor_fp + anchor);
		l->thread_anchor_pc = (uint16_t)(l->thread_anchor_pc + anchor);
	}
	offset_take(t, &l->thread_osthread, F_OSTHREAD, F_OSTHREAD_NEW);
	offset_take(t, &l->osthread_tid, F_TID, -1);
	offset_take(t, &l->thread_pending, F_PENDING, F_PENDING_OLD);
}

/*
 * frame_x86.hpp: the tables export only sender_sp, and not in 8. The mirror's slot exists from 9 on, like the array of
 * code heaps.
 */
static bool interpreter_frame_take(const struct layout_tables *t, struct braid_layout *l)
{
#if defined(__x86_64__)
	l->interp_sender_sp = -1;
	l->interp_method = -3;
	l->interp_bcp = t->field[F_HEAPS].found ? -8 : -7;
	return true;
#else
	(void)t;
	(void)l;
	return false;
#endif
}

/* Takes the offset of a field inside an embedded object: the sum of both offsets. */
static bool inner_take(const struct layout_tables *t, uint16_t *to, int outer, int inner)
{
	uint16_t a, b;

	if (!offset_take(t, &a, outer, -1) || !offset_take(t, &b, inner, -1) || a + b > UINT16_MAX)
		return false;
	*to = (uint16_t)(a + b);
	return true;
}

/* 8 has one code heap, later JDKs have an array of one or three. */
static bool statics_take(const struct layout_tables *t, struct braid_statics *v)
{
	bool ok = inner_take(t, &v->heap_low, F_HEAP_MEMORY, F_SPACE_LOW_BOUNDARY);

	ok = inner_take(t, &v->heap_high, F_HEAP_MEMORY, F_SPACE_HIGH_BOUNDARY) && ok;
	ok = inner_take(t, &v->heap_segmap, F_HEAP_SEGMAP, F_SPACE_LOW) && ok;
	ok = offset_take(t, &v->heap_log2, F_HEAP_LOG2, -1) && ok;
	ok = offset_take(t, &v->queue_buffer, F_QUEUE_BUFFER, -1) && ok;
	ok = offset_take(t, &v->queue_limit, F_QUEUE_LIMIT, -1) && ok;
	v->heaps = t->field[F_HEAP].address;
	if (t->field[F_HEAPS].found) {
		v->heaps = t->field[F_HEAPS].address;
		v->array = 1;
		ok = offset_take(t, &v->array_length, F_ARRAY_LEN, F_ARRAY_LEN_OLD) && ok;
		ok = offset_take(t, &v->array_data, F_ARRAY_DATA, -1) && ok;
	}
	v->interpreter = t->field[F_INTERPRETER].address;
	v->call_stub = t->field[F_CALL_STUB].address;
	return ok && v->heaps && v->interpreter && v->call_stub;
}

/* Takes all that is constant while the JVM runs; the rest is read from memory, see <braid/statics.h>. */
static void layout_take(const struct layout_tables *t, struct braid_layout *l, struct braid_statics *v,
			struct layout_check *c)
{
	bool ok = blob_offsets_take(t, l);

	ok = nmethod_offsets_take(t, l) && ok;
	ok = interpreter_frame_take(t, l) && ok;
	ok = offset_take(t, &c->entry_bci, F_ENTRY_BCI, -1) && ok;
	ok = offset_take(t, &c->stub_offset, F_STUB_OFFSET, -1) && ok;
	ok = offset_take(t, &c->blob_code_end, F_BLOB_CODE_END, F_BLOB_DATA_OFFSET) && ok;
	ok = statics_take(t, v) && ok;
	if (ok)
		l->flags |= BRAID_LAYOUT_WALKABLE | BRAID_LAYOUT_GROWING;
	if (name_offsets_take(t, l))
		l->flags |= BRAID_LAYOUT_NAMES;
	thread_offsets_take(t, l);
}

#endif
