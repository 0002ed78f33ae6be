// SPDX-License-Identifier: Apache-2.0
/*
 * No table of the VM has the offsets of fields in Java objects, but jfieldIDs contain them. The encoding of references
 * and headers is found with objects whose address, name and class are known by other means. What does not agree stays
 * unknown. See objects.h.
 */
#include "objects.h"

#include "java_threads.h"
#include "layout.h"
#include "mem.h"
#include "mounts.h"
#include "vmstructs.h"
#include "vthreads.h"
#include "core/helper.h"
#include "core/jni.h"

#include <braid/layout.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define OFFSET_MAX 4096U
#define ATTEMPTS 60U /* to find classes that are not loaded yet */
#define ATTEMPTS_SOON 20U
#define TRIES 5 /* a collection may move an object between two reads */

enum {
	F_OOP_BASE,
	F_OOP_SHIFT,
	F_KLASS_BASE,
	F_KLASS_SHIFT,
	F_CARRIER,
	F_CURRENT,
	F_OWNER,
	F_KLASS_SUPER,
	F_KLASS_AT,
	F_KLASS_LAYOUT,
	F_XGLOBALS,
	F_XBAD,
	F_ZGLOBALS_OLD,
	F_ZBAD_OLD,
	F_ZBAD,
	PLACES
};

static const struct vm_place places[PLACES] = {
	[F_OOP_BASE] = VM_PLACE_OOP_BASE,
	[F_OOP_SHIFT] = VM_PLACE_OOP_SHIFT,
	[F_KLASS_BASE] = VM_PLACE_KLASS_BASE,
	[F_KLASS_SHIFT] = VM_PLACE_KLASS_SHIFT,
	[F_CARRIER] = {{"JavaThread"}, {"_threadObj"}},
	[F_CURRENT] = {{"JavaThread"}, {"_vthread"}},
	[F_OWNER] = {{"JavaThread"}, {"_monitor_owner_id"}}, /* 25 and later */
	[F_KLASS_SUPER] = {{"Klass"}, {"_super"}},
	[F_KLASS_AT] = {{"java_lang_Class"}, {"_klass_offset"}},
	[F_KLASS_LAYOUT] = {{"Klass"}, {"_layout_helper"}},
	/* In 21 to 23 the older ZGC is XGC. */
	[F_XGLOBALS] = {{"XGlobalsForVMStructs"}, {"_instance_p"}},
	[F_XBAD] = {{"XGlobalsForVMStructs"}, {"_XAddressBadMask"}},
	[F_ZGLOBALS_OLD] = {{"ZGlobalsForVMStructs"}, {"_instance_p"}},
	[F_ZBAD_OLD] = {{"ZGlobalsForVMStructs"}, {"_ZAddressBadMask"}},
	[F_ZBAD] = {{"ZGlobalsForVMStructs"}, {"_ZPointerLoadBadMask"}},
};

static struct vm_field field[PLACES];

enum class { C_THREAD, C_STRING, C_OWNABLE, C_CONTINUATION, C_CHUNK, C_VTHREAD, C_TASK, CLASSES };

static const char *const class_signature[CLASSES] = {
	[C_THREAD] = "Ljava/lang/Thread;",
	[C_STRING] = "Ljava/lang/String;",
	[C_OWNABLE] = "Ljava/util/concurrent/locks/AbstractOwnableSynchronizer;",
	[C_CONTINUATION] = "Ljdk/internal/vm/Continuation;",
	[C_CHUNK] = "Ljdk/internal/vm/StackChunk;",
	[C_VTHREAD] = "Ljava/lang/VirtualThread;",
	[C_TASK] = "Ljava/lang/VirtualThread$VThreadContinuation$1;", /* the continuation's task */
};

struct resolved {
	struct braid_objects o;
	struct braid_vthreads v; /* only the fields; vthreads.c finds the code */
	jclass class[CLASSES];
	jfieldID name;
	uint16_t closest; /* smallest distance of two references in a Thread: the size of one */
};

