/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of the Firefox Profiler's format that firefox.c and firefox_tables.c share. */
#ifndef BRAID_EXPORT_FIREFOX_H
#define BRAID_EXPORT_FIREFOX_H

#include <util/json.h>
#include <util/scratch.h>

#include "timed.h"

/* Of frames, and after them those that only markers have. */
enum firefox_category {
	CATEGORY_OTHER,
	CATEGORY_JAVA,
	CATEGORY_NATIVE,
	CATEGORY_STUB,
	CATEGORY_KERNEL,
	CATEGORY_FRAMES,
	CATEGORY_GC = CATEGORY_FRAMES,
	CATEGORY_SAFEPOINT,
	CATEGORY_WAIT,
};

/* What a marker may have; found while they are written. */
struct marker_field {
	uint32_t kind; /* 0: of hits */
	uint32_t key;  /* string */
	enum field_form form;
	bool text;
};

struct firefox {
	const struct timed_source *source;
	struct strpool strings; /* numbers are those of stringArray */
	bool failed;		/* without memory */
	VEC(struct timed_track) tracks;
	struct u64map track_of; /* id to the track and 1 */
	struct scratch_room room;
	struct scratch samples, markers; /* struct firefox_sample, struct firefox_marker */
	uint64_t sample_count, marker_count;
	FILE *data; /* JSON of markers, in a file without a name */
	const char *data_at;
	uint64_t base_ns; /* what is 0 in the profile: nothing begins before */
	VEC(struct marker_field) fields;
	struct u64map field_of; /* kind and key to the field and 1 */
};

uint32_t firefox_string(struct firefox *w, const char *text);

/* ---- firefox_tables.c ---- */
void firefox_categories(struct json *j);
int firefox_shared(struct json *j, struct firefox *w); /* 0 or -ENOMEM */

#endif
