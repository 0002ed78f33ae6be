// SPDX-License-Identifier: Apache-2.0
#include "vm/layout.h"

#include "vm/mem.h"
#include "core/publish.h"
#include "vm/vmstructs.h"
#include "vm/vthreads.h"

#include <braid/layout.h>

#include "core/glibc.h"
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Announcements that must agree with the code heap before it is believed. */
#define CHECKS 16U
/* A segment map byte leads back 254 segments at most; no blob is longer than this many of them. */
#define SEGMENT_HOPS 4096U
#define CODE_HEAP_MAX (4ULL << 30)

enum {
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
	F_TID,
	FIELDS
};

enum { T_HEAP_BLOCK, T_CONST_METHOD, T_POOL, T_COMP_LEVEL, TYPES };

static struct vm_field field[FIELDS] = {
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
	[F_STUB_OFFSET] = {.type = "nmethod", .name = "_stub_offset"}, /* its stubs follow its instructions */
	[F_ENTRY_BCI] = {.type = "nmethod", .name = "_entry_bci"},
	[F_BLOB_CODE_END] = {.type = "CodeBlob", .name = "_code_end"},	     /* 9 to 22 */
	[F_BLOB_DATA_OFFSET] = {.type = "CodeBlob", .name = "_data_offset"}, /* its data follow its code */
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
	[F_TID] = {.type = "OSThread", .name = "_thread_id"},
};

static struct vm_type type[TYPES] = {
	[T_HEAP_BLOCK] = {.name = "HeapBlock"},
	[T_CONST_METHOD] = {.name = "ConstMethod"},
	[T_POOL] = {.name = "ConstantPool"},
	[T_COMP_LEVEL] = {.name = "CompLevel"}, /* an enum of one byte from 21 on, before that the field is an int */
};

static struct {
	/* Constant after layout_open */
	bool readable; /* the tables are there */
	uint16_t entry_bci;
	uint16_t stub_offset;
	uint16_t blob_code_end; /* pointer or int offset, as blob_code is */

	pthread_mutex_t mutex;
	struct braid_layout now; /* as it was published last */
	uint32_t agreed;
	bool refuted;
	bool complete;
} lay = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* An offset as the record holds it; the first of the candidates that the VM has. */
static bool offset_take(uint16_t *to, int a, int b)
{
	int f = field[a].found ? a : b;

	if (f < 0 || !field[f].found || field[f].offset > UINT16_MAX)
		return false;
	*to = (uint16_t)field[f].offset;
	return true;
}

static bool size_take(uint16_t *to, int t)
{
	if (!type[t].found || type[t].size > UINT16_MAX)
		return false;
	*to = (uint16_t)type[t].size;
	return true;
}

static bool blob_offsets_take(struct braid_layout *l)
{
	bool ok = size_take(&l->heap_block_header, T_HEAP_BLOCK);

	ok = offset_take(&l->blob_name, F_BLOB_NAME, -1) && ok;
	ok = offset_take(&l->blob_size, F_BLOB_SIZE, -1) && ok;
	ok = offset_take(&l->blob_frame_size, F_BLOB_FRAME_SIZE, -1) && ok;
	ok = offset_take(&l->blob_frame_complete, F_BLOB_COMPLETE, -1) && ok;
	ok = offset_take(&l->blob_code, F_BLOB_CODE_BEGIN, F_BLOB_CODE_OFFSET) && ok;
	if (!field[F_BLOB_CODE_BEGIN].found)
		l->flags |= BRAID_LAYOUT_CODE_OFFSET;
	if (field[F_BLOB_COMPLETE].type_string && !strcmp(field[F_BLOB_COMPLETE].type_string, "int16_t"))
		l->flags |= BRAID_LAYOUT_SHORT_COMPLETE;
	return ok;
}

static bool nmethod_offsets_take(struct braid_layout *l)
{
	bool ok = offset_take(&l->nmethod_method, F_METHOD, F_METHOD_OLD);

	ok = offset_take(&l->nmethod_compile_id, F_COMPILE_ID, -1) && ok;
	ok = offset_take(&l->nmethod_comp_level, F_COMP_LEVEL, -1) && ok;
	l->nmethod_comp_level_size = 4;
	if (type[T_COMP_LEVEL].found && field[F_COMP_LEVEL].type_string &&
	    !strcmp(field[F_COMP_LEVEL].type_string, "CompLevel"))
		ok = size_take(&l->nmethod_comp_level_size, T_COMP_LEVEL) && ok;
	offset_take(&l->nmethod_orig_pc_offset, F_ORIG_PC, -1);
	if (l->flags & BRAID_LAYOUT_CODE_OFFSET)
		offset_take(&l->nmethod_deopt_handler, F_DEOPT_OFFSET, F_DEOPT_OFFSET_8);
	else
		offset_take(&l->nmethod_deopt_handler, F_DEOPT_POINTER, -1);
	return ok;
}

