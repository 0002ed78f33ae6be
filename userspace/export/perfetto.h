// SPDX-License-Identifier: Apache-2.0
/* What the parts of the writer of Perfetto's format share: packets, names, tracks and events on them. */
#ifndef BRAID_EXPORT_PERFETTO_H
#define BRAID_EXPORT_PERFETTO_H

#include "timed.h"

/* proto/perfetto.pb-c.h has these. */
struct Perfetto__DebugAnnotation;
struct Perfetto__InternedData;
struct Perfetto__TracePacket;
struct Perfetto__TrackDescriptor;
struct Perfetto__TrackEvent;

enum { SEQUENCE = 1 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

/* Names are interned under their numbers in one pool each. */
enum name_table { EVENT_CATEGORIES, EVENT_NAMES, ANNOTATION_NAMES, FUNCTION_NAMES, SOURCE_PATHS, NAME_TABLES };

#define ANNOTATIONS 40 /* more than any event has */

/*
 * A reader ends what has begun last on a track, so what overlaps is on several: each has intervals that follow one
 * another. Events come nearly in the order of their ends, so a track takes what begins behind its last one.
 */
#define LANES_MAX 4096U

struct lane {
	uint64_t end_ns; /* of the last interval */
	uint32_t number;
};

typedef VEC(struct lane) lane_vec;

struct perfetto {
	FILE *out;
	const struct timed_source *source;
	bool failed;	    /* without memory */
	uint64_t period_ns; /* of a sample, else 1 */
	struct strpool names[NAME_TABLES];
	struct u64map tracks;	/* uuids of those that are described */
	struct u64map lanes_of; /* uuids of first tracks to their place in lanes and 1 */
	VEC(lane_vec) lanes;	/* each by end_ns */
	struct u64map cpus;	/* CPU to its place in counts and 1 */
	VEC(uint64_t) counts;	/* of each CPU's samples, by their period */
	bool *frames, *stacks;	/* labels and nodes that are interned */
	bool mappings[DOMAIN_INCOMPLETE + 1];
	VEC(uint64_t) path;
	/* of the event that is written */
	struct Perfetto__DebugAnnotation *annotations, *annotation[ANNOTATIONS]; /* ANNOTATIONS of them */
	char *texts[ANNOTATIONS];
	size_t count;
};

/* Below them are a lane, from bit 40 on, a row or id, from bit 8 on, and a kind. */
#define UUID_PROCESS (1ULL << 56)
#define UUID_THREAD (2ULL << 56)
#define UUID_THREAD_KIND (3ULL << 56)
#define UUID_PROCESS_KIND (4ULL << 56)
#define UUID_CPUS (5ULL << 56)
#define UUID_CPU (6ULL << 56)

/* What each packet has. */
const struct Perfetto__TracePacket *perfetto_packet(void);
void perfetto_put(struct perfetto *w, struct Perfetto__TracePacket *p);
void perfetto_put_interned(struct perfetto *w, struct Perfetto__InternedData *data);
/* Returns the name's iid; 0: it is empty. */
uint64_t perfetto_name(struct perfetto *w, enum name_table table, const char *text);

/* Whether it is the first call for this track. */
bool perfetto_is_new(struct perfetto *w, uint64_t uuid);
void perfetto_put_track(struct perfetto *w, struct Perfetto__TrackDescriptor *track);

/* Annotations of the next event; as a field_sink's. */
void perfetto_text(void *ctx, const char *key, const char *value);
void perfetto_number(void *ctx, const char *key, uint64_t value, enum field_form form);
/* An event of a category on a track, with the annotations that are there. */
void perfetto_put_event(struct perfetto *w, const struct Perfetto__TrackEvent *event, const char *category,
			uint64_t time_ns);
/* Ends what has begun last on the track. */
void perfetto_put_end(struct perfetto *w, uint64_t track, uint64_t time_ns);

/* ---- perfetto_cpus.c ---- */

/* What ran on each CPU. 0 or -ENOMEM. */
int perfetto_put_cpus(struct perfetto *w);

#endif
