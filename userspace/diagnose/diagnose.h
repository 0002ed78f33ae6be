// SPDX-License-Identifier: Apache-2.0
/*
 * What is wrong in a recording: rules look at the views of an analysis, and say what they found with its evidence. They
 * compute nothing that another analysis has. rules.c is the one table of all rules. The report and `braid diagnose`
 * print it.
 */
#ifndef BRAID_DIAGNOSE_DIAGNOSE_H
#define BRAID_DIAGNOSE_DIAGNOSE_H

#include <stdbool.h>
#include <stdint.h>

#include <dump/dumps.h>
#include <views/views.h>

/* Causes come before what they can cause: a rule's `of` refers to earlier ones only. */
enum rule_id {
	RULE_NONE,
	RULE_DEADLOCK,
	RULE_EXHAUSTED,
	RULE_THROTTLED,
	RULE_STEAL,
	RULE_SWAP,
	RULE_CODE_CACHE,
	RULE_GC_EXPLICIT,
	RULE_GC_LOCKER,
	RULE_LEAK,
	RULE_REFERENCES,
	RULE_GC_LONG,
	RULE_GC_PRESSURE,
	RULE_EXCEPTIONS,
	RULE_DEOPT,
	RULE_INTERPRETED,
	RULE_CLASSES,
	RULE_THREADS,
	RULE_SAFEPOINT,
	RULE_LOG,
	RULE_SYNC,
	RULE_DISK,
	RULE_DNS,
	RULE_FAULTS,
	RULE_PINNED,
	RULE_LOCK,
	RULE_POOL,
	RULE_ONE_THREAD,
	RULE_POLLING,
	RULE_SPIN,
	RULE_HOT,
	RULE_STARVED,
	RULE_SWITCHES,
	RULES,
};

struct check;

#define RULE_CAUSES 8

struct rule {
	const char *id;	     /* for people and programs; it never changes */
	const char *what;    /* what the measure is, with its unit */
	const char *because; /* why the threshold is what it is */
	const char *look;    /* the command to look closer; FILE is the trace */
	const char *needs;   /* options of `record` that record what it looks at; "": every recording has it */
	bool (*is_recorded)(const struct check *c);
	int (*look_at)(struct check *c); /* 0 or -ENOMEM */
	double threshold;		 /* from this measure on it is a finding */
	double worst;			 /* at this measure it is as bad as it gets */
	double weight;			 /* severity of the worst, up to 100: lower for what is often intended */
	enum rule_id of[RULE_CAUSES];	 /* if one of these is found, this is its consequence */
};

extern const struct rule diagnose_rules[RULES]; /* the first is empty */

struct finding {
	const struct rule *rule;
	double measure;
	unsigned severity;	  /* 1 to 100 */
	const struct rule *cause; /* NULL: none is known */
	char *sentence;
	VEC(char *) evidence;
};

struct diagnosis {
	VEC(struct finding) findings;	    /* the worst first */
	VEC(const struct rule *) unchecked; /* for want of what they need, in the order of the table */
	unsigned checked;
	struct dumps dumps; /* the thread dumps, which the report lists */
};

enum finding_level { LEVEL_LOW, LEVEL_MEDIUM, LEVEL_HIGH };

enum finding_level finding_level(const struct finding *f);
/* "high", "medium", "low". */
const char *finding_level_name(const struct finding *f);

/* 0 or -ENOMEM. `idle`: shares are of all the time of threads, also of that in which they were idle. */
int diagnosis_new(struct diagnosis **out, const struct views *v, bool idle);
void diagnosis_free(struct diagnosis *d);

#endif
