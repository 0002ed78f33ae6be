// SPDX-License-Identifier: Apache-2.0
#include "parked.h"

#include "jvm_emit.h"
#include "sink/names.h"
#include "util/utf8.h"

#include <stdio.h>
#include <string.h>

/* An application's own class counts as a lock when its owner was seen. */
bool parked_is_lock(const char *class, bool owned)
{
	return jvm_class_is_lock(class) || owned;
}

/*
 * Every Condition of the JDK is of this class, whose name is too long for the record. It is only shown if its lock
 * could not be read.
 */
#define CONDITION "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"
#define CLASS_MAX (2 * BRAID_TEXT_MAX)

static void class_of(const struct braid_event_jvm_event *e, char class[CLASS_MAX])
{
	size_t length = strnlen(e->text, sizeof(e->text));

	class_name_from_signature(class, CLASS_MAX, e->text, length);
	if (length + 1 >= sizeof(e->text) && !strncmp(class, CONDITION, strlen(class)))
		snprintf(class, CLASS_MAX, CONDITION);
}

uint32_t parked_class(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e)
{
	char class[CLASS_MAX], text[CLASS_MAX + sizeof(BRAID_CONDITION_OF)];

	if (!(e->sleep & BRAID_SLEEP_BLOCKER))
		return 0;
	class_of(e, class);
	snprintf(text, sizeof(text), "%s%s", e->sleep & BRAID_SLEEP_CONDITION ? BRAID_CONDITION_OF : "", class);
	return names_id(jvms->names, &process->account, trace_str_of(text));
}

bool parked_explain(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e,
		    struct trace_jvm_event *to)
{
	char class[CLASS_MAX];

	if (!(e->sleep & BRAID_SLEEP_BLOCKER) || e->sleep & BRAID_SLEEP_CONDITION)
		return false;
	class_of(e, class);
	if (!(jvm_events_enabled(jvms, process) & BRAID_EVENT_TYPE(LOCK)) ||
	    !parked_is_lock(class, (!e->other_pid && e->event.other_tid) || e->sleep & BRAID_SLEEP_VIRTUAL))
		return false;
	to->kind = BRAID_JVM_LOCK;
	to->flags = BRAID_LOCK_PARKED | (e->event.flags & BRAID_OFFCPU_OPEN ? BRAID_LOCK_OPEN : 0);
	to->value = to->weight = to->number = 0;
	to->name = names_id(jvms->names, &process->account, trace_str_of(class));
	return true;
}
