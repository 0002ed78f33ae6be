// SPDX-License-Identifier: Apache-2.0
#include "chosen.h"

struct chosen chosen;

void chosen_set(const struct braid_choices *c)
{
	atomic_store(&chosen.vthread_rate, c->vthread_rate);
	atomic_store(&chosen.exception_rate, c->exception_rate);
	atomic_store(&chosen.live_max, c->live_max);
	atomic_store(&chosen.lock_min_ns, c->lock_min_ns);
	atomic_store(&chosen.wait_min_ns, c->wait_min_ns);
	atomic_store(&chosen.wanted, c->wanted);
}