static bool name_offsets_take(struct braid_layout *l)
{
	bool ok = offset_take(&l->method_const, F_CONST_METHOD, -1);

	ok = offset_take(&l->method_access_flags, F_ACCESS_FLAGS, -1) && ok;
	ok = size_take(&l->const_size, T_CONST_METHOD) && ok;
	ok = offset_take(&l->const_constants, F_CONSTANTS, -1) && ok;
	ok = offset_take(&l->const_code_size, F_CODE_SIZE, -1) && ok;
	ok = offset_take(&l->const_name_index, F_NAME_INDEX, -1) && ok;
	ok = offset_take(&l->const_signature_index, F_SIGNATURE_INDEX, -1) && ok;
	ok = size_take(&l->pool_size, T_POOL) && ok;
	ok = offset_take(&l->pool_holder, F_POOL_HOLDER, -1) && ok;
	ok = offset_take(&l->klass_name, F_KLASS_NAME, -1) && ok;
	ok = offset_take(&l->symbol_length, F_SYMBOL_LENGTH, -1) && ok;
	ok = offset_take(&l->symbol_body, F_SYMBOL_BODY, -1) && ok;
	return ok;
}

static void thread_offsets_take(struct braid_layout *l)
{
	uint16_t anchor;

	if (offset_take(&anchor, F_ANCHOR, -1) && offset_take(&l->thread_anchor_sp, F_ANCHOR_SP, -1) &&
	    offset_take(&l->thread_anchor_fp, F_ANCHOR_FP, -1) && offset_take(&l->thread_anchor_pc, F_ANCHOR_PC, -1)) {
		l->thread_anchor_sp = (uint16_t)(l->thread_anchor_sp + anchor);
		l->thread_anchor_fp = (uint16_t)(l->thread_anchor_fp + anchor);
		l->thread_anchor_pc = (uint16_t)(l->thread_anchor_pc + anchor);
	}
	offset_take(&l->thread_osthread, F_OSTHREAD, F_OSTHREAD_NEW);
	offset_take(&l->osthread_tid, F_TID, -1);
}