#define OF(member) offsetof(struct resolved, member)
static const struct {
	enum class class;
	const char *name;
	const char *signature;
	size_t to;
} java_fields[] = {
	{C_THREAD, "eetop", "J", OF(o.thread_eetop)},
	{C_THREAD, "tid", "J", OF(o.thread_id)},
	{C_THREAD, "name", "Ljava/lang/String;", OF(o.thread_name)},
	{C_THREAD, "parkBlocker", "Ljava/lang/Object;", OF(o.thread_blocker)},
	{C_STRING, "value", "[B", OF(o.string_value)},
	{C_STRING, "coder", "B", OF(o.string_coder)},
	{C_OWNABLE, "exclusiveOwnerThread", "Ljava/lang/Thread;", OF(o.ownable_thread)},
	{C_CONTINUATION, "target", "Ljava/lang/Runnable;", OF(v.cont_target)},
	{C_CONTINUATION, "tail", "Ljdk/internal/vm/StackChunk;", OF(v.cont_tail)},
	{C_CHUNK, "parent", "Ljdk/internal/vm/StackChunk;", OF(v.chunk_parent)},
	{C_CHUNK, "sp", "I", OF(v.chunk_sp)},
	{C_CHUNK, "bottom", "I", OF(v.chunk_bottom)},
	{C_VTHREAD, "cont", "Ljdk/internal/vm/Continuation;", OF(v.thread_cont)},
	{C_TASK, "val$vthread", "Ljava/lang/VirtualThread;", OF(v.task_thread)},
};
#define JAVA_FIELDS (sizeof(java_fields) / sizeof(java_fields[0]))

static struct {
	pthread_mutex_t mutex; /* one thread resolves at a time */
	uint32_t known;	       /* classes whose fields are all published */
	atomic_bool carriers;  /* a carrier exists: virtual threads are about to run */
	uint32_t attempts;     /* helper thread only, like last_ns */
	uint64_t last_ns;
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void objects_open(void *libjvm)
{
	struct vm_field asked[VM_NAMES * PLACES];

	vm_places_ask(asked, places, PLACES);
	vmstructs_read(libjvm, asked, VM_NAMES * PLACES, NULL, 0);
	vm_places_take(field, asked, PLACES);
}

/* ---- fields ---- */

/* jfieldIDWorkaround.hpp: bit 0: a hash is above the low 7 bits of the offset; bit 1: the field is not static. */
static uint16_t field_offset(jfieldID id)
{
	uintptr_t bits = (uintptr_t)id, offset = bits >> 2;

	if (!(bits & 2))
		return 0;
	if (bits & 1)
		offset &= 127;
	return offset < OFFSET_MAX ? (uint16_t)offset : 0;
}

static void field_take(struct resolved *r, enum class class, jfieldID id, const char *name, const char *signature)
{
	for (size_t k = 0; k < JAVA_FIELDS; k++) {
		uint16_t *to = (uint16_t *)((char *)r + java_fields[k].to);

		if (java_fields[k].class != class || strcmp(java_fields[k].name, name) ||
		    strcmp(java_fields[k].signature, signature))
			continue;
		*to = field_offset(id);
		if (to == &r->o.thread_name)
			r->name = id;
	}
}

static void closest_find(struct resolved *r, const uint16_t *references, uint32_t count)
{
	r->closest = OFFSET_MAX;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < count; k++)
			if (references[i] > references[k] && references[i] - references[k] < r->closest)
				r->closest = references[i] - references[k];
}

/* JVM TI lists no fields of a class that is loaded but not linked. JNI links and initialises it. */
static void fields_query(struct resolved *r, JNIEnv *jni, enum class class)
{
	for (size_t k = 0; k < JAVA_FIELDS; k++) {
		jfieldID id;

		if (java_fields[k].class != class)
			continue;
		id = (*jni)->GetFieldID(jni, r->class[class], java_fields[k].name, java_fields[k].signature);
		if (!jni_failed(jni))
			field_take(r, class, id, java_fields[k].name, java_fields[k].signature);
	}
}

