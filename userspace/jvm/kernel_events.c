// SPDX-License-Identifier: Apache-2.0
#include "kernel_events.h"

#include "offcpu_names.h"
#include "config/kernel_event.h"
#include "process/processes.h"
#include "sink/names.h"
#include "util/quantity.h"
#include "util/syscalls.h"

#include <braid/hit.h>

#include <stdio.h>
#include <string.h>

static uint32_t name_of(struct jvms *jvms, struct process *process, const char *text)
{
	return names_id(jvms->names, &process->account, trace_str_of(text));
}

/* ---- system calls ---- */

#define LARGE 0x10000

/* "(3, 0x7f0012345678, 4096) = 4096"; an error as its negative number. */
static void call_text(const struct braid_event_kernel *e, unsigned arguments, char text[KERNEL_EVENT_TEXT])
{
	size_t used = (size_t)snprintf(text, KERNEL_EVENT_TEXT, "(");
	char number[NUMBER_TEXT];

	for (unsigned i = 0; i < arguments && i < 6; i++) {
		number_text(number, e->value[i], LARGE);
		used += (size_t)snprintf(text + used, KERNEL_EVENT_TEXT - used, "%s%s", i ? ", " : "", number);
	}
	number_text(number, e->value[BRAID_SYSCALL_RESULT], LARGE);
	snprintf(text + used, KERNEL_EVENT_TEXT - used, ") = %s", number);
}

static void explain_call(struct jvms *jvms, struct process *process, const struct braid_event_kernel *e,
			 struct trace_jvm_event *to, char text[KERNEL_EVENT_TEXT])
{
	unsigned arguments = 6;
	char number[32], bare[64];
	const char *name = syscall_name(e->value[BRAID_SYSCALL_CALL], &arguments);

	snprintf(number, sizeof(number), "syscall_%u", (unsigned)e->value[BRAID_SYSCALL_CALL]);
	to->detail = name_of(jvms, process, name ?: number);
	snprintf(bare, sizeof(bare), "[%s]", name ?: number); /* about no file */
	to->name = to->name ?: name_of(jvms, process, bare);
	call_text(e, arguments, text);
	to->text = trace_str_of(text);
}

static void explain_fault(struct jvms *jvms, struct process *process, const struct braid_event_kernel *e,
			  struct trace_jvm_event *to, char text[KERNEL_EVENT_TEXT])
{
	(void)text;
	to->detail = name_of(jvms, process, e->value[BRAID_FAULT_MAJOR] ? "major" : "minor");
}

static void explain_block(struct jvms *jvms, struct process *process, const struct braid_event_kernel *e,
			  struct trace_jvm_event *to, char text[KERNEL_EVENT_TEXT])
{
	const char *name = kernel_event_operation(e->value[BRAID_BLOCK_OPERATION]);

	snprintf(text, KERNEL_EVENT_TEXT, "operation_%u", (unsigned)e->value[BRAID_BLOCK_OPERATION]);
	to->detail = name_of(jvms, process, name ?: text);
}

static void explain_tcp(struct jvms *jvms, struct process *process, const struct braid_event_kernel *e,
			struct trace_jvm_event *to, char text[KERNEL_EVENT_TEXT])
{
	(void)text;
	to->detail = name_of(jvms, process,
			     e->value[BRAID_TCP_RETRANSMIT] ? "retransmit"
			     : e->jvm.event.flags	    ? "failed connect"
							    : "connect");
}

/* ---- all ---- */

static void (*const explain[BRAID_KERNEL_EVENTS])(struct jvms *jvms, struct process *process,
						  const struct braid_event_kernel *e, struct trace_jvm_event *to,
						  char text[KERNEL_EVENT_TEXT]) = {
	[BRAID_KERNEL_SYSCALL] = explain_call,
	[BRAID_KERNEL_FAULT] = explain_fault,
	[BRAID_KERNEL_BLOCK] = explain_block,
	[BRAID_KERNEL_TCP] = explain_tcp,
};

bool kernel_events_are(uint32_t kind)
{
	return kind >= BRAID_JVM_SYSCALL && kind < BRAID_JVM_SYSCALL + BRAID_KERNEL_EVENTS;
}

bool kernel_events_explain(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e,
			   struct trace_jvm_event *to, char text[KERNEL_EVENT_TEXT])
{
	if (e->hdr.size < sizeof(struct braid_event_kernel))
		return false;
	to->name = offcpu_object(jvms, process, e->sleep >> BRAID_SLEEP_OBJECT_SHIFT, e->text);
	explain[e->event.kind - BRAID_JVM_SYSCALL](jvms, process, (const struct braid_event_kernel *)e, to, text);
	return true;
}
