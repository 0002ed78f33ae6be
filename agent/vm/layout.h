// SPDX-License-Identifier: Apache-2.0
/* Where this HotSpot keeps things, and a look into its code heap with that knowledge. */
#ifndef BRAID_AGENT_LAYOUT_H
#define BRAID_AGENT_LAYOUT_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads the tables; once per process. Publishes nothing. */
void layout_open(void *libjvm);

/*
 * Reads again what comes to exist while the VM starts (code heaps, interpreter, stubs) and publishes a LAYOUT record:
 * always with `force`, else only when everything is there for the first time. Cheap from then on. The interpreter gives
 * back the end of its buffer after it was announced, so VMStart has to force it once more: from then on nothing of it
 * changes.
 */
void layout_publish(bool force);

struct braid_objects;
struct braid_vthreads;
/* What is known of objects and of virtual threads now: part of the record from here on, which is published at once. */
void layout_objects_set(const struct braid_objects *o);
void layout_vthreads_set(const struct braid_vthreads *v);

/* A new connection: the check starts anew. */
void layout_reset(void);

struct layout_nmethod {
	bool found;
	bool native; /* a native method's wrapper */
	bool osr;
	uint64_t blob;	     /* its address */
	uint64_t code;	     /* where its instructions begin */
	uint32_t code_size;  /* with the stubs behind the instructions, which the VM announces from 17 on */
	uint32_t insts_size; /* without them, as 8 and 11 do */
	uint32_t compile_id;
	uint32_t frame_words;
	int level; /* -1: not known */
};

/* The nmethod that `pc` lies in, as the code heap has it; found is false when it has none or the layout is not known.
 */
void layout_nmethod_find(struct layout_nmethod *n, uint64_t pc);

/* Is this nmethod what the VM has announced? */
bool layout_agrees(const struct layout_nmethod *n, uint64_t code, uint32_t code_size);

/* The self-check: counts agreements until it is convinced; publishes LAYOUT when that decides something. */
void layout_check(const struct layout_nmethod *n, uint64_t code, uint32_t code_size);

/* The OS id of a JavaThread that may be about to end; 0 when it cannot be read or is not of this process. */
uint32_t layout_thread_tid(uint64_t java_thread);

#endif
