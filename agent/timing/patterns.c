// SPDX-License-Identifier: Apache-2.0
#include "patterns.h"

bool class_may_be_timed(struct text class)
{
	static const char *const folders[] = {"java/lang/", "java/util/concurrent/atomic/", "jdk/internal/",
					      "sun/misc/"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (class.size >= strlen(folders[i]) && memcmp(class.at, folders[i], strlen(folders[i])) == 0)
			return false;
	return true;
}

/* A pattern has dots where names of class files have slashes. */
static bool same(char pattern, char c)
{
	return pattern == c || pattern == '?' || (pattern == '.' && c == '/');
}

/* `*` is any number of characters. Only the last one is ever tried again, so it takes at most size times size steps. */
static bool glob(struct text pattern, struct text s)
{
	size_t p = 0, i = 0, star = SIZE_MAX, tried = 0;

	while (i < s.size) {
		if (p < pattern.size && pattern.at[p] == '*') {
			star = p++;
			tried = i;
		} else if (p < pattern.size && same(pattern.at[p], s.at[i])) {
			p++;
			i++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			i = ++tried;
		} else {
			return false;
		}
	}
	while (p < pattern.size && pattern.at[p] == '*')
		p++;
	return p == pattern.size;
}

struct parts {
	struct text class, name, descriptor; /* descriptor: empty if there is none */
};

static struct parts split(const char *pattern)
{
	size_t size = strnlen(pattern, BRAID_METHOD_TEXT), head = 0, dot = 0;

	while (head < size && pattern[head] != '(')
		head++;
	for (size_t i = 0; i < head; i++)
		if (pattern[i] == '.')
			dot = i;
	return (struct parts){.class = {pattern, dot},
			      .name = {pattern + dot + 1, head > dot ? head - dot - 1 : 0},
			      .descriptor = {pattern + head, size - head}};
}

bool patterns_match_class(const struct braid_event_config *c, struct text class)
{
	if (!class_may_be_timed(class))
		return false;
	for (size_t i = 0; i < BRAID_METHOD_PATTERNS && *c->methods[i].text; i++)
		if (glob(split(c->methods[i].text).class, class))
			return true;
	return false;
}

bool patterns_match(const struct braid_event_config *c, struct text class, struct text name, struct text descriptor,
		    uint64_t *min_ns)
{
	for (size_t i = 0; i < BRAID_METHOD_PATTERNS && *c->methods[i].text; i++) {
		struct parts p = split(c->methods[i].text);

		if (name.size && name.at[0] == '<' && (!p.name.size || p.name.at[0] != '<'))
			continue;
		if (!glob(p.class, class) || !glob(p.name, name) ||
		    (p.descriptor.size && !glob(p.descriptor, descriptor)))
			continue;
		*min_ns = c->methods[i].min_ns;
		return true;
	}
	return false;
}
