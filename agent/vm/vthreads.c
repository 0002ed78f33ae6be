// SPDX-License-Identifier: Apache-2.0
/*
 * Virtual threads need what no table of the VM has: where the code lies that enters and thaws continuations (told by
 * JVM TI, read from the code itself), and where fields lie in objects (jfieldIDs). All of that is checked against
 * values that are known otherwise before it is told; what does not agree stays unknown.
 */
#include "vm/vthreads.h"

#include "agent.h"
#include "vm/layout.h"
#include "vm/mem.h"
#include "vm/vmstructs.h"

#include <braid/layout.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define STUB_NAME_MAX 64
#define CODE_MAX 2048U
#define OFFSET_MAX 4096U
#define ATTEMPTS_SOON 20U /* at finding classes that are about to be loaded */
#define ATTEMPTS 60U

enum {
	F_OOP_BASE,
	F_OOP_BASE_OLD,
	F_OOP_SHIFT,
	F_OOP_SHIFT_OLD,
	F_KLASS_AT,
	F_KLASS_LAYOUT,
	F_KLASS_NAME,
	F_LENGTH,
	F_BODY,
	FIELDS
};

static struct vm_field field[FIELDS] = {
	[F_OOP_BASE] = {.type = "CompressedOops", .name = "_base"}, /* 24 and later */
	[F_OOP_BASE_OLD] = {.type = "CompressedOops", .name = "_narrow_oop._base"},
	[F_OOP_SHIFT] = {.type = "CompressedOops", .name = "_shift"},
	[F_OOP_SHIFT_OLD] = {.type = "CompressedOops", .name = "_narrow_oop._shift"},
	[F_KLASS_AT] = {.type = "java_lang_Class", .name = "_klass_offset"},
	[F_KLASS_LAYOUT] = {.type = "Klass", .name = "_layout_helper"},
	[F_KLASS_NAME] = {.type = "Klass", .name = "_name"},
	[F_LENGTH] = {.type = "Symbol", .name = "_length"},
	[F_BODY] = {.type = "Symbol", .name = "_body[0]"},
};

enum class { C_THREAD, C_STRING, C_CONTINUATION, C_CHUNK, C_VTHREAD, C_TASK, CLASSES };

static const char *const class_signature[CLASSES] = {
	[C_THREAD] = "Ljava/lang/Thread;",
	[C_STRING] = "Ljava/lang/String;",
	[C_CONTINUATION] = "Ljdk/internal/vm/Continuation;",
	[C_CHUNK] = "Ljdk/internal/vm/StackChunk;",
	[C_VTHREAD] = "Ljava/lang/VirtualThread;",
	[C_TASK] = "Ljava/lang/VirtualThread$VThreadContinuation$1;", /* what its continuation runs */
};

/* What only the agent needs of the fields; the others go to the record. */
struct resolved {
	struct braid_vthreads v;
	uint16_t eetop;
	uint16_t cont_parent; /* next to other references: tells how long one is */
	uint16_t cont_child;
	jfieldID name;
	jclass chunk;
};

#define OF(member) offsetof(struct resolved, member)
static const struct {
	enum class class;
	const char *name;
	const char *signature;
	size_t to;
} java_fields[] = {
	{C_THREAD, "eetop", "J", OF(eetop)},
	{C_THREAD, "tid", "J", OF(v.thread_id)},
	{C_THREAD, "name", "Ljava/lang/String;", OF(v.thread_name)},
	{C_STRING, "value", "[B", OF(v.string_value)},
	{C_STRING, "coder", "B", OF(v.string_coder)},
	{C_CONTINUATION, "target", "Ljava/lang/Runnable;", OF(v.cont_target)},
	{C_CONTINUATION, "parent", "Ljdk/internal/vm/Continuation;", OF(cont_parent)},
	{C_CONTINUATION, "child", "Ljdk/internal/vm/Continuation;", OF(cont_child)},
	{C_CONTINUATION, "tail", "Ljdk/internal/vm/StackChunk;", OF(v.cont_tail)},
	{C_CHUNK, "parent", "Ljdk/internal/vm/StackChunk;", OF(v.chunk_parent)},
	{C_CHUNK, "sp", "I", OF(v.chunk_sp)},
	{C_CHUNK, "bottom", "I", OF(v.chunk_bottom)},
	{C_VTHREAD, "cont", "Ljdk/internal/vm/Continuation;", OF(v.thread_cont)},
	{C_TASK, "val$vthread", "Ljava/lang/VirtualThread;", OF(v.task_thread)},
};

