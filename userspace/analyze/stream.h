// SPDX-License-Identifier: Apache-2.0
/*
 * One stream of timed events for every format: the samples and JVM events that an analysis selects, one by one. Names
 * may follow the events that need them, so the analysis comes first and the file is read a second time. Memory does not
 * grow with the samples.
 */
#ifndef BRAID_ANALYZE_STREAM_H
#define BRAID_ANALYZE_STREAM_H

#include <trace/trace.h>

#include "events.h"

/* A sample, or a JVM event. Strings are valid until the next call. */
struct timed {
	const struct event *event; /* the JVM event; NULL: a sample */
	uint64_t time_ns;	   /* on the trace's clock; when it began */
	uint64_t duration_ns;	   /* both are clipped to the filter's window */
	uint32_t process;	   /* id; 0: not known */
	uint32_t thread;	   /* row of a->threads under which it is counted: of a virtual thread, its group */
	uint32_t carrier;	   /* row of the OS thread that ran it; ROW_NONE: none, or not known, as for `thread` */
	uint32_t vthread;	   /* id; 0: none */
	uint32_t stack, xframe;	   /* as in struct stack_sum */
	uint32_t span;		   /* id; 0: none */
	uint32_t cpu;		   /* TRACE_NO_CPU: not known */
	uint64_t count;		   /* of events in it: 1, but for a sum */
	uint64_t weight;	   /* in the kind's unit; of samples, their number */
	bool hit;		   /* a sample that the clock did not take, but a tracepoint, function or USDT probe */
	const char *name;	   /* of the sampling event ("cpu-clock") or the hit one; of a JVM event, event->name */
	struct trace_str text;	   /* the values of a sample */
};

struct stream {
	struct trace_reader *reader;
	const struct analysis *an;
	size_t row; /* of the next JVM event */
	bool ended; /* what is left does not come from the file */
	struct event event;
};

/* Begins at the start of the file, from which the analysis was made. */
void stream_begin(struct stream *s, struct trace_reader *reader, const struct analysis *an);

/*
 * The next one: 1, 0 at the end, or a negative errno. The order is the file's, which is nearly that of their ends.
 * Behind it come the events that are derived from several ones: live objects, native memory and JNI references.
 */
int stream_next(struct stream *s, struct timed *t);

/* ---- the parts, for those that also need other records ---- */

/* The next record of any kind; *row is that of a kept JVM event, else NULL. 1, 0 or a negative errno. */
int stream_record(struct stream *s, struct trace_rec *rec, const struct jvm_event_row **row);

/* False when the filter excludes the sample. */
bool stream_sample(const struct analysis *an, const struct trace_sample *r, struct timed *t);

#endif
