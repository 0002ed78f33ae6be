// SPDX-License-Identifier: Apache-2.0
/* The spans of a trace, as text and as JSON. `braid report --by span` calls it. */
#ifndef BRAID_REPORT_SPANS_H
#define BRAID_REPORT_SPANS_H

#include <stdio.h>

#include <views/span_view.h>

/* `order`: of the one table; NULL: the text has one by samples and one by time off the CPU. Both sort the view. */
void spans_text(FILE *out, struct span_view *v, const enum span_order *order, unsigned top);
void spans_json(FILE *out, struct span_view *v, const enum span_order *order, unsigned top);

#endif
