// SPDX-License-Identifier: Apache-2.0
/*
 * The table of JVM event kinds: their names, weights and fields. Analyses, exports and options read it; this list
 * exists only here.
 */
#ifndef BRAID_ANALYZE_KINDS_H
#define BRAID_ANALYZE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include <braid/event_config.h>
#include <braid/jvm_event.h>

enum kind_unit { UNIT_COUNT, UNIT_NS, UNIT_BYTES };

/* Which field has an event's weight. */
enum kind_weight { WEIGHT_ONE, WEIGHT_DURATION, WEIGHT_VALUE, WEIGHT_ESTIMATE /* of the bytes allocated */ };

/* The meaning of a field, as a title and as a key; NULL: the kind does not use it. */
struct kind_field {
	const char *title;
	enum kind_unit unit;
};

struct kind {
	const char *title; /* of its section of a report; jvm_event_name() is its name */
	enum braid_event_type type;
	enum kind_unit unit; /* of the weight */
	enum kind_weight weight;
	bool stack;   /* its events normally have one */
	bool kernel;  /* they begin with the kernel's frames, which are no site */
	bool leaf;    /* a flame graph shows its name on top of the stack */
	bool graph;   /* the page has a flame graph for it */
	bool tables;  /* reports have tables for its sums */
	bool flagged; /* reports show its flags */
	bool ages;    /* the flags are collections survived */
	bool lasting; /* the duration is the time since an allocation */
	bool thrown;  /* it leaves Java frames, up to the method that its detail names */
	bool caller;  /* tables also have the calling function, and whole stacks */
	struct kind_field name_is, detail_is, value_is, weight_is, number_is, other_is, text_is;
};

/* NULL for an unknown number. */
const struct kind *kind_of(uint32_t kind);

/* The kind by jvm_event_name() or by its name in `record -e`; 0: unknown. */
uint32_t kind_named(const char *name);

#endif
