// SPDX-License-Identifier: Apache-2.0
/* Annotations of classes and methods in a class file. For this folder only. */
#ifndef BRAID_AGENT_REWRITE_ANNOTATIONS_H
#define BRAID_AGENT_REWRITE_ANNOTATIONS_H

#include "rewrite.h"

/* Whether an attribute has annotations, by its name. */
bool annotations_are(struct text attribute);
/* Adds the types in the attribute's content, up to where it is malformed. */
void annotations_read(const struct pool *p, struct reader content, struct rewrite_annotations *to);

#endif
