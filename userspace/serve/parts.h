// SPDX-License-Identifier: Apache-2.0
/*
 * What the server has of the recording: the newest data of each part that is looked at. Data are made once for all who
 * look, and again when the recording has grown. Making takes at most a tenth of a CPU.
 */
#ifndef BRAID_SERVE_PARTS_H
#define BRAID_SERVE_PARTS_H

#include "maker.h"
#include "request.h"

#define WHOLE_BYTES (64ULL << 20)	/* a larger trace is shown from its end */
#define WINDOW_NS (300ULL * 1000000000) /* this much of it */

/* Data in memory, shared by the responses that are being sent. */
struct shared_data {
	unsigned refs;
	const char *at;
	size_t bytes;
};

struct part {
	struct shared_data *data; /* NULL: not made yet */
	struct data_facts facts;
	uint64_t generation;  /* of the data; 0: none */
	uint64_t trace_bytes; /* how large the trace was then */
	bool growing;	      /* the recording went on then */
	bool wanted;	      /* somebody has asked for it, at: */
	uint64_t wanted_ns;
	int err; /* why the last attempt failed; 0: it did not */
};

struct parts_options {
	int trace_fd;
	struct trace_reader *reader; /* follows the trace */
	const char *title, *source_link;
	uint64_t window_ns; /* 0: WINDOW_NS of a trace that is larger than WHOLE_BYTES */
};

struct parts {
	const struct parts_options *options;
	struct maker maker;
	struct part list[PARTS];
	unsigned making; /* of `list` */
	uint64_t generation;
	uint64_t end_ns;	  /* of the recording, as far as it is known, on its clock */
	uint64_t bytes, grown_ns; /* the trace's size, and since when it has it */
	bool over;		  /* nothing will come any more */
	uint64_t pause_until_ns;
};

/* 0 or a negative errno; parts_close() then. */
int parts_open(struct parts *p, const struct parts_options *options);
void parts_close(struct parts *p);

/* Takes what is made, and begins to make what is due. */
void parts_tick(struct parts *p);
/* The part is looked at. */
void parts_want(struct parts *p, unsigned part);

/* How much of the recording's end a part has; 0: all. */
uint64_t parts_last_ns(const struct parts *p, unsigned part);

struct shared_data *shared_data_hold(struct shared_data *d);
void shared_data_release(struct shared_data *d);

#endif