static struct {
	pthread_mutex_t mutex;
	struct braid_vthreads now;
	uint64_t thaw; /* start of the stub that enterSpecial calls */
	uint64_t enter_code;
	uint32_t enter_size;
	atomic_bool asked; /* for the fields, by the first carrier */
	bool answered;
	uint32_t attempts;
} vt = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void vthreads_open(void *libjvm)
{
	vmstructs_read(libjvm, field, FIELDS, NULL, 0);
}

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* mov rsp, [r15+n]: the barrier's first instruction (StubGenerator::generate_cont_thaw). */
static bool barrier_read(uint64_t address)
{
	uint8_t code[7];

	if (!mem_read(code, address, sizeof(code)) || code[0] != 0x49 || code[1] != 0x8b || code[2] != 0xa7 ||
	    u32_at(code + 3) > UINT16_MAX)
		return false;
	vt.now.barrier = address;
	vt.now.thread_entry = (uint16_t)u32_at(code + 3);
	return true;
}

/*
 * sharedRuntime_x86_64.cpp, gen_continuation_enter: the frame is push rbp; mov rbp, rsp; sub rsp, n. Then the entry is
 * filled: parent from [r15+thread_entry] through rax, continuation from rsi.
 */
static void entry_read(const uint8_t *c, uint32_t size)
{
	struct braid_vthreads *v = &vt.now;

	v->enter_size = v->entry_parent = v->entry_cont = 0;
	v->enter_return = 0;
	for (uint32_t i = 0; i + 16 <= size; i++) {
		const uint8_t *p = c + i;

		if (p[0] == 0x55 && p[1] == 0x48 && (p[2] == 0x8b || p[2] == 0x89) && p[4] == 0x48 && p[5] == 0x83 &&
		    p[6] == 0xec)
			v->enter_size = (uint16_t)(p[7] + 16);
		else if (p[0] == 0x49 && p[1] == 0x8b && p[2] == 0x87 && u32_at(p + 3) == v->thread_entry &&
			 p[7] == 0x48 && p[8] == 0x89 && p[9] == 0x44 && p[10] == 0x24)
			v->entry_parent = p[11];
		else if (p[0] == 0x48 && p[1] == 0x89 && p[2] == 0x74 && p[3] == 0x24)
			v->entry_cont = p[4];
		else if (p[0] == 0xe8 && vt.enter_code + i + 5 + (uint64_t)(int64_t)(int32_t)u32_at(p + 1) == vt.thaw)
			v->enter_return = vt.enter_code + i + 5;
	}
}

/* With the lock held: when stubs and enterSpecial are known, whichever came last. */
static void code_read(void)
{
	struct braid_vthreads *v = &vt.now;
	uint8_t code[CODE_MAX];

	if (!vt.thaw || !v->barrier || !vt.enter_code || vt.enter_size > sizeof(code) ||
	    !mem_read(code, vt.enter_code, vt.enter_size))
		return;
	entry_read(code, vt.enter_size);
	if (!v->enter_return || v->enter_size < 48 || v->entry_cont < 8 || v->entry_cont + 24 > v->enter_size ||
	    v->entry_parent + 24 > v->enter_size)
		return;
	v->enter_start = vt.enter_code;
	v->enter_end = vt.enter_code + vt.enter_size;
	v->flags |= BRAID_VTHREADS_WALK;
}

/*
 * "Cont thaw", "Cont thaw return barrier", ... in 21; "cont_thaw", "cont_returnBarrier", ... in 25; "Stub Generator
 * cont_thaw_stub", ... in 26; "cont_thaw_stub (stub gen)", ... in 27. What is told of it begins behind "cont".
 */
static bool stub_name(const char *name, char stub[STUB_NAME_MAX])
{
	static const char before[] = "Stub Generator ", behind[] = " (stub gen)";
	size_t length;

	if (!name)
		return false;
	if (!strncmp(name, before, sizeof(before) - 1))
		name += sizeof(before) - 1;
	length = strlen(name);
	if (length >= sizeof(behind) && !strcmp(name + length - (sizeof(behind) - 1), behind))
		length -= sizeof(behind) - 1;
	if (length < 9 || length - 5 >= STUB_NAME_MAX || (name[0] | 0x20) != 'c' || strncmp(name + 1, "ont", 3) ||
	    (name[4] != '_' && name[4] != ' '))
		return false;
	memcpy(stub, name + 5, length - 5);
	stub[length - 5] = '\0';
	return true;
}

