// SPDX-License-Identifier: Apache-2.0
/*
 * Hardware counters and the kernel's own (software events) by perf's names, at whose overflows samples are taken. Where
 * there is no PMU, there are only the kernel's.
 */
#ifndef BRAID_CONFIG_COUNTERS_H
#define BRAID_CONFIG_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Finds the counter of that name: the type and config of its perf event. False: unknown. */
bool counter_find(const char *name, uint32_t *type, uint64_t *config);

#endif
