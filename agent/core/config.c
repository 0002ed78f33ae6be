// SPDX-License-Identifier: Apache-2.0
/* The store of the event configuration; see config.h. */
#include "config.h"

struct agent_config config;

void config_set(const struct braid_event_config *c)
{
	atomic_store(&config.vthread_rate, c->vthread_rate);
	atomic_store(&config.exception_rate, c->exception_rate);
	atomic_store(&config.live_max, c->live_max);
	atomic_store(&config.jni_max, c->jni_max);
	atomic_store(&config.critical_min_ns, c->critical_min_ns);
	atomic_store(&config.lock_min_ns, c->lock_min_ns);
	atomic_store(&config.wait_min_ns, c->wait_min_ns);
	atomic_store(&config.enabled, c->enabled);
}
