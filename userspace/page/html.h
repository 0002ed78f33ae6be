// SPDX-License-Identifier: Apache-2.0
/* braid report --html and braid diff --html: one page that needs no other file. */
#ifndef BRAID_PAGE_HTML_H
#define BRAID_PAGE_HTML_H

#include <stdio.h>

#include <report/diff.h>
#include <views/views.h>

/* 0 or -ENOMEM. `title` is escaped. */
int report_html(FILE *out, const struct views *v, const char *title);
/* The page of what differs between two recordings. `titles` are escaped. */
int diff_html(FILE *out, const struct diff_report *r, const struct views *const v[DIFF_SIDES],
	      const char *const titles[DIFF_SIDES]);

#endif
