// SPDX-License-Identifier: Apache-2.0
#include "probe_spec.h"

#include "kernel_event.h"
#include "util/quantity.h"

#include <braid/jvm_event.h>

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSE(...) (snprintf(why, PROBE_WHY, __VA_ARGS__), -EINVAL)

/* HotSpot's providers, whose probes need no path. */
static const char *const jvm_providers[] = {"hotspot", "hotspot_jni", "hs_private"};

/* The forms whose path may contain slashes and commas. */
static const struct form {
	const char *prefix;
	enum probe_type type;
	bool offered;
} forms[] = {
	{"uprobe:", PROBE_UPROBE, true},  {"usdt:", PROBE_USDT, true},	       {"uretprobe:", PROBE_URETPROBE, true},
	{"kprobe:", PROBE_UPROBE, false}, {"kretprobe:", PROBE_UPROBE, false}, {"malloc:", PROBE_MALLOC, true},
};

static const struct form *form_of(const char *text)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strncmp(text, forms[i].prefix, strlen(forms[i].prefix)) == 0)
			return &forms[i];
	return NULL;
}

/* ---- where a spec ends ---- */

/* Behind the filter that begins here, or the text's end when it does not end. */
static const char *filter_end(const char *at)
{
	bool quoted = false;

	for (at++; *at; at++) {
		quoted ^= *at == '"';
		if (*at == '/' && !quoted)
			return at + 1;
	}
	return at;
}

size_t probe_spec_length(const char *list)
{
	const struct form *form = form_of(list);
	const char *at = list + (form ? strlen(form->prefix) : 0);

	if (form)
		at += strcspn(at, ":");
	while (*at && *at != ',') {
		if (*at == '/')
			at = filter_end(at);
		else
			at += *at == '{' ? strcspn(at, "}") : 1;
	}
	return (size_t)(at - list);
}

bool probe_spec_is(const char *text, size_t length)
{
	size_t name = strcspn(text, ":");

	/* a word with a filter has its colon in that */
	return kernel_event_is(text, length) ||
	       (name < length && (name < strcspn(text, "/") || !isalpha((unsigned char)*text)));
}

/* ---- filters ---- */

/* Two characters come before their first one alone. */
static const struct {
	const char *text;
	enum braid_hit_operator operator;
} operators[] = {
	{"==", BRAID_HIT_EQUAL},	 {"!=", BRAID_HIT_UNEQUAL}, {"<=", BRAID_HIT_LESS_EQUAL},
	{">=", BRAID_HIT_GREATER_EQUAL}, {"<", BRAID_HIT_LESS},	    {">", BRAID_HIT_GREATER},
	{"&", BRAID_HIT_BITS},		 {"~", BRAID_HIT_MATCH},
};

static const struct {
	const char *field;
	enum braid_hit_operand operand;
} fields[] = {{"comm", BRAID_HIT_COMM}, {"pid", BRAID_HIT_PID}, {"tid", BRAID_HIT_TID}, {"cpu", BRAID_HIT_CPU}},
  offcpu_fields[] = {{"duration", BRAID_HIT_DURATION}, {"state", BRAID_HIT_STATE}, {"cgroup", BRAID_HIT_CGROUP}};

/* As reports name them. */
static const char *const states[BRAID_OFFCPU_CLASSES] = {
	[BRAID_OFFCPU_UNKNOWN] = "blocked", [BRAID_OFFCPU_RUNNABLE] = "runnable",   [BRAID_OFFCPU_FUTEX] = "futex",
	[BRAID_OFFCPU_SLEEP] = "sleeping",  [BRAID_OFFCPU_POLL] = "poll",	    [BRAID_OFFCPU_SOCKET] = "socket",
	[BRAID_OFFCPU_PIPE] = "pipe",	    [BRAID_OFFCPU_FILE] = "file",	    [BRAID_OFFCPU_BLOCK] = "block",
	[BRAID_OFFCPU_FAULT] = "fault",	    [BRAID_OFFCPU_STOPPED] = "stopped",	    [BRAID_OFFCPU_CHILD] = "child",
	[BRAID_OFFCPU_CALL] = "call",	    [BRAID_OFFCPU_UNMOUNTED] = "unmounted", [BRAID_OFFCPU_CARRIER] = "carrier"};

