// SPDX-License-Identifier: Apache-2.0
/* What the collector wants to hear, beyond what every stack needs. */
#ifndef BRAID_AGENT_CHOSEN_H
#define BRAID_AGENT_CHOSEN_H

#include <braid/ring.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* As it was last said; handlers read it at any time. */
struct chosen {
	_Atomic uint32_t wanted;
	_Atomic uint32_t vthread_rate;
	_Atomic uint32_t exception_rate;
	_Atomic uint32_t live_max;
	_Atomic uint64_t lock_min_ns;
	_Atomic uint64_t wait_min_ns;
};

extern struct chosen chosen;

/* The figures, and then what is wanted. */
void chosen_set(const struct braid_choices *c);

static inline bool chosen_wants(uint32_t choices)
{
	return atomic_load_explicit(&chosen.wanted, memory_order_relaxed) & choices;
}

#endif
