// SPDX-License-Identifier: Apache-2.0
#include "memory_growth.h"

#include "cli/common.h"
#include "memory_stacks.h"
#include "util/clock.h"
#include "util/compare.h"
#include "util/json.h"
#include "util/log.h"
#include "util/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct growth {
	const char *name;
	uint64_t before, after;
};

struct reading {
	struct resident resident;
	struct memory_sums sums;
	uint64_t time_ns;
};

struct watched {
	const struct memory_watch *asked;
	struct reading before, after;
	VEC(struct growth) owners; /* what has grown most first, what has shrunk most last */
};

static int64_t grown(const struct growth *g)
{
	return (int64_t)(g->after - g->before);
}

static int by_growth(const void *x, const void *y)
{
	int64_t a = grown(x), b = grown(y);

	return a != b ? (a < b) - (a > b) : strcmp(((const struct growth *)x)->name, ((const struct growth *)y)->name);
}

static int compare_owners(struct watched *w)
{
	const struct memory_sums *before = &w->before.sums, *after = &w->after.sums;

	for (size_t i = 0; i < after->all.count; i++) {
		const struct memory_sum *s = &after->all.at[i], *old = memory_sum_find(before, s->name);

		if (VEC_PUSH(&w->owners, (struct growth){s->name, old ? old->resident : 0, s->resident}))
			return -ENOMEM;
	}
	for (size_t i = 0; i < before->all.count; i++) {
		const struct memory_sum *s = &before->all.at[i];

		if (!memory_sum_find(after, s->name) && VEC_PUSH(&w->owners, (struct growth){s->name, s->resident, 0}))
			return -ENOMEM;
	}
	VEC_SORT(&w->owners, by_growth);
	return 0;
}

/* ---- text ---- */

#define SIGNED_TEXT (QUANTITY_TEXT + 1)

static const char *signed_text(char buf[SIGNED_TEXT], int64_t bytes)
{
	char size[QUANTITY_TEXT];

	snprintf(buf, SIGNED_TEXT, "%s%s", bytes < 0 ? "-" : "+",
		 size_text(size, bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes));
	return buf;
}

static void print_text(const struct watched *w, const struct memory_stacks *stacks)
{
	int64_t all = (int64_t)(w->after.resident.total - w->before.resident.total);
	char time[QUANTITY_TEXT], size[QUANTITY_TEXT], more[SIGNED_TEXT];

	printf("Resident set of process %d: %s in %s, to %s\n", (int)w->after.resident.pid, signed_text(more, all),
	       duration_text(time, w->after.time_ns - w->before.time_ns), size_text(size, w->after.resident.total));
	printf("  %12s  %7s  %11s  owner\n", "growth", "share", "resident");
	for (size_t i = 0; i < w->owners.count; i++) {
		const struct growth *g = &w->owners.at[i];

		if (!grown(g))
			continue;
		printf("  %12s  ", signed_text(more, grown(g)));
		if (all > 0)
			printf("%6.2f%%  ", 100.0 * (double)grown(g) / (double)all);
		else
			printf("%7s  ", "-");
		printf("%11s  %s\n", size_text(size, g->after), g->name);
	}
	if (stacks)
		memory_stacks_text(stacks);
}

/* ---- JSON ---- */

static void print_json(const struct watched *w, const struct memory_stacks *stacks)
{
	struct json j = {.out = stdout};

	json_open(&j, NULL, '{');
	json_number(&j, "pid", (uint64_t)w->after.resident.pid);
	json_seconds(&j, "watched_s", w->after.time_ns - w->before.time_ns);
	json_number(&j, "resident_before", w->before.resident.total);
	json_number(&j, "resident", w->after.resident.total);
	json_open(&j, "owners", '[');
	for (size_t i = 0; i < w->owners.count; i++) {
		const struct growth *g = &w->owners.at[i];

		json_open(&j, NULL, '{');
		json_string(&j, "owner", g->name);
		json_number(&j, "resident_before", g->before);
		json_number(&j, "resident", g->after);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	if (stacks)
		memory_stacks_json(stacks, &j);
	json_close(&j, '}');
	putchar('\n');
}

/* ---- the command ---- */

static bool read_one(struct watched *w, bool begins)
{
	char size[QUANTITY_TEXT], time[QUANTITY_TEXT];
	const struct memory_watch *m = w->asked;
	struct reading *to = begins ? &w->before : &w->after;

	to->time_ns = now_ns();
	if (!memory_read(&to->resident, &to->sums, m->pid, m->ask))
		return false;
	if (begins)
		fprintf(stderr, "braid: process %d has %s in memory; what grows is seen in %s, or after Ctrl-C\n",
			(int)m->pid, size_text(size, to->resident.total), duration_text(time, m->watch_ns));
	return true;
}

static const struct resident *read_recorded(void *ctx, bool begins)
{
	struct watched *w = ctx;

	return read_one(w, begins) ? begins ? &w->before.resident : &w->after.resident : NULL;
}

/* Until the time has passed, or one of the signals comes, which are blocked. */
static void wait_for(uint64_t ns, const sigset_t *signals)
{
	uint64_t until = now_ns() + ns, now;

	while ((now = now_ns()) < until) {
		struct timespec t = {.tv_sec = (time_t)((until - now) / 1000000000U),
				     .tv_nsec = (long)((until - now) % 1000000000U)};

		if (sigtimedwait(signals, NULL, &t) > 0)
			return;
	}
}

static void release(struct watched *w)
{
	struct reading *both[] = {&w->before, &w->after};

	for (size_t i = 0; i < 2; i++) {
		memory_sums_free(&both[i]->sums);
		resident_free(&both[i]->resident);
	}
	free(w->owners.at);
}

static bool watch(struct watched *w, struct memory_stacks *stacks)
{
	const struct memory_watch *m = w->asked;
	sigset_t signals;

	if (m->stacks)
		return memory_stacks_record(stacks, m->pid, m->watch_ns, m->attach);
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (!read_one(w, true))
		return false;
	wait_for(m->watch_ns, &signals);
	return read_one(w, false);
}

bool memory_growth_print(const struct memory_watch *m)
{
	struct watched w = {.asked = m};
	struct memory_stacks stacks = {.read = read_recorded, .ctx = &w};
	bool ok = watch(&w, &stacks);

	if (ok && compare_owners(&w)) {
		log_error("not enough memory");
		ok = false;
	}
	if (ok) {
		(m->as_json ? print_json : print_text)(&w, m->stacks ? &stacks : NULL);
		ok = common_output_close(stdout, NULL, 0);
	}
	release(&w);
	memory_stacks_free(&stacks);
	return ok;
}