void vthreads_on_stub(const char *name, uint64_t address, uint32_t size)
{
	struct braid_vthreads *v = &vt.now;
	char stub[STUB_NAME_MAX];

	if (!stub_name(name, stub))
		return;
	pthread_mutex_lock(&vt.mutex);
	if (!v->stubs_start || address < v->stubs_start)
		v->stubs_start = address;
	if (address + size > v->stubs_end)
		v->stubs_end = address + size;
	if (!strcmp(stub, "thaw") || !strcmp(stub, "thaw_stub"))
		vt.thaw = address;
	else if (!strcmp(stub, "thaw return barrier") || !strcmp(stub, "returnBarrier") ||
		 !strcmp(stub, "returnBarrier_stub"))
		barrier_read(address);
	code_read();
	layout_vthreads_set(v);
	pthread_mutex_unlock(&vt.mutex);
}

void vthreads_on_code(jmethodID method, uint64_t address, uint32_t size)
{
	char *name = NULL, *signature = NULL;
	bool enters = false, yields = false;

	if (!vt.now.barrier)
		return;
	if (!(*agent.jvmti)->GetMethodName(agent.jvmti, method, &name, &signature, NULL)) {
		enters = !strcmp(name, "enterSpecial") && !strcmp(signature, "(Ljdk/internal/vm/Continuation;ZZ)V");
		yields = !strcmp(name, "doYield") && !strcmp(signature, "()I");
		agent_release(name);
		agent_release(signature);
	}
	if (!enters && !yields)
		return;
	pthread_mutex_lock(&vt.mutex);
	if (enters) {
		vt.enter_code = address;
		vt.enter_size = size;
		code_read();
	} else {
		vt.now.yield_start = address;
		vt.now.yield_end = address + size;
	}
	layout_vthreads_set(&vt.now);
	pthread_mutex_unlock(&vt.mutex);
	link_wake(&agent.link); /* walks wait for it */
}

void vthreads_on_thread(JNIEnv *jni, jthread thread)
{
	char *signature = NULL;
	jclass class;

	if (atomic_load(&vt.asked))
		return;
	class = (*jni)->GetObjectClass(jni, thread);
	if (!(*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL)) {
		if (!strcmp(signature, "Ljdk/internal/misc/CarrierThread;")) {
			atomic_store(&vt.asked, true);
			helper_kick();
		}
		agent_release(signature);
	}
	(*jni)->DeleteLocalRef(jni, class);
}

/* jfieldIDWorkaround.hpp: bit 0 says that a hash lies above the low 7 bits of the offset, bit 1 that it is no static.
 */
static uint16_t field_offset(jfieldID id)
{
	uintptr_t bits = (uintptr_t)id, offset = bits >> 2;

	if (!(bits & 2))
		return 0;
	if (bits & 1)
		offset &= 127;
	return offset < OFFSET_MAX ? (uint16_t)offset : 0;
}

static void fields_take(struct resolved *r, enum class class, jclass of)
{
	char *name, *signature;
	jfieldID *ids = NULL;
	jint count = 0;

	if ((*agent.jvmti)->GetClassFields(agent.jvmti, of, &count, &ids))
		return;
	for (jint i = 0; i < count; i++) {
		if ((*agent.jvmti)->GetFieldName(agent.jvmti, of, ids[i], &name, &signature, NULL))
			continue;
		for (size_t k = 0; k < sizeof(java_fields) / sizeof(java_fields[0]); k++) {
			uint16_t *to = (uint16_t *)((char *)r + java_fields[k].to);

			if (java_fields[k].class != class || strcmp(java_fields[k].name, name) ||
			    strcmp(java_fields[k].signature, signature))
				continue;
			*to = field_offset(ids[i]);
			if (to == &r->v.thread_name)
				r->name = ids[i];
		}
		agent_release(name);
		agent_release(signature);
	}
	agent_release(ids);
}

