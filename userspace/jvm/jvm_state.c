// SPDX-License-Identifier: Apache-2.0
/*
 * Accessors and helpers for the state of a JVM. Every other file of jvm/ may call these; they call none of those files.
 */
#include "jvm_state.h"
#include "vthread_times.h"

#include "hotspot/vm_tables.h"
#include "kernel/kernel_side.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_FIRST_ROOM 1024U
#define LIST_PART 1024 /* items that a list pays for at a time */

void jvm_configure(struct jvm *j, uint32_t enabled)
{
	if (j->enabled & ~enabled & BRAID_EVENT_TYPE(OFFCPU)) /* what comes later is not known */
		vthread_times_end(j->jvms, j->slot, now_ns());
	jvm_set_enabled(j, enabled);
}

bool jvm_had_agent(const struct jvm *j)
{
	return j && j->joined;
}

uint32_t jvm_slot(const struct jvm *j)
{
	return j->slot;
}

uint32_t jvm_generation(const struct jvm *j)
{
	return j->generation;
}

bool jvm_layout_known(const struct jvm *j)
{
	return j->layout_known;
}

bool jvm_replayed(const struct jvm *j)
{
	return j->replayed;
}

bool jvm_code_is_known(const struct jvm *j)
{
	return !j || !jvm_had_agent(j) || jvm_replayed(j);
}

/* ---- layout ---- */

void jvm_set_layout(struct jvm *j, const struct braid_layout *l, const struct braid_statics *v)
{
	j->layout = *l;
	j->statics = *v;
	j->layout_known = true;
	kernel_side_layout(j->jvms->kernel, j->slot, l, v);
}

void jvm_layout_grow(struct jvm *j, bool old)
{
	bool whole;

	if (!(j->layout.flags & BRAID_LAYOUT_GROWING))
		return;
	whole = vm_statics_read(j->process->pid, &j->statics, &j->layout);
	if (!whole || !old || j->layout_reported)
		return;
	j->layout.flags &= ~BRAID_LAYOUT_GROWING;
	kernel_side_layout(j->jvms->kernel, j->slot, &j->layout, &j->statics);
}

const struct braid_layout *jvm_layout(struct jvm *j)
{
	if (!j || !j->layout_known)
		return NULL;
	jvm_layout_grow(j, false);
	return &j->layout;
}

/* ---- strings of records ---- */

bool jvm_take_string(const char **at, const char *end, uint16_t length, const char **out)
{
	if ((size_t)(end - *at) < length)
		return false;
	*out = *at;
	*at += length;
	return true;
}

void jvm_replace_string(char **to, const char *text, uint16_t length)
{
	free(*to);
	*to = malloc(3 * (size_t)length + 1);
	if (*to)
		utf8_from_modified(*to, 3 * (size_t)length + 1, text, length);
}

bool jvm_keep(struct jvm *j, size_t bytes)
{
	if (!account_reserve(&j->process->account, j->jvms->sink, BUDGET_JVM_BYTES, bytes))
		return false;
	j->kept_bytes += bytes;
	return true;
}

bool jvm_has_room(struct jvm *j, size_t count, size_t *paid, size_t max, size_t size)
{
	if (count < *paid)
		return true;
	if (*paid >= max || !jvm_keep(j, LIST_PART * size))
		return false;
	*paid += LIST_PART;
	return true;
}

bool jvm_reach(struct jvm *j, void **table, uint32_t *count, uint32_t id, size_t size)
{
	uint32_t room = *count ?: TABLE_FIRST_ROOM;
	uint8_t *bigger;

	if (id < *count)
		return true;
	while (room <= id)
		room *= 2;
	if (!jvm_keep(j, (room - *count) * size))
		return false;
	bigger = realloc(*table, room * size);
	if (!bigger)
		return false;
	memset(bigger + *count * size, 0, (room - *count) * size);
	*table = bigger;
	*count = room;
	return true;
}
