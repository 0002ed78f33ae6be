// SPDX-License-Identifier: Apache-2.0
#include "diagnose.h"

#include <errno.h>
#include <stdlib.h>

#include "check.h"

/* ---- order ---- */

static const struct finding *found_rule(const struct diagnosis *d, enum rule_id id)
{
	for (size_t i = 0; i < d->findings.count; i++)
		if (d->findings.at[i].rule == &diagnose_rules[id])
			return &d->findings.at[i];
	return NULL;
}

/* A consequence is never worse than its cause. Findings have the order of the table, in which causes come first. */
static void find_causes(struct diagnosis *d)
{
	for (size_t i = 0; i < d->findings.count; i++) {
		struct finding *f = &d->findings.at[i];
		const struct finding *cause = NULL;

		for (size_t k = 0; k < RULE_CAUSES && f->rule->of[k]; k++) {
			const struct finding *one = found_rule(d, f->rule->of[k]);

			if (one && (!cause || one->severity > cause->severity))
				cause = one;
		}
		if (!cause)
			continue;
		f->cause = cause->rule;
		if (f->severity >= cause->severity)
			f->severity = cause->severity > 1 ? cause->severity - 1 : 1;
	}
}

static int compare_findings(const void *x, const void *y)
{
	const struct finding *p = x, *q = y;

	if (p->severity != q->severity)
		return p->severity > q->severity ? -1 : 1;
	return p->rule < q->rule ? -1 : p->rule > q->rule;
}

enum finding_level finding_level(const struct finding *f)
{
	return f->severity >= 67 ? LEVEL_HIGH : f->severity >= 34 ? LEVEL_MEDIUM : LEVEL_LOW;
}

const char *finding_level_name(const struct finding *f)
{
	static const char *const names[] = {[LEVEL_LOW] = "low", [LEVEL_MEDIUM] = "medium", [LEVEL_HIGH] = "high"};

	return names[finding_level(f)];
}

/* ---- life ---- */

static int check_all(struct diagnosis *d, const struct views *v, const struct facts *facts)
{
	int err = 0;

	for (int id = RULE_NONE + 1; id < RULES && !err; id++) {
		struct check c = {.rule = &diagnose_rules[id], .v = v, .facts = facts, .to = d};

		if (!c.rule->is_recorded(&c)) {
			err = VEC_PUSH(&d->unchecked, c.rule);
			continue;
		}
		d->checked++;
		err = c.rule->look_at(&c) ?: c.err;
	}
	return err;
}

int diagnosis_new(struct diagnosis **out, const struct views *v, bool idle)
{
	struct diagnosis *d = calloc(1, sizeof(*d));
	struct facts *facts = NULL;
	int err = d ? facts_new(&facts, v, idle) : -ENOMEM;

	err = err ?: dumps_new(&d->dumps, v->an) ?: check_all(d, v, facts);
	if (!err) {
		find_causes(d);
		VEC_SORT(&d->findings, compare_findings);
	}
	facts_free(facts);
	if (err) {
		diagnosis_free(d);
		d = NULL;
	}
	*out = d;
	return err;
}

void diagnosis_free(struct diagnosis *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->findings.count; i++) {
		struct finding *f = &d->findings.at[i];

		for (size_t k = 0; k < f->evidence.count; k++)
			free(f->evidence.at[k]);
		free(f->evidence.at);
		free(f->sentence);
	}
	free(d->findings.at);
	free(d->unchecked.at);
	dumps_free(&d->dumps);
	free(d);
}
