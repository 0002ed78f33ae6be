// SPDX-License-Identifier: Apache-2.0
#include "fake_parts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPABILITIES 45
#define CAP_BYTECODES 3
#define CAP_CONSTANT_POOL 35

struct fake_jvm fake;
jvmtiEnv fake_env;
JNIEnv fake_jni;

#define TI(function)                                                                                                   \
	do {                                                                                                           \
		jvmtiError error_ = fake_ti_called(FAKE_TI(function));                                                 \
		(void)env;                                                                                             \
		if (error_)                                                                                            \
			return error_;                                                                                 \
	} while (0)

static void allocated(int pieces)
{
	fake_allocated += pieces;
	atomic_fetch_add(&fake.allocated, pieces);
}

static char *text(const char *format, const void *object)
{
	char *s = malloc(64);

	ck_assert_ptr_nonnull(s);
	snprintf(s, 64, format, (unsigned)(uintptr_t)object);
	allocated(1);
	return s;
}

static void *list(jint count, size_t size)
{
	void *p = calloc((size_t)count + 1, size);

	ck_assert_ptr_nonnull(p);
	allocated(1);
	return p;
}

void *fake_reference(uintptr_t object)
{
	fake_locals += object != 0;
	return (void *)object;
}

/* Local references to the objects 1 to `count`. */
static void *references(jint count)
{
	jobject *objects = list(count, sizeof(*objects));

	for (jint i = 0; i < count; i++)
		objects[i] = fake_reference((uintptr_t)i + 1);
	return objects;
}

