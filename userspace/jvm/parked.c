// SPDX-License-Identifier: Apache-2.0
#include "parked.h"

#include "jvm_emit.h"
#include "sink/names.h"
#include "util/utf8.h"

#include <string.h>

/* An application's own class counts as a lock when its owner was seen. */
bool parked_is_lock(const char *class, bool owned)
{
	return jvm_class_is_lock(class) || owned;
}

static void class_of(const struct braid_event_jvm_event *e, char *class, size_t size)
{
	class_name_from_signature(class, size, e->text, strnlen(e->text, sizeof(e->text)));
}

uint32_t parked_class(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e)
{
	char class[sizeof(e->text) * 2];

	if (!(e->sleep & BRAID_SLEEP_LOCK))
		return 0;
	class_of(e, class, sizeof(class));
	return names_id(jvms->names, &process->account, trace_str_of(class));
}

bool parked_explain(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e,
		    struct trace_jvm_event *to)
{
	char class[sizeof(e->text) * 2];

	if (!(e->sleep & BRAID_SLEEP_LOCK))
		return false;
	class_of(e, class, sizeof(class));
	if (!(jvm_events_enabled(jvms, process) & BRAID_EVENT_TYPE(LOCK)) ||
	    !parked_is_lock(class, !e->other_pid && e->event.other_tid))
		return false;
	to->kind = BRAID_JVM_LOCK;
	to->flags = BRAID_LOCK_PARKED;
	to->value = to->weight = to->number = 0;
	to->name = names_id(jvms->names, &process->account, trace_str_of(class));
	return true;
}
