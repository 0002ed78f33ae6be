// SPDX-License-Identifier: Apache-2.0
/*
 * The event kind method: how long calls of chosen methods take. Their classes are rewritten when they are loaded;
 * those that are loaded already, when the helper thread has the JVM load them again. The same puts them back at the
 * end.
 */
#include "timing.h"

#include "core/config.h"
#include "core/helper.h"
#include "events/handlers.h"
#include "events/named_event.h"
#include "java_side.h"
#include "patterns.h"
#include "rewrite/rewrite.h"
#include "switch.h"
#include "timed.h"
#include "values.h"

#include <string.h>

#define METHOD BRAID_EVENT_TYPE(METHOD)
#define NAME_BYTES 1024
#define CLAIM_WAIT_NS 5000000000ULL
#define HANDED_NS 200000000ULL	 /* nearly all classes are loaded so soon after they were rewritten */
#define LOADING_NS 5000000000ULL /* for which the end waits for the others: a loader may look for a superclass */
#define LOOK_MS 250

static _Atomic bool rewriting;		/* BraidMethods is there, and counts for this agent */
static _Atomic bool pending;		/* loaded classes may have to change */
static _Atomic uint32_t at_work;	/* handlers that may rewrite a class */
static _Atomic uint64_t handed_over_ns; /* when the last one was */
static bool changing;			/* they do; for the helper thread, as the next ones */
static uint64_t began_ns;
static uint64_t enabled_ns; /* methods are to be timed and are not yet; set before the helper thread starts, or on it */

struct figures {
	uint32_t classes, methods, lacking, refused;
};

static struct {
	_Atomic uint32_t classes, methods, lacking, refused, too_many;
} counts;
static struct figures trial; /* what the helper thread has rewritten, before the JVM has taken it */

static void figures_count(const struct figures *f)
{
	atomic_fetch_add(&counts.classes, f->classes);
	atomic_fetch_add(&counts.methods, f->methods);
	atomic_fetch_add(&counts.lacking, f->lacking);
	atomic_fetch_add(&counts.refused, f->refused);
}

static void figures_try(const struct figures *f)
{
	trial.classes += f->classes;
	trial.methods += f->methods;
	trial.lacking += f->lacking;
	trial.refused += f->refused;
}

/* What the JVM does not take is rewritten again. */
static void on_tried(bool done)
{
	if (done)
		figures_count(&trial);
	trial = (struct figures){0};
}

/* ---- rewriting ---- */

struct choice {
	struct braid_event_config config;
	struct text class;
};

static bool choose(void *ctx, const struct rewrite_method *m, struct rewrite_choice *to)
{
	const struct choice *c = ctx;
	struct subject s = {c->class, *m, 0};
	int pattern = patterns_match(&c->config, &s);
	int32_t id;

	if (pattern < 0)
		return false;
	id = timed_id(&c->config, &s, pattern);
	if (id < 0) {
		atomic_fetch_add(&counts.too_many, 1);
		return false;
	}
	to->id = (uint32_t)id;
	patterns_values(&c->config.methods[pattern], to);
	return true;
}

/* Gives the JVM the new class file. The class is known as rewritten before, so the end cannot miss it. */
static bool hand_over(jvmtiEnv *env, const struct choice *c, const struct rewrite *w, jint *size, unsigned char **bytes)
{
	unsigned char *copy;

	if (!timed_class_set(c->class, CLASS_REWRITTEN) ||
	    (*env)->Allocate(env, (jlong)w->out.used, &copy) != JVMTI_ERROR_NONE)
		return false;
	memcpy(copy, w->out.bytes, w->out.used);
	*bytes = copy;
	*size = (jint)w->out.used;
	atomic_store(&handed_over_ns, clock_ns());
	return true;
}

static void class_change(jvmtiEnv *env, struct text name, jint size, const unsigned char *bytes, jint *new_size,
			 unsigned char **new_bytes)
{
	struct choice c = {.class = name};
	struct rewrite w = {.choose = choose, .ctx = &c};
	struct figures f = {0};

	timed_patterns(&c.config);
	w.annotations = patterns_have_annotations(&c.config) && class_may_be_timed(c.class);
	if ((!w.annotations && !patterns_match_class(&c.config, c.class)) || timed_class(c.class) == CLASS_REFUSED)
		return;
	if (!rewrite_class(&w, bytes, (size_t)size))
		w.refused = 1;
	f.refused = w.refused;
	if (w.out.used && hand_over(env, &c, &w, new_size, new_bytes)) {
		f.classes = 1;
		f.methods = w.methods;
		f.lacking = w.lacking;
	}
	free(w.out.bytes);
	if (helper_is_self())
		figures_try(&f);
	else
		figures_count(&f);
}

