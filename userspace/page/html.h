// SPDX-License-Identifier: Apache-2.0
/* braid report --html: one page that needs no other file. */
#ifndef BRAID_PAGE_HTML_H
#define BRAID_PAGE_HTML_H

#include <stdio.h>

#include <views/views.h>

/* 0 or -ENOMEM. `title` is escaped. */
int report_html(FILE *out, const struct views *v, const char *title);

#endif
