// SPDX-License-Identifier: Apache-2.0
/* Where everything that is recorded goes: the trace's writer, and beside it a count of what was lost on the way. */
#ifndef BRAID_SINK_SINK_H
#define BRAID_SINK_SINK_H

#include "notices.h"

#include "trace/trace.h"
#include "util/clock.h"

#include <stdbool.h>
#include <stdint.h>

struct pools;

#define SINK_LOSSES 64

/* What was lost since the last loss record of the same process, hop and kind. */
struct sink_lost {
	uint64_t time_ns; /* when it began */
	uint64_t count;
	const char *hop, *kind; /* static */
	uint32_t process;
};

/* A zeroed one with a writer is ready. */
struct sink {
	struct trace_writer *writer;
	int error;			    /* first negative errno that ends the recording */
	void (*failed)(void *ctx, int err); /* called once; may be NULL */
	void *failed_ctx;
	struct notices notices;
	struct sink_lost losses[SINK_LOSSES];
	uint32_t losses_count;
	uint64_t lost;
	struct pools *pools; /* what processes take for what they have to say; NULL: no bounds for all of them */
};

/* The text as a record's string; valid UTF-8 whatever it was. Good for one record: made of few static buffers. */
struct trace_str trace_str_of(const char *text);

/* Writes one record; the first failure ends the recording, see `failed`. Everybody else uses records.h. */
void sink_put(struct sink *k, const struct trace_rec *rec);

void sink_notice(struct sink *k, uint32_t process, uint32_t severity, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* `hop` and `kind` are static. Written with the next flush: however often somebody loses something, it is one record.
 */
void sink_loss(struct sink *k, uint32_t process, const char *hop, const char *kind, uint64_t count);
void sink_stat(struct sink *k, uint32_t process, const char *key, uint64_t value);
void sink_info(struct sink *k, const char *key, const char *value);
/* What times of the trace are relative to, and the date. */
void sink_clock(struct sink *k);

/* What was put so far reaches the file. */
void sink_flush(struct sink *k);
/* At the end: the notices that were left out become loss, and all loss is written. */
void sink_left_out(struct sink *k);
void sink_free(struct sink *k); /* the writer stays */

#endif
