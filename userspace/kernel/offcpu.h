// SPDX-License-Identifier: Apache-2.0
/*
 * Loads and attaches the programs of bpf/offcpu.bpf.h, which report threads off the CPU. kernel_side.c and programs.c
 * call this.
 */
#ifndef BRAID_KERNEL_OFFCPU_H
#define BRAID_KERNEL_OFFCPU_H

#include <braid/event_config.h>
#include <braid/event.h>

struct braid_bpf;
struct bpf_link;

#define OFFCPU_LINKS 4

/*
 * Before loading: selects the programs and the sizes of their maps. offcpu_limits() decides what they report of a JVM.
 */
int offcpu_configure(struct braid_bpf *b, const struct braid_event_config *c);
int offcpu_attach(struct braid_bpf *b, struct bpf_link *links[OFFCPU_LINKS]);
void offcpu_detach(struct bpf_link *links[OFFCPU_LINKS]);

/* Sets the limits of a JVM's reports from an event configuration. */
void offcpu_limits(struct braid_jvm *jvm, const struct braid_event_config *c);

#endif
