// SPDX-License-Identifier: Apache-2.0
/* braid report --html and braid diff --html: one page that needs no other file. */
#ifndef BRAID_PAGE_HTML_H
#define BRAID_PAGE_HTML_H

#include <stdbool.h>
#include <stdio.h>

#include <report/diff.h>
#include <views/views.h>

/* Of a page that shows a recording while it grows: which state of it the data are. */
struct page_live {
	uint64_t generation;
	bool growing;
};

/* What a page is asked for beside its data. All of it is escaped. */
struct page_request {
	const char *titles[DIFF_SIDES]; /* of one recording: titles[0] */
	const char *source_link;	/* see page_can_link(); NULL: frames have no links */
	const struct page_live *live;	/* NULL: the page is of a whole recording */
};

/* What the page has before its data, and behind them. */
struct page_frame {
	const char *before, *after;
	size_t before_bytes, after_bytes;
};

/* Whether the text is an address, of http or https, with {path} in it, and with {line} perhaps. */
bool page_can_link(const char *pattern);

/* Of the page that is a file, or of the one that asks its server for newer data. */
struct page_frame page_frame(bool live);

/* The data alone, as JSON. 0 or -ENOMEM. */
int report_page_data(FILE *out, const struct views *v, const struct page_request *request);
/* 0 or -ENOMEM. */
int report_html(FILE *out, const struct views *v, const struct page_request *request);
/* The page of what differs between two recordings. */
int diff_html(FILE *out, const struct diff_report *r, const struct views *const v[DIFF_SIDES],
	      const struct page_request *request);

#endif
