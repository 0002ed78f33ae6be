// SPDX-License-Identifier: Apache-2.0
/*
 * What the event types method and field share: classes are rewritten when they are loaded; those that are loaded
 * already, when the helper thread has the JVM load them again. The same puts them back at the end.
 */
#include "timing.h"

#include "core/config.h"
#include "core/helper.h"
#include "events/handlers.h"
#include "matches.h"
#include "patterns.h"
#include "rewrite/rewrite.h"
#include "side.h"
#include "switch.h"
#include "timed.h"

#include <string.h>

#define TYPES BRAID_EVENT_TYPES_REWRITTEN
#define NAME_BYTES 1024
#define WRITER_BYTES 1024
#define CLAIM_WAIT_NS 5000000000ULL
#define HANDED_NS 200000000ULL	 /* nearly all classes are loaded so soon after they were rewritten */
#define LOADING_NS 5000000000ULL /* for which the end waits for the others: a loader may look for a superclass */
#define LOOK_MS 250

#define SIDES 2
static struct side *const sides[SIDES] = {&methods_side, &fields_side};

static _Atomic bool pending;		/* loaded classes may have to change */
static _Atomic uint32_t at_work;	/* handlers that may rewrite a class */
static _Atomic uint64_t handed_over_ns; /* when the last one was */
static bool changing;			/* they do; for the helper thread, as the next ones */
static uint64_t began_ns;

struct figures {
	uint32_t classes, methods, lacking, writers, writes, refused; /* writers: classes that write */
};

static struct {
	_Atomic uint32_t classes, methods, lacking, writers, writes, refused, too_many;
} counts;
static struct left_out left_out; /* for the helper thread */
static struct figures trial;	 /* what the helper thread has rewritten, before the JVM has taken it */

static bool any_on(void)
{
	return atomic_load(&methods_side.on) || atomic_load(&fields_side.on);
}

static void figures_count(const struct figures *f)
{
	atomic_fetch_add(&counts.classes, f->classes);
	atomic_fetch_add(&counts.methods, f->methods);
	atomic_fetch_add(&counts.lacking, f->lacking);
	atomic_fetch_add(&counts.writers, f->writers);
	atomic_fetch_add(&counts.writes, f->writes);
	atomic_fetch_add(&counts.refused, f->refused);
}

