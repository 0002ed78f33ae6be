// SPDX-License-Identifier: Apache-2.0
/*
 * Event configurations as text, as on the command line and in the trace: a list such as "cpu,alloc=512k,lock=1ms". A
 * list has event types, counters of counters.h, of which one is the clock and the others are hit events, and the hit
 * events that probe_spec.h and kernel_event.h describe. The command line and the rooms of the collector use this; it
 * touches no other state.
 */
#ifndef BRAID_CONFIG_EVENT_CONFIG_H
#define BRAID_CONFIG_EVENT_CONFIG_H

#include "probe_spec.h"

#include <braid/event_config.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_selection {
	struct braid_event_config config;
	const char *event; /* what takes the recording's samples: a clock, or its only hit event; "": nothing */
	bool clock;	   /* `event` is a clock */
	bool kinds;	   /* a list or a preset has hit event types */
	uint32_t probe_count;
	struct probe_spec probes[BRAID_HITS]; /* hit events */
	struct probe_spec offcpu;	      /* the filter of offcpu; empty text: none */
};

#define SELECTION_WHY 240		    /* bytes of a reason */
#define HEAP_MAX_PAUSE_NS 1000000000ULL	    /* the default */
#define HEAP_ANY_PAUSE_NS 86400000000000ULL /* as good as no limit */
#define EVENT_CONFIG_TEXT 8192		    /* bytes that suffice for event_config_text() */

/* The type's word in a list. */
const char *event_type_name(enum braid_event_type type);

/* Nothing is enabled, and the values are the defaults. */
void selection_init(struct event_selection *c);

/* Adds what a list names. The list must stay valid: c->event points into it. Returns 0, or -EINVAL and the reason. */
int selection_add(struct event_selection *c, char *list, char why[SELECTION_WHY]);
int selection_preset(struct event_selection *c, const char *name, char why[SELECTION_WHY]);

/*
 * To be called when all is added: adds the default, the types that others need, and the sampling event. c->event may
 * point into *c afterwards.
 */
void selection_complete(struct event_selection *c);

enum config_change { CONFIG_ENABLE, CONFIG_DISABLE, CONFIG_INTERVAL };

/*
 * Applies a list with its values to a configuration; CONFIG_INTERVAL changes values only. `named` receives the list's
 * types. The list is modified. Returns 0, or -EINVAL and the reason, with nothing changed.
 */
int event_config_change(struct braid_event_config *c, enum config_change change, char *list, uint32_t *named,
			char why[SELECTION_WHY]);

/*
 * Applies the same change to single threads: to `tid`, which the JVM has, or to all (0). `before` is the configuration
 * before the change. Returns 0, or -EINVAL and the reason.
 */
int event_config_thread(struct braid_event_config *c, const struct braid_event_config *before,
			enum config_change change, uint32_t named, uint32_t tid, char why[SELECTION_WHY]);

/*
 * Formats a list that selection_add() reads, with the values in effect, then " thread=TID:LIST" for each thread with
 * types of its own.
 */
void event_config_text(const struct braid_event_config *c, char *to, size_t size);

/* "alloc, lock and heap", for EVENT_TYPES_TEXT bytes that suffice for all types. Returns `to`. */
#define EVENT_TYPES_TEXT 256
const char *event_types_text(uint32_t types, char *to, size_t size);

/* The word with its default value, if it has one, and its description, for people. */
const char *event_type_example(enum braid_event_type type);
const char *event_type_help(enum braid_event_type type);
/* Presets in order; NULL after the last. */
const char *preset_name(size_t preset);
uint32_t preset_types(size_t preset);

#endif
