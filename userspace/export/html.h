// SPDX-License-Identifier: Apache-2.0
/* Pieces of the page. */
#ifndef BRAID_EXPORT_HTML_H
#define BRAID_EXPORT_HTML_H

#include <analyze/views.h>

#include "json.h"

/* The page's threads, in the order in which its data named them. */
struct page {
	const struct analysis *an;
	uint32_t *index; /* per row of the analyzer's threads, and one more for those not known: number + 1 */
	VEC(uint32_t) rows;
	struct json j;
};

/* The number of a row of the analyzer's threads, ROW_NONE too. */
int page_thread(struct page *p, uint32_t row, uint32_t *number);

/* ---- html_timeline.c ---- */
int html_timeline(struct page *p);
/* Whether all threads of a JVM stand while such an event lasts. */
bool timeline_of_all(uint32_t kind);

#endif
