// SPDX-License-Identifier: Apache-2.0
#include "switch.h"

#include "core/jni.h"
#include "core/state.h"
#include "patterns.h"
#include "timed.h"

#include <string.h>

/* Each batch is a pause, in which the JVM also looks at every class that it has: neither few nor many at once. */
#define BATCH 64

static struct {
	jclass *classes; /* local references; those that are not to be changed are NULL */
	jint count, next;
	uint32_t refused;
} work;

static struct text class_of(const char *signature)
{
	size_t size = strlen(signature);

	return size > 2 && *signature == 'L' ? (struct text){signature + 1, size - 2} : (struct text){signature, 0};
}

/* Whether one of its constants is such a text, for whatever it is used there. */
static bool constants_have(jclass class, bool (*is)(void *ctx, struct text text), void *ctx)
{
	unsigned char *bytes;
	jint count, size;
	bool has;

	if ((*agent.jvmti)->GetConstantPool(agent.jvmti, class, &count, &size, &bytes) != JVMTI_ERROR_NONE)
		return false;
	has = count > 0 && size > 0 && rewrite_pool_has(bytes, (size_t)size, (uint32_t)count, is, ctx);
	agent_release(bytes);
	return has;
}

static bool is_annotation(void *ctx, struct text text)
{
	return patterns_match_annotation(ctx, text);
}

static bool may_be_annotated(struct braid_event_config *config, jclass class, struct text name)
{
	return patterns_have_annotations(config) && class_may_be_timed(name) &&
	       constants_have(class, is_annotation, config);
}

struct meant {
	const struct braid_event_config *config;
	struct text class;
};

static bool is_meant(void *ctx, struct text text)
{
	const struct meant *m = ctx;

	return patterns_may_name(m->config, m->class, text);
}

/* Methods are not asked for their names, because that would cost the JVM a jmethodID for each of them, for ever. */
static void look_left_out(const struct braid_event_config *config, jclass class, struct text name, struct left_out *to)
{
	struct meant m = {config, name};

	if (patterns_leave_out(config, name) && constants_have(class, is_meant, &m) && !to->classes++)
		for (size_t i = 0; i < name.size && i < sizeof(to->one) - 1; i++)
			to->one[i] = name.at[i] == '/' ? '.' : name.at[i];
}

static bool is_field(void *ctx, const struct rewrite_field *f)
{
	return patterns_match_field(ctx, f->class, f->name) >= 0;
}

/* Whether its constants have a field that is watched, for whatever it is used there. */
static bool may_write(struct braid_event_config *config, jclass class, struct text name)
{
	unsigned char *bytes;
	jint count, size;
	bool has;

	if (!patterns_have_fields(config) || !class_may_be_timed(name) ||
	    (*agent.jvmti)->GetConstantPool(agent.jvmti, class, &count, &size, &bytes) != JVMTI_ERROR_NONE)
		return false;
	has = count > 0 && size > 0 && rewrite_pool_uses(bytes, (size_t)size, (uint32_t)count, is_field, config);
	agent_release(bytes);
	return has;
}

/* Whether it matches, or is rewritten. */
static bool is_concerned(jclass class, struct left_out *left)
{
	struct braid_event_config config;
	jboolean may = JNI_FALSE;
	char *signature;
	struct text name;
	bool concerned, rewritten;

	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return false;
	name = class_of(signature);
	timed_patterns(&config);
	/* One of this name may be rewritten, and another one of it be refused. */
	rewritten = timed_class(name) != CLASS_PLAIN;
	if (rewritten)
		timed_class_listed(name);
	concerned = name.size && (patterns_match_class(&config, name) || rewritten ||
				  may_be_annotated(&config, class, name) || may_write(&config, class, name));
	if (left)
		look_left_out(&config, class, name, left);
	agent_release(signature);
	return concerned && (*agent.jvmti)->IsModifiableClass(agent.jvmti, class, &may) == JVMTI_ERROR_NONE && may;
}

void switch_begin(JNIEnv *jni, struct left_out *left)
{
	const jvmtiCapabilities constants = {.can_get_constant_pool = 1};
	jint used = 0;

	switch_end(jni);
	work.refused = 0;
	if ((*agent.jvmti)->GetLoadedClasses(agent.jvmti, &work.count, &work.classes) != JVMTI_ERROR_NONE) {
		work.classes = NULL;
		return;
	}
	jni_expect(jni, work.count);
	/* It costs nothing while unused, and HotSpot never refuses it. */
	(void)(*agent.jvmti)->AddCapabilities(agent.jvmti, &constants);
	for (jint i = 0; i < work.count; i++)
		if (is_concerned(work.classes[i], left))
			work.classes[used++] = work.classes[i];
		else
			(*jni)->DeleteLocalRef(jni, work.classes[i]);
	(*agent.jvmti)->RelinquishCapabilities(agent.jvmti, &constants);
	work.count = used;
}

static bool change(jint count, const jclass *classes, void (*tried)(bool done))
{
	bool done = (*agent.jvmti)->RetransformClasses(agent.jvmti, count, classes) == JVMTI_ERROR_NONE;

	tried(done);
	return done;
}

/* A class that the JVM refuses when it is rewritten stays as it is from then on. */
static void change_one(jclass class, void (*tried)(bool done))
{
	char *signature;

	if (change(1, &class, tried))
		return;
	work.refused++;
	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return;
	(void)timed_class_set(class_of(signature), CLASS_REFUSED);
	agent_release(signature);
}

bool switch_step(JNIEnv *jni, uint32_t *refused, void (*tried)(bool done))
{
	jint size = work.count - work.next < BATCH ? work.count - work.next : BATCH;
	jclass *batch;

	*refused = work.refused;
	if (!work.classes || !size)
		return false;
	batch = work.classes + work.next;
	/* If one of them cannot be changed, none of them is. */
	if (!change(size, batch, tried))
		for (jint i = 0; i < size; i++)
			change_one(batch[i], tried);
	for (jint i = 0; i < size; i++)
		(*jni)->DeleteLocalRef(jni, batch[i]);
	work.next += size;
	*refused = work.refused;
	return true;
}

void switch_end(JNIEnv *jni)
{
	for (; work.classes && work.next < work.count; work.next++)
		(*jni)->DeleteLocalRef(jni, work.classes[work.next]);
	agent_release(work.classes);
	work.classes = NULL;
	work.count = work.next = 0;
}
