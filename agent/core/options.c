// SPDX-License-Identifier: Apache-2.0
/* The parser of the agent's options; see options.h. The text comes from the command line or from an attaching
 * process. */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPILL_DEFAULT_BYTES (16ULL << 20)
#define SPILL_MAX_BYTES (1ULL << 30)
#define WAIT_DEFAULT_MS 2000U
#define WAIT_MAX_MS 60000U

const char options_usage[] =
	"libbraid-agent.so options, separated by commas:\n"
	"  sock=PATH    UNIX socket of the collector; without it the agent stays dormant until it is loaded with one\n"
	"  spill=BYTES  memory for records that wait while the ring is full (default 16777216)\n"
	"  wait_ms=N    how long the collector may take to answer, in milliseconds (default 2000)\n"
	"  verbose      report failures on standard error\n"
	"  help         print this\n";

static void complain(struct options *o, const char *what, const char *word, size_t length)
{
	size_t used = strlen(o->complaint);

	if (used < sizeof(o->complaint) - 1)
		snprintf(o->complaint + used, sizeof(o->complaint) - used, "%s%s '%.*s'", used ? "; " : "", what,
			 (int)(length > 64 ? 64 : length), word);
}

static bool number_parse(const char *text, size_t length, uint64_t max, uint64_t *out)
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

static bool word_is(const char *word, size_t length, const char *name)
{
	return strlen(name) == length && !memcmp(word, name, length);
}

static bool value_parse(struct options *o, const char *key, size_t key_length, const char *value, size_t length)
{
	uint64_t n;

	if (word_is(key, key_length, "sock")) {
		if (!length || length >= sizeof(o->sock))
			return false;
		memcpy(o->sock, value, length);
		o->sock[length] = '\0';
		return true;
	}
	if (word_is(key, key_length, "spill")) {
		if (!number_parse(value, length, SPILL_MAX_BYTES, &n))
			return false;
		o->spill_bytes = n;
		return true;
	}
	if (word_is(key, key_length, "wait_ms")) {
		if (!number_parse(value, length, WAIT_MAX_MS, &n))
			return false;
		o->wait_ms = (uint32_t)n;
		return true;
	}
	return false;
}

static void word_parse(struct options *o, const char *word, size_t length)
{
	const char *equals = memchr(word, '=', length);
	size_t key_length = equals ? (size_t)(equals - word) : length;

	if (!equals && word_is(word, length, "verbose"))
		o->verbose = true;
	else if (!equals && word_is(word, length, "help"))
		o->help = true;
	else if (!equals)
		complain(o, "unknown option", word, length);
	else if (!word_is(word, key_length, "sock") && !word_is(word, key_length, "spill") &&
		 !word_is(word, key_length, "wait_ms"))
		complain(o, "unknown option", word, key_length);
	else if (!value_parse(o, word, key_length, equals + 1, length - key_length - 1))
		complain(o, "unusable value in", word, length);
}

void options_parse(struct options *o, const char *text)
{
	memset(o, 0, sizeof(*o));
	o->spill_bytes = SPILL_DEFAULT_BYTES;
	o->wait_ms = WAIT_DEFAULT_MS;

	while (text && *text) {
		size_t length = strcspn(text, ",");

		if (length)
			word_parse(o, text, length);
		text += length;
		text += *text == ',';
	}
}