static jvmtiError JNICALL get_version(jvmtiEnv *env, jint *version)
{
	TI(GetVersionNumber);
	*version = fake.version;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_phase(jvmtiEnv *env, jvmtiPhase *phase)
{
	TI(GetPhase);
	*phase = atomic_load(&fake.phase);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_location_format(jvmtiEnv *env, jvmtiJlocationFormat *format)
{
	TI(GetJLocationFormat);
	*format = JVMTI_JLOCATION_JVMBCI;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *p)
{
	TI(Deallocate);
	allocated(p ? -1 : 0);
	free(p);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_functions(jvmtiEnv *env, jniNativeInterface **table)
{
	void *copy;

	TI(GetJNIFunctionTable);
	copy = list(1, fake_jni_bytes());
	memcpy(copy, fake_jni_table(), fake_jni_bytes());
	*table = copy;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_functions(jvmtiEnv *env, const jniNativeInterface *table)
{
	TI(SetJNIFunctionTable);
	fake_jni_set(table);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_callbacks(jvmtiEnv *env, const jvmtiEventCallbacks *callbacks, jint size)
{
	size_t more = sizeof(fake.callbacks), left = (size_t)size > more ? (size_t)size - more : 0;

	TI(SetEventCallbacks);
	memset(&fake.callbacks, 0, sizeof(fake.callbacks));
	memcpy(&fake.callbacks, callbacks, (size_t)size < more ? (size_t)size : more);
	memset(fake.more_callbacks, 0, sizeof(fake.more_callbacks));
	memcpy(fake.more_callbacks, (const char *)callbacks + more,
	       left < sizeof(fake.more_callbacks) ? left : sizeof(fake.more_callbacks));
	return JVMTI_ERROR_NONE;
}

static uint64_t event_bit(jvmtiEvent event)
{
	return 1ULL << (event - JVMTI_MIN_EVENT_TYPE_VAL);
}

bool fake_is_enabled(jvmtiEvent event)
{
	return atomic_load(&fake.events) & event_bit(event);
}

/* The capability that an event needs; without it the JVM refuses the event. */
static int capability_of(jvmtiEvent event)
{
	switch ((int)event) {
	case JVMTI_EVENT_EXCEPTION:
		return 17;
	case JVMTI_EVENT_COMPILED_METHOD_LOAD:
	case JVMTI_EVENT_COMPILED_METHOD_UNLOAD:
		return 27;
	case JVMTI_EVENT_MONITOR_WAIT:
	case JVMTI_EVENT_MONITOR_WAITED:
	case JVMTI_EVENT_MONITOR_CONTENDED_ENTER:
	case JVMTI_EVENT_MONITOR_CONTENDED_ENTERED:
		return 28;
	case JVMTI_EVENT_NATIVE_METHOD_BIND:
		return 30;
	case JVMTI_EVENT_GARBAGE_COLLECTION_START:
	case JVMTI_EVENT_GARBAGE_COLLECTION_FINISH:
		return 31;
	case JVMTI_EVENT_SAMPLED_OBJECT_ALLOC:
		return 43;
	case 87:
	case 88:
		return 44; /* the virtual-thread functions */
	default:
		return -1;
	}
}

static jvmtiError JNICALL set_mode(jvmtiEnv *env, jvmtiEventMode mode, jvmtiEvent event, jthread thread, ...)
{
	int capability = capability_of(event);

	TI(SetEventNotificationMode);
	(void)thread;
	if ((int)event == FAKE_CLASS_UNLOAD)
		return JVMTI_ERROR_NONE;
	if (mode == JVMTI_ENABLE && capability >= 0 && !fake_bit(fake.capabilities, (unsigned)capability))
		return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	if (mode == JVMTI_ENABLE)
		atomic_fetch_or(&fake.events, event_bit(event));
	else
		atomic_fetch_and(&fake.events, ~event_bit(event));
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_potential(jvmtiEnv *env, jvmtiCapabilities *capabilities)
{
	uint64_t bits[2];

	TI(GetPotentialCapabilities);
	for (int i = 0; i < 2; i++)
		bits[i] = fake.potential[i] & ~fake.elsewhere[i];
	memcpy(capabilities, bits, sizeof(bits));
	return JVMTI_ERROR_NONE;
}

/* JVM TI adds all capabilities or none. */
static jvmtiError JNICALL add(jvmtiEnv *env, const jvmtiCapabilities *capabilities)
{
	uint64_t bits[2];

	TI(AddCapabilities);
	memcpy(bits, capabilities, sizeof(bits));
	for (int i = 0; i < 2; i++)
		if (bits[i] & (~fake.potential[i] | fake.elsewhere[i] | fake.vanishing[i]))
			return JVMTI_ERROR_NOT_AVAILABLE;
	if (fake_heap_add(env, bits))
		return JVMTI_ERROR_NONE;
	for (int i = 0; i < 2; i++)
		fake.capabilities[i] |= bits[i];
	return JVMTI_ERROR_NONE;
}

/*
 * The specification leaves open what happens to an event whose capability is relinquished, so it must be disabled
 * before.
 */
static jvmtiError JNICALL relinquish(jvmtiEnv *env, const jvmtiCapabilities *capabilities)
{
	uint64_t bits[2];

	TI(RelinquishCapabilities);
	memcpy(bits, capabilities, sizeof(bits));
	for (jvmtiEvent event = JVMTI_MIN_EVENT_TYPE_VAL; event < JVMTI_MIN_EVENT_TYPE_VAL + FAKE_EVENTS; event++)
		if (fake_is_enabled(event) && capability_of(event) >= 0)
			ck_assert_msg(!fake_bit(bits, (unsigned)capability_of(event)),
				      "the capability of event %d goes while it is enabled", event);
	for (int i = 0; i < 2; i++)
		fake.capabilities[i] &= ~bits[i];
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL dispose(jvmtiEnv *env)
{
	TI(DisposeEnvironment);
	atomic_fetch_sub(&fake.environments, 1);
	if (fake_heap_dispose(env))
		return JVMTI_ERROR_NONE;
	atomic_store(&fake.events, 0);
	memset(fake.capabilities, 0, sizeof(fake.capabilities));
	fake.on_class_unload = NULL;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_interval(jvmtiEnv *env, jint interval)
{
	TI(SetHeapSamplingInterval);
	if (!fake_bit(fake.capabilities, 43))
		return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	fake.interval = interval;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_extension_events(jvmtiEnv *env, jint *count, jvmtiExtensionEventInfo **events)
{
	jvmtiExtensionEventInfo *e;
	jvmtiParamInfo *p;

	TI(GetExtensionEvents);
	e = list(1, sizeof(*e));
	p = list(2, sizeof(*p));
	p[0] = (jvmtiParamInfo){
		.name = text("JNIEnv", NULL), .kind = JVMTI_KIND_IN_PTR, .base_type = JVMTI_TYPE_JNIENV};
	p[1] = (jvmtiParamInfo){.name = text("Class", NULL), .kind = JVMTI_KIND_IN_PTR, .base_type = JVMTI_TYPE_CCHAR};
	e[0] = (jvmtiExtensionEventInfo){.extension_event_index = FAKE_CLASS_UNLOAD,
					 .id = text("com.sun.hotspot.events.ClassUnload", NULL),
					 .short_description = text("CLASS_UNLOAD event", NULL),
					 .param_count = 2,
					 .params = p};
	*count = 1;
	*events = e;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_extension_callback(jvmtiEnv *env, jint index, jvmtiExtensionEvent callback)
{
	TI(SetExtensionEventCallback);
	ck_assert_int_eq(index, FAKE_CLASS_UNLOAD);
	fake.on_class_unload = callback;
	return JVMTI_ERROR_NONE;
}

jvmtiError fake_hold(void)
{
	if (fake.held) {
		sem_post(&fake.holding);
		sem_wait(&fake.go_on);
	}
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL generate(jvmtiEnv *env, jvmtiEvent event)
{
	TI(GenerateEvents);
	(void)event;
	return fake_hold();
}

struct agent_thread {
	jvmtiStartFunction proc;
	void *arg;
};

static void *agent_thread(void *arg)
{
	struct agent_thread t = *(struct agent_thread *)arg;

	free(arg);
	t.proc(&fake_env, &fake_jni, t.arg);
	return NULL;
}

static jvmtiError JNICALL run_thread(jvmtiEnv *env, jthread thread, jvmtiStartFunction proc, const void *arg,
				     jint priority)
{
	struct agent_thread *t;
	pthread_t id;

	TI(RunAgentThread);
	(void)thread;
	(void)priority;
	if (fake.no_threads)
		return JVMTI_ERROR_OUT_OF_MEMORY;
	t = malloc(sizeof(*t));
	*t = (struct agent_thread){.proc = proc, .arg = (void *)(uintptr_t)arg};
	ck_assert_int_eq(pthread_create(&id, NULL, agent_thread, t), 0);
	pthread_detach(id);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_of_method(jvmtiEnv *env, jmethodID method, jclass *class)
{
	TI(GetMethodDeclaringClass);
	*class = fake_reference((uintptr_t)method);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL method_name(jvmtiEnv *env, jmethodID method, char **name, char **signature, char **generic)
{
	TI(GetMethodName);
	(void)generic;
	*name = text(fake.method_name ? fake.method_name : "m%u", method);
	*signature = text(fake.method_signature ? fake.method_signature : "()V", method);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL method_lines(jvmtiEnv *env, jmethodID method, jint *count, jvmtiLineNumberEntry **entries)
{
	TI(GetLineNumberTable);
	(void)method;
	if (!fake.line)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*count = 1;
	*entries = list(1, sizeof(**entries));
	(*entries)[0] = (jvmtiLineNumberEntry){.start_location = 0, .line_number = fake.line};
	return JVMTI_ERROR_NONE;
}

static bool is_in_java_lang(jclass class)
{
	return (uintptr_t) class < 64 && fake.in_java_lang >> (uintptr_t) class & 1;
}

static jvmtiError JNICALL class_name(jvmtiEnv *env, jclass class, char **signature, char **generic)
{
	TI(GetClassSignature);
	(void)generic;
	*signature = text(is_in_java_lang(class) ? "Ljava/lang/C%u;" : fake.one_name ? "LC;" : "LC%u;", class);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_loader(jvmtiEnv *env, jclass class, jobject *loader)
{
	TI(GetClassLoader);
	(void)class;
	*loader = fake_reference(7);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_modifiers(jvmtiEnv *env, jclass class, jint *modifiers)
{
	TI(GetClassModifiers);
	(void)class;
	*modifiers = 1;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL loaded_classes(jvmtiEnv *env, jint *count, jclass **classes)
{
	TI(GetLoadedClasses);
	*count = fake.class_count;
	*classes = references(fake.class_count);
	fake.class_count += fake.listed_later;
	fake.listed_later = 0;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL hash_code(jvmtiEnv *env, jobject object, jint *hash)
{
	TI(GetObjectHashCode);
	*hash = (jint)(uintptr_t)object + 1000;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL all_threads(jvmtiEnv *env, jint *count, jthread **threads)
{
	TI(GetAllThreads);
	*count = fake.thread_count;
	*threads = references(fake.thread_count);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL thread_info(jvmtiEnv *env, jthread thread, jvmtiThreadInfo *info)
{
	TI(GetThreadInfo);
	*info = (jvmtiThreadInfo){.name = text("thread-%u", thread),
				  .priority = 5,
				  .thread_group = fake_reference(8),
				  .is_daemon = JNI_TRUE};
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL group_info(jvmtiEnv *env, jthreadGroup group, jvmtiThreadGroupInfo *info)
{
	TI(GetThreadGroupInfo);
	*info = (jvmtiThreadGroupInfo){.name = text("group-%u", group), .parent = fake_reference(9)};
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_local_storage(jvmtiEnv *env, jthread thread, const void *data)
{
	TI(SetThreadLocalStorage);
	(void)thread;
	(void)data;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL system_property(jvmtiEnv *env, const char *name, char **value)
{
	TI(GetSystemProperty);
	if (strcmp(name, "java.vm.name") != 0)
		return JVMTI_ERROR_NOT_AVAILABLE;
	*value = text("a JVM that is none", NULL);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL system_properties(jvmtiEnv *env, jint *count, char ***names)
{
	TI(GetSystemProperties);
	*count = 2;
	*names = list(*count, sizeof(**names));
	(*names)[0] = text("java.vm.name", NULL);
	(*names)[1] = text("sun.java.command", NULL);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL method_modifiers(jvmtiEnv *env, jmethodID method, jint *modifiers)
{
	TI(GetMethodModifiers);
	(void)method;
	*modifiers = 1;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL source_file(jvmtiEnv *env, jclass class, char **name)
{
	TI(GetSourceFileName);
	*name = text("C%u.java", class);
	return JVMTI_ERROR_NONE;
}

/* A class has one method, which has the class's number. */
static jvmtiError JNICALL class_methods(jvmtiEnv *env, jclass class, jint *count, jmethodID **methods)
{
	TI(GetClassMethods);
	*count = 1;
	*methods = list(1, sizeof(**methods));
	(*methods)[0] = (jmethodID) class;
	return JVMTI_ERROR_NONE;
}

static unsigned char *copied(const struct fake_bytes *b)
{
	unsigned char *p = list(b->size, 1);

	memcpy(p, b->bytes, (size_t)b->size);
	return p;
}

static jvmtiError JNICALL method_code(jvmtiEnv *env, jmethodID method, jint *size, unsigned char **code)
{
	TI(GetBytecodes);
	(void)method;
	if (!(fake.capabilities[0] >> CAP_BYTECODES & 1))
		return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	*size = fake.code.size;
	*code = copied(&fake.code);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_pool(jvmtiEnv *env, jclass class, jint *count, jint *size, unsigned char **bytes)
{
	TI(GetConstantPool);
	(void)class;
	if (!(fake.capabilities[0] >> CAP_CONSTANT_POOL & 1))
		return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	*count = fake.pool_count;
	*size = fake.pool.size;
	*bytes = copied(&fake.pool);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_local_storage(jvmtiEnv *env, jthread thread, void **data)
{
	TI(GetThreadLocalStorage);
	(void)thread;
	*data = NULL;
	return JVMTI_ERROR_NONE;
}

static union {
	struct jvmtiInterface_1_ table;
	void (*slots[FAKE_TI_SLOTS])(void);
} functions = {.table = {
		       .GetVersionNumber = get_version,
		       .GetPhase = get_phase,
		       .GetJLocationFormat = get_location_format,
		       .Deallocate = deallocate,
		       .SetEventCallbacks = set_callbacks,
		       .SetEventNotificationMode = set_mode,
		       .GetPotentialCapabilities = get_potential,
		       .AddCapabilities = add,
		       .RelinquishCapabilities = relinquish,
		       .DisposeEnvironment = dispose,
		       .SetHeapSamplingInterval = set_interval,
		       .GetJNIFunctionTable = get_functions,
		       .SetJNIFunctionTable = set_functions,
		       .GetExtensionEvents = get_extension_events,
		       .SetExtensionEventCallback = set_extension_callback,
		       .GenerateEvents = generate,
		       .RunAgentThread = run_thread,
		       .GetMethodDeclaringClass = class_of_method,
		       .GetMethodName = method_name,
		       .GetLineNumberTable = method_lines,
		       .GetClassSignature = class_name,
		       .GetClassLoader = class_loader,
		       .GetClassModifiers = class_modifiers,
		       .GetLoadedClasses = loaded_classes,
		       .GetObjectHashCode = hash_code,
		       .GetAllThreads = all_threads,
		       .GetThreadInfo = thread_info,
		       .GetThreadGroupInfo = group_info,
		       .SetThreadLocalStorage = set_local_storage,
		       .GetSystemProperty = system_property,
		       .GetSystemProperties = system_properties,
		       .ForceGarbageCollection = fake_heap_collect,
		       .Allocate = fake_allocate,
		       .IsModifiableClass = fake_is_modifiable,
		       .RetransformClasses = fake_retransform,
		       .SetTag = fake_heap_set_tag,
		       .IterateThroughHeap = fake_heap_iterate,
		       .FollowReferences = fake_heap_follow,
		       .GetMethodModifiers = method_modifiers,
		       .GetClassMethods = class_methods,
		       .GetBytecodes = method_code,
		       .GetConstantPool = class_pool,
		       .GetSourceFileName = source_file,
		       .GetThreadLocalStorage = get_local_storage,
	       }};

static jint JNICALL get_env(JavaVM *vm, void **env, jint version)
{
	(void)vm;
	if (version == JNI_VERSION_1_6) {
		*env = &fake_jni;
		return JNI_OK;
	}
	if (fake.no_environment)
		return JNI_EVERSION;
	if (fake.phase != JVMTI_PHASE_ONLOAD && fake.phase != JVMTI_PHASE_LIVE)
		return JNI_EDETACHED;
	if (!atomic_exchange(&fake.kept, true))
		*env = fake_kept_env();
	else
		*env = atomic_fetch_add(&fake.environments, 1) ? &fake_other_env : &fake_env;
	return JNI_OK;
}

static const struct JNIInvokeInterface_ invoke = {.GetEnv = get_env};
JavaVM fake_vm = &invoke;

void fake_jvm_start(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.version = 0x30190000; /* JDK 25 */
	fake.phase = JVMTI_PHASE_ONLOAD;
	fake.potential[0] = (1ULL << CAPABILITIES) - 1;
	fake.interval = 512 * 1024;
	sem_init(&fake.holding, 0, 0);
	sem_init(&fake.go_on, 0, 0);
	fake_fill(functions.slots, FAKE_TI_SLOTS, (void (*)(void))fake_ti_other);
	fake_env = fake_other_env = &functions.table;
	fake_jni_start();
}
