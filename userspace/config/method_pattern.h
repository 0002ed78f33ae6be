// SPDX-License-Identifier: Apache-2.0
/* Patterns of methods that are timed, as elements of a list of events: method=CLASS.METHOD[(DESCRIPTOR)][>TIME]. */
#ifndef BRAID_CONFIG_METHOD_PATTERN_H
#define BRAID_CONFIG_METHOD_PATTERN_H

#include <braid/event_config.h>

#include <stdbool.h>
#include <stddef.h>

/* Whether a list begins with one; it then ends at the first comma. */
bool method_pattern_is(const char *list);

/*
 * Adds one to a configuration, or changes its time if the same pattern is there. Returns 0, or -EINVAL and the reason,
 * which is cut to `size`.
 */
int method_pattern_add(struct braid_event_config *c, const char *text, char *why, size_t size);

/* How many a configuration has, which are its first ones. */
size_t method_pattern_count(const struct braid_event_config *c);

#endif
