// SPDX-License-Identifier: Apache-2.0
/* The kinds of events, and what they do besides handling those. */
#include "agent.h"

#include "core/chosen.h"
#include "events/handlers.h"

static const struct kind *const kinds[] = {
	&life_kind,	&threads_kind, &code_kind,  &dump_kind,	   &methods_kind,    &alloc_kind,   &live_kind,
	&monitors_kind, &gc_kind,      &loads_kind, &virtual_kind, &exceptions_kind, &natives_kind, &resource_kind,
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

const struct kind *kind_at(size_t i)
{
	return i < KINDS ? kinds[i] : NULL;
}

static bool is_on(const struct kind *k, uint32_t wanted)
{
	return !k->wanted || (k->wanted & wanted);
}

static void start_kinds(const struct braid_choices *c)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->start && is_on(kinds[i], c->wanted))
			kinds[i]->start(c);
}

void kinds_start(const struct braid_choices *c)
{
	types_reset();
	exceptions_reset();
	demand_reset();
	demand_start();
	chosen_set(c);
	start_kinds(c);
}

void kinds_begun(JNIEnv *jni)
{
	uint32_t wanted = atomic_load(&chosen.wanted);

	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->begun && is_on(kinds[i], wanted))
			kinds[i]->begun(jni);
}

void kinds_change(const struct braid_choices *c)
{
	uint32_t before = atomic_load(&chosen.wanted);
	struct caps caps;
	JNIEnv *jni;

	if ((*agent.vm)->GetEnv(agent.vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK)
		return;
	caps_acquire(&caps, c->wanted);
	chosen_set(c);
	start_kinds(c);
	(void)events_choose(c->wanted & ~c->threaded); /* an event that is refused has no capability, which is told */
	events_choose_threads(jni, c);
	kinds_begun(jni);
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->stop && is_on(kinds[i], before) && !is_on(kinds[i], c->wanted))
			kinds[i]->stop(jni);
	caps_keep(&caps, c->wanted);
	hello_publish(&caps);
}

void kinds_act(JNIEnv *jni, enum braid_act act)
{
	uint32_t wanted = atomic_load(&chosen.wanted);

	if (act == BRAID_ACT_GC)
		(void)(*agent.jvmti)->ForceGarbageCollection(agent.jvmti);
	for (size_t i = 0; i < KINDS; i++) {
		if (!is_on(kinds[i], wanted))
			continue;
		if (act == BRAID_ACT_DUMP && kinds[i]->tell)
			kinds[i]->tell(jni);
		else if (act == BRAID_ACT_RESET && kinds[i]->forget)
			kinds[i]->forget(jni);
	}
}

void kinds_tick(JNIEnv *jni)
{
	uint32_t wanted = atomic_load(&chosen.wanted);

	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->tick && is_on(kinds[i], wanted))
			kinds[i]->tick(jni);
	demand_tell_counted();
}

void kinds_last_words(JNIEnv *jni)
{
	kinds_act(jni, BRAID_ACT_DUMP);
	demand_tell_counted();
}

void kinds_end(JNIEnv *jni)
{
	uint32_t wanted = atomic_exchange(&chosen.wanted, 0);

	for (size_t i = 0; i < KINDS; i++)
		if (jni && kinds[i]->stop && is_on(kinds[i], wanted))
			kinds[i]->stop(jni);
}
