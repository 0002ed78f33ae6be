// SPDX-License-Identifier: Apache-2.0
/* The metadata of a chunk: a tree of elements that declares its types. */
#ifndef BRAID_JFR_METADATA_H
#define BRAID_JFR_METADATA_H

#include "bytes.h"
#include "types.h"

/* Puts the metadata event. `types` are the event types, of which only those with used[i] are declared. */
void jfr_metadata(struct bytes *to, const struct jfr_event_type *types, const bool *used, size_t count,
		  uint64_t start_ns);

#endif
