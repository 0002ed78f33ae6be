// SPDX-License-Identifier: Apache-2.0
#include "jfr.h"

#include <errno.h>
#include <string.h>

#include <analyze/kinds.h>

#include "chunk.h"
#include "metadata.h"
#include "writer.h"

#define CHUNK_BYTES (16U << 20) /* of events and stacks */
#define TICKS_PER_SECOND 1000000000ULL

/* Time of day, where the trace has it. */
static uint64_t realtime_ns(const struct analysis *an, uint64_t time_ns)
{
	return an->start_realtime_ns + time_ns - an->start_ns;
}

static void begin_chunk(struct jfr *j, uint64_t start_ns)
{
	static const char magic[4] = JFR_MAGIC;
	uint8_t head[JFR_HEAD_BYTES] = {0};

	j->start_ns = start_ns;
	j->end_ns = start_ns;
	j->events.count = 0;
	memset(j->used, 0, sizeof(j->used));
	memcpy(head, magic, sizeof(magic));
	bytes_put(&j->events, head, sizeof(head));
	jfr_put_facts(j);
}

static void put_head(struct jfr *j, uint64_t pools_at, uint64_t metadata_at)
{
	struct bytes *b = &j->events;

	bytes_set_be(b, JFR_HEAD_MAJOR, 2, 2);
	bytes_set_be(b, JFR_HEAD_SIZE, b->count, 8);
	bytes_set_be(b, JFR_HEAD_POOLS, pools_at, 8);
	bytes_set_be(b, JFR_HEAD_METADATA, metadata_at, 8);
	bytes_set_be(b, JFR_HEAD_START_NS, realtime_ns(j->an, j->start_ns), 8);
	bytes_set_be(b, JFR_HEAD_DURATION, j->end_ns - j->start_ns, 8);
	bytes_set_be(b, JFR_HEAD_START_TICKS, j->start_ns, 8);
	bytes_set_be(b, JFR_HEAD_TICKS_PER_SECOND, TICKS_PER_SECOND, 8);
	bytes_set_be(b, JFR_HEAD_FEATURES, JFR_COMPRESSED, 4);
}

static int end_chunk(struct jfr *j)
{
	uint64_t pools_at, metadata_at;

	jfr_declare(j);
	jfr_put_settings(j);
	pools_at = j->events.count;
	pools_put(&j->pools, &j->events, j->start_ns);
	metadata_at = j->events.count;
	jfr_metadata(&j->events, j->types, j->used, JFR_EVENT_TYPES, j->start_ns);
	put_head(j, pools_at, metadata_at);
	if (j->events.failed || j->pools.failed)
		return -ENOMEM;
	fwrite(j->events.at, 1, j->events.count, j->out);
	return 0;
}

static void make_types(struct jfr *j)
{
	memcpy(j->types, jfr_event_types, sizeof(jfr_event_types));
	for (uint32_t kind = 0; kind < BRAID_JVM_EVENTS; kind++)
		if (kind_of(kind))
			jfr_kind_type(kind, &j->types[JFR_NAMED_EVENTS + kind], j->names[kind]);
}

static int write_all(struct jfr *j, struct timed_source *s, size_t chunk_bytes)
{
	struct timed t;
	int err;

	begin_chunk(j, j->an->start_ns);
	while ((err = timed_next(s, &t)) == 1 && !ferror(j->out)) {
		if (j->events.count + j->pools.bytes >= chunk_bytes) {
			err = end_chunk(j);
			if (err)
				return err;
			begin_chunk(j, j->end_ns);
		}
		jfr_put_timed(j, &t);
		if (j->events.failed || j->pools.failed)
			return -ENOMEM;
	}
	return err < 0 ? err : end_chunk(j);
}

int jfr_write(FILE *out, struct timed_source *s)
{
	return jfr_write_chunks(out, s, CHUNK_BYTES);
}

int jfr_write_chunks(FILE *out, struct timed_source *s, size_t chunk_bytes)
{
	struct jfr *j = calloc(1, sizeof(*j));
	int err = j ? pools_init(&j->pools, s->an) : -ENOMEM;

	if (!err) {
		j->an = s->an;
		j->out = out;
		make_types(j);
		err = write_all(j, s, chunk_bytes);
	}
	if (j) {
		pools_free(&j->pools);
		bytes_free(&j->events);
		bytes_free(&j->body);
	}
	free(j);
	return err;
}
