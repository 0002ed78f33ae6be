// SPDX-License-Identifier: Apache-2.0
/*
 * The event kind class: classes that are loaded and linked, without arrays and primitive types, which never are.
 * HotSpot reports a class again for each further loader that finds it, so a set remembers the known ones: by name and
 * by the identity hash codes of class and loader, which keeps nothing from being unloaded and costs collections
 * nothing.
 *
 * Classes that are loaded already are listed twice: before the events are enabled, so that none of them counts as
 * new, and after, for those loaded in between. So each class is either published or counted.
 */
#include "handlers.h"
#include "core/jni.h"
#include "core/slots.h"

#include <stdlib.h>
#include <string.h>

#define PART_MAX LOADER_NAME_MAX /* for all strings but class names */
#define FIRST_ROOM 4096U
#define KNOWN_MAX (1U << 20) /* a class beyond may be published more than once */

static struct {
	pthread_mutex_t mutex; /* its holder calls no JVM TI function */
	struct slots keys;
} known = {.mutex = PTHREAD_MUTEX_INITIALIZER, .keys = SLOTS_OF(uint64_t, 1, FIRST_ROOM)};

static bool listening;	       /* used by the connecting thread, then by the helper */
static _Atomic uint32_t older; /* classes known without having been published */

/* ---- known classes ---- */

uint32_t hash_code(jobject object)
{
	jint code = 0;

	if (object && (*agent.jvmti)->GetObjectHashCode(agent.jvmti, object, &code))
		code = 0;
	return (uint32_t)code;
}

static uint64_t identity(const char *signature, jclass class, jobject loader)
{
	uint64_t h = ((uint64_t)hash_code(class) << 32 | hash_code(loader)) * HASH_SPREAD;

	h = hash_text(h, signature);
	return h ? h ^ h >> 29 : 1;
}

/* True when the key is new. */
static bool remember(uint64_t key)
{
	uint64_t *slot;
	bool news;

	pthread_mutex_lock(&known.mutex);
	slot = slots_find(&known.keys, &key);
	news = !slot || !*slot;
	if (news && known.keys.used < KNOWN_MAX && slots_reserve(&known.keys)) {
		slot = slots_find(&known.keys, &key);
		*slot = key;
		known.keys.used++;
	}
	pthread_mutex_unlock(&known.mutex);
	return news;
}

static char *signature_of(jclass class)
{
	char *signature;

	return (*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL) ? NULL : signature;
}

static void remember_class(JNIEnv *jni, jclass class)
{
	char *signature = signature_of(class);
	jobject loader = NULL;

	if (signature && signature[0] != '[' && !(*agent.jvmti)->GetClassLoader(agent.jvmti, class, &loader) &&
	    remember(identity(signature, class, loader)))
		atomic_fetch_add(&older, 1);
	if (loader)
		(*jni)->DeleteLocalRef(jni, loader);
	agent_release(signature);
}

/* Makes local references to all loaded classes and drops them at once. */
static void look_around(JNIEnv *jni)
{
	jclass *classes = NULL;
	jint count = 0;

	if ((*jni)->PushLocalFrame(jni, 16)) {
		(*jni)->ExceptionClear(jni);
		return;
	}
	if (!(*agent.jvmti)->GetLoadedClasses(agent.jvmti, &count, &classes)) {
		jni_expect(jni, count);
		for (jint i = 0; i < count; i++)
			remember_class(jni, classes[i]);
		agent_release(classes);
	}
	(*jni)->PopLocalFrame(jni, NULL);
}

uint32_t loads_count(void)
{
	return atomic_load(&older);
}

static bool is_live(void)
{
	jvmtiPhase phase;

	return !(*agent.jvmti)->GetPhase(agent.jvmti, &phase) && phase == JVMTI_PHASE_LIVE;
}

static void loads_start(const struct braid_event_config *c)
{
	JNIEnv *jni;

	(void)c;
	if (!listening && is_live() && (*agent.vm)->GetEnv(agent.vm, (void **)&jni, JNI_VERSION_1_6) == JNI_OK)
		look_around(jni);
}

