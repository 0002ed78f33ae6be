// SPDX-License-Identifier: Apache-2.0
/* The layout of this HotSpot: reads and publishes struct braid_layout, and looks up nmethods with it. agent.c, code.c
 * and the other files of vm/ call it. */
#ifndef BRAID_AGENT_LAYOUT_H
#define BRAID_AGENT_LAYOUT_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads the tables; once per process. Publishes nothing. */
void layout_open(void *libjvm);

/*
 * Reads again what the VM creates while it starts (code heaps, interpreter, stubs) and publishes a LAYOUT record:
 * always with `force`, else only when everything exists for the first time; cheap from then on. The interpreter
 * returns the end of its buffer after JVM TI has announced it, so VM start forces one more record; after that nothing
 * changes.
 */
void layout_publish(bool force);

struct braid_layout;
struct braid_objects;
struct braid_vthreads;
/* Set what is known of objects and virtual threads. A complete layout is published with it at once. */
void layout_objects_set(const struct braid_objects *o);
void layout_vthreads_set(const struct braid_vthreads *v);

/* What is known so far. */
void layout_get(struct braid_layout *l);

/* For a new connection: the check starts again. */
void layout_reset(void);

struct layout_nmethod {
	bool found;
	bool native; /* a native wrapper */
	bool osr;
	uint64_t blob;	     /* address of the CodeBlob */
	uint64_t code;	     /* address of the first instruction */
	uint32_t code_size;  /* with the stubs after the instructions, as the VM announces it from 17 on */
	uint32_t insts_size; /* without them, as 8 and 11 announce it */
	uint32_t compile_id;
	uint32_t frame_words;
	int level; /* -1: not known */
};

/* Finds the nmethod at `pc` in the code heap; n->found is false when there is none or the layout is not known. */
void layout_nmethod_find(struct layout_nmethod *n, uint64_t pc);

/* True if this nmethod matches the VM's announcement. */
bool layout_agrees(const struct layout_nmethod *n, uint64_t code, uint32_t code_size);

/* The self-check: counts matches with announcements, up to a limit, and publishes LAYOUT when it accepts or refutes. */
void layout_check(const struct layout_nmethod *n, uint64_t code, uint32_t code_size);

/* The OS id of a JavaThread, which may be about to end; 0 when it is unreadable or not of this process. */
uint32_t layout_thread_tid(uint64_t java_thread);

#endif
