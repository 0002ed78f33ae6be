// SPDX-License-Identifier: Apache-2.0
/*
 * What a stack says about the thread that is off the CPU, or that an event is about: where it is in the program, what
 * it waits for, and whether it is idle. Computed once per stack, when it is asked for; events.c and wall.c read it.
 */
#ifndef BRAID_ANALYZE_PLACES_H
#define BRAID_ANALYZE_PLACES_H

#include <stdbool.h>

#include "analysis.h"
#include "blocked.h"
#include "idle.h"

struct place {
	bool known;
	uint32_t own, java, any;  /* innermost frames (xframes): outside of the JDK; Java; any. ROW_NONE: none */
	uint32_t code;		  /* innermost frame that does not only wait: none of the kernel's or libc's */
	uint32_t caller;	  /* innermost frame that does not only pass a request for memory on */
	uint32_t seen;		  /* the stack without the JVM's frames that published the event */
	uint8_t why;		  /* enum blocked_why */
	bool vm;		  /* inside the JVM: only its functions and libc's are below the innermost Java frame */
	bool native;		  /* inside a library of its own */
	bool safepoint;		  /* it stands still for a safepoint, or waits for its end */
	bool vm_lock;		  /* it waits for a lock of the VM's own */
	struct idle_state idling; /* whether it waits for work: idle_is() */
};

struct places {
	struct place *at; /* per row of an->a->nodes; takes memory where it is known */
	uint8_t *rules;	  /* per sym: its enum idle_rule + 1, 0 until it is needed */
};

/* 0 or -ENOMEM, in which case there is nothing to free. */
int places_new(struct places *pl, const struct analysis *an);
void places_free(struct places *pl);
/* The place of a row. */
const struct place *places_get(const struct places *pl, const struct analysis *an, uint32_t stack);

/* NULL for ROW_NONE. */
const struct place *place_of(const struct analysis *an, uint32_t stack);

/*
 * What a thread waited for there; `flags`: of its OFFCPU. The VM also stops a thread, or locks something, on its way
 * into a sleep or a park, or out of it: that is none. Other waits of Java code have events with such times in them.
 */
enum blocked_why place_why(const struct place *p, uint32_t flags);

/* Which code a native frame belongs to, by its module. */
enum frame_owner { OWNER_NONE /* libc: it belongs to its caller */, OWNER_VM, OWNER_OTHER };
enum frame_owner frame_owner(const struct analysis *an, const struct frame_row *f);

/*
 * The site of an event: its innermost Java frame outside of the JDK, else its innermost Java frame, else its innermost
 * frame. An xframe, or ROW_NONE for a stack that is ROW_NONE.
 */
uint32_t events_site(const struct analysis *an, uint32_t stack);

/* The same for a thread off the CPU: the innermost frame is not the kernel's or libc's, if there is another. */
uint32_t wait_site(const struct analysis *an, uint32_t stack);

/* The length of a site's name without a function's parameters. */
int wait_site_length(const struct analysis *an, uint32_t site);

/* "demo.Main.work", a site's name. */
const char *events_site_name(const struct analysis *an, uint32_t site);

#endif
