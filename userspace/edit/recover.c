// SPDX-License-Identifier: Apache-2.0
/* What can be read of a damaged trace, as a whole one. edit.h is its interface. */
#include "put.h"

static int put_damage(struct trace_writer *w, const struct trace_damage *d, const struct edit_counts *c)
{
	int err = put_loss(w, "byte", d->skipped_bytes, c);

	err = err ?: put_loss(w, "missing_block", d->missing_blocks, c);
	return err ?: put_loss(w, "bad_record", d->bad_records + c->lost, c);
}

int edit_recover(struct trace_writer *w, struct trace_reader *r, struct edit_counts *c)
{
	struct trace_rec rec;
	int got, err = 0;

	*c = (struct edit_counts){0};
	trace_reader_rewind(r);
	while (!err && (got = trace_reader_next(r, &rec)) != 0) {
		if (got < 0)
			return got;
		err = put_kept(w, &rec, true, c);
	}
	return err ?: put_damage(w, trace_reader_damage(r), c);
}
