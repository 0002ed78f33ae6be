// SPDX-License-Identifier: Apache-2.0
#include "vthreads.h"

#include "sink/records.h"

#include <util/pair_map.h>
#include <util/utf8.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct vthreads {
	struct sink *sink;
	uint32_t last;
};

int vthreads_new(struct vthreads **out, struct sink *sink)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->sink = sink;
	return 0;
}

void vthreads_free(struct vthreads *v)
{
	free(v); /* processes own the rest */
}

/* Defines it in the trace, and again when its name has changed. */
static uint32_t vthread_define(struct vthreads *v, struct process *process, uint64_t number, const char *name,
			       size_t length)
{
	uint32_t hash = (uint32_t)XXH3_64bits(name, length);
	struct pair_entry *e = pair_find(&process->vthreads, number, 0);

	if (e && e->extra == hash)
		return e->value;
	if (!e && !account_reserve(&process->account, v->sink, BUDGET_VTHREADS, 1))
		return 0;
	if (!e && !(e = pair_put(&process->vthreads, number, 0, v->last + 1))) {
		sink_loss(v->sink, process->id, "collector", "vthread", 1);
		return 0;
	}
	if (e->value > v->last)
		v->last = e->value;
	e->extra = hash;
	sink_vthread(v->sink, &(struct trace_vthread){.vthread = e->value,
						      .process = process->id,
						      .number = number,
						      .name = {.str = name, .len = (uint32_t)length}});
	return e->value;
}

void vthreads_seen(struct vthreads *v, struct process *process, const struct braid_event_vthread *e)
{
	char modified[BRAID_VTHREAD_NAME_MAX * 2];
	char name[sizeof(modified) * 2];
	uint32_t bytes = e->name_bytes < BRAID_VTHREAD_NAME_MAX ? e->name_bytes : BRAID_VTHREAD_NAME_MAX;
	size_t length = utf8_put_units(modified, e->name, bytes, e->utf16);

	vthread_define(v, process, e->id, name, utf8_from_modified(name, sizeof(name), modified, length));
}

uint32_t vthreads_id(struct vthreads *v, struct process *process, uint64_t number)
{
	const struct pair_entry *e;

	if (!number)
		return 0;
	e = pair_find(&process->vthreads, number, 0);
	return e ? e->value : vthread_define(v, process, number, "", 0);
}
