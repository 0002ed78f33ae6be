// SPDX-License-Identifier: Apache-2.0
/* The agent's options, separated by commas. The agent parses them, and the collector those that its user gives it. */
#ifndef BRAID_AGENT_OPTIONS_TABLE_H
#define BRAID_AGENT_OPTIONS_TABLE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum braid_agent_option_id {
	BRAID_AGENT_SPILL,
	BRAID_AGENT_WAIT_MS,
	BRAID_AGENT_VERBOSE,
	BRAID_AGENT_OF_USERS, /* the collector sets the others itself */
	BRAID_AGENT_SOCK = BRAID_AGENT_OF_USERS,
	BRAID_AGENT_HELP,
	BRAID_AGENT_OPTIONS,
};

struct braid_agent_option {
	const char *name;
	const char *value;   /* what it stands for; NULL: the option has none */
	uint64_t number_max; /* 0: the value is a text */
};

static const struct braid_agent_option braid_agent_options[BRAID_AGENT_OPTIONS] = {
	[BRAID_AGENT_SPILL] = {"spill", "BYTES", 1ULL << 30},
	[BRAID_AGENT_WAIT_MS] = {"wait_ms", "MILLISECONDS", 60000},
	[BRAID_AGENT_VERBOSE] = {"verbose", NULL, 0},
	[BRAID_AGENT_SOCK] = {"sock", "PATH", 0},
	[BRAID_AGENT_HELP] = {"help", NULL, 0},
};

/* One option of the text. */
struct braid_agent_word {
	enum braid_agent_option_id id; /* BRAID_AGENT_OPTIONS: unknown */
	const char *value;	       /* not terminated */
	size_t value_length;
	uint64_t number;
	bool usable; /* the value, or that there is none */
};

static inline bool braid_agent_number_parse(const char *text, size_t length, uint64_t max, uint64_t *out)
{
	char digits[24];
	char *end;

	if (!length || length >= sizeof(digits) || text[0] < '0' || text[0] > '9')
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	errno = 0;
	*out = strtoull(digits, &end, 10);
	return !errno && !*end && *out <= max;
}

/* An option without its value, or with one that it has not, is unknown. */
static inline struct braid_agent_word braid_agent_word_parse(const char *text, size_t length)
{
	const char *equals = memchr(text, '=', length);
	size_t name_length = equals ? (size_t)(equals - text) : length;
	struct braid_agent_word w = {.usable = true};

	for (; w.id < BRAID_AGENT_OPTIONS; w.id++) {
		const struct braid_agent_option *o = &braid_agent_options[w.id];

		if (strlen(o->name) == name_length && !memcmp(o->name, text, name_length) && !o->value == !equals)
			break;
	}
	if (w.id == BRAID_AGENT_OPTIONS || !equals)
		return w;
	w.value = equals + 1;
	w.value_length = length - name_length - 1;
	w.usable = w.value_length;
	if (braid_agent_options[w.id].number_max)
		w.usable = braid_agent_number_parse(w.value, w.value_length, braid_agent_options[w.id].number_max,
						    &w.number);
	return w;
}

#endif
