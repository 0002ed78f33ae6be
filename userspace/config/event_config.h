// SPDX-License-Identifier: Apache-2.0
/*
 * What to record, as it is written on a command line ("cpu,alloc=512k,lock=1ms") and in the trace. Words of the
 * JVM's kinds, and at most one event that ticks: cpu-clock, cycles, or a kernel tracepoint, CATEGORY:NAME.
 */
#ifndef BRAID_CONFIG_EVENT_CONFIG_H
#define BRAID_CONFIG_EVENT_CONFIG_H

#include <braid/event_config.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_selection {
	struct braid_event_config config;
	const char *event; /* what ticks; "": nothing does */
	bool kinds;	   /* named by a list or a preset */
};

#define SELECTION_WHY 160 /* a reason's bytes */

/* The word of a choice. */
const char *event_type_name(enum braid_event_type type);

/* Is this the form of a tracepoint, CATEGORY:NAME? It may not exist for all that. */
bool tracepoint_named(const char *event);

/* Nothing wanted; the figures are the defaults. */
void selection_init(struct event_selection *c);

/* Adds what a list names; it is kept, c->event points into it. 0, or -EINVAL after saying why. */
int selection_add(struct event_selection *c, char *list, char why[SELECTION_WHY]);
int selection_preset(struct event_selection *c, const char *name, char why[SELECTION_WHY]);

/* When all is added: the default, what goes with what, and the event that ticks. */
void selection_complete(struct event_selection *c);

enum config_change { CONFIG_ENABLE, CONFIG_DISABLE, CONFIG_INTERVAL };

/*
 * Changes what is wanted of JVMs as a list says, with the figures that it gives; INTERVAL changes figures only. `named`
 * gets the bits that the list stands for. The list is torn. 0, or -EINVAL after saying why; then nothing is changed.
 */
int event_config_change(struct braid_event_config *c, enum config_change change, char *list, uint32_t *named,
			char why[SELECTION_WHY]);

/*
 * Then, what the change of the kinds `named` means for single threads: for `tid`, which the JVM has, or for all (0).
 * `before`: the choices before the change. 0, or -EINVAL after saying why.
 */
int event_config_thread(struct braid_event_config *c, const struct braid_event_config *before,
			enum config_change change, uint32_t named, uint32_t tid, char why[SELECTION_WHY]);

/* As a list that selection_add reads, with the figures that count; then " thread=TID:LIST" for each thread of its
 * own. */
void event_config_text(const struct braid_event_config *c, char *to, size_t size);

/* The word with its default figure, if it takes one, and what it means, for people. */
const char *event_type_example(enum braid_event_type type);
const char *event_type_help(enum braid_event_type type);
/* Presets in order; NULL behind the last. */
const char *preset_name(size_t preset);
uint32_t preset_types(size_t preset);

#endif
