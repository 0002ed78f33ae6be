// SPDX-License-Identifier: Apache-2.0
/*
 * The collector has refused what takes more than linear time or memory in libc (method_pattern.c), and checked the
 * syntax: an expression that does not compile here matches nothing. Compiled ones are kept as long as others do not
 * need the place.
 */
#include "regex.h"

#include <pthread.h>
#include <regex.h>
#include <string.h>

#define NAME_MAX 1024 /* longer names match nothing */

enum part { CLASS, METHOD, PARTS };

struct compiled {
	char text[BRAID_METHOD_TEXT]; /* of the pattern */
	bool good[PARTS];
	regex_t part[PARTS];
};

/* The lock is held while libc matches one name. */
static struct {
	pthread_mutex_t lock;
	struct compiled at[BRAID_METHOD_PATTERNS];
	unsigned next;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool regex_is(const struct braid_method_pattern *p)
{
	return *p->text == '/';
}

bool regex_is_annotation(const struct braid_method_pattern *p)
{
	return regex_is(p) && p->text[1] == '@';
}

/*
 * The expression of a part, without what is around it. That of annotations is the part for classes, and the only one.
 */
static struct text part_of(const struct braid_method_pattern *p, enum part part)
{
	bool annotation = regex_is_annotation(p);
	size_t size = strnlen(p->text, BRAID_METHOD_TEXT), begin = 1 + annotation, end = size - 1;
	const char *hash = annotation ? NULL : memchr(p->text, '#', size);

	if (size < begin + 2 || annotation != (hash == NULL))
		return (struct text){p->text, 0};
	if (hash && part == CLASS)
		end = (size_t)(hash - p->text);
	else if (hash)
		begin = (size_t)(hash - p->text) + 1;
	return (struct text){p->text + begin, end > begin ? end - begin : 0};
}

static bool compile(regex_t *to, struct text part)
{
	char text[BRAID_METHOD_TEXT + 1] = "";

	memcpy(text, part.at, part.size);
	return part.size && regcomp(to, text, REG_EXTENDED | REG_NOSUB) == 0;
}

static void drop(struct compiled *c)
{
	for (int i = 0; i < PARTS; i++)
		if (c->good[i])
			regfree(&c->part[i]);
	memset(c, 0, sizeof(*c));
}

static const struct compiled *compiled_of(const struct braid_method_pattern *p)
{
	struct compiled *c;

	for (int i = 0; i < BRAID_METHOD_PATTERNS; i++)
		if (strncmp(kept.at[i].text, p->text, BRAID_METHOD_TEXT) == 0)
			return &kept.at[i];
	c = &kept.at[kept.next++ % BRAID_METHOD_PATTERNS];
	drop(c);
	memcpy(c->text, p->text, BRAID_METHOD_TEXT);
	c->good[CLASS] = compile(&c->part[CLASS], part_of(p, CLASS));
	c->good[METHOD] = !regex_is_annotation(p) && compile(&c->part[METHOD], part_of(p, METHOD));
	return c;
}

static bool match(const struct braid_method_pattern *p, enum part part, const char *name)
{
	const struct compiled *c;
	bool is;

	pthread_mutex_lock(&kept.lock);
	c = compiled_of(p);
	is = c->good[part] && regexec(&c->part[part], name, 0, NULL, 0) == 0;
	pthread_mutex_unlock(&kept.lock);
	return is;
}

bool regex_match_class(const struct braid_method_pattern *p, struct text name)
{
	char text[NAME_MAX + 1];

	if (name.size > NAME_MAX)
		return false;
	for (size_t i = 0; i < name.size; i++)
		text[i] = name.at[i] == '/' ? '.' : name.at[i];
	text[name.size] = '\0';
	return match(p, CLASS, text);
}

bool regex_match_method(const struct braid_method_pattern *p, struct text name, struct text descriptor)
{
	char text[NAME_MAX + 1];

	if (name.size > NAME_MAX || descriptor.size > NAME_MAX - name.size)
		return false;
	memcpy(text, name.at, name.size);
	memcpy(text + name.size, descriptor.at, descriptor.size);
	text[name.size + descriptor.size] = '\0';
	return match(p, METHOD, text);
}

bool regex_means_initialisers(const struct braid_method_pattern *p)
{
	struct text part = part_of(p, METHOD);

	return part.size > 1 && part.at[part.at[0] == '^'] == '<';
}
