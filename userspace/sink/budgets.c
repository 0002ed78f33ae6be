// SPDX-License-Identifier: Apache-2.0
#include "budgets.h"

#include <braid/event.h>
#include <braid/trace.h>

#define MINUTE_NS 60000000000ULL

static const struct {
	const char *name;
	uint64_t most, minute;
	const char *what;
} budgets[BUDGET_COUNT] = {
#define X(id, name, most, minute, what) {name, most, minute, what},
	BUDGETS(X)
#undef X
};

static void refuse(struct account *a, struct sink *sink, enum budget b, uint64_t n)
{
	a->refused[b] += n;
	if (a->said >> b & 1)
		return;
	a->said |= 1U << b;
	if (budgets[b].minute)
		sink_notice(sink, a->process, BRAID_NOTICE_WARNING,
			    "the process asks for more %s than %llu, and %llu a minute: the others wait or are refused",
			    budgets[b].what, (unsigned long long)budgets[b].most,
			    (unsigned long long)budgets[b].minute);
	else
		sink_notice(sink, a->process, BRAID_NOTICE_WARNING,
			    "the process has more %s than %llu: the others are counted, and left out", budgets[b].what,
			    (unsigned long long)budgets[b].most);
}

bool account_take(struct account *a, struct sink *sink, enum budget b, uint64_t n)
{
	if ((uint64_t)a->used[b] + n > budgets[b].most) {
		refuse(a, sink, b, 1);
		return false;
	}
	a->used[b] += (int64_t)n;
	return true;
}

void account_give(struct account *a, enum budget b, uint64_t n)
{
	a->used[b] -= (int64_t)n;
}

static void pay_back(struct account *a, enum budget b)
{
	uint64_t now = now_ns(), passed = now - a->since_ns[b], back;

	/* What comes back within hours is more than any budget, and would not fit. */
	back = passed > MINUTE_NS * 60 ? budgets[b].minute * 60
				       : (uint64_t)((double)passed * budgets[b].minute / MINUTE_NS);
	if (!back && a->used[b])
		return; /* not to lose fractions */
	a->used[b] = back < (uint64_t)a->used[b] ? a->used[b] - (int64_t)back : 0;
	a->since_ns[b] = now;
}

bool account_has(struct account *a, struct sink *sink, enum budget b, uint64_t n)
{
	pay_back(a, b);
	if ((uint64_t)a->used[b] < budgets[b].most)
		return true;
	refuse(a, sink, b, n);
	return false;
}

void account_spend(struct account *a, enum budget b, uint64_t n)
{
	a->used[b] += (int64_t)n;
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