static void skip_space(const char **at)
{
	while (isspace((unsigned char)**at))
		(*at)++;
}

static bool take(const char **at, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*at, word, length) != 0)
		return false;
	*at += length;
	return true;
}

static size_t word_length(const char *at, const char *more)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || (at[n] && strchr(more, at[n])))
		n++;
	return n;
}

/* A field that the programs know by itself; false: there is none of this name. */
static bool known_field(struct probe_term *t, enum probe_type type)
{
	t->term.size = sizeof(uint64_t);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strcmp(t->field, fields[i].field) == 0) {
			t->term.operand = fields[i].operand;
			return true;
		}
	for (size_t i = 0; type == PROBE_OFFCPU && i < sizeof(offcpu_fields) / sizeof(offcpu_fields[0]); i++)
		if (strcmp(t->field, offcpu_fields[i].field) == 0) {
			t->term.operand = offcpu_fields[i].operand;
			return true;
		}
	t->term.size = 0;
	return false;
}

/* What a return has. */
static bool is_return_value(const char *field, struct braid_hit_term *t)
{
	bool elapsed = strcmp(field, "elapsed") == 0;

	if (!elapsed && strcmp(field, "retval") != 0)
		return false;
	t->operand = BRAID_HIT_ARGUMENT;
	t->offset = elapsed ? BRAID_RETURN_ELAPSED : BRAID_RETURN_VALUE;
	t->size = sizeof(uint64_t);
	t->flags |= elapsed ? BRAID_HIT_TIME : BRAID_HIT_SIGNED;
	return true;
}

/* "arg0" and so on, of a function or USDT probe. */
static bool is_argument(enum probe_type type, const char *field, struct braid_hit_term *t)
{
	if (type == PROBE_URETPROBE)
		return is_return_value(field, t);
	if (strncmp(field, "arg", 3) != 0 || field[3] < '0' || field[3] >= '0' + BRAID_HIT_ARGUMENTS || field[4])
		return false;
	t->operand = BRAID_HIT_ARGUMENT;
	t->offset = (uint16_t)(field[3] - '0');
	t->size = sizeof(uint64_t);
	t->flags |= BRAID_HIT_SIGNED;
	return true;
}

static int take_field(const char **at, struct probe_term *t, const struct probe_spec *spec, char *why)
{
	bool record = spec->type == PROBE_TRACEPOINT;
	size_t length = word_length(*at, "_.");

	if (!length || length >= sizeof(t->field))
		return REFUSE("a filter's term begins with a field, not with '%.40s'; for example pid==4711", *at);
	t->own = strncmp(*at, "args.", 5) == 0 && length > 5;
	memcpy(t->field, *at + (t->own ? 5 : 0), length - (t->own ? 5 : 0));
	*at += length;
	if (t->own && record)
		return 0;
	if (known_field(t, spec->type))
		return 0;
	if (record) {
		t->own = true;
		return 0;
	}
	if (spec->type == PROBE_KERNEL)
		return kernel_event_field(spec, t, why);
	if (spec->type == PROBE_OFFCPU)
		return REFUSE("'%.40s' is no field of offcpu; use comm, pid, tid, cpu, duration, state or cgroup",
			      t->field);
	if (is_argument(spec->type, t->field, &t->term))
		return 0;
	if (spec->type == PROBE_URETPROBE)
		return REFUSE("'%.40s' is no field of a return; use comm, pid, tid, cpu, retval or elapsed", t->field);
	return REFUSE("'%.40s' is no field of a function or USDT probe; use comm, pid, tid, cpu, or arg0 to arg%d",
		      t->field, BRAID_HIT_ARGUMENTS - 1);
}

