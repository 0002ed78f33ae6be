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

int patterns_match(const struct braid_event_config *c, struct text class, struct text name, struct text descriptor)
{
	for (int i = 0; i < BRAID_METHOD_PATTERNS && *c->methods[i].text; i++) {
		struct parts p = split(c->methods[i].text);

		if (name.size && name.at[0] == '<' && (!p.name.size || p.name.at[0] != '<'))
			continue;
		if (!glob(p.class, class) || !glob(p.name, name) ||
		    (p.descriptor.size && !glob(p.descriptor, descriptor)))
			continue;
		return i;
	}
	return -1;
}

/* ---- values ---- */

static size_t until(struct text t, char c)
{
	const char *at = t.size ? memchr(t.at, c, t.size) : NULL;

	return at ? (size_t)(at - t.at) : t.size;
}

bool patterns_value(struct text *rest, struct text *one)
{
	*one = (struct text){rest->at, until(*rest, ',')};
	*rest = (struct text){rest->at + one->size, rest->size - one->size};
	if (rest->size)
		*rest = (struct text){rest->at + 1, rest->size - 1};
	return one->size;
}

/* "arg1", "this.name", "arg2.length()": the collector has checked it. */
static struct rewrite_value value_of(struct text one)
{
	const struct text length = TEXT(".length()"), this = TEXT("this."), argument = TEXT("arg");
	struct rewrite_value v = {0};

	if (one.size > length.size && text_equal((struct text){one.at + one.size - length.size, length.size}, length)) {
		v.length = true;
		one.size -= length.size;
	}
	if (one.size > this.size && memcmp(one.at, this.at, this.size) == 0)
		v.field = (struct text){one.at + this.size, one.size - this.size};
	else
		for (size_t i = argument.size; i < one.size && v.argument <= UINT8_MAX; i++)
			v.argument = v.argument * 10 + (uint32_t)(one.at[i] - '0');
	return v;
}

void patterns_values(const struct braid_method_pattern *p, struct rewrite_choice *choice)
{
	struct text rest = {p->values, strnlen(p->values, sizeof(p->values))}, one;

	while (choice->count < REWRITE_VALUES && patterns_value(&rest, &one))
		choice->values[choice->count++] = value_of(one);
}
