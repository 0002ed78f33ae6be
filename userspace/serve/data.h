// SPDX-License-Identifier: Apache-2.0
/* The page's data of a part of a recording, as far as it has been written. */
#ifndef BRAID_SERVE_DATA_H
#define BRAID_SERVE_DATA_H

#include <stdio.h>

#include <page/html.h>
#include <trace/trace.h>

struct data_request {
	struct trace_reader *reader; /* at its first record */
	const char *title;
	const char *source_link; /* or NULL */
	uint64_t last_ns;	 /* of the time at the end; 0: all of it */
	uint64_t known_end_ns;	 /* the recording's end is not before this, on its clock; 0: not known */
	struct page_live live;
};

struct data_facts {
	uint64_t duration_ns; /* of the recording */
	uint64_t end_ns;      /* on its clock */
	uint64_t last_ns;     /* what of it is shown, from its end; 0: all */
	bool ended;	      /* in order */
};

/* Writes JSON. 0 or a negative errno. */
int data_write(FILE *out, const struct data_request *r, struct data_facts *facts);

#endif