static int take_operator(const char **at, struct probe_term *t, char *why)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (!(operators[i].operator== BRAID_HIT_BITS && strncmp(*at, "&&", 2) == 0) &&
		    take(at, operators[i].text)) {
			t->term.operator=(uint8_t) operators[i].operator;
			return 0;
		}
	return REFUSE("after '%.40s' comes ==, !=, <, <=, >, >=, & or ~, not '%.20s'", t->field, *at);
}

/* A time becomes its nanoseconds. */
static int take_duration(struct probe_term *t, char *why)
{
	uint64_t ns = 0;
	int err = duration_parse_unit(t->term.pattern, &ns);

	if (err == -EDOM)
		return REFUSE("'%.40s' is a time, which needs its unit: %.30sms or %.30ss", t->field, t->term.pattern,
			      t->term.pattern);
	if (err)
		return REFUSE("'%.40s' is compared with a time, such as 100us or 1s, not with '%.31s'", t->field,
			      t->term.pattern);
	t->term.value = ns;
	t->number = true;
	return 0;
}

/* Names of states become the set of those that are meant: a bit for each, of which one is the interval's. */
static int take_states(struct probe_term *t, char *why)
{
	bool unequal = t->term.operator== BRAID_HIT_UNEQUAL, pattern = t->term.operator== BRAID_HIT_MATCH;
	uint64_t set = 0;

	if (!unequal && !pattern && t->term.operator!= BRAID_HIT_EQUAL)
		return REFUSE("'state' is text, which is compared by ==, != or ~");
	for (uint32_t i = 0; i < BRAID_OFFCPU_CLASSES; i++)
		if (pattern ? !fnmatch(t->term.pattern, states[i], 0) : !strcmp(t->term.pattern, states[i]))
			set |= 1ULL << i;
	if (!set)
		return REFUSE(
			"'%.31s' is no state; use runnable, futex, sleeping, poll, socket, pipe, file, block, fault, "
			"stopped, child, call or blocked",
			t->term.pattern);
	t->term.value = unequal ? ~set : set;
	t->term.operator= BRAID_HIT_BITS;
	t->number = true;
	return 0;
}

/* A number in C's notation, or text in quotes or without. */
static int take_value(const char **at, const struct probe_spec *spec, struct probe_term *t, char *why)
{
	bool quoted = take(at, "\""), cgroup = t->term.operand == BRAID_HIT_CGROUP && !t->own;
	size_t length = quoted ? strcspn(*at, "\"") : word_length(*at, "_-.*?");
	char *end;

	if (quoted && !(*at)[length])
		return REFUSE("the quotes around '%.40s' are not closed", *at);
	if (!quoted && !length)
		return REFUSE("'%.40s' is compared with nothing; use a number, or text in quotes", t->field);
	t->text_at = (uint16_t)(*at - spec->text);
	t->text_length = (uint16_t)length;
	if (cgroup) {
		*at += length + quoted;
		return 0;
	}
	if (length >= sizeof(t->term.pattern))
		return REFUSE("'%.40s' is too long for a filter: %d characters are the limit", *at,
			      BRAID_HIT_PATTERN - 1);
	memcpy(t->term.pattern, *at, length);
	*at += length + quoted;
	if ((t->term.operand == BRAID_HIT_DURATION || t->term.flags & BRAID_HIT_TIME) && !t->own)
		return take_duration(t, why);
	if (t->term.operand == BRAID_HIT_STATE && !t->own)
		return take_states(t, why);
	errno = 0;
	t->term.value = *t->term.pattern == '-' ? (uint64_t)strtoll(t->term.pattern, &end, 0)
						: strtoull(t->term.pattern, &end, 0);
	t->number = !quoted && !errno && isdigit((unsigned char)t->term.pattern[*t->term.pattern == '-']) && !*end;
	return 0;
}

