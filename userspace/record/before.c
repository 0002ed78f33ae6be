// SPDX-License-Identifier: Apache-2.0
#include "before.h"

#include "jvm/jvm.h"
#include "kernel/kernel_side.h"
#include "process/modules.h"
#include "process/processes.h"
#include "util/pair_map.h"
#include "util/vec.h"

#include <errno.h>
#include <stdlib.h>

#define SLICE_NS 10000000ULL /* of a tick: samples and events wait meanwhile */
/* From one round to the next, for threads that were left to themselves: longer each time, as some will ever be. */
#define AGAIN_MIN_NS 2000000000ULL
#define AGAIN_MAX_NS 64000000000ULL

struct before {
	struct session *session;
	struct asleep_walk *walk;
	VEC(struct braid_asleep_call) threads; /* of this round, the last ones first */
	VEC(struct asleep_known) known;	       /* of this round */
	struct pair_map known_of;	       /* (tid, process): index in it, + 1 */
	uint64_t again_ns, pause_ns;
	bool walking;
	bool left; /* a thread in this round was left to itself */
};

int before_new(struct before **out, struct session *s)
{
	struct before *b = *out = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->session = s;
	return asleep_walk_new(&b->walk);
}

void before_free(struct before *b)
{
	if (!b)
		return;
	free(b->threads.at);
	free(b->known.at);
	free(b->walk);
	pair_map_free(&b->known_of);
	free(b);
}

struct asleep_known before_known(const struct before *b, const struct process *process, uint32_t tid)
{
	const struct pair_entry *e = pair_find(&b->known_of, tid, process->id);

	return e ? b->known.at[e->value - 1] : (struct asleep_known){0};
}

static void add(void *ctx, const void *record)
{
	const struct braid_asleep_call *thread = record;
	struct before *b = ctx;

	if (thread->asleep.flags & BRAID_OFFCPU_BEFORE && VEC_PUSH(&b->threads, *thread))
		b->left = true;
}

static void begin(struct before *b)
{
	b->threads.count = 0;
	b->known.count = 0;
	pair_map_free(&b->known_of);
	b->left = kernel_side_each_asleep(b->session->kernel, add, b) != 0;
	b->walking = true;
}

static bool keep(struct before *b, uint32_t tid, const struct process *process, const struct asleep_known *known)
{
	struct pair_entry *e;

	if (VEC_PUSH(&b->known, *known))
		return false;
	e = pair_put(&b->known_of, tid, process->id, (uint32_t)b->known.count);
	if (e)
		e->value = (uint32_t)b->known.count;
	return e;
}

/* A virtual thread walks its stack itself, because then it is also known which one it is. */
static void walk(struct before *b, const struct braid_asleep_call *call, uint64_t now)
{
	const struct braid_asleep *thread = &call->asleep;
	struct session *s = b->session;
	struct process *process = processes_get(s->processes, (pid_t)thread->pid, now);
	struct asleep_stack stack = {0};
	bool kept = false;

	if (process && jvm_code_is_known(process->jvm) && !modules_reading(s->modules))
		stack = asleep_walk(s, b->walk, process,
				    &(struct asleep_thread){.regs = thread, .time_ns = now, .wants_span = true});
	if (stack.known.node && !stack.is_virtual) {
		asleep_name(s, process, call, &stack.known);
		kept = keep(b, thread->tid, process, &stack.known);
	}
	if (!kept && !asleep_has_run(thread))
		b->left = true;
}

void before_tick(struct before *b)
{
	uint64_t now = now_ns();

	if (!kernel_side_wants_before(b->session->kernel)) {
		b->walking = false;
		return;
	}
	if (!b->walking && now >= b->again_ns)
		begin(b);
	while (b->walking && b->threads.count && now_ns() - now < SLICE_NS)
		walk(b, &b->threads.at[--b->threads.count], now);
	if (!b->walking || b->threads.count)
		return;
	b->walking = false;
	b->pause_ns = b->pause_ns ? 2 * b->pause_ns : AGAIN_MIN_NS;
	if (b->pause_ns > AGAIN_MAX_NS)
		b->pause_ns = AGAIN_MAX_NS;
	b->again_ns = now + b->pause_ns;
	if (!b->left)
		kernel_side_before_known(b->session->kernel);
}
