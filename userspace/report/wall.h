// SPDX-License-Identifier: Apache-2.0
/* Where the time of threads went, as text and as JSON. `braid report --wall` calls it. */
#ifndef BRAID_REPORT_WALL_H
#define BRAID_REPORT_WALL_H

#include <stdio.h>

#include <wall/view.h>

void wall_text(FILE *out, const struct wall_view *v, unsigned top);
void wall_json(FILE *out, const struct wall_view *v, unsigned top);

#endif
