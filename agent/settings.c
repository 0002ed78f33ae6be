// SPDX-License-Identifier: Apache-2.0
/* The JVM's settings: flags that differ from their defaults, and the system properties that it began with. The helper publishes
 * them once in each connection. */
#include "agent.h"

#include "core/publish.h"
#include "vm/flags.h"
#include "vm/vmstructs.h"

#define PROPERTIES_MAX 256	   /* the others are counted as lost */
#define COMMAND "sun.java.command" /* it is in the HELLO record */

static void publish(uint32_t origin, const char *name, const char *value)
{
	struct braid_rec_setting r = {.origin = origin};

	record_init(&r.hdr, BRAID_REC_SETTING, 0);
	r.name_len = string_cut(name, &r.hdr.flags);
	r.value_len = string_cut(value, &r.hdr.flags);
	publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(name, r.name_len), PART(value, r.value_len)}, 3);
}

static void publish_flag(const struct vm_flag *f)
{
	publish(f->origin, f->name, f->value);
}

static void publish_property(const char *name)
{
	char *value = NULL;

	if (strcmp(name, COMMAND) != 0 &&
	    (*agent.jvmti)->GetSystemProperty(agent.jvmti, name, &value) == JVMTI_ERROR_NONE)
		publish(BRAID_SETTING_PROPERTY, name, value);
	agent_release(value);
}

static void publish_properties(void)
{
	char **names = NULL;
	jint count = 0;

	if ((*agent.jvmti)->GetSystemProperties(agent.jvmti, &count, &names) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < count; i++) {
		if (i < PROPERTIES_MAX)
			publish_property(names[i]);
		agent_release(names[i]);
	}
	agent_release(names);
	if (count > PROPERTIES_MAX)
		publish_lost(BRAID_REC_SETTING, (uint32_t)count - PROPERTIES_MAX);
}

void settings_publish(void)
{
	flags_open(vmstructs_library(agent.vm));
	flags_each(publish_flag);
	publish_properties();
}
