// SPDX-License-Identifier: Apache-2.0
/*
 * Files of the JDK's Flight Recorder and of async-profiler: chunks one behind the other, each of which is in memory
 * while it is read. Times are those of the day. import.h is the interface.
 */
#include "jfr_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jfr/chunk.h>
#include <jfr/types.h>

/* ---- what is left out ---- */

static void count_left(struct jfr_file *f)
{
	for (size_t i = 0; i < f->kinds.count; i++)
		reader_leave(f->r, str_of(jfr_name(f->chunk, f->chunk->types.at[i].name)), f->kinds.at[i].left_out);
}

/* ---- chunks ---- */

/* Goes through the events of a chunk. `offset` is the chunk's in the file. */
static void take_events(struct jfr_file *f, uint64_t offset, bool first_pass)
{
	const struct jfr_chunk *c = f->chunk;
	size_t at = JFR_HEAD_BYTES;

	while (at < c->size && !f->r->b.err) {
		struct jfr_at p = {.at = c->data + at, .end = c->data + c->size};
		uint64_t size = jfr_number(&p), id = jfr_number(&p);
		uint32_t type = u64map_get(&c->type_of, id) - 1;

		if (p.bad || size > c->size - at || c->data + at + size < p.at) {
			if (first_pass)
				reader_lose(f->r, "byte", c->size - at, "no event begins at byte %" PRIu64,
					    offset + at);
			return;
		}
		p.end = c->data + at + size;
		if (id != JFR_METADATA && id != JFR_CHECKPOINT && type < c->types.count &&
		    !jfr_event_take(f, type, &p, first_pass))
			reader_lose(f->r, "event", 1, "the event at byte %" PRIu64 " is shorter than its type",
				    offset + at);
		at += size;
	}
}

static void chunk_free(struct jfr_file *f)
{
	u64map_free(&f->thread_of);
	u64map_free(&f->vthread_of);
	u64map_free(&f->stack_of);
	u64map_free(&f->frame_of);
	u64map_free(&f->gc_of);
	f->gcs.count = 0;
}

/* A chunk that says nothing of its JVM. */
static void find_process(struct jfr_file *f)
{
	if (!f->process)
		f->process = builder_process(&f->r->b, 0, str_of(""));
	f->r->b.process = f->process;
}

static int take_chunk(struct jfr_file *f, uint64_t offset)
{
	struct jfr_chunk *c = f->chunk;
	const char *wrong = jfr_chunk_open(c);

	if (!wrong && !c->no_memory) {
		builder_clock(&f->r->b, c->start_ns);
		builder_clock(&f->r->b, add_saturating(c->start_ns, c->duration_ns));
		f->process = 0;
		jfr_events_begin(f);
		take_events(f, offset, true);
		find_process(f);
		take_events(f, offset, false);
		count_left(f);
	} else if (wrong) {
		reader_lose(f->r, "byte", c->size, "the chunk at byte %" PRIu64 " cannot be read: %s", offset, wrong);
	}
	chunk_free(f);
	jfr_chunk_close(c);
	return c->no_memory ? -ENOMEM : f->r->b.err;
}

/* The rest of a file whose next chunk is not known: how much it is, and why. */
static int lose_rest(struct jfr_file *f, input_bytes *bytes, uint64_t offset, const char *why)
{
	uint64_t count = bytes->count;
	int err = 0;

	while (!err) {
		bytes->count = 0;
		err = input_take(&f->r->in, 1U << 20, bytes);
		if (!bytes->count)
			break;
		count += bytes->count;
	}
	reader_lose(f->r, "byte", count, "the chunk at byte %" PRIu64 " cannot be read: %s", offset, why);
	return err;
}

static int next_chunk(struct jfr_file *f, input_bytes *bytes, bool *ended)
{
	struct input *in = &f->r->in;
	uint64_t offset = in->offset;
	const char *wrong;
	int err;

	bytes->count = 0;
	err = input_take(in, JFR_HEAD_BYTES, bytes);
	*ended = err || bytes->count == 0;
	if (*ended)
		return err;
	if (bytes->count < JFR_HEAD_BYTES)
		return lose_rest(f, bytes, offset, "the file ends in its header");
	wrong = jfr_chunk_head(f->chunk, bytes->at);
	if (wrong)
		return lose_rest(f, bytes, offset, wrong);
	snprintf(f->r->format, sizeof(f->r->format), "JFR %u.%u", f->chunk->major, f->chunk->minor);
	err = input_take(in, f->chunk->size - JFR_HEAD_BYTES, bytes);
	if (err)
		return err;
	if (bytes->count < f->chunk->size)
		return lose_rest(f, bytes, offset, "the file ends before it");
	f->chunk->data = bytes->at;
	return take_chunk(f, offset);
}

int jfr_read(struct reader *r)
{
	struct jfr_chunk chunk = {0};
	struct jfr_file *f = calloc(1, sizeof(*f));
	input_bytes bytes = {0};
	bool ended = false;
	int err = f ? 0 : -ENOMEM;

	if (!f)
		return err;
	f->r = r;
	f->chunk = &chunk;
	snprintf(r->format, sizeof(r->format), "JFR");
	r->clock = "the time of day";
	r->timed = true;
	r->b.is_realtime = true;
	builder_info(&r->b, "record.event", str_of("jdk.ExecutionSample"));
	while (!err && !ended)
		err = next_chunk(f, &bytes, &ended);
	jfr_events_end(f);
	reader_say_left(r);
	free(bytes.at);
	free(f->gcs.at);
	free(f->kinds.at);
	strpool_free(&f->names);
	free(f);
	return err;
}
