// SPDX-License-Identifier: Apache-2.0
#include "contexts.h"

#include "hotspot/hotspot.h"
#include "symbol/context.h"
#include "util/log.h"

#include <elf.h>
#include <stdio.h>

/* A process is looked at again after 50 ms, and later after up to ten seconds. */
#define AGAIN_MIN_NS 50000000ULL
#define AGAIN_MAX_NS 10000000000ULL

#define AUXV_MAX 64 /* entries; Linux has 20 */

/* Mappings of files with the context that are looked at in a process. An honest one has two or three. */
#define FILES_MAX 16

/* The address of the main program's headers; 0 when it cannot be read. */
static uint64_t main_headers(pid_t pid)
{
	Elf64_auxv_t auxv[AUXV_MAX];
	uint64_t address = 0;
	char path[32];
	size_t count;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	count = fread(auxv, sizeof(*auxv), AUXV_MAX, f);
	for (size_t i = 0; i < count; i++)
		if (auxv[i].a_type == AT_PHDR)
			address = auxv[i].a_un.a_val;
	fclose(f);
	return address;
}

static bool place_static(struct braid_context_place *to, int64_t offset)
{
	if (!offset || offset < INT32_MIN || offset > INT32_MAX)
		return false;
	to->module = BRAID_CONTEXT_STATIC;
	to->offset = (int32_t)offset;
	return true;
}

static bool place_dynamic(struct braid_context_place *to, uint64_t module, uint64_t offset)
{
	if (!module || module > BRAID_CONTEXT_MODULES || offset > INT32_MAX)
		return false;
	to->module = (uint32_t)module;
	to->offset = (int32_t)offset;
	return true;
}

/*
 * A descriptor's argument is an offset from the thread pointer, which is negative, or the address of a module's number
 * and an offset. glibc before 2.35 may resolve a descriptor at its first use, and until then has an address in the file
 * there.
 */
static bool place_of_descriptor(struct braid_context_place *to, pid_t pid, const struct context_symbols *c,
				uint64_t bias, const uint64_t word[2])
{
	uint64_t dynamic[2];

	if (!word[0])
		return false;
	if ((int64_t)word[1] < 0)
		return place_static(to, (int64_t)word[1]);
	if (word[1] - bias < c->end || hotspot_read_process(&pid, word[1], dynamic, sizeof(dynamic)))
		return false;
	return place_dynamic(to, dynamic[0], dynamic[1]);
}

/* Reads a slot of the module's global offset table; false when it is not relocated. */
static bool place_of_slot(struct braid_context_place *to, pid_t pid, const struct context_symbols *c,
			  const struct context_slot *slot, uint64_t bias)
{
	uint64_t word[2] = {0};

	if (hotspot_read_process(&pid, bias + slot->address, word, slot->kind == CONTEXT_TPOFF ? 8 : sizeof(word)))
		return false;
	switch (slot->kind) {
	case CONTEXT_TPOFF:
		return place_static(to, (int64_t)word[0]);
	case CONTEXT_DESC:
		return place_of_descriptor(to, pid, c, bias, word);
	default:
		return place_dynamic(to, word[0], slot->own ? c->offset : word[1]);
	}
}

static bool place_of_module(struct braid_context_place *to, pid_t pid, const struct context_symbols *c, uint64_t bias)
{
	if (c->defined && c->headers && main_headers(pid) == bias + c->headers)
		return place_static(to, c->main_offset);
	for (uint32_t i = 0; i < c->slot_count; i++)
		if (place_of_slot(to, pid, c, &c->slots[i], bias))
			return true;
	return false;
}

static void place_find(struct process *process)
{
	struct braid_context_place to = {0};
	bool found = false;
	int files = 0;

	for (uint32_t i = 0; i < process->mappings.count && files < FILES_MAX; i++) {
		const struct process_mapping *m = &process->mappings.at[i];
		const struct context_symbols *c = m->module->context;

		if (!c)
			continue;
		files++;
		if (!to.table && c->table)
			to.table = m->bias + c->table;
		found = found || place_of_module(&to, process->pid, c, m->bias);
	}
	process->context = to;
	process->context_wanted = !found;
	if (found)
		log_debug("process %d: the context is in module %d at %d", process->pid, (int)to.module, to.offset);
}

void context_wanted(struct process *process)
{
	process->context_wanted = true;
	process->context_look_ns = process->context_wait_ns = 0;
}

struct braid_context_place context_look(struct process *process)
{
	uint64_t now = process->context_wanted ? now_ns() : 0;

	if (process->context_wanted && now >= process->context_look_ns) {
		place_find(process);
		process->context_wait_ns = process->context_wait_ns ? process->context_wait_ns * 2 : AGAIN_MIN_NS;
		if (process->context_wait_ns > AGAIN_MAX_NS)
			process->context_wait_ns = AGAIN_MAX_NS;
		process->context_look_ns = now + process->context_wait_ns;
	}
	return process->context;
}

static void look_again(void *ctx, struct process *process)
{
	if (process->ended_ns || !process->context_wanted || now_ns() < process->context_look_ns)
		return;
	(void)context_look(process);
	if (!process->context_wanted)
		processes_changed(ctx, process);
}

#define DTV_ENTRY 16	 /* dtv_t of glibc */
#define DTV_NONE (~0ULL) /* the thread has not used the variable yet (TLS_DTV_UNALLOCATED) */

/* The address of the thread's variable, as span_variable() of the kernel side finds it; 0: it has none yet. */
static uint64_t variable_of(pid_t pid, const struct braid_context_place *place, uint64_t thread_pointer)
{
	uint64_t dtv, count, block;

	if (place->module == BRAID_CONTEXT_STATIC)
		return thread_pointer + (uint64_t)(int64_t)place->offset;
	if (!place->module || hotspot_read_process(&pid, thread_pointer + 8, &dtv, sizeof(dtv)) ||
	    hotspot_read_process(&pid, dtv - DTV_ENTRY, &count, sizeof(count)) || count < place->module ||
	    hotspot_read_process(&pid, dtv + (uint64_t)place->module * DTV_ENTRY, &block, sizeof(block)))
		return 0;
	return block && block != DTV_NONE ? block + (uint64_t)(int64_t)place->offset : 0;
}

bool context_read(const struct process *process, uint64_t thread_pointer, struct context_of_thread *to)
{
	uint64_t variable = variable_of(process->pid, &process->context, thread_pointer), at = 0;
	pid_t pid = process->pid;

	to->attribute_bytes = 0;
	if (!variable || hotspot_read_process(&pid, variable, &at, sizeof(at)) || !at ||
	    hotspot_read_process(&pid, at, &to->record, sizeof(to->record)))
		return false;
	to->attribute_bytes =
		to->record.attrs_size < sizeof(to->attributes) ? to->record.attrs_size : sizeof(to->attributes);
	if (hotspot_read_process(&pid, at + sizeof(to->record), to->attributes, to->attribute_bytes))
		to->attribute_bytes = 0;
	return true;
}

void contexts_tick(struct processes *p)
{
	if (!processes_contexts(p))
		return;
	processes_each(p, look_again, p);
	processes_show(p); /* no mapping may follow that would show them */
}
