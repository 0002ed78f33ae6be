// SPDX-License-Identifier: Apache-2.0
/*
 * The methods that have been timed in this JVM, and the fields that have been watched, in each method that writes one,
 * with their ids; and the classes that are rewritten. Ids are numbers for the life of the JVM: an old version of a
 * method may still run long after its class was put back. Any thread may call it.
 */
#ifndef BRAID_AGENT_TIMED_H
#define BRAID_AGENT_TIMED_H

#include "patterns.h"

#include <braid/event_config.h>

#define TIMED_MAX 131072U		  /* of both; ids are below it */
#define TIMED_NEVER ((uint64_t)INT64_MAX) /* a limit that no call reaches */

/*
 * Takes the patterns of a new configuration, from which all limits follow. True if another set of methods or
 * fields follows, too.
 */
bool timed_configure(const struct braid_event_config *c);
/* The patterns that are in effect. */
void timed_patterns(struct braid_event_config *to);

/*
 * The id of a method with the values that a pattern of the configuration asks for, by which it is timed. It is new or
 * not; negative: there are too many.
 */
int32_t timed_id(const struct braid_event_config *c, const struct subject *s, int pattern);
/* The same of a field that a method writes: "package.Class.method". */
int32_t timed_field_id(const struct braid_event_config *c, const struct rewrite_field *f, struct text writer,
		       int pattern);
/* The shortest call of the method that is reported; of a field: how many writes may be reported a second. */
uint64_t timed_limit(uint32_t id);
/* Whether one more of its calls, or writes, may be reported now; the rate is that of its pattern. */
bool timed_take(uint32_t id);
/* "package.Class.method", or field, and the method that writes it, cut to `size`. */
void timed_name(uint32_t id, char *to, size_t size);
void timed_writer(uint32_t id, char *to, size_t size);
/* The first character of its descriptor. */
char timed_type(uint32_t id);
/* The values that it passes on, as its pattern has them. */
void timed_values(uint32_t id, char to[BRAID_METHOD_WORDS + 1]);

enum class_state { CLASS_PLAIN, CLASS_REWRITTEN, CLASS_REFUSED /* by the JVM, once it was rewritten */ };

enum class_state timed_class(struct text class);
/* False: out of memory. A class that is not known as rewritten would not be put back. */
bool timed_class_set(struct text class, enum class_state state);
/* It is among the loaded ones. */
void timed_class_listed(struct text class);
/*
 * The number of classes that were rewritten from `since_ns` on and are not listed: the JVM has not loaded them yet, or
 * never will.
 */
uint32_t timed_classes_unlisted(uint64_t since_ns);
/* For the end: no class is rewritten, and those that were refused may be tried again. */
void timed_classes_forget(void);

#endif
