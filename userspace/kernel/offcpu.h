// SPDX-License-Identifier: Apache-2.0
/* Threads off the CPU: the programs of bpf/offcpu.bpf.h. */
#ifndef BRAID_KERNEL_OFFCPU_H
#define BRAID_KERNEL_OFFCPU_H

#include <braid/event_config.h>
#include <braid/event.h>

struct braid_bpf;
struct bpf_link;

#define OFFCPU_LINKS 4

/* Before loading: which programs, and how much room. What they tell of a JVM is for offcpu_limits() to say. */
int offcpu_configure(struct braid_bpf *b, const struct braid_event_config *c);
int offcpu_attach(struct braid_bpf *b, struct bpf_link *links[OFFCPU_LINKS]);
void offcpu_detach(struct bpf_link *links[OFFCPU_LINKS]);

/* What of a JVM is to be told, as wanted now. */
void offcpu_limits(struct braid_jvm *jvm, const struct braid_event_config *c);

#endif
