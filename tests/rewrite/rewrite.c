// SPDX-License-Identifier: Apache-2.0
/*
 * An agent that rewrites every class with agent/rewrite, for the class RewriteAll: as classes are loaded, or by
 * retransformation. It counts, and compares what methods are. -agentpath:FILE=FOLDER of BraidMethods.class and
 * BraidFields.class
 */
#include "core/jvm.h"
#include "rewrite/method.h"
#include "timing/patterns.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 256
#define LDC 0x12
#define LDC_W 0x13
#define ACC_BRIDGE 0x1040 /* and synthetic: JDK 8 adds such methods to interfaces, and makes them anew */

static jvmtiEnv *ti;
static _Atomic bool rewriting;
static _Atomic uint64_t classes, methods, writes, refused, malformed;

/*
 * JFR puts its own code into event classes when they are loaded again, whoever asks, and fails at the examples of its
 * documentation, some of which the JVM then refuses to change.
 */
static bool is_excluded(const char *name)
{
	static const char examples[] = "jdk/jfr/snippets/";

	return !class_may_be_timed((struct text){name, strlen(name)}) || strncmp(name, examples, strlen(examples)) == 0;
}

/* Most have values. Where there is no such argument or field, that is a case, too. */
static bool choose(void *ctx, const struct rewrite_method *m, struct rewrite_choice *to)
{
	static const struct text fields[] = {TEXT_OF("size"), TEXT_OF("name"), TEXT_OF("value"), TEXT_OF("parent")};

	(void)m;
	to->id = ++*(uint32_t *)ctx % 70000; /* some are constants of the pool */
	to->count = to->id % (REWRITE_VALUES + 1);
	for (uint32_t i = 0; i < to->count; i++)
		to->values[i] = i == 1 ? (struct rewrite_value){.field = fields[to->id / 8 % 4]}
				       : (struct rewrite_value){.argument = to->count - i, .length = to->id & 64};
	return true;
}

static bool may_choose_write(void *ctx, const struct rewrite_field *f)
{
	(void)ctx;
	return f->name.size % 8; /* most of them */
}

static bool choose_write(void *ctx, const struct rewrite_field *f, const struct rewrite_method *by,
			 struct rewrite_write *to)
{
	(void)f;
	(void)by;
	to->id = ++*(uint32_t *)ctx % 70000;
	to->now = to->id % 3;
	to->before = to->id % 3 == 2;
	return to->id % 16;
}

static void JNICALL on_class_file(jvmtiEnv *env, JNIEnv *jni, jclass redefined, jobject loader, const char *name,
				  jobject domain, jint size, const unsigned char *bytes, jint *new_size,
				  unsigned char **new_bytes)
{
	static _Atomic int32_t id;
	uint32_t first = (uint32_t)atomic_fetch_add(&id, 1) * 100;
	struct rewrite w = {.choose = choose,
			    .may_choose_write = may_choose_write,
			    .choose_write = choose_write,
			    .ctx = &first,
			    .annotations = true};

	(void)jni;
	(void)redefined;
	(void)loader;
	(void)domain;
	if (first % 300 == 0) /* of some classes the writes only */
		w.choose = NULL;
	if (!atomic_load(&rewriting) || (name && is_excluded(name)))
		return;
	if (!rewrite_class(&w, bytes, (size_t)size)) {
		atomic_fetch_add(&malformed, 1);
		fprintf(stderr, "malformed: %s\n", name ?: "a class");
		return;
	}
	if (w.refused)
		fprintf(stderr, "%u refused: %s\n", w.refused, name ?: "a class");
	atomic_fetch_add(&classes, 1);
	atomic_fetch_add(&methods, w.methods);
	atomic_fetch_add(&writes, w.writes);
	atomic_fetch_add(&refused, w.refused);
	if (w.out.used && (*env)->Allocate(env, (jlong)w.out.used, new_bytes) == JVMTI_ERROR_NONE) {
		memcpy(*new_bytes, w.out.bytes, w.out.used);
		*new_size = (jint)w.out.used;
	}
	free(w.out.bytes);
}

static void helper_define(JNIEnv *jni, const char *folder, const char *name)
{
	char path[PATH_MAX];
	jbyte bytes[1 << 16];
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.class", folder, name);
	f = fopen(path, "re");
	size = f ? fread(bytes, 1, sizeof(bytes), f) : 0;
	if (f)
		fclose(f);
	if (!(*jni)->DefineClass(jni, name, NULL, bytes, (jsize)size)) {
		fprintf(stderr, "%s: the JVM refuses the class\n", path);
		exit(1);
	}
}

static const char *helpers;

static void JNICALL on_vm_init(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	(void)env;
	(void)thread;
	helper_define(jni, helpers, REWRITE_HELPER);
	helper_define(jni, helpers, REWRITE_FIELD_HELPER);
}

/* ---- for RewriteAll ---- */

JNIEXPORT void JNICALL Java_RewriteAll_rewrite(JNIEnv *jni, jclass self, jboolean on)
{
	(void)jni;
	(void)self;
	atomic_store(&rewriting, on);
}

JNIEXPORT jlong JNICALL Java_RewriteAll_count(JNIEnv *jni, jclass self, jint which)
{
	const uint64_t counts[] = {classes, methods, refused, malformed, writes};

	(void)jni;
	(void)self;
	return (jlong)counts[which];
}

