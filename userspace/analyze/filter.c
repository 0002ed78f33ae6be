// SPDX-License-Identifier: Apache-2.0
#include "filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/quantity.h"

static int filter_number(const char **text, uint32_t *value)
{
	uint64_t n = 0;
	const char *p = *text;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++) {
		n = n * 10 + (uint64_t)(*p - '0');
		if (n > INT32_MAX)
			return -EINVAL;
	}
	*value = (uint32_t)n;
	*text = p;
	return 0;
}

int filter_add_pids(struct filter *f, const char *text)
{
	uint32_t pid;

	for (;; text++) {
		if (filter_number(&text, &pid) || (*text && *text != ','))
			return -EINVAL;
		if (VEC_PUSH(&f->pids, pid))
			return -ENOMEM;
		if (!*text)
			return 0;
	}
}

int filter_add_tids(struct filter *f, const char *text)
{
	uint32_t tid;

	for (;; text++) {
		if (filter_number(&text, &tid) || (*text && *text != ','))
			return -EINVAL;
		if (VEC_PUSH(&f->tids, tid))
			return -ENOMEM;
		if (!*text)
			return 0;
	}
}

/* At most `most` digits, in both cases, as programs print ids. */
static int filter_digits(const char **text, size_t most, uint64_t *hi, uint64_t *lo)
{
	size_t n = 0;

	*hi = *lo = 0;
	for (; isxdigit((unsigned char)**text) && n < most; (*text)++, n++) {
		int c = tolower((unsigned char)**text);

		*hi = *hi << 4 | *lo >> 60;
		*lo = *lo << 4 | (uint64_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	return n && (!**text || **text == ',') && (*hi | *lo) ? 0 : -EINVAL;
}

/* Names of events, which can also have such a sign in a filter, contain a colon in front of it. */
#define ATTRIBUTE_KEY "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

#define METHOD "method:"
#define FUNCTION "uprobe:"
#define LENGTH "duration"

/* "1ms..1s" */
static int parse_range(const char *text, struct span_length *to)
{
	const char *dots = strstr(text, "..");
	char first[64];

	if (!dots || (size_t)(dots - text) >= sizeof(first))
		return -EINVAL;
	snprintf(first, sizeof(first), "%.*s", (int)(dots - text), text);
	return duration_parse_unit(first, &to->least_ns) || duration_parse_unit(dots + 2, &to->most_ns) ? -EINVAL : 0;
}

/* What follows the word: ">50ms", "<=1s", "=1ms..1s". */
static int parse_length(const char *text, struct span_length *to)
{
	bool equal = text[1] == '=';
	uint64_t ns;

	*to = (struct span_length){0, UINT64_MAX};
	if (*text == '=')
		return parse_range(text + 1, to);
	if (duration_parse_unit(text + 1 + equal, &ns))
		return -EINVAL;
	if (*text == '>') {
		to->least_ns = equal ? ns : ns + 1;
		return ns == UINT64_MAX ? -EINVAL : 0;
	}
	to->most_ns = equal ? ns : ns - 1;
	return !equal && !ns ? -EINVAL : 0;
}

/* All lengths that are given hold. */
static int add_length(struct filter *f, const char *text)
{
	struct span_length l, *to = &f->length;
	int err = parse_length(text, &l);

	if (err)
		return err;
	if (f->has_length && to->least_ns > l.least_ns)
		l.least_ns = to->least_ns;
	if (f->has_length && to->most_ns < l.most_ns)
		l.most_ns = to->most_ns;
	if (l.least_ns > l.most_ns)
		return -EINVAL;
	f->has_length = true;
	*to = l;
	return 0;
}

/* Whether it has spans that are made of the trace's events. */
static bool makes_spans(const struct filter *f)
{
	return f->pair || f->calls || f->function;
}

/* A pattern may have quotation marks, as in the filters of events. */
static int add_like(struct filter *f, const char *text, size_t key)
{
	char *copy = strdup(text), *pattern;
	size_t length;

	if (!copy || VEC_RESERVE(&f->likes, 1)) {
		free(copy);
		return -ENOMEM;
	}
	copy[key] = '\0';
	pattern = copy + key + 1;
	length = strlen(pattern);
	if (length >= 2 && *pattern == '"' && pattern[length - 1] == '"') {
		pattern[length - 1] = '\0';
		pattern++;
	}
	f->likes.at[f->likes.count++] = (struct attribute_like){copy, pattern};
	return 0;
}

int filter_add_spans(struct filter *f, const char *text)
{
	size_t key = strspn(text, ATTRIBUTE_KEY);
	uint64_t none, id;

	if (key == strlen(LENGTH) && strncmp(text, LENGTH, key) == 0 && text[key] && strchr("<=>", text[key]))
		return add_length(f, text + key);
	if (key && text[key] == '~')
		return text[key + 1] ? add_like(f, text, key) : -EINVAL;
	if (key && text[key] == '=')
		return VEC_PUSH(&f->attributes, ((struct attribute_is){text, key})) ? -ENOMEM : 0;
	if (strncmp(text, METHOD, strlen(METHOD)) == 0) {
		if (makes_spans(f) || !text[strlen(METHOD)])
			return -EINVAL;
		f->calls = text + strlen(METHOD);
		return 0;
	}
	if (strncmp(text, FUNCTION, strlen(FUNCTION)) == 0 && !strstr(text, "..")) {
		if (makes_spans(f) || !text[strlen(FUNCTION)])
			return -EINVAL;
		f->function = text;
		return 0;
	}
	if (strstr(text, "..")) {
		if (makes_spans(f))
			return -EINVAL;
		f->pair = text;
		return 0;
	}
	for (;; text++) {
		if (filter_digits(&text, 16, &none, &id))
			return -EINVAL;
		if (VEC_PUSH(&f->spans, id))
			return -ENOMEM;
		if (!*text)
			return 0;
	}
}

int filter_add_traces(struct filter *f, const char *text)
{
	struct trace_id id;

	for (;; text++) {
		if (filter_digits(&text, 32, &id.hi, &id.lo))
			return -EINVAL;
		if (VEC_PUSH(&f->traces, id))
			return -ENOMEM;
		if (!*text)
			return 0;
	}
}

int filter_add_comm(struct filter *f, const char *text)
{
	return VEC_PUSH(&f->comms, text);
}

int filter_add_cgroup(struct filter *f, const char *text)
{
	return VEC_PUSH(&f->cgroups, text);
}

static int compile(struct pattern *p, const char *text, char *why, size_t size)
{
	int err = regcomp(&p->re, text, REG_EXTENDED | REG_NOSUB);

	p->text = text;
	if (!err)
		return 0;
	regerror(err, &p->re, why, size);
	return err == REG_ESPACE ? -ENOMEM : -EINVAL;
}

int filter_add_include(struct filter *f, const char *text, char *why, size_t size)
{
	struct pattern p;
	int err = compile(&p, text, why, size);

	if (err)
		return err;
	if (!VEC_PUSH(&f->include, p))
		return 0;
	regfree(&p.re);
	return -ENOMEM;
}

int filter_add_exclude(struct filter *f, const char *text, char *why, size_t size)
{
	struct pattern p;
	int err = compile(&p, text, why, size);

	if (err)
		return err;
	if (!VEC_PUSH(&f->exclude, p))
		return 0;
	regfree(&p.re);
	return -ENOMEM;
}

int filter_add_idle(struct filter *f, const char *text)
{
	char *copy = strdup(text);

	if (!copy || VEC_RESERVE(&f->idle, 1)) {
		free(copy);
		return -ENOMEM;
	}
	f->idle.at[f->idle.count++] = copy;
	return 0;
}

bool filter_is_set(const struct filter *f)
{
	return filter_has_thread(f) || filter_has_window(f) || f->include.count || f->exclude.count || f->norm ||
	       filter_has_span(f);
}

bool filter_has_thread(const struct filter *f)
{
	return f->pids.count || f->tids.count || f->comms.count || f->cgroups.count;
}

bool filter_has_window(const struct filter *f)
{
	return f->has_from || f->has_to;
}

bool filter_has_stack(const struct filter *f)
{
	return f->include.count || f->exclude.count;
}

bool filter_has_span(const struct filter *f)
{
	return makes_spans(f) || f->spans.count || f->attributes.count || f->likes.count || f->has_length ||
	       f->traces.count;
}

bool filter_needs_samples(const struct filter *f)
{
	return f->each || filter_has_window(f) || filter_has_span(f);
}

static bool selects_cgroup(const struct filter *f, const char *cgroup)
{
	for (size_t i = 0; i < f->cgroups.count; i++)
		if (strstr(cgroup, f->cgroups.at[i]))
			return true;
	return f->cgroups.count == 0;
}

bool filter_selects_process(const struct filter *f, uint32_t pid, const char *cgroup)
{
	if (!selects_cgroup(f, cgroup))
		return false;
	for (size_t i = 0; i < f->pids.count; i++)
		if (f->pids.at[i] == pid)
			return true;
	return f->pids.count == 0;
}

bool filter_selects_thread(const struct filter *f, uint32_t pid, uint32_t tid, const char *comm, const char *name,
			   const char *cgroup)
{
	bool wanted = f->tids.count == 0;

	if (!filter_selects_process(f, pid, cgroup))
		return false;
	for (size_t i = 0; i < f->tids.count && !wanted; i++)
		wanted = f->tids.at[i] == tid;
	if (!wanted)
		return false;
	for (size_t i = 0; i < f->comms.count; i++)
		if (strcmp(f->comms.at[i], comm) == 0 || strcmp(f->comms.at[i], name) == 0)
			return true;
	return f->comms.count == 0;
}

void filter_free(struct filter *f)
{
	for (size_t i = 0; i < f->include.count; i++)
		regfree(&f->include.at[i].re);
	for (size_t i = 0; i < f->exclude.count; i++)
		regfree(&f->exclude.at[i].re);
	for (size_t i = 0; i < f->idle.count; i++)
		free(f->idle.at[i]);
	for (size_t i = 0; i < f->likes.count; i++)
		free(f->likes.at[i].key);
	free(f->likes.at);
	free(f->include.at);
	free(f->exclude.at);
	free(f->idle.at);
	free(f->spans.at);
	free(f->attributes.at);
	free(f->traces.at);
	free(f->pids.at);
	free(f->tids.at);
	free(f->comms.at);
	free(f->cgroups.at);
	memset(f, 0, sizeof(*f));
}
