// SPDX-License-Identifier: Apache-2.0
/* The event configuration that the collector sent last, for handlers to read at any time. kinds.c sets it. */
#ifndef BRAID_AGENT_CONFIG_H
#define BRAID_AGENT_CONFIG_H

#include <braid/ring.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct agent_config {
	_Atomic uint32_t enabled;
	_Atomic uint32_t vthread_rate;
	_Atomic uint32_t exception_rate;
	_Atomic uint32_t live_max;
	_Atomic uint32_t jni_max;
	_Atomic uint64_t lock_min_ns;
	_Atomic uint64_t wait_min_ns;
	_Atomic uint64_t critical_min_ns;
};

extern struct agent_config config;

/* Sets the figures first and the enabled types last. */
void config_set(const struct braid_event_config *c);

static inline bool config_enables(uint32_t types)
{
	return atomic_load_explicit(&config.enabled, memory_order_relaxed) & types;
}

#endif