/*
 * The JVM knows no name if who defines the class has given none; the file has it. Before JDK 9, so do classes that the
 * JVM makes for itself (Unsafe.defineAnonymousClass), which stay as they are.
 */
static struct text name_in(const char *name, const unsigned char *bytes, jint size)
{
	if (name)
		return (struct text){name, strlen(name)};
	return agent.jvmti_version < JVMTI_VERSION_9 ? TEXT("") : rewrite_class_name(bytes, (size_t)size);
}

static void JNICALL timing_on_class_file(jvmtiEnv *env, JNIEnv *jni, jclass redefined, jobject loader, const char *name,
					 jobject domain, jint size, const unsigned char *bytes, jint *new_size,
					 unsigned char **new_bytes)
{
	(void)jni;
	(void)redefined;
	(void)loader;
	struct text class;

	(void)domain;
	if (size <= 0 || !agent_enter_event(env))
		return;
	atomic_fetch_add(&at_work, 1);
	if (atomic_load(&rewriting) && (class = name_in(name, bytes, size)).size)
		class_change(env, class, size, bytes, new_size, new_bytes);
	atomic_fetch_sub(&at_work, 1);
	agent_leave();
}

/* ---- what BraidMethods calls ---- */

static uint32_t name_of(uint32_t id)
{
	char name[NAME_BYTES];

	timed_name(id, name, sizeof(name));
	return types_text(name);
}

static void timing_ended(JNIEnv *jni, const struct java_side_call *call)
{
	struct braid_jvm_event d = {.kind = BRAID_JVM_METHOD,
				    .start_ns = call->from_ns,
				    .end_ns = call->to_ns,
				    .flags = call->by ? BRAID_METHOD_THROWN : 0};

	if (!config_enables(METHOD) || helper_is_self() || !agent_enter())
		return;
	if (timed_take(call->id)) {
		d.name = name_of(call->id);
		d.number = values_publish(jni, call);
		jvm_event_emit(&d);
	} else {
		jvm_event_count(BRAID_JVM_METHOD, call->to_ns - call->from_ns);
	}
	agent_leave();
}

static void timing_unmeasured(void)
{
	if (!agent_enter())
		return;
	publish_lost(BRAID_REC_JVM_EVENT, 1);
	agent_leave();
}

static const struct java_side_natives natives = {
	.limit = timed_limit, .ended = timing_ended, .unmeasured = timing_unmeasured};

/* ---- the kind ---- */

static void calls_publish(const struct java_side_calls *calls)
{
	uint64_t now = clock_ns();
	struct braid_jvm_event d = {.kind = BRAID_JVM_METHOD_CALLS,
				    .start_ns = now - calls->longest_ns,
				    .end_ns = now,
				    .name = name_of(calls->id)};

	for (uint32_t i = 0; i < calls->buckets && i < JAVA_SIDE_BUCKETS; i++) {
		d.number = calls->at[i].exponent;
		d.value = calls->at[i].calls;
		d.weight = calls->at[i].ns;
		jvm_event_publish(&d, 0);
	}
}

/* Some methods once a second. */
static void timing_tick(JNIEnv *jni)
{
	if (atomic_load(&rewriting))
		(void)java_side_take(jni, calls_publish);
}

/* All of them, twice at most: the first reading may begin in the middle. */
static void timing_publish(JNIEnv *jni)
{
	if (!atomic_load(&rewriting))
		return;
	while (java_side_take(jni, calls_publish))
		;
	while (java_side_take(jni, calls_publish))
		;
}

static void timing_start(const struct braid_event_config *c)
{
	if (timed_configure(c))
		atomic_store(&pending, true);
}

static void claim(JNIEnv *jni)
{
	enum claim claimed = java_side_claim(jni, &natives, TIMED_MAX);

	if (claimed == CLAIM_LATER && clock_ns() < enabled_ns + CLAIM_WAIT_NS)
		return;
	enabled_ns = 0;
	if (claimed == CLAIM_OURS) {
		atomic_store(&pending, true);
		atomic_store(&rewriting, true);
		return;
	}
	publish_notice(BRAID_NOTICE_WARNING, "methods are not timed in this JVM: %s",
		       claimed == CLAIM_OTHER ? "another recorder does it"
					      : "it refuses the class " REWRITE_HELPER ", or its heap has no room");
}

