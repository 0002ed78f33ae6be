// SPDX-License-Identifier: Apache-2.0
/* braid report --html and braid diff --html: one page that needs no other file. */
#ifndef BRAID_PAGE_HTML_H
#define BRAID_PAGE_HTML_H

#include <stdbool.h>
#include <stdio.h>

#include <report/diff.h>
#include <views/views.h>

/* What a page is asked for beside its data. All of it is escaped. */
struct page_request {
	const char *titles[DIFF_SIDES]; /* of one recording: titles[0] */
	const char *source_link;	/* see page_can_link(); NULL: frames have no links */
};

/* Whether the text is an address, of http or https, with {path} in it, and with {line} perhaps. */
bool page_can_link(const char *pattern);

/* 0 or -ENOMEM. */
int report_html(FILE *out, const struct views *v, const struct page_request *request);
/* The page of what differs between two recordings. */
int diff_html(FILE *out, const struct diff_report *r, const struct views *const v[DIFF_SIDES],
	      const struct page_request *request);

#endif
