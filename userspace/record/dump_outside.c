// SPDX-License-Identifier: Apache-2.0
#include "dump_outside.h"

#include "jvm/java_outside.h"
#include "jvm/jvm.h"
#include "process/processes.h"

#include "util/log.h"

#include <string.h>

static bool agent_says(const struct process *process)
{
	const struct braid_layout *l = process->jvm && jvm_had_agent(process->jvm) ? jvm_layout(process->jvm) : NULL;

	return l && l->objects.flags & BRAID_OBJECTS_THREADS;
}

void dump_outside_read(struct dump_outside *o, struct session *s, struct process *process)
{
	struct dump_outside_jvm found = {.process = process};
	int err;

	if (!process->libjvm_ns || agent_says(process))
		return;
	err = java_outside_read(&s->jvms, process, &found.layout);
	if (err)
		log_debug("the Java threads of process %d cannot be read: %s", process->pid, strerror(-err));
	found.known = !err;
	(void)VEC_PUSH(&o->jvms, found); /* without memory, nothing is known of it */
}

static const struct dump_outside_jvm *find(const struct dump_outside *o, const struct process *process)
{
	for (size_t i = 0; i < o->jvms.count; i++)
		if (o->jvms.at[i].process == process)
			return &o->jvms.at[i];
	return NULL;
}

const struct braid_layout *dump_outside_layout(const struct dump_outside *o, const struct process *process)
{
	const struct dump_outside_jvm *found = find(o, process);

	if (found)
		return found->known ? &found->layout : NULL;
	return process->jvm && agent_says(process) ? jvm_layout(process->jvm) : NULL;
}

bool dump_outside_missing(const struct dump_outside *o, const struct process *process)
{
	return process->libjvm_ns && !dump_outside_layout(o, process);
}