static void timing_on_enabled(JNIEnv *jni)
{
	if (!caps_has(CAP_RETRANSFORM))
		return;
	if (atomic_load(&rewriting)) {
		java_side_reset(jni);
	} else {
		enabled_ns = clock_ns();
		claim(jni);
	}
	helper_kick();
}

static void changed_notice(uint32_t refused)
{
	uint32_t classes = atomic_exchange(&counts.classes, 0), methods = atomic_exchange(&counts.methods, 0),
		 lacking = atomic_exchange(&counts.lacking, 0);

	if (classes)
		publish_notice(BRAID_NOTICE_INFO,
			       "%u methods of %u loaded classes are timed; it took %llu ms to rewrite them", methods,
			       classes, (unsigned long long)((clock_ns() - began_ns) / 1000000));
	else
		publish_notice(BRAID_NOTICE_INFO,
			       "no class that is loaded has a method that is to be timed; those that are "
			       "loaded later are looked at then");
	if (lacking)
		publish_notice(BRAID_NOTICE_INFO,
			       "%u of them lack arguments or fields that are asked for; a field must be one of an "
			       "object, not of a class, and declared in the class of the method",
			       lacking);
	refused += atomic_exchange(&counts.refused, 0);
	if (refused)
		publish_notice(BRAID_NOTICE_WARNING,
			       "%u methods or classes match and cannot be rewritten, so they are not timed", refused);
	if (atomic_exchange(&counts.too_many, 0))
		publish_notice(BRAID_NOTICE_WARNING,
			       "more methods match than the %u that can be timed; use patterns that match fewer",
			       TIMED_MAX);
}

static bool timing_work(JNIEnv *jni)
{
	uint32_t refused;

	if (enabled_ns)
		claim(jni);
	if (!atomic_load(&rewriting))
		return enabled_ns;
	if (atomic_exchange(&pending, false)) {
		began_ns = clock_ns();
		switch_begin(jni);
		changing = true;
	}
	if (!changing || switch_step(jni, &refused, on_tried))
		return changing;
	changing = false;
	switch_end(jni);
	changed_notice(refused);
	return false;
}

/*
 * Begins with all classes that were rewritten. One that was rewritten just now may not be among those that are loaded
 * yet. Returns the number of those that are still not.
 */
static uint32_t begin_back(JNIEnv *jni)
{
	uint64_t since_ns, until_ns;
	uint32_t unlisted;

	while (atomic_load(&at_work) || clock_ns() < atomic_load(&handed_over_ns) + HANDED_NS)
		helper_nap_ms(1);
	since_ns = clock_ns() - LOADING_NS;
	until_ns = clock_ns() + LOADING_NS;
	for (;;) {
		switch_begin(jni);
		unlisted = timed_classes_unlisted(since_ns);
		if (!unlisted || clock_ns() >= until_ns || atomic_load(&agent.dead))
			return unlisted;
		helper_nap_ms(LOOK_MS);
	}
}

static void put_back(JNIEnv *jni)
{
	uint32_t unlisted = begin_back(jni), refused;

	while (switch_step(jni, &refused, on_tried))
		;
	switch_end(jni);
	if (refused)
		publish_notice(BRAID_NOTICE_WARNING,
			       "%u classes cannot be put back: if they are rewritten, they stay so, and report nothing",
			       refused);
	if (unlisted)
		publish_notice(BRAID_NOTICE_WARNING,
			       "%u classes that were rewritten in the last seconds are not loaded: if one still is "
			       "later, it stays rewritten, and reports nothing",
			       unlisted);
}

/* The event is disabled: no class is rewritten any more, and each that is loaded again is as it was. */
static void timing_stop(JNIEnv *jni)
{
	enabled_ns = 0;
	if (!atomic_load(&rewriting))
		return;
	if (atomic_load(&agent.active))
		timing_publish(jni);
	atomic_store(&rewriting, false);
	java_side_release(jni);
	(void)timed_configure(&(struct braid_event_config){0});
	put_back(jni);
	changing = false;
	timed_classes_forget();
}

const struct kind timing_kind = {
	.events = {{JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, KIND_HANDLER(timing_on_class_file), CAP_RETRANSFORM, METHOD}},
	.caps = {{CAP_RETRANSFORM, false, METHOD, "how long methods take", 0}},
	.types = METHOD,
	.start = timing_start,
	.on_enabled = timing_on_enabled,
	.work = timing_work,
	.tick = timing_tick,
	.publish = timing_publish,
	.stop = timing_stop,
};
