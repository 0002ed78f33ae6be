// SPDX-License-Identifier: Apache-2.0
#include "offcpu.h"

#include "braid.skel.h"

#include <bpf/libbpf.h>
#include <errno.h>

/*
 * The owner of a contended monitor or lock matters even if sleeps are reported only from a longer time on. But where
 * threads hand a lock over every few microseconds, a walk each time would cost more than the lock.
 */
#define OWNER_MIN_NS 50000ULL

int offcpu_configure(struct braid_bpf *b, const struct braid_event_config *c)
{
	bool sleeps = c->enabled & (BRAID_EVENT_TYPE(WAIT) | BRAID_EVENT_TYPE(LOCK));
	int err = bpf_program__set_autoload(b->progs.on_switch, sleeps);

	err = err ?: bpf_program__set_autoload(b->progs.on_waking, sleeps);
	err = err ?: bpf_program__set_autoload(b->progs.on_syscall_end, sleeps);
	err = err ?: bpf_program__set_autoload(b->progs.on_thread_exit, c->enabled & BRAID_EVENT_TYPE(THREAD));
	return err ?: bpf_map__set_max_entries(b->maps.sleepers, sleeps ? BRAID_SLEEPERS : 1);
}

void offcpu_limits(struct braid_jvm *jvm, const struct braid_event_config *c)
{
	uint64_t owner_min = c->lock_min_ns > OWNER_MIN_NS ? c->lock_min_ns : OWNER_MIN_NS;

	jvm->sleep_min_ns = jvm->waker_min_ns = c->enabled & BRAID_EVENT_TYPE(WAIT) ? c->wait_min_ns : UINT64_MAX;
	/* The agent handles the configuration of single threads, and it sees monitors only. */
	jvm->park_min_ns = c->enabled & ~c->threaded & BRAID_EVENT_TYPE(LOCK) ? owner_min : UINT64_MAX;
	if (c->enabled & BRAID_EVENT_TYPE(LOCK) && owner_min < jvm->waker_min_ns)
		jvm->waker_min_ns = owner_min;
}

/* Programs that end a sleep are attached first, so every sleep whose begin is seen has its end seen. */
int offcpu_attach(struct braid_bpf *b, struct bpf_link *links[OFFCPU_LINKS])
{
	struct bpf_program *programs[OFFCPU_LINKS] = {b->progs.on_thread_exit, b->progs.on_syscall_end,
						      b->progs.on_waking, b->progs.on_switch};

	for (int i = 0; i < OFFCPU_LINKS; i++) {
		if (!bpf_program__autoload(programs[i]))
			continue;
		links[i] = bpf_program__attach(programs[i]);
		if (!links[i])
			return -errno;
	}
	return 0;
}

void offcpu_detach(struct bpf_link *links[OFFCPU_LINKS])
{
	for (int i = OFFCPU_LINKS; i-- > 0;) {
		bpf_link__destroy(links[i]);
		links[i] = NULL;
	}
}
