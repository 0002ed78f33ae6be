// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Compares text with the patterns of filters. The programs of hit events and of times off the CPU use it. */
#ifndef BRAID_MATCH_BPF_H
#define BRAID_MATCH_BPF_H

#include "maps.bpf.h"

#include <braid/hit.h>

#define MATCH_TEXT 64	 /* bytes of a string that are compared */
#define MATCH_STEPS 2048 /* MATCH_TEXT * BRAID_HIT_PATTERN */

/* A comparison of a string with a pattern. */
struct match {
	const struct braid_hit_term *term;
	bool glob, starred, matches;
	__u8 text_at, pattern_at;	    /* the next characters */
	__u8 star_text_at, star_pattern_at; /* those behind the last star, where it tries again with one more */
	char text[MATCH_TEXT];
};

static long match_step(__u32 i, void *ctx)
{
	struct match *m = ctx;
	char c = m->text[m->text_at & (MATCH_TEXT - 1)];
	char p = m->term->pattern[m->pattern_at & (BRAID_HIT_PATTERN - 1)];

	(void)i;
	if (m->glob && p == '*') {
		m->starred = true;
		m->star_pattern_at = ++m->pattern_at;
		m->star_text_at = m->text_at;
		return 0;
	}
	if (!c) {
		m->matches = !p;
		return 1;
	}
	if (p == c || (m->glob && p == '?')) {
		m->pattern_at++;
		m->text_at++;
		return 0;
	}
	if (!m->starred)
		return 1;
	m->pattern_at = m->star_pattern_at;
	m->text_at = ++m->star_text_at;
	return 0;
}

/* Whether the term holds for the text in `m`, of which the rest is 0. */
static __always_inline bool match_holds(struct match *m, const struct braid_hit_term *t)
{
	m->term = t;
	m->glob = t->operator== BRAID_HIT_MATCH;
	m->text[MATCH_TEXT - 1] = '\0';
	bpf_loop(MATCH_STEPS, match_step, m, 0);
	return m->matches == (t->operator!= BRAID_HIT_UNEQUAL);
}

#endif
