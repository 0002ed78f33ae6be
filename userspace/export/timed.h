/* SPDX-License-Identifier: Apache-2.0 */
/* What formats with one entry for each sample and event share: which of them, their stacks, where they are shown. */
#ifndef BRAID_EXPORT_TIMED_H
#define BRAID_EXPORT_TIMED_H

#include <analyze/event_fields.h>
#include <analyze/stream.h>

#include <stdbool.h>
#include <stdio.h>

#include <views/tree.h>

/* What to write. */
struct timed_options {
	bool samples;	  /* only samples by the clock */
	uint32_t kind;	  /* only JVM events of this kind; 0: all */
	const char *hit;  /* only samples of this hit event; NULL: all */
	bool annotate;	  /* names of frames have the suffix of their kind */
	bool own_stacks;  /* the format has no stacks, or makes them itself: there is no tree */
	const char *path; /* of the trace; temporary files are beside it */
};

struct timed_source {
	struct trace_reader *reader; /* of the file of `an` */
	const struct analysis *an;
	const struct timed_options *options;
	struct stream stream;
	uint64_t count;	   /* of what timed_next() has returned */
	struct tree *tree; /* TREE_FRAMES, of all stacks; its weights mean nothing. NULL with own_stacks */
};

/* 0 or -ENOMEM; the caller frees it in any case. */
int timed_open(struct timed_source *s, struct trace_reader *reader, const struct analysis *an,
	       const struct timed_options *options);
void timed_close(struct timed_source *s);

/* The next one that is selected, as stream_next(). */
int timed_next(struct timed_source *s, struct timed *t);

/* The node of its stack; 0: it has none. */
uint32_t timed_node(const struct timed_source *s, const struct timed *t);

/* Whether it takes a time that it begins and ends. Sums have no place, and ages are no times that something takes. */
bool timed_is_interval(const struct timed *t);

/* The title of samples that are hits; events have those of their kinds. */
#define TIMED_HITS "Hits of tracepoints and probes"

/* "lock", "cpu-clock": what it is one of. */
const char *timed_category(const struct timed *t);

/*
 * Where it is shown: a thread; a group of virtual threads, or the events of one kind that belong to no thread, as if
 * they were one.
 */
struct timed_track {
	uint64_t id;	   /* equal for equal tracks */
	uint32_t process;  /* id; 0: not known */
	uint32_t pid, tid; /* tid: a number above those of threads, if it is none */
	bool real;	   /* it is a thread */
	const char *name;
};

struct timed_track timed_track(const struct analysis *an, const struct timed *t);

/* The name of a track's process. What is no process's is the machine's: process 0 would be Linux's idle thread. */
const char *timed_process_name(const struct analysis *an, const struct timed_track *track, char to[PROCESS_LABEL_MAX]);

/* What is known of it beside its time, thread and stack. */
void timed_fields(const struct analysis *an, const struct timed *t, const struct field_sink *sink, void *ctx);

int heatmap_write(FILE *out, struct timed_source *s);
int firefox_write(FILE *out, struct timed_source *s);
int perfetto_write(FILE *out, struct timed_source *s);
int chrome_write(FILE *out, struct timed_source *s);

#endif