static bool may_change(JNIEnv *jni, jclass class)
{
	jboolean may = JNI_FALSE;
	char *signature;
	bool excluded;

	if ((*ti)->IsModifiableClass(ti, class, &may) != JVMTI_ERROR_NONE || !may ||
	    (*ti)->GetClassSignature(ti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return false;
	(void)jni;
	excluded = signature[0] != 'L' || is_excluded(signature + 1);
	(*ti)->Deallocate(ti, (unsigned char *)signature);
	return !excluded;
}

/* Returns how many classes the JVM has refused to change. */
JNIEXPORT jint JNICALL Java_RewriteAll_retransform(JNIEnv *jni, jclass self)
{
	jint count, used = 0, bad = 0;
	jclass *all;

	(void)self;
	if ((*ti)->GetLoadedClasses(ti, &count, &all) != JVMTI_ERROR_NONE)
		return -1;
	for (jint i = 0; i < count; i++)
		if (may_change(jni, all[i]))
			all[used++] = all[i];
	for (jint i = 0; i < used; i += BATCH) {
		jint size = used - i < BATCH ? used - i : BATCH;

		if ((*ti)->RetransformClasses(ti, size, all + i) == JVMTI_ERROR_NONE)
			continue;
		for (jint k = i; k < i + size; k++) {
			jvmtiError err = (*ti)->RetransformClasses(ti, 1, all + k);
			char *signature = NULL;

			if (!err)
				continue;
			(*ti)->GetClassSignature(ti, all[k], &signature, NULL);
			fprintf(stderr, "error %d: %s\n", (int)err, signature ?: "?");
			(*ti)->Deallocate(ti, (unsigned char *)signature);
			bad++;
		}
	}
	(*ti)->Deallocate(ti, (unsigned char *)all);
	return bad;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * 1099511628211ULL;
}

/*
 * Without what instructions refer to: a JVM numbers constants anew when it redefines a class, and a large number makes
 * an LDC longer, and what is behind it move.
 */
static uint64_t code_hash(uint64_t hash, jmethodID id)
{
	struct method m = {0};
	unsigned char *code = NULL;
	uint32_t length;
	jint size = 0;

	if ((*ti)->GetBytecodes(ti, id, &size, &code) != JVMTI_ERROR_NONE) /* it has none */
		return hash;
	m.code = code;
	m.length = (uint32_t)size;
	for (uint32_t at = 0; at < m.length; at += length) {
		length = code_instruction(&m, at);
		if (!length) {
			fprintf(stderr, "the JVM has an instruction %#x\n", code[at]);
			exit(1);
		}
		hash = mix(hash, code[at] == LDC_W ? LDC : code[at]);
		length += code_is_switch(code[at]) ? code_padding(at) : 0;
	}
	(*ti)->Deallocate(ti, code);
	return hash;
}

static uint64_t class_hash(jclass class)
{
	uint64_t hash = 0;
	jmethodID *all;
	jint count;

	if ((*ti)->GetClassMethods(ti, class, &count, &all) != JVMTI_ERROR_NONE)
		return 0;
	for (jint i = 0; i < count; i++) {
		jvmtiLineNumberEntry *lines = NULL;
		jint line_count = 0, locals = 0, modifiers = 0;
		uint64_t own;

		(void)(*ti)->GetMethodModifiers(ti, all[i], &modifiers);
		if ((modifiers & ACC_BRIDGE) == ACC_BRIDGE)
			continue;

		(void)(*ti)->GetMaxLocals(ti, all[i], &locals);
		(void)(*ti)->GetLineNumberTable(ti, all[i], &line_count, &lines);
		own = code_hash(mix(14695981039346656037ULL, (uint64_t)locals), all[i]);
		for (jint k = 0; k < line_count; k++)
			own = mix(own, (uint64_t)lines[k].line_number);
		hash += own;
		(*ti)->Deallocate(ti, (unsigned char *)lines);
	}
	(*ti)->Deallocate(ti, (unsigned char *)all);
	return hash;
}

/* One number for the instructions, variables and lines of all methods of a class. */
JNIEXPORT jlong JNICALL Java_RewriteAll_hash(JNIEnv *jni, jclass self, jclass class)
{
	(void)jni;
	(void)self;
	return (jlong)class_hash(class);
}

JNIEXPORT jobjectArray JNICALL Java_RewriteAll_loaded(JNIEnv *jni, jclass self)
{
	jclass *all, type = (*jni)->FindClass(jni, "java/lang/Class");
	jobjectArray array;
	jint count;

	(void)self;
	if ((*ti)->GetLoadedClasses(ti, &count, &all) != JVMTI_ERROR_NONE)
		return NULL;
	array = (*jni)->NewObjectArray(jni, count, type, NULL);
	for (jint i = 0; i < count; i++)
		(*jni)->SetObjectArrayElement(jni, array, i, may_change(jni, all[i]) ? all[i] : NULL);
	(*ti)->Deallocate(ti, (unsigned char *)all);
	return array;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiEventCallbacks callbacks = {.VMInit = on_vm_init, .ClassFileLoadHook = on_class_file};
	jvmtiCapabilities caps = {.can_retransform_classes = 1, .can_get_line_numbers = 1, .can_get_bytecodes = 1};

	(void)reserved;
	helpers = strdup(options ?: "");
	if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK ||
	    (*ti)->AddCapabilities(ti, &caps) != JVMTI_ERROR_NONE ||
	    (*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE ||
	    (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) != JVMTI_ERROR_NONE ||
	    (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL) !=
		    JVMTI_ERROR_NONE)
		return JNI_ERR;
	return JNI_OK;
}
