// SPDX-License-Identifier: Apache-2.0
/* What the readers of formats share: the file, the trace that they make of it, and what they could not take. */
#ifndef BRAID_IMPORT_READER_H
#define BRAID_IMPORT_READER_H

#include "builder.h"
#include "frame_text.h"
#include "input.h"

#define READER_LOSSES 4
#define READER_TEXT 256

/* Things of one kind that are not in the trace. */
struct reader_loss {
	const char *kind; /* "line", "byte", ... */
	uint64_t count;
	char first[READER_TEXT]; /* where the first one is, and what is wrong with it */
};

/* Events of a name that are not imported. */
struct reader_left {
	uint32_t name; /* in `left_names` */
	uint64_t count;
};

struct reader {
	struct input in;
	struct builder b;
	struct frame_text text;
	VEC(uint32_t) frames;	 /* of the stack that is being read, from the leaf */
	struct u64map stacks_of; /* hashes of texts to stacks plus one */
	uint64_t seed;		 /* of these hashes, so that no file can cause collisions */
	struct reader_loss losses[READER_LOSSES];
	size_t loss_count;
	VEC(struct reader_left) left;
	struct strpool left_names;
	bool timed;			/* events have times */
	char format[READER_TEXT];	/* for people: "perf script", "JFR 2.1" */
	const char *clock;		/* what the times are; NULL: there are none */
	char made_by[READER_TEXT];	/* the program that recorded, as far as the file says it */
	char left_out[4 * READER_TEXT]; /* what the trace has no place for, for people */
};

/* Each reads a whole file. 0, a negative errno, or a refusal, for which in.why has the reason. */
int collapsed_read(struct reader *r);
int perf_script_read(struct reader *r);
int pprof_read(struct reader *r);
int jfr_read(struct reader *r);

/* A file that begins so, and is no text, can be a profile of pprof's. */
bool pprof_begins(struct trace_str bytes);

/* Counts what is damaged. The first of a kind has its place noted, in the way of printf(). */
void reader_lose(struct reader *r, const char *kind, uint64_t count, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Counts events of a name that are not imported, and at the end says which they were. */
void reader_leave(struct reader *r, struct trace_str name, uint64_t count);
void reader_say_left(struct reader *r);

/* The next line that is not too long, as input_line() gives it; longer ones are counted. */
int reader_line(struct reader *r, struct trace_str *line);

/* Frames of the stack that is being read. */
void reader_begin_stack(struct reader *r);
void reader_push(struct reader *r, uint32_t frame);
/* It has as many frames as a trace can have, or more: further ones are not kept. */
bool reader_is_full(const struct reader *r);
/* The frame that a text is. False: the text is new, and the frame is made of it and pushed with reader_push_new(). */
bool reader_push_known(struct reader *r, struct trace_str text);
void reader_push_new(struct reader *r, struct trace_str text, const struct import_frame *f);

/* Most stacks come again and again: where to keep the one that a text is, plus one; 0: it is new. NULL: an error. */
uint32_t *reader_stack_of(struct reader *r, const void *text, size_t size);

#endif
