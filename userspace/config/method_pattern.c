// SPDX-License-Identifier: Apache-2.0
#include "method_pattern.h"

#include "util/quantity.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "method="
#define DEFAULT_NS 1000000
#define RATE "rate="
#define ARGUMENT "arg"
#define ARGUMENT_MAX 255
#define THIS "this."
#define LENGTH ".length()"
#define TIME_MAX 3600000000000ULL
#define NESTING_MAX                                                                                                    \
	4 /* of groups in a regular expression: libc copies a group that is repeated, and those in it again */

#define REFUSE(...) (snprintf(why, size, __VA_ARGS__), -EINVAL)

bool method_pattern_is(const char *list)
{
	return strncmp(list, PREFIX, strlen(PREFIX)) == 0;
}

/* The length of a regular expression with its slashes; 0: it is none. */
static size_t regex_length(const char *pattern)
{
	size_t end = *pattern == '/' ? 1 + strcspn(pattern + 1, "/") : 0;

	return end + (pattern[end] == '/');
}

/* The length up to the words, or of all. Names of classes in a descriptor have slashes, too. */
static size_t head_length(const char *text)
{
	size_t regex = regex_length(text + strlen(PREFIX)), at, end;

	if (regex)
		return strlen(PREFIX) + regex + strcspn(text + strlen(PREFIX) + regex, "/,");
	at = strcspn(text, "(/,");

	if (text[at] != '(')
		return at;
	end = at + strcspn(text + at, "),");
	if (text[end] == ')') {
		end += 1 + strspn(text + end + 1, "[");
		end += text[end] == 'L' ? strcspn(text + end, ";,>") : 0;
	} else {
		end = at + strcspn(text + at, ">,");
	}
	return end + strcspn(text + end, "/,");
}

size_t method_pattern_length(const char *list)
{
	size_t at = head_length(list);

	if (list[at] == '/')
		at += 1 + strcspn(list + at + 1, "/");
	return at + strcspn(list + at, ",");
}

static int check_annotation(const char *text, size_t length, char *why, size_t size)
{
	for (size_t i = 1; i < length; i++)
		if (strchr("@ ()<>", text[i]))
			return REFUSE("'" PREFIX "%.*s' is not the name of an annotation", (int)length, text);
	if (length < 2)
		return REFUSE("'" PREFIX "@' lacks the annotation: @com.example.Timed, @*.GetMapping");
	return 0;
}

static int check_part(const char *part, size_t length, char *why, size_t size)
{
	char text[BRAID_METHOD_TEXT], said[128];
	regex_t compiled;
	int err;

	memcpy(text, part, length);
	text[length] = '\0';
	err = regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB);
	if (!err) {
		regfree(&compiled);
		return 0;
	}
	regerror(err, &compiled, said, sizeof(said));
	return REFUSE("'%s' is no regular expression: %s", text, said);
}

static bool is_repetition(char c)
{
	return c == '*' || c == '+' || c == '?';
}

/*
 * What libc takes linear time for, since it looks at every class of the JVM. For a repetition of a repetition it also
 * takes twice the memory.
 */
static int check_bounded(const char *text, size_t length, char *why, size_t size)
{
	unsigned depth = 0, deepest = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '{' || (text[i] == '\\' && isdigit((unsigned char)text[i + 1])))
			return REFUSE("'" PREFIX "%.*s': a regular expression here has no {} and no \\1", (int)length,
				      text);
		if (i + 1 < length && is_repetition(text[i]) && is_repetition(text[i + 1]))
			return REFUSE("'" PREFIX "%.*s': a regular expression here has no two of *, + and ? in a row",
				      (int)length, text);
		depth += text[i] == '(';
		depth -= depth && text[i] == ')';
		deepest = depth > deepest ? depth : deepest;
		i += text[i] == '\\' && i + 1 < length;
	}
	if (deepest > NESTING_MAX)
		return REFUSE("'" PREFIX "%.*s': groups are in one another at most %d deep", (int)length, text,
			      NESTING_MAX);
	return 0;
}

