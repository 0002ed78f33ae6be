// SPDX-License-Identifier: Apache-2.0
/*
 * What to record, as it is written on a command line ("cpu,alloc=512k,lock=1ms") and in the trace. Words of the
 * JVM's kinds, and at most one event that ticks: cpu-clock, cycles, or a kernel tracepoint, CATEGORY:NAME.
 */
#ifndef BRAID_CONFIG_CHOICES_H
#define BRAID_CONFIG_CHOICES_H

#include <braid/choices.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chosen {
	struct braid_choices choices;
	const char *event; /* what ticks; "": nothing does */
	bool kinds;	   /* named by a list or a preset */
};

#define CHOSEN_WHY 160 /* a reason's bytes */

/* The word of a choice. */
const char *choice_name(enum braid_choice choice);

/* Is this the form of a tracepoint, CATEGORY:NAME? It may not exist for all that. */
bool tracepoint_named(const char *event);

/* Nothing wanted; the figures are the defaults. */
void choices_init(struct chosen *c);

/* Adds what a list names; it is kept, c->event points into it. 0, or -EINVAL after saying why. */
int choices_add(struct chosen *c, char *list, char why[CHOSEN_WHY]);
int choices_preset(struct chosen *c, const char *name, char why[CHOSEN_WHY]);

/* When all is added: the default, what goes with what, and the event that ticks. */
void choices_complete(struct chosen *c);

enum choices_change { CHOICES_ENABLE, CHOICES_DISABLE, CHOICES_INTERVAL };

/*
 * Changes what is wanted of JVMs as a list says, with the figures that it gives; INTERVAL changes figures only. `named`
 * gets the bits that the list stands for. The list is torn. 0, or -EINVAL after saying why; then nothing is changed.
 */
int choices_change(struct braid_choices *c, enum choices_change change, char *list, uint32_t *named,
		   char why[CHOSEN_WHY]);

/*
 * Then, what the change of the kinds `named` means for single threads: for `tid`, which the JVM has, or for all (0).
 * `before`: the choices before the change. 0, or -EINVAL after saying why.
 */
int choices_thread(struct braid_choices *c, const struct braid_choices *before, enum choices_change change,
		   uint32_t named, uint32_t tid, char why[CHOSEN_WHY]);

/* As a list that choices_add reads, with the figures that count; then " thread=TID:LIST" for each thread of its own. */
void choices_text(const struct braid_choices *c, char *to, size_t size);

/* The word with its default figure, if it takes one, and what it means, for people. */
const char *choice_example(enum braid_choice choice);
const char *choice_help(enum braid_choice choice);
/* Presets in order; NULL behind the last. */
const char *preset_name(size_t preset);
uint32_t preset_wanted(size_t preset);

#endif
