// SPDX-License-Identifier: Apache-2.0
/*
 * Which methods are timed, and which fields are watched: the patterns of the event configuration, CLASS.METHOD,
 * CLASS.METHOD(DESCRIPTOR), @ANNOTATION, and regular expressions (regex.h); CLASS.FIELD.
 */
#ifndef BRAID_AGENT_PATTERNS_H
#define BRAID_AGENT_PATTERNS_H

#include "rewrite/rewrite.h"

#include <braid/event_config.h>

/* Class names are those of class files, with slashes. */

/* False for classes that are never rewritten: those that BraidMethods uses, and what the JVM runs on the way there. */
bool class_may_be_timed(struct text class);
bool patterns_match_class(const struct braid_event_config *c, struct text class);
/* Whether a pattern means the class, and another name of it than an annotation's, but it is never rewritten. */
bool patterns_leave_out(const struct braid_event_config *c, struct text class);
/* Whether a text of such a class may be the name of a method that a pattern means. */
bool patterns_may_name(const struct braid_event_config *c, struct text class, struct text text);
/*
 * Patterns that begin with "@" are names of annotations, of the method or its class. Whether there are such ones, so
 * that each class has to be looked at, and whether one of them means a text of a class file, as the descriptor of a
 * type.
 */
bool patterns_have_annotations(const struct braid_event_config *c);
bool patterns_match_annotation(const struct braid_event_config *c, struct text descriptor);

struct subject {
	struct text class;
	struct rewrite_method method;
	uint64_t annotated; /* patterns_key() of a pattern that has matched its annotations; 0: none */
};

/* Initialisers of classes and objects match only patterns whose method begins with "<", and their own annotations. */
bool patterns_matches(const struct braid_method_pattern *p, const struct subject *s);
/* The first pattern that matches the method, negative: none does. */
int patterns_match(const struct braid_event_config *c, const struct subject *s);
bool patterns_matches_field(const struct braid_method_pattern *p, struct text class, struct text name);
/* The first pattern that matches the field, negative: none does. */
int patterns_match_field(const struct braid_event_config *c, struct text class, struct text name);
bool patterns_have_fields(const struct braid_event_config *c);
/* Distinguishes patterns; never 0. */
uint64_t patterns_hash(const struct braid_method_pattern *p);
/* The same for patterns of annotations; 0: it is another one. */
uint64_t patterns_key(const struct braid_method_pattern *p);

/* The next of the values in `rest`, which may end before a zero. False: there is none. */
bool patterns_value(struct text *rest, struct text *one);
/* Adds the values that a pattern asks for to a choice. */
void patterns_values(const struct braid_method_pattern *p, struct rewrite_choice *choice);
void patterns_write_values(const struct braid_method_pattern *p, struct rewrite_write *write);

#endif
