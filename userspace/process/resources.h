/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What processes say of themselves in OpenTelemetry's process context: attributes such as their service's name, and
 * the names of their spans' attributes. Reads it from their memory, and again when it has changed. session.c and
 * spans.c call this.
 */
#ifndef BRAID_PROCESS_RESOURCES_H
#define BRAID_PROCESS_RESOURCES_H

#include "processes.h"
#include "sink/names.h"

struct resources;

int resources_new(struct resources **out, struct sink *sink, struct names *names);
void resources_free(struct resources *r);

/* Looks for contexts that are new or have changed, where that is due. */
void resources_tick(struct resources *r, struct processes *p);

/*
 * The trace's id of the name that a process gives to the attributes with this index; 0: none. A process has published
 * its names before it uses them, so they are read again if the index is not known.
 */
uint32_t resources_key(struct resources *r, struct process *process, uint8_t index);

/* The same as far as it has been read. */
uint32_t resources_known_key(const struct process *process, uint8_t index);

/* Calls back when a process's names have been read. */
void resources_hook(struct resources *r, void (*read)(void *ctx, struct process *process), void *ctx);

#endif
