// SPDX-License-Identifier: Apache-2.0
/*
 * Which definitions a part of a trace needs: those that its events refer to, and what these refer to. An object that is
 * needed keeps everything that describes it.
 */
#ifndef BRAID_EDIT_NEEDED_H
#define BRAID_EDIT_NEEDED_H

#include <analyze/hash.h>
#include <trace/ids.h>

/* An id in a space of ids. */
struct needed_id {
	uint32_t space; /* enum trace_id_space */
	uint32_t id;
};

struct needed_use {
	struct needed_id of;
	uint32_t next; /* place of the next one in `uses`, plus one; 0: it is the last */
};

struct needed {
	struct table objects[TRACE_ID_SPACES]; /* of struct needed_object */
	VEC(struct needed_use) uses;
	VEC(struct needed_id) open; /* needed, but not yet what they use */
};

void needed_init(struct needed *n);
void needed_free(struct needed *n);

/* Takes a definition. 0 or -ENOMEM. */
int needed_define(struct needed *n, const struct trace_rec *rec);
/* Takes an event of the part. 0 or -ENOMEM. */
int needed_event(struct needed *n, const struct trace_rec *rec);
/* To be called behind the last one. 0 or -ENOMEM. */
int needed_close(struct needed *n);

/* Whether what a definition defines or describes is needed; what belongs to no object is. */
bool needed_has(const struct needed *n, const struct trace_rec *rec);
/* Whether all that a record refers to is needed. */
bool needed_has_all(const struct needed *n, const struct trace_rec *rec);

#endif