/* The classes are the boot loader's: looking for them runs no code of anybody, and initialises none. */
static bool classes_take(struct resolved *r)
{
	jclass *classes = NULL;
	uint32_t found = 0;
	char *signature;
	jint count = 0;

	if ((*agent.jvmti)->GetClassLoaderClasses(agent.jvmti, NULL, &count, &classes))
		return false;
	for (jint i = 0; i < count; i++) {
		if ((*agent.jvmti)->GetClassSignature(agent.jvmti, classes[i], &signature, NULL))
			continue;
		for (uint32_t c = 0; c < CLASSES; c++) {
			if (strcmp(signature, class_signature[c]))
				continue;
			fields_take(r, c, classes[i]);
			found |= 1U << c;
			if (c == C_CHUNK)
				r->chunk = classes[i];
		}
		agent_release(signature);
	}
	agent_release(classes);
	return found == (1U << CLASSES) - 1;
}

/* What a local reference refers to, as the VM has it right now: it may move before the answer is used. */
static uint64_t oop_of(jobject local)
{
	uint64_t oop;

	return mem_read(&oop, (uint64_t)(uintptr_t)local & ~3ULL, sizeof(oop)) ? oop : 0;
}

static uint64_t oop_read(const struct braid_vthreads *v, uint64_t at)
{
	uint64_t wide = 0, colour;
	uint32_t narrow = 0;

	if (v->oops == BRAID_OOPS_COMPRESSED)
		return mem_read(&narrow, at, sizeof(narrow)) && narrow
			       ? v->oop_base + ((uint64_t)narrow << v->oop_shift)
			       : 0;
	if (!mem_read(&wide, at, sizeof(wide)) || v->oops == BRAID_OOPS_PLAIN)
		return wide;
	colour = wide >> 12 & 15;
	return colour ? wide >> (13 + __builtin_ctzll(colour)) : 0;
}

static bool compression_read(struct braid_vthreads *v)
{
	int base = field[F_OOP_BASE].found ? F_OOP_BASE : F_OOP_BASE_OLD;
	int shift = field[F_OOP_SHIFT].found ? F_OOP_SHIFT : F_OOP_SHIFT_OLD;
	int32_t bits;

	if (!field[base].found || !field[shift].found || !mem_read(&v->oop_base, field[base].address, 8) ||
	    !mem_read(&bits, field[shift].address, 4) || bits < 0 || bits > 8)
		return false;
	v->oop_shift = (uint8_t)bits;
	return true;
}

static uint32_t apart(uint16_t a, uint16_t b)
{
	return a > b ? a - b : b - a;
}

/* How references are coded: by their distance in an object, and by what a known one leads to. */
static bool oops_find(struct resolved *r, uint64_t thread, uint64_t name)
{
	struct braid_vthreads *v = &r->v;

	if (apart(r->cont_parent, r->cont_child) == 4 || apart(r->cont_child, v->cont_tail) == 4 ||
	    apart(v->cont_target, r->cont_parent) == 4) {
		v->oops = BRAID_OOPS_COMPRESSED;
		return compression_read(v) && oop_read(v, thread + v->thread_name) == name;
	}
	for (v->oops = BRAID_OOPS_PLAIN; v->oops <= BRAID_OOPS_COLOURED; v->oops++)
		if (v->oops != BRAID_OOPS_COMPRESSED && oop_read(v, thread + v->thread_name) == name)
			return true;
	return false;
}

/* Where byte[] has its length and its bytes depends on the size of object headers, of which there are four. */
static bool array_find(struct braid_vthreads *v, uint64_t string, const char *text, uint32_t length)
{
	static const uint8_t shapes[][2] = {{12, 16}, {16, 24}, {16, 20}, {8, 12}};
	uint64_t array = oop_read(v, string + v->string_value);
	char bytes[64];
	int32_t said;

	if (!array || !length || length > sizeof(bytes))
		return false;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (!mem_read(&said, array + shapes[i][0], 4) || said != (int32_t)length ||
		    !mem_read(bytes, array + shapes[i][1], length) || memcmp(bytes, text, length))
			continue;
		v->array_length = shapes[i][0];
		v->array_data = shapes[i][1];
		return true;
	}
	return false;
}

/* This thread itself is the object with known values. */
static bool self_agrees(struct resolved *r, JNIEnv *jni)
{
	uint64_t thread, name, java_thread = 0, id = 0;
	jthread self = NULL;
	const char *text;
	jstring string;
	bool ok;

	if ((*agent.jvmti)->GetCurrentThread(agent.jvmti, &self) || !r->name)
		return false;
	string = (*jni)->GetObjectField(jni, self, r->name);
	text = string ? (*jni)->GetStringUTFChars(jni, string, NULL) : NULL;
	if (!text)
		return false;
	thread = oop_of(self);
	name = oop_of(string);
	ok = mem_read(&java_thread, thread + r->eetop, 8) && java_thread == threads_java_thread(jni, self) &&
	     mem_read(&id, thread + r->v.thread_id, 8) && id && oops_find(r, thread, name) &&
	     array_find(&r->v, name, text, (uint32_t)strlen(text));
	(*jni)->ReleaseStringUTFChars(jni, string, text);
	return ok;
}

