// SPDX-License-Identifier: Apache-2.0
#include "settle.h"

#include "agents/agents.h"
#include "jvm/probes.h"
#include "util/clock.h"

#define SETTLE_NS 2000000000ULL /* how long sampling waits for agents to connect */

/*
 * Samples are whole without an agent, and the default types do not need one at the start. Other types come from agents
 * and probes, so the start waits for both: they are then recorded from the first second on. A caller with `edge`
 * compares the process at the begin and at the end: the agent must not be part of the difference.
 */
#define TYPES_AT_ONCE (BRAID_EVENT_TYPE(CPU) | BRAID_EVENT_TYPE(GC) | BRAID_EVENT_TYPE(THREAD) | BRAID_EVENT_TYPE(JIT))

static bool waits_for_agents(const struct session *s)
{
	return s->options->config.enabled & ~TYPES_AT_ONCE || options_probe_jvms(s->options) || s->options->edge;
}

bool settle_is_done(const struct session *s)
{
	if (agents_eager(s->agents))
		return false;
	return !waits_for_agents(s) || (!agents_expected(s->agents) && !probes_pending(s->jvms.probes));
}

int settle(struct session *s)
{
	uint64_t until = now_ns() + SETTLE_NS;
	int err = 0;

	if (waits_for_agents(s)) /* probes are set while agents come in */
		probes_discover(s->jvms.probes);
	while (!err && !s->finished && now_ns() < until && !settle_is_done(s)) {
		err = sources_dispatch(&s->sources, 1);
		probes_tick(s->jvms.probes);
		agents_drain(s->agents);
	}
	return err;
}