static void figures_try(const struct figures *f)
{
	trial.classes += f->classes;
	trial.methods += f->methods;
	trial.lacking += f->lacking;
	trial.writers += f->writers;
	trial.writes += f->writes;
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

/* "package.Class.method", cut. */
static struct text writer_text(struct text class, struct text method, char to[WRITER_BYTES])
{
	size_t used = 0;

	for (; used < class.size && used < WRITER_BYTES - 1; used++)
		to[used] = class.at[used] == '/' ? '.' : class.at[used];
	for (size_t i = 0; i <= method.size && used < WRITER_BYTES - 1; i++)
		to[used++] = i ? method.at[i - 1] : '.';
	return (struct text){to, used};
}

static bool id_set(int32_t id, uint32_t *to)
{
	if (id < 0)
		atomic_fetch_add(&counts.too_many, 1);
	else
		*to = (uint32_t)id;
	return id >= 0;
}

static bool choose(void *ctx, const struct rewrite_method *m, struct rewrite_choice *to)
{
	const struct choice *c = ctx;
	struct subject s = {c->class, *m, 0};
	int pattern = patterns_match(&c->config, &s);

	if (pattern >= 0)
		matches_method(&c->config, &s, pattern);
	if (pattern < 0 || !id_set(timed_id(&c->config, &s, pattern), &to->id))
		return false;
	patterns_values(&c->config.methods[pattern], to);
	return true;
}

static bool may_choose_write(void *ctx, const struct rewrite_field *f)
{
	const struct choice *c = ctx;

	return patterns_match_field(&c->config, f->class, f->name) >= 0;
}

static bool choose_write(void *ctx, const struct rewrite_field *f, const struct rewrite_method *by,
			 struct rewrite_write *to)
{
	const struct choice *c = ctx;
	int pattern = patterns_match_field(&c->config, f->class, f->name);
	char writer[WRITER_BYTES];
	struct text text;

	if (pattern < 0)
		return false;
	matches_field(&c->config, f->class, f->name, pattern);
	text = writer_text(c->class, by->name, writer);
	if (!id_set(timed_field_id(&c->config, f, text, pattern), &to->id))
		return false;
	patterns_write_values(&c->config.fields[pattern], to);
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
	struct rewrite w = {.ctx = &c};
	struct figures f = {0};

	if (!class_may_be_timed(name) || timed_class(name) == CLASS_REFUSED)
		return;
	timed_patterns(&c.config);
	if (atomic_load(&methods_side.on)) {
		w.annotations = patterns_have_annotations(&c.config);
		w.choose = w.annotations || patterns_match_class(&c.config, name) ? choose : NULL;
	}
	if (atomic_load(&fields_side.on) && patterns_have_fields(&c.config)) {
		w.may_choose_write = may_choose_write;
		w.choose_write = choose_write;
	}
	if (!w.choose && !w.choose_write)
		return;
	if (!rewrite_class(&w, bytes, (size_t)size))
		w.refused = 1;
	f.refused = w.refused;
	if (w.out.used && hand_over(env, &c, &w, new_size, new_bytes)) {
		f.classes = w.methods > 0;
		f.methods = w.methods;
		f.lacking = w.lacking;
		f.writers = w.writes > 0;
		f.writes = w.writes;
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
	if (any_on() && (class = name_in(name, bytes, size)).size)
		class_change(env, class, size, bytes, new_size, new_bytes);
	atomic_fetch_sub(&at_work, 1);
	agent_leave();
}

/* ---- what both sides use ---- */

uint32_t side_name(uint32_t id)
{
	char name[NAME_BYTES];

	timed_name(id, name, sizeof(name));
	return types_text(name);
}

void side_unmeasured(void)
{
	if (!agent_enter())
		return;
	publish_lost(BRAID_REC_JVM_EVENT, 1);
	agent_leave();
}

/* All that was counted, twice at most: the first reading may begin in the middle. */
static void side_publish(JNIEnv *jni, struct side *s)
{
	while (java_side_take(jni, s->java, s->publish))
		;
	while (java_side_take(jni, s->java, s->publish))
		;
}

static void side_claim(JNIEnv *jni, struct side *s)
{
	enum claim claimed = java_side_claim(jni, s->java, s->natives, TIMED_MAX);

	if (claimed == CLAIM_LATER && clock_ns() < s->enabled_ns + CLAIM_WAIT_NS)
		return;
	s->enabled_ns = 0;
	if (claimed == CLAIM_OURS) {
		atomic_store(&pending, true);
		atomic_store(&s->on, true);
	} else if (claimed == CLAIM_OTHER) {
		publish_notice(BRAID_NOTICE_WARNING, "%s in this JVM: another recorder does it", s->what);
	} else {
		publish_notice(BRAID_NOTICE_WARNING, "%s in this JVM: it refuses the class %s, or its heap has no room",
			       s->what, s->java->name);
	}
}

static void side_begin(JNIEnv *jni, struct side *s)
{
	if (atomic_load(&s->on)) {
		java_side_reset(jni, s->java);
	} else {
		s->enabled_ns = clock_ns();
		side_claim(jni, s);
	}
}

static void side_end(JNIEnv *jni, struct side *s)
{
	s->enabled_ns = 0;
	if (!atomic_load(&s->on))
		return;
	if (atomic_load(&agent.active))
		side_publish(jni, s);
	atomic_store(&s->on, false);
	java_side_release(jni, s->java);
}

/* ---- the kind ---- */

/* Some ids once a second. */
static void timing_tick(JNIEnv *jni)
{
	for (size_t i = 0; i < SIDES; i++)
		if (atomic_load(&sides[i]->on))
			(void)java_side_take(jni, sides[i]->java, sides[i]->publish);
}

static void patterns_report(void)
{
	struct braid_event_config c;

	timed_patterns(&c);
	matches_begin(&c, atomic_load(&methods_side.on), atomic_load(&fields_side.on));
}

static void timing_publish(JNIEnv *jni)
{
	for (size_t i = 0; i < SIDES; i++)
		if (atomic_load(&sides[i]->on))
			side_publish(jni, sides[i]);
	/* A JVM may end before the helper has begun. Classes that were loaded until then were looked at. */
	if (any_on() && atomic_load(&pending))
		patterns_report();
}

static void timing_start(const struct braid_event_config *c)
{
	struct braid_event_config enabled = *c;

	if (!(c->enabled & BRAID_EVENT_TYPE(METHOD)))
		memset(enabled.methods, 0, sizeof(enabled.methods));
	if (!(c->enabled & BRAID_EVENT_TYPE(FIELD)))
		memset(enabled.fields, 0, sizeof(enabled.fields));
	if (timed_configure(&enabled))
		atomic_store(&pending, true);
}

/* Ends the side that is not enabled any more, too. */
static void timing_on_enabled(JNIEnv *jni)
{
	if (!caps_has(CAP_RETRANSFORM))
		return;
	for (size_t i = 0; i < SIDES; i++)
		if (config_enables(sides[i]->type))
			side_begin(jni, sides[i]);
		else
			side_end(jni, sides[i]);
	helper_kick();
}

static void fields_notice(unsigned long long ms)
{
	uint32_t writers = atomic_exchange(&counts.writers, 0), writes = atomic_exchange(&counts.writes, 0);

	if (writers)
		publish_notice(
			BRAID_NOTICE_INFO,
			"%u places in %u loaded classes write a field that is watched; it took %llu ms to rewrite "
			"them",
			writes, writers, ms);
	else if (config_enables(BRAID_EVENT_TYPE(FIELD)))
		publish_notice(
			BRAID_NOTICE_INFO,
			"no class that is loaded writes a field that is to be watched; those that are loaded later "
			"are looked at then");
}

/* A wildcard can mean them, too. */
static void left_out_notice(void)
{
	if (left_out.classes)
		publish_notice(
			BRAID_NOTICE_INFO,
			"%u loaded classes match, and are left out: classes of java.lang, java.util.concurrent.atomic, "
			"jdk.internal and sun.misc, and below, are never timed, such as %s",
			left_out.classes, left_out.one);
	left_out = (struct left_out){0};
}

static void changed_notice(uint32_t refused)
{
	uint32_t classes = atomic_exchange(&counts.classes, 0), methods = atomic_exchange(&counts.methods, 0),
		 lacking = atomic_exchange(&counts.lacking, 0);
	unsigned long long ms = (clock_ns() - began_ns) / 1000000;

	fields_notice(ms);
	if (classes)
		publish_notice(BRAID_NOTICE_INFO,
			       "%u methods of %u loaded classes are timed; it took %llu ms to rewrite them", methods,
			       classes, ms);
	else if (config_enables(BRAID_EVENT_TYPE(METHOD)))
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
		publish_notice(
			BRAID_NOTICE_WARNING, "%u methods or classes match and cannot be rewritten, so %s", refused,
			config_enables(BRAID_EVENT_TYPE(METHOD)) ? "they are not timed" : "their writes are not seen");
	if (atomic_exchange(&counts.too_many, 0))
		publish_notice(
			BRAID_NOTICE_WARNING,
			"more match than the %u methods, and fields by method, that there can be; use patterns that "
			"match fewer",
			TIMED_MAX);
}

static bool timing_work(JNIEnv *jni)
{
	uint32_t refused;

	bool waits = false;

	for (size_t i = 0; i < SIDES; i++) {
		if (sides[i]->enabled_ns)
			side_claim(jni, sides[i]);
		waits |= sides[i]->enabled_ns != 0;
	}
	if (!any_on())
		return waits;
	if (atomic_exchange(&pending, false)) {
		began_ns = clock_ns();
		patterns_report();
		switch_begin(jni, atomic_load(&methods_side.on) ? &left_out : NULL);
		changing = true;
	}
	if (!changing || switch_step(jni, &refused, on_tried))
		return changing || waits;
	changing = false;
	switch_end(jni);
	changed_notice(refused);
	left_out_notice();
	return waits;
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
		switch_begin(jni, NULL);
		unlisted = timed_classes_unlisted(since_ns);
		if (!unlisted || clock_ns() >= until_ns || atomic_load(&agent.ending))
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
	bool was_on = any_on();

	for (size_t i = 0; i < SIDES; i++)
		side_end(jni, sides[i]);
	if (!was_on)
		return;
	(void)timed_configure(&(struct braid_event_config){0});
	put_back(jni);
	changing = false;
	timed_classes_forget();
}

const struct kind timing_kind = {
	.events = {{JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, KIND_HANDLER(timing_on_class_file), CAP_RETRANSFORM, TYPES}},
	.caps = {{CAP_RETRANSFORM, false, TYPES, "how long methods take, and writes to fields", 0}},
	.types = BRAID_EVENT_TYPE(METHOD) | BRAID_EVENT_TYPE(FIELD),
	.start = timing_start,
	.on_enabled = timing_on_enabled,
	.work = timing_work,
	.tick = timing_tick,
	.publish = timing_publish,
	.stop = timing_stop,
};