static void fields_take(struct resolved *r, enum class class)
{
	uint16_t references[64];
	char *name, *signature;
	jfieldID *ids = NULL;
	uint32_t found = 0;
	jint count = 0;

	if ((*agent.jvmti)->GetClassFields(agent.jvmti, r->class[class], &count, &ids))
		return;
	for (jint i = 0; i < count; i++) {
		if ((*agent.jvmti)->GetFieldName(agent.jvmti, r->class[class], ids[i], &name, &signature, NULL))
			continue;
		field_take(r, class, ids[i], name, signature);
		if ((signature[0] == 'L' || signature[0] == '[') && field_offset(ids[i]) && found < 64)
			references[found++] = field_offset(ids[i]);
		agent_release(name);
		agent_release(signature);
	}
	if (class == C_THREAD)
		closest_find(r, references, found);
	agent_release(ids);
}

/* The classes are the boot loader's, so the search runs no code of the application. */
static bool classes_take(struct resolved *r, JNIEnv *jni)
{
	jclass *classes = NULL;
	char *signature;
	jint count = 0;

	if ((*agent.jvmti)->GetClassLoaderClasses(agent.jvmti, NULL, &count, &classes))
		return false;
	jni_expect(jni, count);
	for (jint i = 0; i < count; i++) {
		if ((*agent.jvmti)->GetClassSignature(agent.jvmti, classes[i], &signature, NULL))
			continue;
		for (uint32_t c = 0; c < CLASSES; c++) {
			if (strcmp(signature, class_signature[c]))
				continue;
			r->class[c] = classes[i];
			fields_take(r, c);
		}
		agent_release(signature);
	}
	/* Neither this class nor its superclasses have an initialiser, so no code runs. */
	if (r->class[C_OWNABLE] && !r->o.ownable_thread)
		fields_query(r, jni, C_OWNABLE);
	agent_release(classes);
	return true;
}

/* The set of classes that are loaded and whose fields have all been found. */
static uint32_t classes_complete(const struct resolved *r)
{
	uint32_t complete = 0;

	for (uint32_t c = 0; c < CLASSES; c++)
		complete |= r->class[c] ? 1U << c : 0;
	for (size_t k = 0; k < JAVA_FIELDS; k++)
		if (!*(const uint16_t *)((const char *)r + java_fields[k].to))
			complete &= ~(1U << java_fields[k].class);
	return complete;
}

/* ---- references ---- */

/* The address that a local reference has now; the object may move before it is used. */
static uint64_t oop_of(jobject local)
{
	uint64_t oop;

	return mem_read(&oop, (uint64_t)(uintptr_t)local & ~3ULL, sizeof(oop)) ? oop : 0;
}

static uint64_t oop_read(const struct braid_objects *o, uint64_t at)
{
	uint64_t wide = 0, colour;
	uint32_t narrow = 0;

	if (o->oops == BRAID_OOPS_COMPRESSED)
		return mem_read(&narrow, at, sizeof(narrow)) && narrow
			       ? o->oop_base + ((uint64_t)narrow << o->oop_shift)
			       : 0;
	if (!mem_read(&wide, at, sizeof(wide)) || o->oops == BRAID_OOPS_PLAIN)
		return wide;
	colour = wide >> 12 & 15;
	return colour ? wide >> (13 + __builtin_ctzll(colour)) : 0;
}

/* Reads base and shift for widening narrow pointers. */
static bool widening_read(int base_at, int shift_at, __u64 *base, uint8_t *shift)
{
	int32_t bits;

	if (!field[base_at].found || !field[shift_at].found || !mem_read(base, field[base_at].address, 8) ||
	    !mem_read(&bits, field[shift_at].address, 4) || bits < 0 || bits > 31)
		return false;
	*shift = (uint8_t)bits;
	return true;
}

