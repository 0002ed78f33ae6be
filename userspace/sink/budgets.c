// SPDX-License-Identifier: Apache-2.0
#include "budgets.h"

#include <braid/event.h>
#include <braid/trace.h>

#include <stdarg.h>
#include <stdio.h>

#define MINUTE_NS 60000000000ULL

static const struct {
	const char *name;
	uint64_t most, minute;
	enum pool pool;
	uint32_t takes; /* units of the pool that one takes */
	const char *what;
} budgets[BUDGET_COUNT] = {
#define X(id, ...) {__VA_ARGS__},
	BUDGETS(X)
#undef X
};

/* Of the pools that budgets take from. */
static const char *const pool_names[POOLS] = {
	"memory",
	"room for mappings",
	"slots for JVMs",
	"room for JVMs with probes",
	"JVMs with probes of their own",
	"libjvm.so files of users",
	"attempts to attach",
	"open perf maps",
	"frames to be named at the end",
	"messages",
};

/* Counts a refusal. True for the first of its budget. */
static bool refuse(struct account *a, enum budget b, uint64_t n)
{
	bool first = !(a->reported >> b & 1);

	a->refused[b] += n;
	a->reported |= 1U << b;
	return first;
}

static void say(struct account *a, struct sink *sink, enum budget b)
{
	if (b == BUDGET_NOTICES)
		sink_notice(sink, a->process, BRAID_NOTICE_WARNING,
			    "further messages about the same process are counted and left out");
	else if (budgets[b].minute)
		account_notice(
			a, sink, BRAID_NOTICE_WARNING,
			"the process exceeds the limit of %llu %s, and %llu a minute after that: the rest waits or is "
			"refused",
			(unsigned long long)budgets[b].most, budgets[b].what, (unsigned long long)budgets[b].minute);
	else
		account_notice(a, sink, BRAID_NOTICE_WARNING,
			       "the process exceeds the limit of %llu %s: the rest is counted and left out",
			       (unsigned long long)budgets[b].most, budgets[b].what);
}

/* Announced once for each user, who may have thousands of processes. */
static void say_shared(const struct account *a, struct sink *sink, enum budget b)
{
	if (a->share->reported >> b & 1)
		return;
	a->share->reported |= 1U << b;
	sink_notice(sink, a->process, BRAID_NOTICE_WARNING,
		    "the processes of user %u have used up their part of the recorder's %s: further %s are counted and "
		    "left out",
		    (unsigned int)a->share->user, pool_names[budgets[b].pool], budgets[b].what);
}

static void add(struct account *a, enum budget b, int64_t n)
{
	int64_t taken = n * (int64_t)budgets[b].takes;

	a->used[b] += n;
	if (!a->share || !taken)
		return;
	a->taken[budgets[b].pool] += (uint64_t)taken;
	share_add(a->share, budgets[b].pool, taken);
}

bool account_may_reserve(const struct account *a, enum budget b, uint64_t n)
{
	enum pool pool = budgets[b].pool;

	return (uint64_t)a->used[b] + n <= budgets[b].most &&
	       (!a->share || !budgets[b].takes || share_has(a->share, pool, a->taken[pool], n * budgets[b].takes));
}

bool account_reserve(struct account *a, struct sink *sink, enum budget b, uint64_t n)
{
	bool first;

	if (account_may_reserve(a, b, n)) {
		add(a, b, (int64_t)n);
		return true;
	}
	first = refuse(a, b, 1);
	if (first && (uint64_t)a->used[b] + n > budgets[b].most)
		say(a, sink, b);
	else if (first)
		say_shared(a, sink, b);
	return false;
}

void account_release(struct account *a, enum budget b, uint64_t n)
{
	add(a, b, -(int64_t)n);
}

void account_keep(struct account *a, enum budget b, uint64_t n)
{
	if (a->share)
		a->taken[budgets[b].pool] -= n * budgets[b].takes;
}

void account_close(struct account *a)
{
	for (int p = 0; a->share && p < POOLS; p++) {
		share_add(a->share, (enum pool)p, -(int64_t)a->taken[p]);
		a->taken[p] = 0;
	}
	a->share = NULL;
}

void account_move(struct account *a, struct share *to)
{
	for (int p = 0; p < POOLS; p++) {
		share_add(a->share, (enum pool)p, -(int64_t)a->taken[p]);
		share_add(to, (enum pool)p, (int64_t)a->taken[p]);
	}
	a->share = to;
}

static void pay_back(struct account *a, enum budget b)
{
	uint64_t now = now_ns(), passed = now - a->since_ns[b], back;

	/* The cap keeps the product in range: an hour's credit exceeds every budget. */
	back = passed > MINUTE_NS * 60 ? budgets[b].minute * 60
				       : (uint64_t)((double)passed * budgets[b].minute / MINUTE_NS);
	if (!back && a->used[b])
		return; /* leaves since_ns as it is, so that fractions add up */
	a->used[b] = back < (uint64_t)a->used[b] ? a->used[b] - (int64_t)back : 0;
	a->since_ns[b] = now;
}

bool account_has(struct account *a, struct sink *sink, enum budget b, uint64_t n)
{
	pay_back(a, b);
	if ((uint64_t)a->used[b] < budgets[b].most)
		return true;
	if (refuse(a, b, n))
		say(a, sink, b);
	return false;
}

void account_spend(struct account *a, enum budget b, uint64_t n)
{
	add(a, b, (int64_t)n);
}

void account_inherit(struct account *a, const struct account *from)
{
	for (int b = 0; b < BUDGET_COUNT; b++) {
		if (!budgets[b].minute)
			continue;
		a->used[b] = from->used[b];
		a->since_ns[b] = from->since_ns[b];
	}
}

void account_report(struct account *a, struct sink *sink)
{
	for (int b = 0; b < BUDGET_COUNT; b++) {
		if (a->refused[b])
			sink_loss(sink, a->process, "budget", budgets[b].name, a->refused[b]);
		a->refused[b] = 0;
	}
}

void account_notice(struct account *a, struct sink *sink, uint32_t severity, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (a && !account_reserve(a, sink, BUDGET_NOTICES, 1))
		return;
	if (a)
		account_keep(a, BUDGET_NOTICES, 1);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sink_notice(sink, a ? a->process : 0, severity, "%s", text);
}
