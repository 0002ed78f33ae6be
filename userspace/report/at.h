// SPDX-License-Identifier: Apache-2.0
/* One moment of a recording, as text and as JSON. `braid at` calls it. */
#ifndef BRAID_REPORT_AT_H
#define BRAID_REPORT_AT_H

#include <stdio.h>

#include <explain/at.h>

/* `top`: rows of each list. Idle threads are only counted without `all`. */
void at_text(FILE *out, const struct at_view *v, unsigned top, bool all);
void at_json(FILE *out, const struct at_view *v);

#endif
