// SPDX-License-Identifier: Apache-2.0
#include "strays.h"

#include <bpf/bpf.h>
#include <string.h>

/* The process's entry; NULL: there are too many, which the map has no room for either. */
static struct stray *stray_of(struct strays *s, uint32_t pid)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (s->at[i].pid == pid)
			return &s->at[i];
	if (s->count == BRAID_STRAYS)
		return NULL;
	s->at[s->count] = (struct stray){.pid = pid};
	return &s->at[s->count++];
}

/* Makes `now` what was lost since the last report. False: nothing. */
static bool take_new(struct stray *stray, struct braid_lost *now)
{
	const struct braid_lost all = *now;
	bool any = false;

	for (uint32_t i = 0; i < BRAID_JVM_KINDS_MAX; i++) {
		now->events[i] -= stray->lost.events[i];
		any |= now->events[i] != 0;
	}
	stray->lost = all;
	return any;
}

static void read_one(struct strays *s, int map, uint32_t pid, kernel_lost_fn fn, void *ctx)
{
	struct stray *stray = stray_of(s, pid);
	struct braid_lost lost;
	bool removed = false;

	if (!stray || bpf_map_lookup_elem(map, &pid, &lost))
		return;
	if (memcmp(&lost, &stray->lost, sizeof(lost)) == 0)
		removed = !bpf_map_lookup_and_delete_elem(map, &pid, &lost);
	if (take_new(stray, &lost))
		fn(ctx, (pid_t)pid, &lost);
	if (removed)
		*stray = s->at[--s->count];
}

void strays_read(struct strays *s, int map, kernel_lost_fn fn, void *ctx)
{
	uint32_t pids[BRAID_STRAYS], count = 0;

	while (count < BRAID_STRAYS && !bpf_map_get_next_key(map, count ? &pids[count - 1] : NULL, &pids[count]))
		count++;
	for (uint32_t i = 0; i < count; i++)
		read_one(s, map, pids[i], fn, ctx);
}
