// SPDX-License-Identifier: Apache-2.0
/*
 * Text for what threads off the CPU waited for, and for what woke them. All of it comes from other programs.
 * jvm_events.c calls this.
 */
#ifndef BRAID_JVM_OFFCPU_NAMES_H
#define BRAID_JVM_OFFCPU_NAMES_H

#include "jvms.h"

#define OBJECT_TEXT_MAX 256
#define WAKER_TEXT_MAX 128

/*
 * "/var/log/app.log", ".../last/parts", "pipe", "10.0.0.1:80", "unix:/run/x", of an enum braid_object; false: not
 * known.
 */
bool object_text(uint32_t kind, const char from[BRAID_TEXT_MAX], char to[OBJECT_TEXT_MAX]);
/* The id of that name; 0: not known. */
uint32_t offcpu_object(struct jvms *jvms, struct process *process, uint32_t kind, const char from[BRAID_TEXT_MAX]);

/* "timer", "softirq net_rx", "irq nvme0q1", or "name[tid]" of a thread that is not recorded; false: not known. */
bool offcpu_waker(struct irq_names *irqs, const struct braid_event_jvm_event *e, char to[WAKER_TEXT_MAX]);

#endif
