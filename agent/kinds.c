// SPDX-License-Identifier: Apache-2.0
/* The list of event kinds, and the calls that go to each of them when a connection, the event configuration or a
 * command requires it. agent.c and loop.c call it; events.c and caps.c iterate over the list. */
#include "agent.h"

#include "core/config.h"
#include "core/publish.h"
#include "events/handlers.h"
#include "malloc/malloc.h"
#include "timing/timing.h"

/*
 * A heap that cannot be copied is counted in the same turn, so the copy comes before the histogram. Settings are read
 * by calls of Java, whose objects may be sampled, so they come before the objects that are live at the end.
 */
static const struct kind *const kinds[] = {
	&life_kind,	  &settings_kind, &threads_kind,  &code_kind,	      &dump_kind,      &methods_kind,
	&alloc_kind,	  &live_kind,	  &monitors_kind, &gc_kind,	      &loads_kind,     &virtual_kind,
	&exceptions_kind, &natives_kind,  &resource_kind, &mounts_kind,	      &heap_copy_kind, &histogram_kind,
	&timing_kind,	  &malloc_kind,	  &jni_refs_kind, &jni_critical_kind,
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Where a hook takes longer, it walks the heap: then the JVM stands still, and its end waits in any case. */
#define HOOKS_WAIT_MS 1000U

/* Held while hooks run. They are written for one thread, the helper; VMDeath comes on another one. */
static pthread_mutex_t hooks = PTHREAD_MUTEX_INITIALIZER;

const struct kind *kind_at(size_t i)
{
	return i < KINDS ? kinds[i] : NULL;
}

static bool is_on(const struct kind *k, uint32_t types)
{
	return !k->types || (k->types & types);
}

/* The caller of this, on_enabled and execute holds `hooks`. */
static void start(const struct braid_event_config *c)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->start && is_on(kinds[i], c->enabled))
			kinds[i]->start(c);
}

static void on_enabled(JNIEnv *jni)
{
	uint32_t types = atomic_load(&config.enabled);

	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->on_enabled && is_on(kinds[i], types))
			kinds[i]->on_enabled(jni);
}

static void execute(JNIEnv *jni, enum braid_command command)
{
	uint32_t types = atomic_load(&config.enabled);

	if (command == BRAID_COMMAND_GC)
		(void)(*agent.jvmti)->ForceGarbageCollection(agent.jvmti);
	for (size_t i = 0; i < KINDS; i++) {
		if (!is_on(kinds[i], types))
			continue;
		if (command == BRAID_COMMAND_DUMP && kinds[i]->publish)
			kinds[i]->publish(jni);
		else if (command == BRAID_COMMAND_RESET && kinds[i]->forget)
			kinds[i]->forget(jni);
	}
}

void kinds_start(const struct braid_event_config *c)
{
	pthread_mutex_lock(&hooks);
	types_reset();
	exceptions_reset();
	jvm_event_reset_counts();
	stack_request_start();
	config_set(c);
	start(c);
	pthread_mutex_unlock(&hooks);
}

void kinds_on_enabled(JNIEnv *jni)
{
	pthread_mutex_lock(&hooks);
	on_enabled(jni);
	pthread_mutex_unlock(&hooks);
}

void kinds_on_replayed(JNIEnv *jni)
{
	pthread_mutex_lock(&hooks);
	settings_publish(jni);
	pthread_mutex_unlock(&hooks);
}

void kinds_change(const struct braid_event_config *c)
{
	uint32_t before = atomic_load(&config.enabled);
	struct caps caps;
	JNIEnv *jni;

	if ((*agent.vm)->GetEnv(agent.vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK)
		return;
	pthread_mutex_lock(&hooks);
	caps_acquire(&caps, c->enabled);
	config_set(c);
	start(c);
	(void)events_configure(c->enabled &
			       ~c->threaded); /* the answer reports what was refused: it has no capability */
	events_configure_threads(jni, c);
	on_enabled(jni);
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->stop && is_on(kinds[i], before) && !is_on(kinds[i], c->enabled))
			kinds[i]->stop(jni);
	caps_keep(&caps, c->enabled);
	hello_publish(&caps);
	pthread_mutex_unlock(&hooks);
}

void kinds_command(JNIEnv *jni, enum braid_command command)
{
	pthread_mutex_lock(&hooks);
	execute(jni, command);
	pthread_mutex_unlock(&hooks);
}

bool kinds_work(JNIEnv *jni)
{
	uint32_t types = atomic_load(&config.enabled);
	bool more = false;

	if (atomic_load(&agent.ending)) /* so that the thread in VMDeath gets the mutex */
		return false;
	pthread_mutex_lock(&hooks);
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->work && is_on(kinds[i], types))
			more |= kinds[i]->work(jni);
	pthread_mutex_unlock(&hooks);
	return more;
}

void kinds_tick(JNIEnv *jni)
{
	uint32_t types = atomic_load(&config.enabled);

	if (atomic_load(&agent.ending))
		return;
	pthread_mutex_lock(&hooks);
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->tick && is_on(kinds[i], types))
			kinds[i]->tick(jni);
	jvm_event_publish_counted();
	pthread_mutex_unlock(&hooks);
}

bool kinds_publish_final(JNIEnv *jni)
{
	uint32_t turns = 0;

	while (pthread_mutex_trylock(&hooks))
		if (!publish_wait(&turns, HOOKS_WAIT_MS))
			return false;
	execute(jni, BRAID_COMMAND_DUMP);
	jvm_event_publish_counted();
	pthread_mutex_unlock(&hooks);
	return true;
}

void kinds_end(JNIEnv *jni)
{
	uint32_t types = atomic_exchange(&config.enabled, 0);

	pthread_mutex_lock(&hooks);
	for (size_t i = 0; i < KINDS; i++)
		if ((jni || kinds[i]->without_jvm) && kinds[i]->stop && is_on(kinds[i], types))
			kinds[i]->stop(jni);
	pthread_mutex_unlock(&hooks);
}
