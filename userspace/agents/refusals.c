// SPDX-License-Identifier: Apache-2.0
#include "refusals.h"

#include "attach/attach.h"
#include "config/event_config.h"
#include "process/processes.h"
#include "util/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define MISSING_TEXT (EVENT_TYPES_TEXT + 64)

struct refusal {
	pid_t pid;
	char text[ATTACH_WHY_MAX + 64];
	struct share *share; /* of its user, which it takes part of; or NULL */
	struct refusal *next;
};

static bool remove_one(struct refusals *r, pid_t pid)
{
	struct refusal *one;

	LL_SEARCH_SCALAR(r->list, one, pid, pid);
	if (!one)
		return false;
	LL_DELETE(r->list, one);
	if (one->share)
		share_add(one->share, POOL_REFUSALS, -1);
	free(one);
	return true;
}

/* Keeps the reason for the summary, while the process's user has room there. */
static void keep(struct refusals *r, const struct process *p, const char *why)
{
	struct share *share = p->account.share;
	struct refusal *one = share && !share_has(share, POOL_REFUSALS, 0, 1) ? NULL : calloc(1, sizeof(*one));
	char text[sizeof(one->text)];

	if (!one)
		return;
	one->pid = p->pid;
	one->share = share;
	if (share)
		share_add(share, POOL_REFUSALS, 1);
	snprintf(text, sizeof(text), "JVM %d (%s) has no agent: %s", p->pid, p->comm, why);
	utf8_printable(one->text, sizeof(one->text), text, strlen(text));
	LL_APPEND(r->list, one);
}

/* Replaces the reason. Returns the account of the process; NULL: it is not known any more. */
static struct account *replace(struct refusals *r, pid_t pid, const char *why)
{
	struct process *p = processes_latest(r->processes, pid);

	remove_one(r, pid);
	if (p)
		keep(r, p, why);
	return p ? &p->account : NULL;
}

/* What is missing without the agent: "alloc and lock, and without its inlined methods". */
static const char *missing(const struct refusals *r, char *to, size_t size)
{
	uint32_t types = r->config->enabled & BRAID_EVENT_TYPES_AGENT;
	char text[EVENT_TYPES_TEXT];

	snprintf(to, size, "%s%sits inlined methods", types ? event_types_text(types, text, sizeof(text)) : "",
		 types ? ", and without " : "");
	return to;
}

/* Nobody can do anything about a JVM that has ended too early. */
static bool is_ended(struct refusals *r, pid_t pid, const char *why)
{
	struct process *p = processes_latest(r->processes, pid);
	char text[MISSING_TEXT];

	if (!p || process_is_there(p))
		return false;
	remove_one(r, pid);
	account_notice(&p->account, r->sink, BRAID_NOTICE_INFO,
		       "the JVM in process %d ended before it had the agent (%s); it is recorded without %s", pid, why,
		       missing(r, text, sizeof(text)));
	return true;
}

void refusals_add(struct refusals *r, pid_t pid, const char *why)
{
	char text[MISSING_TEXT];

	if (is_ended(r, pid, why))
		return;
	account_notice(replace(r, pid, why), r->sink, BRAID_NOTICE_WARNING,
		       "cannot attach to the JVM in process %d: %s; it is recorded without %s", pid, why,
		       missing(r, text, sizeof(text)));
}

void refusals_add_delay(struct refusals *r, pid_t pid, const char *why)
{
	char text[MISSING_TEXT];

	if (is_ended(r, pid, why))
		return;
	account_notice(replace(r, pid, why), r->sink, BRAID_NOTICE_WARNING,
		       "the JVM in process %d has not loaded the agent yet: %s; until then, it is recorded without %s",
		       pid, why, missing(r, text, sizeof(text)));
}

void refusals_forget(struct refusals *r, pid_t pid)
{
	struct process *p = processes_latest(r->processes, pid);

	if (remove_one(r, pid) && p)
		account_notice(&p->account, r->sink, BRAID_NOTICE_INFO, "the agent of process %d is connected", pid);
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