/* The address of ZGC's mask of bad bits: references with one of them need a lookup before use. */
static uint64_t bad_mask(int globals, int mask)
{
	uint64_t instance, at, value;

	if (!field[globals].found || !field[mask].found || !mem_read(&instance, field[globals].address, 8) ||
	    !mem_read(&at, instance + field[mask].offset, 8) || !mem_read(&value, at, 8) || !value)
		return 0;
	return at;
}

/* Finds how references are encoded, by their size in an object and by one whose target is known. */
static bool oops_find(struct resolved *r, uint64_t thread, uint64_t name)
{
	struct braid_objects *o = &r->o;

	if (r->closest == 4) {
		o->oops = BRAID_OOPS_COMPRESSED;
		return widening_read(F_OOP_BASE, F_OOP_SHIFT, &o->oop_base, &o->oop_shift) &&
		       oop_read(o, thread + o->thread_name) == name;
	}
	o->oops = BRAID_OOPS_PLAIN;
	o->oop_bad = bad_mask(F_XGLOBALS, F_XBAD) ?: bad_mask(F_ZGLOBALS_OLD, F_ZBAD_OLD);
	if (oop_read(o, thread + o->thread_name) == name)
		return true;
	o->oops = BRAID_OOPS_COLOURED;
	o->oop_bad = bad_mask(F_ZGLOBALS_OLD, F_ZBAD);
	return o->oop_bad && oop_read(o, thread + o->thread_name) == name;
}

/* The offsets of a byte[]'s length and bytes depend on the object header, of which there are four shapes. */
static bool array_find(struct braid_objects *o, uint64_t string, const char *text, uint32_t length)
{
	static const uint8_t shapes[][2] = {{12, 16}, {16, 24}, {16, 20}, {8, 12}};
	uint64_t array = oop_read(o, string + o->string_value);
	char bytes[64];
	int32_t said;

	if (!array || !length || length > sizeof(bytes))
		return false;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (!mem_read(&said, array + shapes[i][0], 4) || said != (int32_t)length ||
		    !mem_read(bytes, array + shapes[i][1], length) || memcmp(bytes, text, length))
			continue;
		o->array_length = shapes[i][0];
		o->array_data = shapes[i][1];
		return true;
	}
	return false;
}

/* A JavaThread refers to its Thread directly or by a handle in native memory. */
static bool carrier_find(struct braid_objects *o, uint64_t java_thread, uint64_t thread)
{
	struct braid_objects plain = {.oops = o->oops == BRAID_OOPS_COLOURED ? BRAID_OOPS_COLOURED : BRAID_OOPS_PLAIN};
	uint64_t at;

	if (!field[F_CARRIER].found || field[F_CARRIER].offset > UINT16_MAX)
		return false;
	o->carrier = (uint16_t)field[F_CARRIER].offset;
	o->current = field[F_CURRENT].found ? (uint16_t)field[F_CURRENT].offset : 0;
	if (!mem_read(&at, java_thread + o->carrier, 8))
		return false;
	if (at == thread)
		return true;
	o->flags |= BRAID_OBJECTS_HANDLES;
	return oop_read(&plain, at) == thread;
}

/* Checks the offsets with the calling thread, whose values are known. */
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
	ok = mem_read(&java_thread, thread + r->o.thread_eetop, 8) && java_thread == java_thread_at(jni, self) &&
	     mem_read(&id, thread + r->o.thread_id, 8) && id && oops_find(r, thread, name) &&
	     carrier_find(&r->o, java_thread, thread);
	/* String has a byte[] in every JDK with virtual threads, whose names are read. */
	if (ok && r->o.current)
		ok = array_find(&r->o, name, text, (uint32_t)strlen(text));
	(*jni)->ReleaseStringUTFChars(jni, string, text);
	(*jni)->DeleteLocalRef(jni, string);
	(*jni)->DeleteLocalRef(jni, self);
	return ok;
}

