// SPDX-License-Identifier: Apache-2.0
#include "refusals.h"

#include "attach/attach.h"
#include "process/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

#define REFUSALS_MAX 256U /* listed in the summary; all are in the trace */

struct refusal {
	pid_t pid;
	char text[ATTACH_WHY_MAX + 64];
	struct refusal *next;
};

static bool remove_one(struct refusals *r, pid_t pid)
{
	struct refusal *one;

	LL_SEARCH_SCALAR(r->list, one, pid, pid);
	if (!one)
		return false;
	LL_DELETE(r->list, one);
	r->count--;
	free(one);
	return true;
}

/* Returns the trace's id of the process, or 0. */
static uint32_t refusal_keep(struct refusals *r, pid_t pid, const char *why)
{
	const struct process *p = processes_latest(r->processes, pid);
	struct refusal *one;

	remove_one(r, pid);
	one = r->count < REFUSALS_MAX ? calloc(1, sizeof(*one)) : NULL;
	if (one) {
		r->count++;
		one->pid = pid;
		snprintf(one->text, sizeof(one->text), "JVM %d (%s) has no agent: %s", pid, p ? p->comm : "ended", why);
		LL_APPEND(r->list, one);
	}
	return p ? p->id : 0;
}

void refusals_add(struct refusals *r, pid_t pid, const char *why)
{
	sink_notice(r->sink, refusal_keep(r, pid, why), BRAID_NOTICE_WARNING,
		    "cannot attach to the JVM in process %d: %s; it is recorded without its events and without its "
		    "inlined methods",
		    pid, why);
}

void refusals_add_delay(struct refusals *r, pid_t pid, const char *why)
{
	sink_notice(r->sink, refusal_keep(r, pid, why), BRAID_NOTICE_WARNING,
		    "the JVM in process %d has not loaded the agent yet: %s; until then, it is recorded without "
		    "its events and its inlined methods",
		    pid, why);
}

void refusals_forget(struct refusals *r, pid_t pid)
{
	const struct process *p = processes_latest(r->processes, pid);

	if (remove_one(r, pid))
		sink_notice(r->sink, p ? p->id : 0, BRAID_NOTICE_INFO, "the agent of process %d is connected", pid);
}

const char *refusals_of(const struct refusals *r, pid_t pid)
{
	const struct refusal *one;

	LL_FOREACH (r->list, one) {
		if (one->pid == pid)
			return one->text;
	}
	return NULL;
}

void refusals_each(const struct refusals *r, void (*fn)(const char *text))
{
	const struct refusal *one;

	LL_FOREACH (r->list, one) {
		fn(one->text);
	}
}

void refusals_free(struct refusals *r)
{
	while (r->list)
		remove_one(r, r->list->pid);
}
