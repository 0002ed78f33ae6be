// SPDX-License-Identifier: Apache-2.0
/* Times as people write them. */
#ifndef BRAID_UTIL_DURATION_H
#define BRAID_UTIL_DURATION_H

#include <stdint.h>

/* "1.5" (seconds), "500ms", "20us", "7ns", "2s", "1m" to nanoseconds. 0 or -EINVAL. */
int duration_parse(const char *text, uint64_t *ns);

#endif