/* ---- classes ---- */

static uint64_t klass_of(jclass class)
{
	uint64_t klass;
	int32_t at;

	if (!field[F_KLASS_AT].found || !mem_read(&at, field[F_KLASS_AT].address, 4) || at <= 0 ||
	    !mem_read(&klass, oop_of(class) + (uint64_t)at, 8))
		return 0;
	return klass;
}

/* Finds how objects refer to their Klass, with the calling thread, whose class is known. */
static bool klasses_find(struct resolved *r, JNIEnv *jni)
{
	struct braid_objects *o = &r->o;
	uint64_t mark, word, klass;
	jthread self = NULL;
	jclass class;

	if ((*agent.jvmti)->GetCurrentThread(agent.jvmti, &self))
		return false;
	class = (*jni)->GetObjectClass(jni, self);
	klass = klass_of(class);
	if (!klass || !mem_read(&mark, oop_of(self), 8) || !mem_read(&word, oop_of(self) + 8, 8))
		return false;
	o->klasses = BRAID_KLASSES_PLAIN;
	if (word == klass)
		return true;
	if (!widening_read(F_KLASS_BASE, F_KLASS_SHIFT, &o->klass_base, &o->klass_shift))
		return false;
	o->klasses = BRAID_KLASSES_COMPRESSED;
	if (o->klass_base + ((word & UINT32_MAX) << o->klass_shift) == klass)
		return true;
	o->klasses = BRAID_KLASSES_COMPACT;
	return o->klass_base + ((mark >> 42) << o->klass_shift) == klass;
}

static bool superclass_read(struct resolved *r)
{
	uint64_t super, object;

	if (!field[F_KLASS_SUPER].found || field[F_KLASS_SUPER].offset > UINT16_MAX)
		return false;
	r->o.klass_super = (uint16_t)field[F_KLASS_SUPER].offset;
	r->o.ownable_klass = klass_of(r->class[C_OWNABLE]);
	/* Its superclass is Object, as Thread's is. */
	return r->o.ownable_klass && mem_read(&super, r->o.ownable_klass + r->o.klass_super, 8) &&
	       mem_read(&object, klass_of(r->class[C_THREAD]) + r->o.klass_super, 8) && super && super == object;
}

/* A chunk's stack begins after the fields of its class, InstanceStackChunkKlass::offset_of_stack(). */
static bool chunk_stack_read(struct resolved *r)
{
	uint64_t klass = klass_of(r->class[C_CHUNK]);
	int32_t helper;

	if (!klass || !field[F_KLASS_LAYOUT].found || !mem_read(&helper, klass + field[F_KLASS_LAYOUT].offset, 4))
		return false;
	helper &= ~7; /* bit 0: allocated on the slow path only */
	r->v.chunk_stack = helper > 16 && helper < 256 ? (uint16_t)helper : 0;
	return r->v.chunk_stack;
}

/* ---- resolving ---- */

#define THREADS_NEED (1U << C_THREAD)
#define BLOCKERS_NEED (1U << C_OWNABLE)
#define FROZEN_NEED (1U << C_STRING | 1U << C_CONTINUATION | 1U << C_CHUNK | 1U << C_VTHREAD)
#define TASKS_NEED (1U << C_TASK)

static bool has_all(uint32_t classes, uint32_t need)
{
	return (classes & need) == need;
}

