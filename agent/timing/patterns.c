// SPDX-License-Identifier: Apache-2.0
#include "patterns.h"

#include "core/slots.h"
#include "regex.h"

bool class_may_be_timed(struct text class)
{
	static const char *const folders[] = BRAID_NEVER_TIMED;

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

static bool is_annotation(const struct braid_method_pattern *p)
{
	return *p->text == '@' || regex_is_annotation(p);
}

uint64_t patterns_hash(const struct braid_method_pattern *p)
{
	uint64_t hash = HASH_BEGIN;

	for (size_t i = 0; i < BRAID_METHOD_TEXT && p->text[i]; i++)
		hash = (hash ^ (uint8_t)p->text[i]) * HASH_SPREAD;
	return hash ?: 1;
}

uint64_t patterns_key(const struct braid_method_pattern *p)
{
	return is_annotation(p) ? patterns_hash(p) : 0;
}

static bool class_matches(const struct braid_method_pattern *p, struct text class)
{
	return regex_is(p) ? regex_match_class(p, class) : glob(split(p->text).class, class);
}

static bool class_is_meant(const struct braid_event_config *c, struct text class)
{
	for (size_t i = 0; i < BRAID_METHOD_PATTERNS && *c->methods[i].text; i++)
		if (!is_annotation(&c->methods[i]) && class_matches(&c->methods[i], class))
			return true;
	return false;
}

bool patterns_match_class(const struct braid_event_config *c, struct text class)
{
	return class_may_be_timed(class) && class_is_meant(c, class);
}

bool patterns_leave_out(const struct braid_event_config *c, struct text class)
{
	return !class_may_be_timed(class) && class_is_meant(c, class);
}

/* ---- annotations ---- */

bool patterns_have_annotations(const struct braid_event_config *c)
{
	for (size_t i = 0; i < BRAID_METHOD_PATTERNS && *c->methods[i].text; i++)
		if (is_annotation(&c->methods[i]))
			return true;
	return false;
}

static bool is_type(const struct braid_method_pattern *p, struct text descriptor)
{
	if (descriptor.size < 3 || *descriptor.at != 'L' || descriptor.at[descriptor.size - 1] != ';')
		return false;
	descriptor = (struct text){descriptor.at + 1, descriptor.size - 2};
	if (regex_is(p))
		return regex_match_class(p, descriptor);
	return glob((struct text){p->text + 1, strnlen(p->text, BRAID_METHOD_TEXT) - 1}, descriptor);
}

bool patterns_match_annotation(const struct braid_event_config *c, struct text descriptor)
{
	for (size_t i = 0; i < BRAID_METHOD_PATTERNS && *c->methods[i].text; i++)
		if (is_annotation(&c->methods[i]) && is_type(&c->methods[i], descriptor))
			return true;
	return false;
}

static bool are_annotations(const struct braid_method_pattern *p, const struct rewrite_annotations *a)
{
	for (uint32_t i = 0; a && i < a->count; i++)
		if (is_type(p, a->at[i]))
			return true;
	return false;
}

/* ---- methods ---- */

static bool is_initialiser(struct text name)
{
	return name.size && *name.at == '<';
}

static bool annotation_matches(const struct braid_method_pattern *p, const struct subject *s)
{
	return s->annotated == patterns_key(p) || are_annotations(p, s->method.own) ||
	       (!is_initialiser(s->method.name) && are_annotations(p, s->method.of_class));
}

static bool means_initialisers(const struct braid_method_pattern *p)
{
	return regex_is(p) ? regex_means_initialisers(p) : is_initialiser(split(p->text).name);
}

static bool method_matches(const struct braid_method_pattern *p, const struct rewrite_method *m)
{
	struct parts parts;

	if (regex_is(p))
		return regex_match_method(p, m->name, m->descriptor);
	parts = split(p->text);
	return glob(parts.name, m->name) && (!parts.descriptor.size || glob(parts.descriptor, m->descriptor));
}

static bool name_matches(const struct braid_method_pattern *p, const struct subject *s)
{
	return (!is_initialiser(s->method.name) || means_initialisers(p)) && class_matches(p, s->class) &&
	       method_matches(p, &s->method);
}

bool patterns_matches(const struct braid_method_pattern *p, const struct subject *s)
{
	return is_annotation(p) ? annotation_matches(p, s) : name_matches(p, s);
}

int patterns_match(const struct braid_event_config *c, const struct subject *s)
{
	for (int i = 0; i < BRAID_METHOD_PATTERNS && *c->methods[i].text; i++)
		if (patterns_matches(&c->methods[i], s))
			return i;
	return -1;
}

bool patterns_may_name(const struct braid_event_config *c, struct text class, struct text text)
{
	const struct subject s = {.class = class, .method = {.name = text}};

	return patterns_match(c, &s) >= 0;
}

bool patterns_have_fields(const struct braid_event_config *c)
{
	return *c->fields[0].text;
}

bool patterns_matches_field(const struct braid_method_pattern *p, struct text class, struct text name)
{
	struct parts parts = split(p->text);

	return glob(parts.class, class) && glob(parts.name, name);
}

int patterns_match_field(const struct braid_event_config *c, struct text class, struct text name)
{
	for (int i = 0; i < BRAID_FIELD_PATTERNS && *c->fields[i].text; i++)
		if (patterns_matches_field(&c->fields[i], class, name))
			return i;
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

void patterns_write_values(const struct braid_method_pattern *p, struct rewrite_write *write)
{
	struct text rest = {p->values, strnlen(p->values, sizeof(p->values))}, one;

	while (patterns_value(&rest, &one)) {
		write->before |= text_equal(one, TEXT("old"));
		write->now |= text_equal(one, TEXT("new"));
	}
}
