// SPDX-License-Identifier: Apache-2.0
/* The agent's options: the text after the = of -agentpath, or the one that attach passes. agent.c parses it at each
 * load. */
#ifndef BRAID_AGENT_OPTIONS_H
#define BRAID_AGENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_COMPLAINT_MAX 256

struct options {
	char sock[108]; /* the limit of sockaddr_un; empty: stay dormant */
	uint64_t spill_bytes;
	uint32_t wait_ms;
	bool verbose;
	bool help;
	char complaint[OPTIONS_COMPLAINT_MAX]; /* what is not valid; empty when everything is */
};

/* Never fails: an option that is not valid keeps its default and is named in `complaint`. `text` may be NULL. */
void options_parse(struct options *o, const char *text);

extern const char options_usage[];

#endif
