// SPDX-License-Identifier: Apache-2.0
/*
 * The JVM's settings: its flags, and the system properties. The helper publishes all of them once in each connection,
 * and at its end and with each dump those that have changed since.
 */
#include "agent.h"

#include "core/publish.h"
#include "core/slots.h"
#include "vm/flags.h"
#include "vm/properties.h"
#include "vm/vmstructs.h"

#define COMMAND "sun.java.command" /* it is in the HELLO record */

#define PUBLISHED_MAX 4096U /* an application may invent names as long as it runs */

/* What was published. For hooks: one thread at a time. */
struct published {
	uint64_t name;	/* hash of a flag's name, or of a property's and a letter */
	uint64_t value; /* hash of origin and value */
};

static struct slots published = SLOTS_OF(struct published, 1, 2048);

/* Java runs code, and makes objects, for who asks for properties. So nobody asks for what no trace will have. */
static bool wanted;

static void settings_start(const struct braid_event_config *c)
{
	wanted = !c->no_settings;
}

/* Whether a setting is to be published: it is new, or has changed, or there is no memory to know that. */
static bool is_new(uint32_t origin, const char *name, const char *value)
{
	const char number[] = {(char)('A' + origin), '\0'};
	uint64_t key = hash_text(hash_text(HASH_BEGIN, origin ? "" : "-D"), name) ?: 1,
		 is = hash_text(hash_text(HASH_BEGIN, number), value);
	struct published *p;

	if (!slots_reserve(&published))
		return true;
	p = slots_find(&published, &key);
	if (p->name && p->value == is)
		return false;
	if (!p->name && published.used == PUBLISHED_MAX) {
		publish_lost(BRAID_REC_SETTING, 1);
		return false;
	}
	published.used += !p->name;
	*p = (struct published){key, is};
	return true;
}

static void publish(uint32_t origin, const char *name, const char *value, uint16_t flags)
{
	struct braid_rec_setting r = {.origin = origin};

	if (!is_new(origin, name, value))
		return;
	record_init(&r.hdr, BRAID_REC_SETTING, flags);
	r.name_len = string_cut(name, &r.hdr.flags);
	r.value_len = string_cut(value, &r.hdr.flags);
	publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(name, r.name_len), PART(value, r.value_len)}, 3);
}

static void publish_flag(const struct vm_flag *f)
{
	publish(f->origin, f->name, f->value, 0);
}

static void publish_property(const char *name, const char *value, bool cut)
{
	if (strcmp(name, COMMAND) != 0)
		publish(BRAID_SETTING_PROPERTY, name, value, cut ? BRAID_REC_TRUNCATED : 0);
}

static uint32_t publish_new(JNIEnv *jni)
{
	if (!wanted)
		return 0;
	flags_each(publish_flag);
	return properties_each(jni, publish_property);
}

static void publish_changed(JNIEnv *jni)
{
	(void)publish_new(jni); /* what it left out is lost since the beginning */
}

void settings_publish(JNIEnv *jni)
{
	uint32_t left_out;

	slots_free(&published);
	flags_open(vmstructs_library(agent.vm));
	left_out = publish_new(jni);
	if (left_out)
		publish_lost(BRAID_REC_SETTING, left_out);
}

const struct kind settings_kind = {.start = settings_start, .publish = publish_changed};
