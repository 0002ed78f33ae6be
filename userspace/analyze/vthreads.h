// SPDX-License-Identifier: Apache-2.0
/* The analyzer's side of virtual threads: their definitions and their groups. analyzer.c and the tables call it. */
#ifndef BRAID_ANALYZE_VTHREADS_H
#define BRAID_ANALYZE_VTHREADS_H

#include "state.h"

/* 0 or -ENOMEM. */
int vthreads_feed(struct analyzer *a, const struct trace_vthread *r);

/* The virtual thread of a sample or an event; NULL: none, or not known. */
const struct vthread_row *vthreads_get(const struct analyzer *a, uint32_t id);

/* The id of the thread under which a sample is counted: a group of virtual threads, or the OS thread that ran. */
uint32_t vthreads_thread(const struct analyzer *a, const struct trace_sample *r);

void vthreads_count(struct analyzer *a, const struct trace_sample *r);

#endif
