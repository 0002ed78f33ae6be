// SPDX-License-Identifier: Apache-2.0
/* Threads off the CPU: the programs of bpf/offcpu.bpf.h, and what is left to say when a recording ends. */
#ifndef BRAID_COLLECT_OFFCPU_H
#define BRAID_COLLECT_OFFCPU_H

#include "record/session.h"

struct braid_bpf;
struct bpf_link;

#define OFFCPU_LINKS 4

/* Before loading: which programs, and how much room. What they tell of a JVM is for offcpu_limits() to say. */
int offcpu_choose(struct braid_bpf *b, const struct braid_choices *c);
int offcpu_attach(struct braid_bpf *b, struct bpf_link *links[OFFCPU_LINKS]);
void offcpu_detach(struct bpf_link *links[OFFCPU_LINKS]);

/* What of a JVM is to be told, as wanted now. */
void offcpu_limits(struct braid_jvm *jvm, const struct braid_choices *c);

/* A thread has ended, as the kernel says, called `comm`: false when its agent has told of its CPU time. */
bool offcpu_ended(struct session *s, struct thread *thread, const char *comm, struct trace_jvm_event *e);

/* When nothing is followed any more: the sleeps that go on, and the CPU time of threads that run on. */
void offcpu_finish(struct session *s);

#endif