/* One attempt: returns the classes whose fields are found and agree with known values. */
static uint32_t look(struct resolved *r, JNIEnv *jni)
{
	uint32_t complete = classes_complete(r), known = 0;

	r->o.flags = r->v.flags = 0;
	if (!has_all(complete, THREADS_NEED) || !self_agrees(r, jni) || !klasses_find(r, jni))
		return 0;
	r->o.flags |= BRAID_OBJECTS_THREADS;
	known |= THREADS_NEED;
	if (has_all(complete, BLOCKERS_NEED) && superclass_read(r)) {
		r->o.flags |= BRAID_OBJECTS_BLOCKERS;
		known |= BLOCKERS_NEED;
	}
	if (r->o.current && has_all(complete, FROZEN_NEED) && chunk_stack_read(r)) {
		r->v.flags |= BRAID_VTHREADS_FROZEN;
		if (field[F_OWNER].found && field[F_OWNER].offset <= UINT16_MAX)
			r->v.thread_owner = (uint16_t)field[F_OWNER].offset;
		r->o.virtual_klass = klass_of(r->class[C_VTHREAD]);
		known |= r->o.virtual_klass ? FROZEN_NEED : 0;
	}
	if (has_all(known, FROZEN_NEED) && has_all(complete, TASKS_NEED)) {
		r->v.flags |= BRAID_VTHREADS_TASKS;
		if (!r->v.thread_owner && mounts_around(r->class[C_VTHREAD]))
			r->v.flags |= BRAID_VTHREADS_AROUND;
		known |= TASKS_NEED;
	}
	return known;
}

/* The caller holds the mutex. A collection may spoil an attempt, so an attempt never removes what is known. */
static void objects_resolve_locked(JNIEnv *jni)
{
	struct resolved r;
	uint32_t known;

	for (int i = 0; i < TRIES; i++) {
		memset(&r, 0, sizeof(r));
		if ((*jni)->PushLocalFrame(jni, 16)) {
			(*jni)->ExceptionClear(jni);
			return;
		}
		known = classes_take(&r, jni) ? look(&r, jni) : 0;
		(*jni)->PopLocalFrame(jni, NULL);
		if ((known | state.known) == known && known != state.known) {
			state.known = known;
			layout_objects_set(&r.o);
			vthreads_fields_set(&r.v);
			return;
		}
		if (known == state.known && known)
			return;
	}
}

static uint32_t wanted(void)
{
	uint32_t classes = THREADS_NEED | BLOCKERS_NEED;

	if (field[F_CURRENT].found)
		classes |= FROZEN_NEED;
	if (atomic_load(&state.carriers))
		classes |= TASKS_NEED;
	return classes;
}

void objects_resolve(JNIEnv *jni)
{
	if (!agent_enter())
		return;
	pthread_mutex_lock(&state.mutex);
	if (!has_all(state.known, wanted()))
		objects_resolve_locked(jni);
	pthread_mutex_unlock(&state.mutex);
	agent_leave();
}

bool objects_on_thread(JNIEnv *jni, jthread thread)
{
	jthrowable pending;
	bool carrier;

	if (!field[F_CURRENT].found)
		return false;
	pending = jni_save(jni);
	carrier = java_thread_is_carrier(jni, thread);
	if (carrier && !atomic_exchange(&state.carriers, true)) {
		objects_resolve(jni);
		helper_kick(); /* the helper retries what is not loaded yet */
	}
	jni_restore(jni, pending);
	return carrier;
}

static void report_unknown(void)
{
	if (atomic_load(&state.carriers) && !has_all(state.known, TASKS_NEED))
		publish_notice(BRAID_NOTICE_WARNING,
			       "braid does not find this JVM's virtual threads in its memory: samples of some have no "
			       "identity, and stacks may end early");
}

bool objects_retry(JNIEnv *jni)
{
	bool all = has_all(state.known, wanted()), soon;

	if (all || state.attempts > ATTEMPTS)
		return false;
	if (state.attempts == ATTEMPTS) {
		state.attempts++;
		report_unknown();
		return false;
	}
	/* The class of locks is loaded with the first lock, which may be late. */
	soon = has_all(wanted() & ~BLOCKERS_NEED, TASKS_NEED) && state.attempts < ATTEMPTS_SOON;
	if (!soon && clock_ns() - state.last_ns < 1000000000U)
		return false;
	state.last_ns = clock_ns();
	state.attempts++;
	objects_resolve(jni);
	return soon && !has_all(state.known, TASKS_NEED);
}
