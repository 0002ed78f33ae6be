// SPDX-License-Identifier: Apache-2.0
/*
 * Classes that are loaded and linked; arrays and primitive types never are. Their unloading: JVM TI has no event of its
 * own for it since 2003, HotSpot has an extension event. Some versions send it inside a GC pause, so its handler
 * neither allocates nor locks; what finds no room is folded into the next record.
 */
#include "agent.h"

#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PART_MAX 1024 /* of a loader's name, and of the others but class names */

#define EVENT_ID "com.sun.hotspot.events.ClassUnload"

static jint event_index = -1;
static bool event_has_name; /* 8 passes the dying class itself, which nobody may touch; later ones its name */

static _Atomic uint32_t unsaid;

static void release(void *p)
{
	if (p)
		(*agent.jvmti)->Deallocate(agent.jvmti, p);
}

/* ---- loading ---- */

/* What is told of a class. */
struct description {
	char *name;
	char *loader; /* its class */
	char *source;
	char loader_name[PART_MAX];
	char module[PART_MAX];
	jint modifiers;
};

static void description_free(struct description *d)
{
	release(d->name);
	release(d->loader);
	release(d->source);
}

static char *signature_of(jclass class)
{
	char *signature;

	return (*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL) ? NULL : signature;
}

/* The module system and the loaders' names came with 9; the VM knows of modules when it is live. */
static bool has_modules(void)
{
	jvmtiPhase phase;

	return agent.jvmti_version >= JVMTI_VERSION_9 && !(*agent.jvmti)->GetPhase(agent.jvmti, &phase) &&
	       phase == JVMTI_PHASE_LIVE;
}

/* No class is in the module of another one of its package. */
static void module_read(struct description *d, JNIEnv *jni, jobject loader)
{
	static _Atomic(jfieldID) name_field;
	char package[PART_MAX] = "";
	const char *end = d->name ? strrchr(d->name, '/') : NULL;
	jobject module = NULL;

	if (!end || d->name[0] != 'L' || (size_t)(end - d->name) > sizeof(package))
		return;
	memcpy(package, d->name + 1, (size_t)(end - d->name) - 1);
	if ((*agent.jvmti)->GetNamedModule(agent.jvmti, loader, package, &module) || !module)
		return;
	jni_string(jni, module, jni_root_field(jni, module, "name", "Ljava/lang/String;", &name_field), d->module,
		   sizeof(d->module));
	(*jni)->DeleteLocalRef(jni, module);
}

static void loader_read(struct description *d, JNIEnv *jni, jclass class)
{
	static _Atomic(jfieldID) name_field;
	bool modules = has_modules();
	jobject loader = NULL;
	jclass kind;

	if ((*agent.jvmti)->GetClassLoader(agent.jvmti, class, &loader))
		return;
	if (modules)
		module_read(d, jni, loader);
	if (!loader)
		return;
	kind = (*jni)->GetObjectClass(jni, loader);
	d->loader = signature_of(kind);
	if (modules)
		jni_string(jni, loader, jni_root_field(jni, loader, "name", "Ljava/lang/String;", &name_field),
			   d->loader_name, sizeof(d->loader_name));
	(*jni)->DeleteLocalRef(jni, kind);
	(*jni)->DeleteLocalRef(jni, loader);
}

static uint16_t part_cut(const char *s, uint16_t *flags)
{
	uint16_t length = string_cut(s, flags);

	if (length < PART_MAX)
		return length;
	*flags |= BRAID_REC_TRUNCATED;
	return PART_MAX - 1;
}

static void load_publish(const struct description *d, bool prepared)
{
	struct braid_rec_class r = {.modifiers = (uint32_t)d->modifiers, .prepared = prepared};

	record_init(&r.hdr, BRAID_REC_CLASS, 0);
	r.class_len = string_cut(d->name, &r.hdr.flags);
	r.loader_len = string_cut(d->loader, &r.hdr.flags);
	r.loader_name_len = string_cut(d->loader_name, &r.hdr.flags);
	r.module_len = string_cut(d->module, &r.hdr.flags);
	r.source_len = part_cut(d->source, &r.hdr.flags);
	publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(d->name, r.class_len),
					    PART(d->loader, r.loader_len), PART(d->loader_name, r.loader_name_len),
					    PART(d->module, r.module_len), PART(d->source, r.source_len)},
			   6);
}

