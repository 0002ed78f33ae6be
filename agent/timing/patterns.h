// SPDX-License-Identifier: Apache-2.0
/* Which methods are timed: the patterns of the event configuration, CLASS.METHOD or CLASS.METHOD(DESCRIPTOR). */
#ifndef BRAID_AGENT_PATTERNS_H
#define BRAID_AGENT_PATTERNS_H

#include "rewrite/rewrite.h"

#include <braid/event_config.h>

/* Class names are those of class files, with slashes. */

/* False for classes that are never rewritten: those that BraidMethods uses, and what the JVM runs on the way there. */
bool class_may_be_timed(struct text class);
bool patterns_match_class(const struct braid_event_config *c, struct text class);
/*
 * The first pattern that matches the method, negative: none does. Initialisers of classes and objects match only
 * patterns whose method begins with "<".
 */
int patterns_match(const struct braid_event_config *c, struct text class, struct text name, struct text descriptor);

/* The next of the values in `rest`, which may end before a zero. False: there is none. */
bool patterns_value(struct text *rest, struct text *one);
/* Adds the values that a pattern asks for to a choice. */
void patterns_values(const struct braid_method_pattern *p, struct rewrite_choice *choice);

#endif
