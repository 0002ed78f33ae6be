// SPDX-License-Identifier: Apache-2.0
/*
 * The sink: the one way by which everything enters the trace. It owns the count of losses, and writes through a trace
 * writer. Every room above calls it.
 */
#ifndef BRAID_SINK_SINK_H
#define BRAID_SINK_SINK_H

#include "trace/trace.h"
#include "util/clock.h"

#include <stdbool.h>
#include <stdint.h>

struct pools;

#define SINK_LOSSES 64

/* What was lost of one process, hop and kind since the last loss record of them. */
struct sink_lost {
	uint64_t time_ns; /* of the first loss */
	uint64_t count;
	const char *hop, *kind; /* static */
	uint32_t process;
};

/* Ready when zeroed and given a writer. */
struct sink {
	struct trace_writer *writer;
	int error;			    /* negative errno of the first failure, which ends the recording */
	void (*failed)(void *ctx, int err); /* called once; may be NULL */
	void *failed_ctx;
	struct sink_lost losses[SINK_LOSSES];
	uint32_t losses_count;
	uint64_t lost;
	struct pools *pools; /* what all processes together may take; NULL: unbounded */
};

/*
 * The text as a record's string, repaired to valid UTF-8. It is valid for one record: the buffers are static and few.
 */
struct trace_str trace_str_of(const char *text);

/*
 * Writes one record; the first failure ends the recording (see `failed`). Other files call the functions of records.h.
 */
void sink_put(struct sink *k, const struct trace_rec *rec);

/*
 * Without a limit, so it is for notices about the recording (process 0) and for those of which there are few.
 * account_notice() is for what a process can cause.
 */
void sink_notice(struct sink *k, uint32_t process, uint32_t severity, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* `hop` and `kind` are static strings. Losses of the same kind between two flushes become one record. */
void sink_loss(struct sink *k, uint32_t process, const char *hop, const char *kind, uint64_t count);
void sink_stat(struct sink *k, uint32_t process, const char *key, uint64_t value);
void sink_info(struct sink *k, const char *key, const char *value);
/* Writes the date, and the clock readings that the trace's times refer to. */
void sink_clock(struct sink *k);

/* Writes everything that was put so far to the file. */
void sink_flush(struct sink *k);
/* Writes the loss that was counted so far as records. */
void sink_losses(struct sink *k);

#endif
