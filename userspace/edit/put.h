// SPDX-License-Identifier: Apache-2.0
/* How the operations write records. Functions return 0 or the writer's error. */
#ifndef BRAID_EDIT_PUT_H
#define BRAID_EDIT_PUT_H

#include "edit.h"

/*
 * Counts a record of an input if it is a sample or an event, and writes it if it is kept; one that cannot be written is
 * lost.
 */
int put_kept(struct trace_writer *w, const struct trace_rec *rec, bool kept, struct edit_counts *c);

/* What of a file is lost in the new trace, at its last event. */
int put_loss(struct trace_writer *w, const char *kind, uint64_t count, const struct edit_counts *c);
/* The same of the records that put_kept() could not write. */
int put_lost(struct trace_writer *w, const struct edit_counts *c);

/* A fact about the recording. */
int put_info(struct trace_writer *w, const char *key, const char *value);
int put_info_number(struct trace_writer *w, const char *key, uint64_t value);

#endif
