// SPDX-License-Identifier: Apache-2.0
/*
 * The event kind jni-critical: for how long native code is in a critical section of JNI, in which it has the address of
 * an array or of a string's characters. Collectors that cannot leave single objects in place wait until no thread is in
 * one. Sections of a thread may overlap: they are one, from the first one's begin to the last one's end.
 */
#include "handlers.h"
#include "core/config.h"
#include "core/jni_table.h"

/* The calling thread's section. Another session's has ended where no hook could see it. */
static __thread struct {
	uint32_t session, depth;
	uint64_t start_ns;
} section;

static _Atomic uint32_t session = 1; /* counts how often the hooks were put away */

static void section_begin(void)
{
	uint32_t now = atomic_load_explicit(&session, memory_order_relaxed);

	if (section.session != now) {
		section.session = now;
		section.depth = 0;
	}
	if (!section.depth++)
		section.start_ns = clock_ns();
}

/* Returns when the section that is to end now has begun; 0: it does not end, or its begin is not known. */
static uint64_t section_end(void)
{
	if (section.session != atomic_load_explicit(&session, memory_order_relaxed) || !section.depth)
		return 0;
	return --section.depth ? 0 : section.start_ns;
}

/* After the section's end, which a collection may have waited for. */
static void section_emit(uint64_t start_ns, uint64_t end_ns, const char *function)
{
	struct braid_jvm_event d = {.kind = BRAID_JVM_JNI_CRITICAL, .start_ns = start_ns, .end_ns = end_ns};

	if (!config_enables(BRAID_EVENT_TYPE(JNI_CRITICAL)))
		return;
	if (end_ns - start_ns < atomic_load_explicit(&config.critical_min_ns, memory_order_relaxed)) {
		jvm_event_count(d.kind, end_ns - start_ns);
		return;
	}
	d.weight = clock_ns() - end_ns;
	if (!agent_enter())
		return;
	d.name = types_text(function);
	jvm_event_emit(&d);
	agent_leave();
}

static void *JNICALL get_array(JNIEnv *jni, jarray array, jboolean *copy)
{
	void *elements = jni_below.GetPrimitiveArrayCritical(jni, array, copy);

	if (elements)
		section_begin();
	return elements;
}

static void JNICALL release_array(JNIEnv *jni, jarray array, void *elements, jint mode)
{
	uint64_t start = section_end(), end = start ? clock_ns() : 0;

	jni_below.ReleasePrimitiveArrayCritical(jni, array, elements, mode);
	if (start)
		section_emit(start, end, "ReleasePrimitiveArrayCritical");
}

static const jchar *JNICALL get_string(JNIEnv *jni, jstring string, jboolean *copy)
{
	const jchar *characters = jni_below.GetStringCritical(jni, string, copy);

	if (characters)
		section_begin();
	return characters;
}

static void JNICALL release_string(JNIEnv *jni, jstring string, const jchar *characters)
{
	uint64_t start = section_end(), end = start ? clock_ns() : 0;

	jni_below.ReleaseStringCritical(jni, string, characters);
	if (start)
		section_emit(start, end, "ReleaseStringCritical");
}

static struct jni_hook hooks[] = {
	JNI_HOOK(GetPrimitiveArrayCritical, get_array),
	JNI_HOOK(ReleasePrimitiveArrayCritical, release_array),
	JNI_HOOK(GetStringCritical, get_string),
	JNI_HOOK(ReleaseStringCritical, release_string),
};

#define HOOKS (sizeof(hooks) / sizeof(hooks[0]))

static void critical_enabled(JNIEnv *jni)
{
	(void)jni;
	(void)jni_table_hook(hooks, HOOKS);
}

static void critical_stop(JNIEnv *jni)
{
	(void)jni;
	jni_table_unhook(hooks, HOOKS);
	atomic_fetch_add(&session, 1);
}

const struct kind jni_critical_kind = {
	.types = BRAID_EVENT_TYPE(JNI_CRITICAL),
	.on_enabled = critical_enabled,
	.stop = critical_stop,
};
