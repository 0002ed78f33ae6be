// SPDX-License-Identifier: Apache-2.0
/* What can be read of a damaged trace, as a whole one. edit.h is its interface. */
#include <trace/str.h>

#include "put.h"

static int put_loss(struct trace_writer *w, const char *kind, uint64_t count, uint64_t time_ns)
{
	struct trace_rec rec = {
		.kind = TRACE_LOSS,
		.loss = {.time_ns = time_ns, .hop = str_of("file"), .kind = str_of(kind), .count = count}};

	return count ? trace_writer_put(w, &rec) : 0;
}

static int put_damage(struct trace_writer *w, const struct trace_damage *d, uint64_t time_ns)
{
	int err = put_loss(w, "byte", d->skipped_bytes, time_ns);

	err = err ?: put_loss(w, "missing_block", d->missing_blocks, time_ns);
	return err ?: put_loss(w, "bad_record", d->bad_records, time_ns);
}

int edit_recover(struct trace_writer *w, struct trace_reader *r, struct edit_counts *c)
{
	struct trace_rec rec;
	uint64_t last_ns = 0;
	int got, err = 0;

	*c = (struct edit_counts){0};
	trace_reader_rewind(r);
	while (!err && (got = trace_reader_next(r, &rec)) != 0) {
		uint64_t time_ns;

		if (got < 0)
			return got;
		time_ns = event_time_ns(&rec);
		if (time_ns > last_ns)
			last_ns = time_ns;
		err = put_kept(w, &rec, true, c);
	}
	return err ?: put_damage(w, trace_reader_damage(r), last_ns);
}