static void loads_on_enabled(JNIEnv *jni)
{
	if (!listening && is_live())
		look_around(jni);
	listening = true;
}

static void loads_stop(JNIEnv *jni)
{
	(void)jni;
	pthread_mutex_lock(&known.mutex);
	slots_free(&known.keys);
	pthread_mutex_unlock(&known.mutex);
	atomic_store(&older, 0);
	listening = false;
}

/* ---- publishing ---- */

/* What a CLASS record reports. */
struct description {
	char *name;
	char *source;
	struct loader loader;
	char module[PART_MAX];
	jint modifiers;
};

static void description_free(struct description *d)
{
	agent_release(d->name);
	agent_release(d->loader.class);
	agent_release(d->source);
}

/* Modules and names of loaders exist from 9 on; the VM has modules in the live phase only. */
static bool has_modules(void)
{
	return agent.jvmti_version >= JVMTI_VERSION_9 && is_live();
}

/* In one loader a package belongs to one module, so the package's name finds the module. */
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

void loader_describe(JNIEnv *jni, jobject loader, struct loader *to)
{
	static _Atomic(jfieldID) name_field;
	jclass kind;

	to->class = NULL;
	to->name[0] = '\0';
	if (!loader)
		return;
	kind = (*jni)->GetObjectClass(jni, loader);
	to->class = signature_of(kind);
	if (has_modules())
		jni_string(jni, loader, jni_root_field(jni, loader, "name", "Ljava/lang/String;", &name_field),
			   to->name, sizeof(to->name));
	(*jni)->DeleteLocalRef(jni, kind);
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
	r.loader_len = string_cut(d->loader.class, &r.hdr.flags);
	r.loader_name_len = string_cut(d->loader.name, &r.hdr.flags);
	r.module_len = string_cut(d->module, &r.hdr.flags);
	r.source_len = part_cut(d->source, &r.hdr.flags);
	publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(d->name, r.class_len),
					    PART(d->loader.class, r.loader_len),
					    PART(d->loader.name, r.loader_name_len), PART(d->module, r.module_len),
					    PART(d->source, r.source_len)},
			   6);
}

static void class_publish(JNIEnv *jni, jclass class)
{
	struct description d = {.name = signature_of(class)};
	jvmtiEnv *ti = agent.jvmti;
	jobject loader = NULL;

	if (!d.name || (*ti)->GetClassLoader(ti, class, &loader) || !remember(identity(d.name, class, loader)))
		goto out;
	if (has_modules())
		module_read(&d, jni, loader);
	loader_describe(jni, loader, &d.loader);
	if ((*ti)->GetClassModifiers(ti, class, &d.modifiers))
		d.modifiers = 0;
	if (!caps_has(CAP_SOURCE_FILE_NAME) || (*ti)->GetSourceFileName(ti, class, &d.source))
		d.source = NULL;
	load_publish(&d, false);
out:
	if (loader)
		(*jni)->DeleteLocalRef(jni, loader);
	description_free(&d);
}

static void JNICALL loads_on_load(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
	jthrowable pending;

	(void)thread;
	if (!agent_enter_event(env))
		return;
	pending = jni_save(jni);
	class_publish(jni, class);
	jni_restore(jni, pending);
	agent_leave();
}

static void JNICALL loads_on_prepare(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
	struct description d = {0};

	(void)jni;
	(void)thread;
	if (!agent_enter_event(env))
		return;
	d.name = signature_of(class);
	load_publish(&d, true);
	description_free(&d);
	agent_leave();
}

const struct kind loads_kind = {
	.events = {{JVMTI_EVENT_CLASS_LOAD, KIND_HANDLER(loads_on_load), 0, BRAID_EVENT_TYPE(CLASS)},
		   {JVMTI_EVENT_CLASS_PREPARE, KIND_HANDLER(loads_on_prepare), 0, BRAID_EVENT_TYPE(CLASS)}},
	.types = BRAID_EVENT_TYPE(CLASS),
	.start = loads_start,
	.on_enabled = loads_on_enabled,
	.stop = loads_stop,
};
