// SPDX-License-Identifier: Apache-2.0
/* Finds what the filter of `offcpu` means on this machine. kernel_side.c calls this. */
#ifndef BRAID_KERNEL_OFFCPU_FILTER_H
#define BRAID_KERNEL_OFFCPU_FILTER_H

#include "config/probe_spec.h"

#include <braid/offcpu_filter.h>

/* Without a spec there is no filter. Returns 0, or a negative errno after reporting the failure. */
int offcpu_filter_find(struct braid_offcpu_filter *to, const struct probe_spec *spec);

/* Whether it has a term about this. */
bool offcpu_filter_compares(const struct braid_offcpu_filter *f, enum braid_hit_operand operand);

/* Whether it distinguishes pipes, sockets and other files. */
bool offcpu_filter_compares_files(const struct braid_offcpu_filter *f);

#endif
