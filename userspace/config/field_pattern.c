// SPDX-License-Identifier: Apache-2.0
#include "field_pattern.h"

#include "method_pattern.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "field="

#define REFUSE(...) (snprintf(why, size, __VA_ARGS__), -EINVAL)

bool field_pattern_is(const char *list)
{
	return strncmp(list, PREFIX, strlen(PREFIX)) == 0;
}

size_t field_pattern_length(const char *list)
{
	size_t at = strcspn(list, "/,");

	if (list[at] == '/')
		at += 1 + strcspn(list + at + 1, "/");
	return at + strcspn(list + at, ",");
}

size_t field_pattern_count(const struct braid_event_config *c)
{
	size_t count = 0;

	while (count < BRAID_FIELD_PATTERNS && *c->fields[count].text)
		count++;
	return count;
}

/* CLASS.FIELD, of which neither is empty. */
static int check(const char *text, char *why, size_t size)
{
	const char *dot = strrchr(text, '.');

	if (strlen(text) >= BRAID_METHOD_TEXT)
		return REFUSE("'" PREFIX "%.80s...': a pattern has at most %d characters", text, BRAID_METHOD_TEXT - 1);
	if (text[strcspn(text, "()<>@# ")])
		return REFUSE("'" PREFIX "%s' is not CLASS.FIELD: com.example.Account.balance, with * and ?", text);
	if (!dot || dot == text || !dot[1])
		return REFUSE("'" PREFIX "%s' lacks the class or the field: com.example.Account.balance, *.balance",
			      text);
	return 0;
}

static bool is_value(const char *word)
{
	return strcmp(word, "old") == 0 || strcmp(word, "new") == 0;
}

static const struct pattern_words values = {.is_value = is_value, .examples = "old, new, rate=100"};

static int pattern_add(struct braid_event_config *c, const char *pattern, const char *words, char *why, size_t size)
{
	struct braid_method_pattern p = {.rate = PATTERN_RATE};
	size_t at = 0;
	int err = check(pattern, why, size);

	if (!err && words && (words[1] == '\0' || words[strlen(words) - 1] != '/'))
		return REFUSE("'" PREFIX "%.80s%.80s': values are between slashes: /old,new/", pattern, words);
	if (!err && words)
		err = pattern_words_parse(&p, &values, words, why, size);
	if (err)
		return err;
	while (at < BRAID_FIELD_PATTERNS && *c->fields[at].text &&
	       strncmp(c->fields[at].text, pattern, BRAID_METHOD_TEXT) != 0)
		at++;
	if (at == BRAID_FIELD_PATTERNS)
		return REFUSE("'" PREFIX "%s' is one too many: %d patterns can be given", pattern,
			      BRAID_FIELD_PATTERNS);
	if (!words && *c->fields[at].text) /* it is there, with its words */
		return 0;
	memcpy(p.text, pattern, strlen(pattern));
	c->fields[at] = p;
	return 0;
}

int field_pattern_add(struct braid_event_config *c, const char *text, char *why, size_t size)
{
	return pattern_add_split(pattern_add, c, text, strlen(PREFIX), strcspn(text, "/"), why, size);
}

size_t field_patterns_text(const struct braid_event_config *c, char *to, size_t size)
{
	size_t used = 0, count = field_pattern_count(c);

	for (size_t i = 0; i < count && used < size; i++) {
		used += (size_t)snprintf(to + used, size - used, "%sfield=%.*s", i ? "," : "", BRAID_METHOD_TEXT,
					 c->fields[i].text);
		if (used < size)
			used += method_pattern_words(&c->fields[i], to + used, size - used);
	}
	return used;
}
