// SPDX-License-Identifier: Apache-2.0
/* What is written behind the = of -agentpath, or handed to the agent by attach. */
#ifndef BRAID_AGENT_OPTIONS_H
#define BRAID_AGENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_COMPLAINT_MAX 256

struct options {
	char sock[108]; /* as long as sockaddr_un allows; empty: stay dormant */
	uint64_t spill_bytes;
	uint32_t wait_ms;
	bool verbose;
	bool help;
	char complaint[OPTIONS_COMPLAINT_MAX]; /* what could not be understood; empty when everything was */
};

/* Never fails: what it does not understand is left at its default and named in `complaint`. `text` may be NULL. */
void options_parse(struct options *o, const char *text);

extern const char options_usage[];

#endif
