// SPDX-License-Identifier: Apache-2.0
/* The fields of a JVM event, with the names and units of kinds.c. Exports and scripts write them. */
#ifndef BRAID_ANALYZE_EVENT_FIELDS_H
#define BRAID_ANALYZE_EVENT_FIELDS_H

#include "events.h"

enum field_form { FIELD_NUMBER, FIELD_NS, FIELD_BYTES, FIELD_HEX };

/* What takes the fields. Keys are those of scripts: "class", "duration_ns", "estimate_bytes". */
struct field_sink {
	void (*text)(void *ctx, const char *key, const char *value); /* never an empty one */
	void (*number)(void *ctx, const char *key, uint64_t value, enum field_form form);
};

/* How a number of this unit is written. */
enum field_form field_form_of(enum kind_unit unit);
/* What ends the name of such a number: "_ns". */
const char *field_suffix(enum kind_unit unit);

void event_fields(const struct analysis *an, const struct event *e, const struct field_sink *sink, void *ctx);

#endif
