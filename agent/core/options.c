// SPDX-License-Identifier: Apache-2.0
/* The parser of the agent's options; see options.h. The text comes from the command line or from an attaching
 * process. */
#include "options.h"

#include <braid/agent_options.h>
#include <stdio.h>
#include <string.h>

#define SPILL_DEFAULT_BYTES (16ULL << 20)
#define WAIT_DEFAULT_MS 2000U

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

static void word_parse(struct options *o, const char *word, size_t length)
{
	const struct braid_agent_word w = braid_agent_word_parse(word, length);

	if (w.id == BRAID_AGENT_OPTIONS)
		complain(o, "unknown option", word, strcspn(word, "=,"));
	else if (!w.usable || (w.id == BRAID_AGENT_SOCK && w.value_length >= sizeof(o->sock)))
		complain(o, "unusable value in", word, length);
	else if (w.id == BRAID_AGENT_SOCK)
		snprintf(o->sock, sizeof(o->sock), "%.*s", (int)w.value_length, w.value);
	else if (w.id == BRAID_AGENT_SPILL)
		o->spill_bytes = w.number;
	else if (w.id == BRAID_AGENT_WAIT_MS)
		o->wait_ms = (uint32_t)w.number;
	else if (w.id == BRAID_AGENT_VERBOSE)
		o->verbose = true;
	else if (w.id == BRAID_AGENT_HELP)
		o->help = true;
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
