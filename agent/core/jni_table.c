// SPDX-License-Identifier: Apache-2.0
/* Changes the JVM's table of JNI functions; see jni_table.h. The thread that connects, disconnects or applies a
 * configuration calls it: one at a time. */
#include "jni_table.h"

#include "state.h"

struct JNINativeInterface_ jni_below;

typedef void (*function)(void);

/* The table of an older JVM is shorter than the header's, but has all functions that are hooked. */
static function *below(const struct jni_hook *h)
{
	return (function *)&jni_below + h->slot;
}

static function *table_read(void)
{
	jniNativeInterface *table;
	jvmtiError err = (*agent.jvmti)->GetJNIFunctionTable(agent.jvmti, &table);

	if (!err)
		return (function *)table;
	publish_notice(BRAID_NOTICE_WARNING, "the JVM does not show its JNI functions (JVM TI error %d)", err);
	return NULL;
}

static bool table_write(const function *table)
{
	jvmtiError err = (*agent.jvmti)->SetJNIFunctionTable(agent.jvmti, (const jniNativeInterface *)table);

	if (err)
		publish_notice(BRAID_NOTICE_WARNING, "the JVM does not change its JNI functions (JVM TI error %d)",
			       err);
	return !err;
}

bool jni_table_hook(struct jni_hook *hooks, size_t count)
{
	function *table = table_read();
	size_t changed = 0, covered = 0;
	bool ok;

	if (!table)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct jni_hook *h = &hooks[i];
		function now = table[h->slot];

		h->covered = h->covered && now != h->own && now != *below(h);
		covered += h->covered;
		h->hooked = true;
		/* A second hook in front of the function that calls the first one would call itself for ever. */
		if (now == h->own || h->covered)
			continue;
		*below(h) = now;
		table[h->slot] = h->own;
		changed++;
	}
	ok = !changed || table_write(table);
	agent_release(table);
	if (covered)
		publish_notice(
			BRAID_NOTICE_WARNING,
			"another agent's JNI functions (%zu) are in front of this one's since an earlier recording: "
			"what they do not call on is not recorded",
			covered);
	return ok;
}

void jni_table_unhook(struct jni_hook *hooks, size_t count)
{
	size_t changed = 0, covered = 0;
	function *table;

	if (!hooks[0].hooked) /* the JVM may be in a phase without JNI */
		return;
	table = table_read();
	for (size_t i = 0; table && i < count; i++) {
		struct jni_hook *h = &hooks[i];

		h->hooked = false;
		h->covered = table[h->slot] != h->own && table[h->slot] != *below(h);
		covered += h->covered;
		if (table[h->slot] != h->own)
			continue;
		table[h->slot] = *below(h);
		changed++;
	}
	if (changed)
		(void)table_write(table);
	agent_release(table);
	if (covered)
		publish_notice(
			BRAID_NOTICE_WARNING,
			"another agent has replaced JNI functions (%zu) during the recording: its functions are left "
			"in place, and what they did not call on was not recorded",
			covered);
}

jobject jni_global_new(JNIEnv *jni, jobject object)
{
	return (jni_below.NewGlobalRef ?: (*jni)->NewGlobalRef)(jni, object);
}

jweak jni_weak_new(JNIEnv *jni, jobject object)
{
	return (jni_below.NewWeakGlobalRef ?: (*jni)->NewWeakGlobalRef)(jni, object);
}

void jni_weak_delete(JNIEnv *jni, jweak ref)
{
	(jni_below.DeleteWeakGlobalRef ?: (*jni)->DeleteWeakGlobalRef)(jni, ref);
}