void JNICALL classes_on_load(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
	struct description d = {0};
	jthrowable pending;

	(void)thread;
	if (!agent_enter())
		return;
	pending = jni_save(jni);
	d.name = signature_of(class);
	loader_read(&d, jni, class);
	if ((*env)->GetClassModifiers(env, class, &d.modifiers))
		d.modifiers = 0;
	if (!caps_has(CAP_SOURCE_FILE_NAME) || (*env)->GetSourceFileName(env, class, &d.source))
		d.source = NULL;
	jni_restore(jni, pending);
	load_publish(&d, false);
	description_free(&d);
	agent_leave();
}

void JNICALL classes_on_prepare(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
	struct description d = {0};

	(void)env;
	(void)jni;
	(void)thread;
	if (!agent_enter())
		return;
	d.name = signature_of(class);
	load_publish(&d, true);
	description_free(&d);
	agent_leave();
}

/* Local references to all of them are made, and dropped at once. */
uint32_t classes_count(JNIEnv *jni)
{
	jclass *classes = NULL;
	jint count = 0;

	if ((*jni)->PushLocalFrame(jni, 16)) {
		(*jni)->ExceptionClear(jni);
		return 0;
	}
	if ((*agent.jvmti)->GetLoadedClasses(agent.jvmti, &count, &classes))
		count = 0;
	else
		release(classes);
	(*jni)->PopLocalFrame(jni, NULL);
	return (uint32_t)count;
}

/* ---- unloading ---- */

static bool publish(const char *name, uint32_t count)
{
	struct braid_rec_class_unload r = {
		.hdr = {.kind = BRAID_REC_CLASS_UNLOAD, .tid = (uint32_t)syscall(SYS_gettid), .time_ns = clock_ns()},
		.count = count,
	};

	r.name_len = string_cut(name, &r.hdr.flags);
	return publish_direct((struct iovec[]){PART(&r, sizeof(r)), PART(name, r.name_len)}, 2);
}

static void JNICALL on_unload(jvmtiEnv *env, ...)
{
	const char *name = NULL;
	uint32_t count;
	va_list args;

	if (!agent_enter())
		return;
	if (event_has_name) {
		va_start(args, env);
		(void)va_arg(args, JNIEnv *);
		name = va_arg(args, const char *);
		va_end(args);
	}
	methods_unloaded();
	count = atomic_exchange(&unsaid, 0) + 1;
	if (!publish(name, count))
		atomic_fetch_add(&unsaid, count);
	agent_leave();
}

void classes_flush(void)
{
	uint32_t count = atomic_exchange(&unsaid, 0);

	if (count && !publish(NULL, count))
		atomic_fetch_add(&unsaid, count);
}

static void look_at(const jvmtiExtensionEventInfo *e)
{
	if (e->id && !strcmp(e->id, EVENT_ID)) {
		event_index = e->extension_event_index;
		event_has_name = e->param_count == 2 && e->params[0].base_type == JVMTI_TYPE_JNIENV &&
				 e->params[1].base_type == JVMTI_TYPE_CCHAR && e->params[1].kind == JVMTI_KIND_IN_PTR;
	}
	for (jint i = 0; i < e->param_count; i++)
		release(e->params[i].name);
	release(e->params);
	release(e->id);
	release(e->short_description);
}

void classes_enable(void)
{
	jvmtiExtensionEventInfo *list = NULL;
	jint count = 0;

	atomic_store(&unsaid, 0);
	event_index = -1;
	if ((*agent.jvmti)->GetExtensionEvents(agent.jvmti, &count, &list) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < count; i++)
		look_at(&list[i]);
	release(list);
	if (event_index >= 0 && (*agent.jvmti)->SetExtensionEventCallback(agent.jvmti, event_index, on_unload))
		event_index = -1;
	/* Setting the callback enables the event, says JVM TI. From 19 on HotSpot wants this too; before, it refuses
	 * it. */
	if (event_index >= 0)
		(void)(*agent.jvmti)
			->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, (jvmtiEvent)event_index, NULL);
	if (event_index < 0)
		publish_notice(BRAID_NOTICE_WARNING, "this JVM does not tell when classes are unloaded: names of "
						     "interpreted frames may be those of classes that are gone");
}

void classes_disable(void)
{
	if (event_index < 0)
		return;
	(void)(*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_DISABLE, (jvmtiEvent)event_index, NULL);
	(*agent.jvmti)->SetExtensionEventCallback(agent.jvmti, event_index, NULL);
}
