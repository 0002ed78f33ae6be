// SPDX-License-Identifier: Apache-2.0
/*
 * Patterns of fields whose writes are reported, as elements of a list of events: field=CLASS.FIELD[/WORDS/]. A word is
 * a value that is reported of each write (old, new), or the limit of reported writes a second (rate=100).
 */
#ifndef BRAID_CONFIG_FIELD_PATTERN_H
#define BRAID_CONFIG_FIELD_PATTERN_H

#include <braid/event_config.h>

#include <stdbool.h>
#include <stddef.h>

/* These are as those of method_pattern.h. */
bool field_pattern_is(const char *list);
size_t field_pattern_length(const char *list);
int field_pattern_add(struct braid_event_config *c, const char *text, char *why, size_t size);
size_t field_pattern_count(const struct braid_event_config *c);
/* Formats all of them, so that field_pattern_add() reads each. Returns what snprintf() returns. */
size_t field_patterns_text(const struct braid_event_config *c, char *to, size_t size);

#endif