/* /CLASS#METHOD/ or /@ANNOTATION/ */
static int check_regex(const char *text, size_t length, char *why, size_t size)
{
	const char *hash = memchr(text, '#', length), *end = text + length - 1;
	int err;

	if (length < 2 || *end != '/')
		return REFUSE("'" PREFIX "%.*s' lacks the slash at the end of the regular expression", (int)length,
			      text);
	if (text[1] == '@' && end == text + 2)
		return REFUSE("'" PREFIX "/@/' lacks the annotation: /@(Get|Post)Mapping$/");
	err = check_bounded(text, length, why, size);
	if (err || text[1] == '@')
		return err ?: check_part(text + 2, length - 3, why, size);
	if (!hash || hash == text + 1 || hash + 1 == end || memchr(hash + 1, '#', (size_t)(end - hash - 1)))
		return REFUSE("'" PREFIX "%.*s' lacks the class or the method: /Dao$#^find/", (int)length, text);
	return check_part(text + 1, (size_t)(hash - text - 1), why, size)
		       ?: check_part(hash + 1, (size_t)(end - hash - 1), why, size);
}

size_t method_pattern_never_timed(const char *text, size_t length)
{
	static const char *const folders[] = BRAID_NEVER_TIMED;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		size_t at = 0, folder = strlen(folders[i]);

		while (at < folder && at < length &&
		       (text[at] == folders[i][at] || (text[at] == '.' && folders[i][at] == '/')))
			at++;
		if (at == folder)
			return folder;
	}
	return 0;
}

/* A pattern of nothing but classes that are never timed. */
static int check_timed(const char *text, size_t length, char *why, size_t size)
{
	size_t folder = method_pattern_never_timed(text, length);

	if (folder)
		return REFUSE("'" PREFIX "%.*s': classes of %.*s are never timed: what measures calls uses them",
			      (int)length, text, (int)folder - 1, text);
	return 0;
}

/* CLASS.METHOD, of which neither is empty, and a descriptor. */
static int check(const char *text, size_t length, char *why, size_t size)
{
	size_t head = strcspn(text, "("), dot = 0;

	if (length >= BRAID_METHOD_TEXT)
		return REFUSE("'" PREFIX "%.80s...': a pattern has at most %d characters", text, BRAID_METHOD_TEXT - 1);
	if (*text == '@')
		return check_annotation(text, length, why, size);
	if (*text == '/')
		return check_regex(text, length, why, size);
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
	return check_timed(text, length, why, size);
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

/* ---- words ---- */

static int rate_parse(const char *text, uint32_t *rate, char *why, size_t size)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || n > UINT32_MAX)
		return REFUSE("'" RATE "%.40s': a number of calls a second is expected, 0 for all", text);
	*rate = (uint32_t)n;
	return 0;
}

/* A Java identifier; all that is not ASCII may be a part of one. */
static bool is_name(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x80 && c != '_' && c != '$' && !isalpha(c) && !(i && isdigit(c)))
			return false;
	}
	return length;
}

static bool is_value(const char *text)
{
	size_t length = strlen(text), tail = strlen(LENGTH);
	char *end;

	if (length > tail && strcmp(text + length - tail, LENGTH) == 0)
		length -= tail;
	if (strncmp(text, THIS, strlen(THIS)) == 0)
		return is_name(text + strlen(THIS), length - strlen(THIS));
	if (strncmp(text, ARGUMENT, strlen(ARGUMENT)) != 0 || !isdigit((unsigned char)text[strlen(ARGUMENT)]))
		return false;
	return text[strlen(ARGUMENT)] != '0' && strtoul(text + strlen(ARGUMENT), &end, 10) <= ARGUMENT_MAX &&
	       end == text + length;
}

static const struct pattern_words values = {
	.is_value = is_value, .examples = "arg1, arg1.length(), this.field, this.field.length(), rate=100"};

static int word_add(struct braid_method_pattern *p, const struct pattern_words *of, const char *word, char *why,
		    size_t size)
{
	size_t used = strnlen(p->values, sizeof(p->values)), count = used > 0;

	if (strncmp(word, RATE, strlen(RATE)) == 0)
		return rate_parse(word + strlen(RATE), &p->rate, why, size);
	if (!of->is_value(word))
		return REFUSE("'/%.60s/' is none of %s", word, of->examples);
	for (size_t i = 0; i < used; i++)
		count += p->values[i] == ',';
	if (count == BRAID_METHOD_VALUES || used + 1 + strlen(word) >= sizeof(p->values))
		return REFUSE("'/%.60s/' is one too many: a call has at most %d values, of %d characters together",
			      word, BRAID_METHOD_VALUES, BRAID_METHOD_WORDS);
	if (used)
		p->values[used++] = ',';
	memcpy(p->values + used, word, strlen(word));
	return 0;
}

