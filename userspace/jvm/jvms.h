// SPDX-License-Identifier: Apache-2.0
/*
 * What all JVMs of a recording share: the parts that their records and events go through, and the event configuration.
 * record/ fills it in.
 */
#ifndef BRAID_JVM_JVMS_H
#define BRAID_JVM_JVMS_H

#include "config/options.h"
#include "sink/sink.h"
#include "util/vec.h"

#include <braid/event.h>

struct kernel_side;
struct modules;
struct names;
struct probes;
struct process;
struct processes;
struct thread;
struct threads;
struct spans;
struct vthreads;

#define IRQ_NAMES 256

/* Names of interrupts, by number: a device that is busy wakes a thread at each of them. offcpu_names.c fills it in. */
struct irq_names {
	struct irq_name {
		uint32_t number; /* + 1; 0: free */
		uint64_t read_ns;
		char name[64]; /* empty: it has none */
	} at[IRQ_NAMES];
};

/* A native method that was bound to a function whose file, or whose symbols, are not known yet. */
struct waiting_bind {
	uint32_t method; /* 0: its function's file is known, or will never be */
	bool is_reported;
	struct module *module; /* NULL: not known */
	uint64_t vaddr;
	struct trace_jvm_event event;
};

struct waiting_binds {
	VEC(struct waiting_bind);
};

/* What agents say of a pattern of the configuration. */
struct pattern_marks {
	char text[BRAID_METHOD_TEXT]; /* the pattern that this is about: the configuration can change */
	bool looked_for, matches;
};

struct jvms {
	struct sink *sink;
	struct kernel_side *kernel;
	struct modules *modules;
	struct threads *threads;
	struct processes *processes;
	struct names *names;
	struct vthreads *vthreads;
	struct spans *spans;
	struct probes *probes; /* NULL: no event type needs them */
	const struct record_options *options;
	struct braid_event_config config; /* of new JVMs, and whether samples are taken */
	struct pattern_marks method_marks[BRAID_METHOD_PATTERNS], field_marks[BRAID_FIELD_PATTERNS];
	/* The node of a stack by its hash; 0: not known. */
	uint32_t (*stack_node)(void *ctx, const struct process *process, uint64_t stack);
	void *stack_ctx;
	uint32_t last_method; /* the last of the dense ids of the whole trace */
	uint32_t last_code;
	struct braid_lost lost; /* of too many processes without a slot: as emitted so far */
	struct irq_names irqs;
	struct waiting_binds late_binds; /* of JVMs that have ended */
	uint64_t names_look_ns;		 /* before this no JVM is looked at for names of threads */
	uint64_t stopped_ns;		 /* when the recording ended; later events do not belong to it; 0: it goes on */
};

#endif
