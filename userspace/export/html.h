// SPDX-License-Identifier: Apache-2.0
/* Pieces of the HTML report that html.c and html_timeline.c share. */
#ifndef BRAID_EXPORT_HTML_H
#define BRAID_EXPORT_HTML_H

#include <analyze/views.h>

#include "json.h"

/* The page's threads, numbered in the order in which its data refer to them. */
struct page {
	const struct analysis *an;
	uint32_t *index; /* per row of the analyzer's threads, and one more for unknown threads: number + 1 */
	VEC(uint32_t) rows;
	struct json j;
};

/* The number of a row of the analyzer's threads. `row` may be ROW_NONE. */
int page_thread(struct page *p, uint32_t row, uint32_t *number);

/* ---- html_timeline.c ---- */
int html_timeline(struct page *p);

#endif
