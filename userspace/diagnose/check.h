// SPDX-License-Identifier: Apache-2.0
/* What the rules of this room share: what they look at, and how they say what they found. */
#ifndef BRAID_DIAGNOSE_CHECK_H
#define BRAID_DIAGNOSE_CHECK_H

#include <util/quantity.h>

#include "diagnose.h"
#include "facts.h"

#define SAMPLES_MIN 30 /* with fewer, shares of them are chance */

/* One rule at work. */
struct check {
	const struct rule *rule;
	const struct views *v;
	const struct facts *facts;
	struct finding *finding; /* NULL until found() */
	struct diagnosis *to;
	int err;
};

/* Whether the measure is a finding; then say() and evidence() follow. */
bool found(struct check *c, double measure);
/* The sentence, once, and pieces of evidence. */
__attribute__((format(printf, 2, 3))) void say(struct check *c, const char *format, ...);
__attribute__((format(printf, 2, 3))) void evidence(struct check *c, const char *format, ...);

/*
 * The rows of a table of sums that matter, each as a piece of evidence: "62 % in demo.Main.work:12". They are shares of
 * the events of which the table knows more than their number.
 */
void evidence_sums(struct check *c, enum braid_jvm_event_kind kind, enum event_by by, const char *in);
/* "in demo.Main.work", or "" for an unknown site. */
#define PLACE_TEXT 256
const char *place_text(char buf[PLACE_TEXT], const struct analysis *an, uint32_t site);

double per_second(const struct facts *f, uint64_t count);      /* of the recording */
double threads_on_average(const struct facts *f, uint64_t ns); /* at any time, on average, if all did so for `ns` */
const struct kind_view *kind_at(const struct check *c, enum braid_jvm_event_kind kind);

/* ---- what is recorded ---- */
bool has_samples(const struct check *c);
bool has_alloc(const struct check *c);
bool has_lock(const struct check *c);
bool has_gc(const struct check *c);
bool has_safepoint(const struct check *c);
bool has_thread(const struct check *c);
bool has_class(const struct check *c);
bool has_jit(const struct check *c);
bool has_exception(const struct check *c);
bool has_resource(const struct check *c);
bool has_offcpu(const struct check *c);

/* ---- rules_locks.c ---- */
bool has_deadlock(const struct check *c);
int rule_deadlock(struct check *c);
int rule_lock(struct check *c);
int rule_pool(struct check *c);
int rule_one_thread(struct check *c);
int rule_pinned(struct check *c);

/* ---- rules_memory.c ---- */
int rule_gc_explicit(struct check *c);
int rule_gc_locker(struct check *c);
int rule_gc_long(struct check *c);
int rule_gc_pressure(struct check *c);
int rule_leak(struct check *c);
int rule_exhausted(struct check *c);
int rule_references(struct check *c);

/* ---- rules_vm.c ---- */
int rule_code_cache(struct check *c);
int rule_interpreted(struct check *c);
int rule_deopt(struct check *c);
int rule_exceptions(struct check *c);
int rule_classes(struct check *c);
int rule_threads(struct check *c);
int rule_safepoint(struct check *c);

/* ---- rules_io.c ---- */
int rule_log(struct check *c);
int rule_sync(struct check *c);
int rule_disk(struct check *c);
int rule_dns(struct check *c);
int rule_faults(struct check *c);

/* ---- rules_cpu.c ---- */
bool has_host(const struct check *c);
bool has_throttling(const struct check *c);
int rule_throttled(struct check *c);
int rule_steal(struct check *c);
int rule_swap(struct check *c);
int rule_starved(struct check *c);
int rule_switches(struct check *c);
int rule_polling(struct check *c);
int rule_spin(struct check *c);
int rule_hot(struct check *c);

#endif
