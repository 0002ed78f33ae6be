// SPDX-License-Identifier: Apache-2.0
/* Regular expressions in patterns of methods: /CLASS#METHOD/ and /@ANNOTATION/. Any thread may ask. */
#ifndef BRAID_AGENT_REGEX_H
#define BRAID_AGENT_REGEX_H

#include "rewrite/rewrite.h"

#include <braid/event_config.h>

/* Whether a pattern is one, and if it is, of annotations. */
bool regex_is(const struct braid_method_pattern *p);
bool regex_is_annotation(const struct braid_method_pattern *p);

/* Whether the part of the pattern for classes, or of annotations, matches a name, which is one of class files. */
bool regex_match_class(const struct braid_method_pattern *p, struct text name);
/* The same of the part for methods, and "name(descriptor)". */
bool regex_match_method(const struct braid_method_pattern *p, struct text name, struct text descriptor);
/* Whether the part for methods begins with "<", or "^<". */
bool regex_means_initialisers(const struct braid_method_pattern *p);

#endif
