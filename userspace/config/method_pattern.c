// SPDX-License-Identifier: Apache-2.0
#include "method_pattern.h"

#include "util/quantity.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "method="
#define DEFAULT_NS 1000000
#define TIME_MAX 3600000000000ULL

#define REFUSE(...) (snprintf(why, size, __VA_ARGS__), -EINVAL)

bool method_pattern_is(const char *list)
{
	return strncmp(list, PREFIX, strlen(PREFIX)) == 0;
}

/* CLASS.METHOD, of which neither is empty, and a descriptor. */
static int check(const char *text, size_t length, char *why, size_t size)
{
	size_t head = strcspn(text, "("), dot = 0;

	if (length >= BRAID_METHOD_TEXT)
		return REFUSE("'" PREFIX "%.80s...': a pattern has at most %d characters", text, BRAID_METHOD_TEXT - 1);
	if (head > length)
		head = length;
	for (size_t i = 0; i < head; i++)
		if (text[i] == '.')
			dot = i;
		else if (text[i] == '/')
			return REFUSE("'" PREFIX "%.*s': the name of a class has dots, as in com.example.Dao.find",
				      (int)length, text);
		else if (text[i] == ' ' || text[i] == ')')
			return REFUSE("'" PREFIX "%.*s' is not CLASS.METHOD or CLASS.METHOD(DESCRIPTOR)", (int)length,
				      text);
	if (!dot || dot + 1 == head)
		return REFUSE("'" PREFIX "%.*s' lacks the class or the method: com.example.Dao.find, com.example.Dao.*",
			      (int)length, text);
	if (memchr(text, '>', head) && text[dot + 1] != '<')
		return REFUSE("'" PREFIX "%.*s': a time such as 5ms follows '>'", (int)length, text);
	if (head < length && !memchr(text + head, ')', length - head) && !memchr(text + head, '*', length - head))
		return REFUSE("'" PREFIX "%.*s': a descriptor is written as in class files: (ILjava/lang/String;)V",
			      (int)length, text);
	return 0;
}

static int time_parse(const char *text, uint64_t *ns, char *why, size_t size)
{
	int err = duration_parse_unit(text, ns);

	if (err == -EDOM)
		return REFUSE("'>%.40s': a time needs its unit: >%.40sms or >%.40ss", text, text, text);
	if (err || *ns > TIME_MAX)
		return REFUSE("'>%.40s': a time such as 10us, 1ms or 2s is expected, at most an hour", text);
	return 0;
}

size_t method_pattern_count(const struct braid_event_config *c)
{
	size_t count = 0;

	while (count < BRAID_METHOD_PATTERNS && *c->methods[count].text)
		count++;
	return count;
}

int method_pattern_add(struct braid_event_config *c, const char *text, char *why, size_t size)
{
	const char *pattern = text + strlen(PREFIX), *more = strrchr(pattern, '>');
	size_t length;
	uint64_t ns = DEFAULT_NS;
	int err = 0, at = 0;

	if (more && !isdigit((unsigned char)more[1])) /* of <init> */
		more = NULL;
	length = more ? (size_t)(more - pattern) : strlen(pattern);
	if (more)
		err = time_parse(more + 1, &ns, why, size);
	err = err ?: check(pattern, length, why, size);
	if (err)
		return err;
	while (at < BRAID_METHOD_PATTERNS && *c->methods[at].text &&
	       (strncmp(c->methods[at].text, pattern, length) != 0 || c->methods[at].text[length]))
		at++;
	if (at == BRAID_METHOD_PATTERNS)
		return REFUSE("'" PREFIX "%.*s' is one too many: %d patterns can be given", (int)length, pattern,
			      BRAID_METHOD_PATTERNS);
	memset(&c->methods[at], 0, sizeof(c->methods[at]));
	memcpy(c->methods[at].text, pattern, length);
	c->methods[at].min_ns = ns;
	return 0;
}
