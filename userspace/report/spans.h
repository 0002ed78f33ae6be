// SPDX-License-Identifier: Apache-2.0
/* The spans of a trace, as text and as JSON. `braid report --by span` calls it. */
#ifndef BRAID_REPORT_SPANS_H
#define BRAID_REPORT_SPANS_H

#include <stdio.h>

#include <views/span_view.h>

void spans_text(FILE *out, const struct span_view *v, unsigned top);
void spans_json(FILE *out, const struct span_view *v, unsigned top);

#endif