/* A chunk's stack begins behind the fields of its class, InstanceStackChunkKlass::offset_of_stack(). */
static bool chunk_stack_read(struct resolved *r)
{
	static const char want[] = "jdk/internal/vm/StackChunk";
	uint64_t mirror = oop_of(r->chunk), klass, symbol;
	char name[sizeof(want) - 1];
	int32_t at, helper;
	uint16_t length;

	for (int i = F_KLASS_AT; i < FIELDS; i++)
		if (!field[i].found)
			return false;
	if (!mem_read(&at, field[F_KLASS_AT].address, 4) || at <= 0 || !mem_read(&klass, mirror + (uint64_t)at, 8) ||
	    !mem_read(&symbol, klass + field[F_KLASS_NAME].offset, 8) ||
	    !mem_read(&length, symbol + field[F_LENGTH].offset, 2) || length != sizeof(name) ||
	    !mem_read(name, symbol + field[F_BODY].offset, sizeof(name)) || memcmp(name, want, sizeof(name)) ||
	    !mem_read(&helper, klass + field[F_KLASS_LAYOUT].offset, 4))
		return false;
	helper &= ~7; /* bit 0: allocated on the slow path only */
	r->v.chunk_stack = helper > 16 && helper < 256 ? (uint16_t)helper : 0;
	return r->v.chunk_stack;
}

static bool fields_known(const struct resolved *r)
{
	for (size_t k = 0; k < sizeof(java_fields) / sizeof(java_fields[0]); k++)
		if (!*(const uint16_t *)((const char *)r + java_fields[k].to))
			return false;
	return true;
}

static bool resolve(struct resolved *r, JNIEnv *jni)
{
	if (!classes_take(r) || !fields_known(r))
		return false;
	/* A collection may come between two looks: then they do not agree, and are made again. */
	for (int i = 0; i < 5; i++) {
		if (!self_agrees(r, jni))
			continue;
		r->v.flags |= BRAID_VTHREADS_NAMES;
		if (chunk_stack_read(r)) {
			r->v.flags |= BRAID_VTHREADS_FROZEN;
			return true;
		}
	}
	return false;
}

/* With the lock held: what was found about code in the meantime. */
static void code_keep(struct braid_vthreads *v)
{
	const struct braid_vthreads *now = &vt.now;

	v->flags |= now->flags;
	v->stubs_start = now->stubs_start;
	v->stubs_end = now->stubs_end;
	v->barrier = now->barrier;
	v->enter_start = now->enter_start;
	v->enter_end = now->enter_end;
	v->enter_return = now->enter_return;
	v->yield_start = now->yield_start;
	v->yield_end = now->yield_end;
	v->enter_size = now->enter_size;
	v->entry_parent = now->entry_parent;
	v->entry_cont = now->entry_cont;
	v->thread_entry = now->thread_entry;
}

bool vthreads_resolve(JNIEnv *jni)
{
	struct resolved r = {0};
	bool done = false;

	if (!atomic_load(&vt.asked) || vt.answered || !agent_enter())
		return false;
	pthread_mutex_lock(&vt.mutex);
	r.v = vt.now;
	pthread_mutex_unlock(&vt.mutex);
	if ((*jni)->PushLocalFrame(jni, 16)) {
		(*jni)->ExceptionClear(jni);
		goto out;
	}
	done = resolve(&r, jni);
	(*jni)->PopLocalFrame(jni, NULL);
	if (!done && ++vt.attempts < ATTEMPTS)
		goto out;
	vt.answered = true;
	if (!done)
		publish_notice(BRAID_NOTICE_WARNING,
			       "this JVM keeps virtual threads where braid does not find them: their "
			       "samples carry no names");
	pthread_mutex_lock(&vt.mutex);
	code_keep(&r.v);
	vt.now = r.v;
	layout_vthreads_set(&vt.now);
	pthread_mutex_unlock(&vt.mutex);
	link_wake(&agent.link); /* walks wait for it */
out:
	agent_leave();
	return !done && !vt.answered && vt.attempts < ATTEMPTS_SOON;
}
