// SPDX-License-Identifier: Apache-2.0
/*
 * Kernel events as text, WORD[=TIME][/FILTER/]: things that take time in the kernel, such as system calls. probe_spec.c
 * reads them with the other hit events, and `record --help` lists them.
 */
#ifndef BRAID_CONFIG_KERNEL_EVENT_H
#define BRAID_CONFIG_KERNEL_EVENT_H

#include "probe_spec.h"

/* Whether the text of that length begins with the word of a kernel event. */
bool kernel_event_is(const char *text, size_t length);

/* Takes the word and its time from the text, and goes behind them. Returns 0, or -EINVAL and the reason. */
int kernel_event_parse(struct probe_spec *to, const char **at, char why[PROBE_WHY]);

/* Finds the field of a filter's term among those of the event. Returns 0, or -EINVAL and the reason. */
int kernel_event_field(const struct probe_spec *spec, struct probe_term *t, char why[PROBE_WHY]);

/* Replaces the value of such a field by its number if it is a name, such as that of a system call. */
void kernel_event_value(struct probe_term *t);

/* The name of a block I/O operation; NULL: not known. */
const char *kernel_event_operation(uint64_t number);

/* The word with a time, and what it records; NULL after the last. */
const char *kernel_event_example(size_t i);
const char *kernel_event_help(size_t i);

#endif
