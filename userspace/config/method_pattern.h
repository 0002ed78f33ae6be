// SPDX-License-Identifier: Apache-2.0
/*
 * Patterns of methods that are timed, as elements of a list of events:
 * method=CLASS.METHOD[(DESCRIPTOR)][>TIME][/WORDS/], or with @ANNOTATION, /CLASS#METHOD/ or /@ANNOTATION/ in place of
 * CLASS.METHOD; the last two are regular expressions. A word is a value that is reported of each call (arg1,
 * arg2.length(), this.name), or the limit of reported calls a second (rate=100).
 */
#ifndef BRAID_CONFIG_METHOD_PATTERN_H
#define BRAID_CONFIG_METHOD_PATTERN_H

#include <braid/event_config.h>

#include <stdbool.h>
#include <stddef.h>

/* Whether a list begins with one, and its length then: up to a comma that is not between words. */
bool method_pattern_is(const char *list);
size_t method_pattern_length(const char *list);

/*
 * Adds one to a configuration, or changes its time and words if the same pattern is there. Returns 0, or -EINVAL and
 * the reason, which is cut to `size`.
 */
int method_pattern_add(struct braid_event_config *c, const char *text, char *why, size_t size);

/* Adds a pattern; `words`: with their first slash, or NULL. Returns as method_pattern_add() does. */
typedef int pattern_add_fn(struct braid_event_config *c, const char *pattern, const char *words, char *why,
			   size_t size);

/* Splits `text` into the pattern, text[from] to text[to - 1], and the words behind it, and adds them. */
int pattern_add_split(pattern_add_fn *add, struct braid_event_config *c, const char *text, size_t from, size_t to,
		      char *why, size_t size);

/* How much of a pattern's text names a package whose classes are never timed; 0: it names none. */
size_t method_pattern_never_timed(const char *text, size_t length);

/* How many a configuration has, which are its first ones. */
size_t method_pattern_count(const struct braid_event_config *c);

/* The words of a kind of patterns. */
struct pattern_words {
	bool (*is_value)(const char *word);
	const char *examples;
};

#define PATTERN_RATE 1000 /* unless a word says another one */

/* Takes "/arg1,rate=10/" into a pattern. Returns as method_pattern_add() does. */
int pattern_words_parse(struct braid_method_pattern *p, const struct pattern_words *of, const char *text, char *why,
			size_t size);

/* Formats the words of a pattern, with their slashes, so that method_pattern_add() reads them; "" for the default. */
size_t method_pattern_words(const struct braid_method_pattern *p, char *to, size_t size);

#endif