/* frame_x86.hpp: the tables export no more of this than sender_sp, and that not in 8. The mirror's slot came with 9. */
static bool interpreter_frame_take(struct braid_layout *l, jint jvmti_version)
{
#if defined(__x86_64__)
	bool before_9 = (jvmti_version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR < 9;

	l->interp_sender_sp = -1;
	l->interp_method = -3;
	l->interp_bcp = before_9 ? -7 : -8;
	return true;
#else
	(void)l;
	(void)jvmti_version;
	return false;
#endif
}

static uint64_t library_base(void *libjvm)
{
	struct link_map *map;

	return libjvm != RTLD_DEFAULT && !dlinfo(libjvm, RTLD_DI_LINKMAP, &map) ? map->l_addr : 0;
}

void layout_open(void *libjvm, jint jvmti_version)
{
	struct braid_layout *l = &lay.now;
	bool ok;

	if (vmstructs_read(libjvm, field, FIELDS, type, TYPES))
		return;
	lay.readable = true;
	l->libjvm_base = library_base(libjvm);
	ok = blob_offsets_take(l);
	ok = nmethod_offsets_take(l) && ok;
	ok = interpreter_frame_take(l, jvmti_version) && ok;
	ok = offset_take(&lay.entry_bci, F_ENTRY_BCI, -1) && ok;
	ok = offset_take(&lay.stub_offset, F_STUB_OFFSET, -1) && ok;
	ok = offset_take(&lay.blob_code_end, F_BLOB_CODE_END, F_BLOB_DATA_OFFSET) && ok;
	lay.refuted = !ok;
	if (name_offsets_take(l))
		l->flags |= BRAID_LAYOUT_NAMES;
	thread_offsets_take(l);
	vthreads_open(libjvm);
}

static uint64_t read_u64(uint64_t address)
{
	uint64_t v;

	return mem_read(&v, address, sizeof(v)) ? v : 0;
}

static int32_t read_s32(uint64_t address)
{
	int32_t v;

	return mem_read(&v, address, sizeof(v)) ? v : 0;
}

static uint64_t field_u64(uint64_t object, int f)
{
	return object && field[f].found ? read_u64(object + field[f].offset) : 0;
}

static bool heap_read(struct braid_code_heap *h, uint64_t heap)
{
	uint64_t memory = heap + field[F_HEAP_MEMORY].offset;
	uint64_t segmap = heap + field[F_HEAP_SEGMAP].offset;
	int32_t log2 = read_s32(heap + field[F_HEAP_LOG2].offset);

	h->low = field_u64(memory, F_SPACE_LOW_BOUNDARY);
	h->high = field_u64(memory, F_SPACE_HIGH_BOUNDARY);
	h->segmap = field_u64(segmap, F_SPACE_LOW);
	h->log2_segment = (uint32_t)log2;
	return h->low && h->low < h->high && h->high - h->low <= CODE_HEAP_MAX && h->segmap && log2 > 3 && log2 < 20;
}

/* 8 has one heap; later ones an array of one or three. */
static void heaps_read(struct braid_layout *l)
{
	int len_field = field[F_ARRAY_LEN].found ? F_ARRAY_LEN : F_ARRAY_LEN_OLD;
	uint64_t array, data;
	int32_t len;

	l->heap_count = 0;
	if (!field[F_HEAP_MEMORY].found || !field[F_HEAP_SEGMAP].found || !field[F_HEAP_LOG2].found)
		return;
	if (!field[F_HEAPS].found) {
		array = field[F_HEAP].found ? read_u64(field[F_HEAP].address) : 0;
		l->heap_count = array && heap_read(&l->heaps[0], array);
		return;
	}
	array = read_u64(field[F_HEAPS].address);
	data = field_u64(array, F_ARRAY_DATA);
	if (!array || !data || !field[len_field].found)
		return;
	len = read_s32(array + field[len_field].offset);
	for (int32_t i = 0; i < len && l->heap_count < BRAID_CODE_HEAPS; i++)
		if (heap_read(&l->heaps[l->heap_count], read_u64(data + (uint64_t)i * 8)))
			l->heap_count++;
}

static void interpreter_read(struct braid_layout *l)
{
	uint64_t queue = field[F_INTERPRETER].found ? read_u64(field[F_INTERPRETER].address) : 0;
	uint64_t start = field_u64(queue, F_QUEUE_BUFFER);
	int32_t limit = start && field[F_QUEUE_LIMIT].found ? read_s32(queue + field[F_QUEUE_LIMIT].offset) : 0;

	l->interpreter_start = limit > 0 ? start : 0;
	l->interpreter_end = limit > 0 ? start + (uint64_t)limit : 0;
	l->call_stub_return = field[F_CALL_STUB].found ? read_u64(field[F_CALL_STUB].address) : 0;
}

static void layout_record_publish(const struct braid_layout *l)
{
	struct braid_rec_layout r = {.layout = *l};

	record_init(&r.hdr, BRAID_REC_LAYOUT, 0);
	publish_definition((struct iovec[]){PART(&r, sizeof(r))}, 1);
}

void layout_publish(bool force)
{
	struct braid_layout l;

	pthread_mutex_lock(&lay.mutex);
	if (lay.complete && !force)
		goto out;
	l = lay.now;
	if (lay.readable) {
		heaps_read(&l);
		interpreter_read(&l);
		lay.complete = l.heap_count && l.interpreter_start && l.call_stub_return;
	}
	if (lay.complete && !lay.refuted)
		l.flags |= BRAID_LAYOUT_WALKABLE;
	if (force || lay.complete) {
		lay.now = l;
		layout_record_publish(&l);
	}
out:
	pthread_mutex_unlock(&lay.mutex);
}

void layout_vthreads_set(const struct braid_vthreads *v)
{
	pthread_mutex_lock(&lay.mutex);
	lay.now.vthreads = *v;
	if (lay.complete)
		layout_record_publish(&lay.now);
	pthread_mutex_unlock(&lay.mutex);
}

void layout_reset(void)
{
	pthread_mutex_lock(&lay.mutex);
	lay.now.flags &= ~BRAID_LAYOUT_CHECKED;
	lay.agreed = 0;
	pthread_mutex_unlock(&lay.mutex);
}

bool layout_agrees(const struct layout_nmethod *n, uint64_t code, uint32_t code_size)
{
	return n->found && n->code == code && (n->code_size == code_size || n->insts_size == code_size);
}

void layout_check(const struct layout_nmethod *n, uint64_t code, uint32_t code_size)
{
	bool agrees = layout_agrees(n, code, code_size);
	bool refuted = false;

	pthread_mutex_lock(&lay.mutex);
	if (!(lay.now.flags & BRAID_LAYOUT_WALKABLE) || (lay.now.flags & BRAID_LAYOUT_CHECKED))
		goto out;
	if (!agrees) {
		lay.refuted = refuted = true;
		lay.now.flags &= ~BRAID_LAYOUT_WALKABLE;
		layout_record_publish(&lay.now);
	} else if (++lay.agreed == CHECKS) {
		lay.now.flags |= BRAID_LAYOUT_CHECKED;
		layout_record_publish(&lay.now);
	}
out:
	pthread_mutex_unlock(&lay.mutex);
	if (refuted)
		publish_notice(BRAID_NOTICE_WARNING,
			       "the code heap does not agree with this JVM's announcement of compiled code at %#llx "
			       "(%u bytes; "
			       "found %d, code at %#llx, %u bytes): Java frames will not be walked",
			       (unsigned long long)code, code_size, n->found, (unsigned long long)n->code,
			       n->code_size);
}

/* The blob that covers pc: CodeHeap::find_start. 0 when there is none. */
static uint64_t blob_find(const struct braid_layout *l, uint64_t pc)
{
	for (uint32_t i = 0; i < l->heap_count && i < BRAID_CODE_HEAPS; i++) {
		const struct braid_code_heap *h = &l->heaps[i];
		uint64_t segment = (pc - h->low) >> h->log2_segment;
		uint8_t hop;

		if (pc < h->low || pc >= h->high)
			continue;
		for (uint32_t n = 0; n < SEGMENT_HOPS; n++) {
			if (!mem_read(&hop, h->segmap + segment, 1) || hop == 0xff || hop > segment)
				return 0;
			if (!hop)
				return h->low + (segment << h->log2_segment) + l->heap_block_header;
			segment -= hop;
		}
		return 0;
	}
	return 0;
}

static bool layout_read(struct braid_layout *l)
{
	pthread_mutex_lock(&lay.mutex);
	*l = lay.now;
	pthread_mutex_unlock(&lay.mutex);
	return l->flags & BRAID_LAYOUT_WALKABLE;
}

static int level_read(const struct braid_layout *l, uint64_t blob)
{
	int8_t small;
	int32_t wide;

	if (l->nmethod_comp_level_size == 1)
		return mem_read(&small, blob + l->nmethod_comp_level, 1) ? small : -1;
	return mem_read(&wide, blob + l->nmethod_comp_level, 4) ? wide : -1;
}

/* A place in a blob that this VM keeps as a pointer, or as an offset from the blob. */
static uint64_t blob_address(const struct braid_layout *l, uint64_t blob, uint16_t offset)
{
	if (l->flags & BRAID_LAYOUT_CODE_OFFSET)
		return blob + (uint64_t)read_s32(blob + offset);
	return read_u64(blob + offset);
}

void layout_nmethod_find(struct layout_nmethod *n, uint64_t pc)
{
	struct braid_layout l;
	char name[32];
	uint64_t blob, end;

	*n = (struct layout_nmethod){.level = -1};
	if (!layout_read(&l))
		return;
	blob = blob_find(&l, pc);
	if (!blob || !mem_read_string(name, sizeof(name), read_u64(blob + l.blob_name)))
		return;
	n->native = !strcmp(name, "native nmethod");
	if (!n->native && strcmp(name, "nmethod"))
		return;
	n->blob = blob;
	n->code = blob_address(&l, blob, l.blob_code);
	end = blob_address(&l, blob, lay.blob_code_end);
	n->found = n->code > blob && end > n->code && end - n->code <= INT32_MAX;
	n->code_size = n->found ? (uint32_t)(end - n->code) : 0;
	n->insts_size = n->found ? (uint32_t)(blob + (uint64_t)read_s32(blob + lay.stub_offset) - n->code) : 0;
	n->compile_id = (uint32_t)read_s32(blob + l.nmethod_compile_id);
	n->frame_words = (uint32_t)read_s32(blob + l.blob_frame_size);
	n->osr = read_s32(blob + lay.entry_bci) != -1; /* InvocationEntryBci */
	n->level = level_read(&l, blob);
}

uint32_t layout_thread_tid(uint64_t java_thread)
{
	uint64_t osthread;
	int32_t tid;

	if (!java_thread || !lay.now.thread_osthread || !lay.now.osthread_tid)
		return 0;
	osthread = read_u64(java_thread + lay.now.thread_osthread);
	tid = osthread ? read_s32(osthread + lay.now.osthread_tid) : 0;
	if (tid <= 0 || syscall(SYS_tgkill, getpid(), tid, 0))
		return 0;
	return (uint32_t)tid;
}
