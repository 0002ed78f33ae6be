// SPDX-License-Identifier: Apache-2.0
/* Why a stretch of a thread's life took as long as it did, as text and as JSON. `braid explain` calls it. */
#ifndef BRAID_REPORT_EXPLAIN_H
#define BRAID_REPORT_EXPLAIN_H

#include <stdio.h>

#include <explain/what_if.h>

void explain_text(FILE *out, const struct explain *e, unsigned top);
void explain_json(FILE *out, const struct explain *e, unsigned top);
void explain_diff_text(FILE *out, const struct explain_diff *d, unsigned top);
void explain_diff_json(FILE *out, const struct explain_diff *d, unsigned top);

/* What is predicted of a stretch of a thread, and of the whole program by its main thread. */
struct predictions {
	const struct analysis *an;
	const struct what_if *stretch, *program; /* NULL: no time of the main thread is recorded */
	const char *thread, *main;		 /* their names */
};

void what_if_text(FILE *out, const struct predictions *p);
void what_if_json(FILE *out, const struct predictions *p);

/* A node of the tree is shown if it has at least 1 / EXPLAIN_TREE_SHARE of the stretch. */
#define EXPLAIN_TREE_SHARE 25

/* ---- explain_words.c ---- */

void explain_moment(FILE *out, const struct analysis *an, uint64_t at_ns); /* "1.500000 s" */
const char *explain_phrase(enum wall_state state);			   /* "waiting for the disk" */
/* "request-* waiting for the disk in LockedFlush$Journal.flush"; the stretch's own thread is not named. */
void explain_what(FILE *out, const struct explain *e, uint32_t node, uint32_t thread);
/* What a part is, and on further lines what it is waited for for, up to the stretch's own thread. */
void explain_reason(FILE *out, const struct explain *e, const struct explain_part *p);
/* "a.B.c < d.E.f": the frames that matter, the innermost first. */
void explain_stack(FILE *out, const struct analysis *an, uint32_t stack);

#endif