int probe_term_check(struct probe_term *t, char why[PROBE_WHY])
{
	bool text = t->term.operand == BRAID_HIT_COMM || t->term.operand >= BRAID_HIT_STRING;
	uint8_t operator= t->term.operator;

	if (t->term.operand == BRAID_HIT_CGROUP)
		return operator== BRAID_HIT_EQUAL || operator== BRAID_HIT_UNEQUAL
			       ? 0
			       : REFUSE("'cgroup' is compared by == or != with a path below /sys/fs/cgroup");
	if (text && operator!= BRAID_HIT_EQUAL && operator!= BRAID_HIT_UNEQUAL && operator!= BRAID_HIT_MATCH)
		return REFUSE("'%.40s' is text, which is compared by ==, != or ~", t->field);
	if (!text && operator== BRAID_HIT_MATCH)
		return REFUSE("'%.40s' is a number, and ~ compares text", t->field);
	if (!text && !t->number)
		return REFUSE("'%.40s' is a number, and '%.40s' is none", t->field, t->term.pattern);
	return 0;
}

static const struct {
	const char *word;
	enum braid_sums sums;
} modes[] = {{"aggregate", BRAID_SUMS_ALWAYS}, {"each", BRAID_SUMS_NEVER}};

/* A word that is no condition but says what becomes of the times off the CPU. */
static bool take_mode(const char **at, struct probe_spec *to)
{
	for (size_t i = 0; to->type == PROBE_OFFCPU && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (word_length(*at, "_.") == strlen(modes[i].word) && take(at, modes[i].word)) {
			to->sums = modes[i].sums;
			skip_space(at);
			return true;
		}
	return false;
}

static int take_term(const char **at, struct probe_spec *to, char *why)
{
	struct probe_term *t = &to->term[to->terms];
	bool later = to->terms || to->sums, or = later && take(at, "||");
	int err;

	if (later && ! or &&!take(at, "&&"))
		return REFUSE("terms of a filter are joined by && or ||, not by '%.20s'", *at);
	skip_space(at);
	if (!to->sums && take_mode(at, to))
		return or || strncmp(*at, "||", 2) == 0
			       ? REFUSE("'aggregate' and 'each' are no conditions; join them with the others by &&")
			       : 0;
	if (to->terms == BRAID_HIT_TERMS)
		return REFUSE("a filter has at most %d terms", BRAID_HIT_TERMS);
	*t = (struct probe_term){.term.flags = or ? BRAID_HIT_OR : 0};
	skip_space(at);
	err = take_field(at, t, to, why);
	skip_space(at);
	err = err ?: take_operator(at, t, why);
	skip_space(at);
	err = err ?: take_value(at, to, t, why);
	skip_space(at);
	to->terms++;
	if (to->type == PROBE_KERNEL)
		kernel_event_value(t);
	return err || t->own ? err : probe_term_check(t, why);
}

/* ---- fields whose values samples have ---- */

static int take_shown(const char **at, struct probe_spec *to, char *why)
{
	struct probe_field *f = &to->field[to->fields];
	bool str = take(at, "str("), typed;
	size_t length;

	if (to->fields == BRAID_HIT_FIELDS)
		return REFUSE("'%.60s' names more than %d fields", to->name, BRAID_HIT_FIELDS);
	(void)take(at, "args.");
	length = word_length(*at, "_");
	if (!length || length >= sizeof(f->name))
		return REFUSE("in braces are names of fields, not '%.40s'; for example {arg0, str(arg1)}", *at);
	*f = (struct probe_field){0};
	memcpy(f->name, *at, length);
	*at += length;
	typed = !str && take(at, ":");
	if ((str && !take(at, ")")) || (typed && !take(at, "string")))
		return REFUSE("after '%.40s' comes '%s', not '%.20s'", f->name, str ? ")" : "string", *at);
	f->text = str || typed;
	skip_space(at);
	to->fields++;
	if (to->type == PROBE_TRACEPOINT)
		return 0;
	if (!is_argument(to->type, f->name, &f->term))
		return to->type == PROBE_URETPROBE
			       ? REFUSE("'%.40s' is no value of a return; these are retval and elapsed", f->name)
			       : REFUSE("'%.40s' is no argument of a function or USDT probe; these are arg0 to arg%d",
					f->name, BRAID_HIT_ARGUMENTS - 1);
	if (f->term.flags & BRAID_HIT_TIME)
		return f->text ? REFUSE("'%.40s' is a time, not the address of text", f->name) : 0;
	f->term.flags |= BRAID_HIT_HEX;
	if (f->text)
		f->term.operand = BRAID_HIT_POINTED;
	return 0;
}

/* The braces behind `at`, which end the spec. */
static int take_braces(const char *at, struct probe_spec *to, char *why)
{
	int err = 0;

	if (to->type == PROBE_KERNEL || to->type == PROBE_OFFCPU)
		return REFUSE("'%.60s' takes no fields in braces; events of it have what is known of them", to->name);
	to->braces = true;
	at++;
	skip_space(&at);
	while (!err && *at && *at != '}') {
		if (to->fields && !take(&at, ","))
			return REFUSE("fields in braces are separated by commas, not by '%.20s'", at);
		skip_space(&at);
		err = take_shown(&at, to, why);
	}
	if (!err && strcmp(at, "}") != 0)
		return REFUSE("'}' ends the event, not '%.40s'", at);
	return err;
}

/* The filter behind `at`, and the braces, which end the spec. */
static int take_filter(const char *at, struct probe_spec *to, char *why)
{
	const char *end;
	int err = 0;

	if (*at == '{')
		return take_braces(at, to, why);
	if (!*at)
		return 0;
	end = filter_end(at);
	if (end[-1] != '/' || end == at + 1)
		return REFUSE("the filter '%.60s' has no '/' at its end", at);
	if (*end && *end != '{')
		return REFUSE("'%.40s' follows the filter; a '/' in a value needs quotes", end);
	at++;
	skip_space(&at);
	if (*at == '/')
		return REFUSE("the filter of '%.60s' is empty", to->name);
	while (!err && at < end - 1)
		err = take_term(&at, to, why);
	return err || !*end ? err : take_braces(end, to, why);
}

/* ---- names ---- */

/* Copies the part before `stop`, which must be there unless it is 0, and goes behind it. */
static bool take_part(const char **at, char stop, char to[PROBE_TEXT])
{
	size_t length = strcspn(*at, stop ? (char[]){stop, 0} : "/{");

	if (!length || (stop && (*at)[length] != stop))
		return false;
	memcpy(to, *at, length);
	to[length] = '\0';
	*at += length + (stop != 0);
	return true;
}

static bool is_word(const char *text)
{
	size_t length = word_length(text, "_-");

	return length > 0 && !text[length];
}

static int parse_tracepoint(struct probe_spec *to, const char *text, char *why)
{
	const char *at = text;

	if (!take_part(&at, ':', to->group) || !take_part(&at, 0, to->name) || !is_word(to->group) ||
	    !is_word(to->name))
		return REFUSE("'%.60s' is no event; a tracepoint is CATEGORY:NAME, others are uprobe:PATH:SYMBOL and "
			      "usdt:PATH:PROVIDER:NAME",
			      text);
	to->type = PROBE_TRACEPOINT;
	for (size_t i = 0; i < sizeof(jvm_providers) / sizeof(jvm_providers[0]); i++)
		if (strcmp(to->group, jvm_providers[i]) == 0) {
			to->type = PROBE_USDT;
			to->in_jvms = true;
		}
	return take_filter(at, to, why);
}

static int parse_function(struct probe_spec *to, const char *text, const char *at, char *why)
{
	bool returns = to->type == PROBE_URETPROBE;
	char *plus, *end;

	if (!take_part(&at, ':', to->path) || !take_part(&at, 0, to->name))
		return REFUSE("'%.60s' is no function; write %s", text,
			      returns ? "uretprobe:PATH:SYMBOL" : "uprobe:PATH:SYMBOL or uprobe:PATH:SYMBOL+OFFSET");
	plus = strchr(to->name, '+');
	if (plus && returns)
		return REFUSE("'%.60s' has an offset, but a function returns as a whole; write uretprobe:PATH:SYMBOL",
			      text);
	if (plus) {
		*plus++ = '\0';
		errno = 0;
		to->offset = strtoull(plus, &end, 0);
		if (!isdigit((unsigned char)*plus) || *end || errno)
			return REFUSE("'+%.40s' is no offset in a function; write a number such as +0x10", plus);
	}
	if (!*to->name || strchr(to->name, ':'))
		return REFUSE("'%.60s' names no function; use the linker's name, as `nm` shows it", text);
	return take_filter(at, to, why);
}

static int parse_usdt(struct probe_spec *to, const char *text, const char *at, char *why)
{
	if (!take_part(&at, ':', to->path) || !take_part(&at, ':', to->group) || !take_part(&at, 0, to->name) ||
	    !is_word(to->group) || !is_word(to->name))
		return REFUSE("'%.60s' is no USDT probe; write usdt:PATH:PROVIDER:NAME, or usdt:libjvm:hotspot:NAME",
			      text);
	if (strcmp(to->path, "libjvm") == 0) {
		to->in_jvms = true;
		*to->path = '\0';
	}
	return take_filter(at, to, why);
}

static int parse_malloc(struct probe_spec *to, const char *text, const char *at, char *why)
{
	if (!take_part(&at, ':', to->path) || !take_part(&at, 0, to->group) || !is_word(to->group))
		return REFUSE("'%.60s' names no probes of an allocator; write malloc:PATH:otel_memory", text);
	if (*at)
		return REFUSE("'malloc:%.40s' takes no filter and no fields", to->path);
	snprintf(to->name, sizeof(to->name), "alloc");
	return 0;
}

static int parse_form(struct probe_spec *to, const struct form *form, char *why)
{
	const char *at = to->text + strlen(form->prefix);
	int err;

	if (!form->offered)
		return REFUSE("kprobes are not offered; use a tracepoint, CATEGORY:NAME");
	to->type = form->type;
	err = to->type == PROBE_USDT	 ? parse_usdt(to, to->text, at, why)
	      : to->type == PROBE_MALLOC ? parse_malloc(to, to->text, at, why)
					 : parse_function(to, to->text, at, why);
	if (!err && !to->in_jvms && *to->path != '/')
		return REFUSE("'%.60s' is no absolute path; probes are set in one file, so write its full path",
			      to->path);
	return err;
}

int probe_spec_parse(struct probe_spec *to, const char *text, size_t length, char why[PROBE_WHY])
{
	const struct form *form;

	*to = (struct probe_spec){.type = PROBE_TRACEPOINT};
	if (length >= sizeof(to->text))
		return REFUSE("'%.40s...' is too long: %d characters are the limit", text, PROBE_TEXT - 1);
	memcpy(to->text, text, length);
	for (const char *c = to->text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return REFUSE("an event has no control characters");
	if (kernel_event_is(to->text, length)) {
		const char *at = to->text;

		return kernel_event_parse(to, &at, why) ?: take_filter(at, to, why);
	}
	form = form_of(to->text);
	return form ? parse_form(to, form, why) : parse_tracepoint(to, to->text, why);
}

int probe_spec_offcpu(struct probe_spec *to, const char *filter, char why[PROBE_WHY])
{
	*to = (struct probe_spec){.type = PROBE_OFFCPU, .name = "offcpu"};
	if (strlen(filter) >= sizeof(to->text))
		return REFUSE("'%.40s...' is too long: %d characters are the limit", filter, PROBE_TEXT - 1);
	memcpy(to->text, filter, strlen(filter) + 1);
	return take_filter(to->text, to, why);
}