int pattern_words_parse(struct braid_method_pattern *p, const struct pattern_words *of, const char *text, char *why,
			size_t size)
{
	size_t length = strlen(text);
	char words[512], *rest, *word;
	int err = 0;

	if (length < 3 || memchr(text + 1, '/', length - 2) || length > sizeof(words))
		return REFUSE("'%.80s': values are between two slashes, at the end: /arg1,this.name/", text);
	memcpy(words, text + 1, length - 2);
	words[length - 2] = '\0';
	for (word = strtok_r(words, ",", &rest); word && !err; word = strtok_r(NULL, ",", &rest))
		err = word_add(p, of, word, why, size);
	return err;
}

size_t method_pattern_words(const struct braid_method_pattern *p, char *to, size_t size)
{
	size_t used = (size_t)snprintf(to, size, "%.*s", BRAID_METHOD_WORDS, p->values);

	if (p->rate != PATTERN_RATE && used < size)
		used += (size_t)snprintf(to + used, size - used, "%s" RATE "%u", used ? "," : "", p->rate);
	if (!used || used + 2 >= size)
		return 0;
	memmove(to + 1, to, used);
	*to = '/';
	memcpy(to + used + 1, "/", 2);
	return used + 2;
}

/* ---- patterns ---- */

/* Its place among those that there are, or the next free one. */
static int place_of(const struct braid_event_config *c, const char *pattern, size_t length)
{
	int at = 0;

	while (at < BRAID_METHOD_PATTERNS && *c->methods[at].text &&
	       (strncmp(c->methods[at].text, pattern, length) != 0 || c->methods[at].text[length]))
		at++;
	return at;
}

static int pattern_add(struct braid_event_config *c, const char *pattern, const char *words, char *why, size_t size)
{
	struct braid_method_pattern p = {.rate = PATTERN_RATE};
	const char *more = strrchr(pattern + regex_length(pattern), '>');
	uint64_t min_ns = DEFAULT_NS;
	size_t length;
	int err = 0, at;

	if (words && words[strlen(words) - 1] != '/')
		return REFUSE("'" PREFIX
			      "%.80s%.80s': the name of a class has dots, as in com.example.Dao.find, and values "
			      "are between slashes: /arg1,this.name/",
			      pattern, words);
	if (more && !isdigit((unsigned char)more[1])) /* of <init> */
		more = NULL;
	length = more ? (size_t)(more - pattern) : strlen(pattern);
	if (more)
		err = time_parse(more + 1, &min_ns, why, size);
	err = err ?: check(pattern, length, why, size);
	if (!err && words)
		err = pattern_words_parse(&p, &values, words, why, size);
	if (err)
		return err;
	at = place_of(c, pattern, length);
	if (at == BRAID_METHOD_PATTERNS)
		return REFUSE("'" PREFIX "%.*s' is one too many: %d patterns can be given", (int)length, pattern,
			      BRAID_METHOD_PATTERNS);
	p.min_ns = min_ns;
	memcpy(p.text, pattern, length);
	if (!words && *c->methods[at].text) { /* they stay */
		p.rate = c->methods[at].rate;
		memcpy(p.values, c->methods[at].values, sizeof(p.values));
	}
	c->methods[at] = p;
	return 0;
}

int pattern_add_split(pattern_add_fn *add, struct braid_event_config *c, const char *text, size_t from, size_t to,
		      char *why, size_t size)
{
	char *pattern = strndup(text + from, to - from);
	int err = -ENOMEM;

	if (pattern)
		err = add(c, pattern, text[to] ? text + to : NULL, why, size);
	else
		snprintf(why, size, "out of memory");
	free(pattern);
	return err;
}

int method_pattern_add(struct braid_event_config *c, const char *text, char *why, size_t size)
{
	return pattern_add_split(pattern_add, c, text, strlen(PREFIX), head_length(text), why, size);
}
