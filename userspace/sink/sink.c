// SPDX-License-Identifier: Apache-2.0
#include "sink.h"

#include "util/log.h"
#include "util/utf8.h"

#include <braid/event.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct trace_str trace_str_of(const char *text)
{
	/* One record holds at most four strings. Text that is not ASCII (a path, a comm) need not be UTF-8. */
	static char repaired[4][4096];
	static unsigned int turn;
	size_t length = 0;

	while ((signed char)text[length] > 0)
		length++;
	if (text[length]) {
		turn = (turn + 1) % 4;
		length = utf8_from_modified(repaired[turn], sizeof(repaired[turn]), text, strlen(text));
		text = repaired[turn];
	}
	return (struct trace_str){.str = text, .len = (uint32_t)length};
}

static void sink_fail(struct sink *k, int err)
{
	if (k->error)
		return;
	k->error = err;
	if (k->failed)
		k->failed(k->failed_ctx, err);
}

/* ---- loss ---- */

void sink_losses(struct sink *k)
{
	uint32_t count = k->losses_count;

	k->losses_count = 0; /* first: a record that cannot be written adds a loss */
	for (uint32_t i = 0; i < count; i++) {
		const struct sink_lost l = k->losses[i];

		sink_put(k, &(struct trace_rec){.kind = TRACE_LOSS,
						.loss = {.time_ns = l.time_ns,
							 .process = l.process,
							 .hop = trace_str_of(l.hop),
							 .kind = trace_str_of(l.kind),
							 .count = l.count}});
	}
}

void sink_loss(struct sink *k, uint32_t process, const char *hop, const char *kind, uint64_t count)
{
	struct sink_lost *l = k->losses, *end = l + k->losses_count;

	k->lost += count;
	while (l < end && (l->process != process || l->hop != hop || l->kind != kind))
		l++;
	if (l < end) {
		l->count += count;
		return;
	}
	if (k->losses_count == SINK_LOSSES)
		sink_losses(k);
	k->losses[k->losses_count++] =
		(struct sink_lost){.time_ns = now_ns(), .count = count, .hop = hop, .kind = kind, .process = process};
}

/* ---- records ---- */

void sink_flush(struct sink *k)
{
	int err;

	sink_losses(k);
	err = trace_writer_flush(k->writer);
	if (err)
		sink_fail(k, err);
}

void sink_put(struct sink *k, const struct trace_rec *rec)
{
	int err;

	if (k->error)
		return;
	err = trace_writer_put(k->writer, rec);
	if (err == -EINVAL)
		sink_loss(k, 0, "collector", "oversized_record", 1);
	else if (err)
		sink_fail(k, err);
}

void sink_notice(struct sink *k, uint32_t process, uint32_t severity, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (severity == BRAID_NOTICE_WARNING)
		log_warning("%s", text);
	else
		log_debug("%s", text);
	sink_put(k, &(struct trace_rec){.kind = TRACE_NOTICE,
					.notice = {.time_ns = now_ns(),
						   .process = process,
						   .severity = severity,
						   .text = trace_str_of(text)}});
}

void sink_stat(struct sink *k, uint32_t process, const char *key, uint64_t value)
{
	sink_put(k,
		 &(struct trace_rec){
			 .kind = TRACE_STAT,
			 .stat = {.time_ns = now_ns(), .process = process, .key = trace_str_of(key), .value = value}});
}

void sink_info(struct sink *k, const char *key, const char *value)
{
	sink_put(k, &(struct trace_rec){.kind = TRACE_INFO,
					.info = {.key = trace_str_of(key), .value = trace_str_of(value)}});
}

void sink_clock(struct sink *k)
{
	sink_put(k, &(struct trace_rec){.kind = TRACE_CLOCK,
					.clock = {.monotonic_ns = now_ns(),
						  .boottime_ns = clock_read_ns(CLOCK_BOOTTIME),
						  .realtime_ns = clock_read_ns(CLOCK_REALTIME)}});
}
