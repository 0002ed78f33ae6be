// SPDX-License-Identifier: Apache-2.0
/*
 * Virtual threads in an analyzer. There may be millions of them, most without a name or with a numbered one, so tables
 * by thread show groups: virtual threads whose names differ only in the trailing number, and those without a name.
 */
#include "vthreads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Trace files number their threads from 1. */
#define GROUP_IDS 0x80000000U
#define GROUPS_MAX 65536U
#define NAMELESS "virtual threads"

/* The name without its trailing digits. Nothing left counts as no name. */
static char *group_name(struct trace_str name, size_t *length)
{
	size_t len = name.str ? name.len : 0, stem = len;
	char *to;

	while (stem && name.str[stem - 1] >= '0' && name.str[stem - 1] <= '9')
		stem--;
	to = malloc(stem + sizeof(NAMELESS));
	if (!to)
		return NULL;
	if (!stem) {
		*length = sizeof(NAMELESS) - 1;
		memcpy(to, NAMELESS, *length);
	} else {
		memcpy(to, name.str, stem);
		if (stem < len)
			to[stem] = '*';
		*length = stem + (stem < len);
	}
	return to;
}

/* The id of the group's row in `threads`; 0: no memory. */
static uint32_t group_of(struct analyzer *a, uint32_t process, uint32_t name)
{
	uint32_t *at = u64map_put(&a->vgroup_of, (uint64_t)process << 32 | name);
	struct thread_row *t;

	if (!at)
		return 0;
	if (!*at) {
		t = table_put(&a->threads, GROUP_IDS + a->vgroups);
		if (!t)
			return 0;
		*t = (struct thread_row){
			.defined = true, .virtual = true, .process = process, .flags = TRACE_THREAD_JAVA, .name = name};
		*at = ++a->vgroups;
	}
	return GROUP_IDS + *at - 1;
}

int vthreads_feed(struct analyzer *a, const struct trace_vthread *r)
{
	struct trace_str none = {0};
	struct vthread_row *v;
	uint32_t group;
	size_t length;
	char *name;

	if (!r->vthread) {
		a->ignored++;
		return 0;
	}
	name = group_name(a->vgroups < GROUPS_MAX ? r->name : none, &length);
	if (!name)
		return -ENOMEM;
	group = strpool_add(&a->strings, name, length);
	free(name);
	if (group == STRPOOL_FAILED)
		return -ENOMEM;
	group = group_of(a, r->process, group);
	v = table_put(&a->vthreads, r->vthread);
	if (!v || !group)
		return -ENOMEM;
	v->process = r->process;
	v->number = r->number;
	v->group = group;
	v->name = strpool_add(&a->strings, r->name.str, r->name.str ? r->name.len : 0);
	return v->name == STRPOOL_FAILED ? -ENOMEM : 0;
}

const struct vthread_row *vthreads_get(const struct analyzer *a, uint32_t id)
{
	const struct vthread_row *v = id ? table_get(&a->vthreads, id) : NULL;

	return v && v->group ? v : NULL;
}

uint32_t vthreads_thread(const struct analyzer *a, const struct trace_sample *r)
{
	const struct vthread_row *v = vthreads_get(a, r->vthread);

	return v ? v->group : r->thread;
}

void vthreads_count(struct analyzer *a, const struct trace_sample *r)
{
	struct vthread_row *v = r->vthread ? table_get(&a->vthreads, r->vthread) : NULL;

	if (!v)
		return;
	a->vthreads_seen += !v->seen;
	v->seen = true;
	a->vthread_weight += r->weight < UINT64_MAX - a->vthread_weight ? r->weight : UINT64_MAX - a->vthread_weight;
}
