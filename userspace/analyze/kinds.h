// SPDX-License-Identifier: Apache-2.0
/* What each kind of JVM event is called, what it weighs, and what its fields are. This list exists only here. */
#ifndef BRAID_ANALYZE_KINDS_H
#define BRAID_ANALYZE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include <braid/event_config.h>
#include <braid/jvm_event.h>

enum kind_unit { UNIT_COUNT, UNIT_NS, UNIT_BYTES };

/* Where an event's weight stands. */
enum kind_weight { WEIGHT_ONE, WEIGHT_DURATION, WEIGHT_VALUE, WEIGHT_ESTIMATE /* of the bytes allocated */ };

/* What a field is, for people and as a key; NULL: not used by the kind. */
struct kind_field {
	const char *title;
	enum kind_unit unit;
};

struct kind {
	const char *title; /* of its part of a report; its name is jvm_event_name() */
	enum braid_event_type type;
	enum kind_unit unit; /* of the weight */
	enum kind_weight weight;
	bool stack;   /* has one by nature */
	bool leaf;    /* in a flame graph its name lies on the stack */
	bool graph;   /* is worth a flame graph on the page */
	bool tables;  /* its sums are worth tables of their own */
	bool flagged; /* flags are shown */
	bool ages;    /* flags are collections survived */
	struct kind_field name_is, detail_is, value_is, weight_is, number_is, other_is, text_is;
};

/* NULL for a number without a meaning. */
const struct kind *kind_of(uint32_t kind);

/* The kind by jvm_event_name() or by the word that `record -e` has for it; 0: there is none. */
uint32_t kind_named(const char *name);

#endif
