// SPDX-License-Identifier: Apache-2.0
/* The clock of all times in braid: the kernel side, agents and the collector use the same. */
#ifndef BRAID_UTIL_CLOCK_H
#define BRAID_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

uint64_t clock_read_ns(clockid_t id);

uint64_t now_ns(void); /* CLOCK_MONOTONIC */

#endif
