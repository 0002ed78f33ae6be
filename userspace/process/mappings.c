// SPDX-License-Identifier: Apache-2.0
/*
 * The executable mappings of one process: the present ones by address, those of a moment ago by time. processes.h
 * declares the functions.
 */
#include "processes.h"

#include "proc/procfs.h"
#include "util/search.h"

#include <braid/trace.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Every sample is read within this time. */
#define PAST_NS 5000000000ULL
#define PAST_MAX 16384

static const struct process_mapping *process_mapping_now(const struct process *process, uint64_t address)
{
	const struct process_mapping *at = process->mappings.at;
	size_t count = process->mappings.count, found = SEARCH(i, 0, count, at[i].fact.end <= address);

	return found < count && at[found].fact.start <= address ? &at[found] : NULL;
}

const struct process_mapping *process_mapping_at(const struct process *process, uint64_t address, uint64_t time_ns)
{
	const struct process_mapping *now = process_mapping_now(process, address);

	if (now && now->from_ns <= time_ns)
		return now;
	for (uint32_t i = process->past.count; i-- > 0;) {
		const struct process_mapping *m = &process->past.at[i];

		if (address >= m->fact.start && address < m->fact.end && m->from_ns <= time_ns && time_ns < m->until_ns)
			return m;
	}
	return now;
}

bool process_layout_known(const struct process *process, uint32_t layout, uint64_t time_ns)
{
	return time_ns < process->layout_ns || !layout || layout >= process->layout_replaced;
}

bool process_is_there(const struct process *process)
{
	return !process->ended_ns && procfs_lives(process->pid, process->start_ticks);
}

static struct process_mapping *insert(struct process *pr, size_t at)
{
	struct process_mapping *to;

	if (VEC_RESERVE(&pr->mappings, 1))
		return NULL;
	to = pr->mappings.at + at;
	memmove(to + 1, to, (pr->mappings.count++ - at) * sizeof(*to));
	return to;
}

/*
 * Remembers a mapping that ended at `until_ns`. Without memory, samples under way may get the names of the new mapping.
 * Those that ended long ago do no harm, so half of all leave at once.
 */
static void retire(struct process *pr, const struct process_mapping *m, uint64_t until_ns)
{
	const struct process_mapping *past = pr->past.at;
	size_t old = SEARCH(i, 0, pr->past.count, past[i].until_ns + PAST_NS < until_ns);

	if (pr->past.count == PAST_MAX && old < PAST_MAX / 2)
		old = PAST_MAX / 2;
	if (old && old >= pr->past.count / 2) {
		memmove(pr->past.at, pr->past.at + old, (pr->past.count - old) * sizeof(*pr->past.at));
		pr->past.count -= old;
	}
	if (!VEC_PUSH(&pr->past, *m))
		pr->past.at[pr->past.count - 1].until_ns = until_ns;
}

/* Names in memory without a file do not depend on where it is mapped. */
static bool means_the_same(const struct process_mapping *a, const struct process_mapping *b)
{
	if (a->module != b->module)
		return false;
	return a->bias == b->bias || a->module->kind == TRACE_MODULE_ANON;
}

/* Remembers the mappings from `first` on that the new one covers in part. Returns the first one behind them. */
static size_t retire_all(struct process *pr, size_t first, const struct process_mapping *by, bool *changed)
{
	for (; first < pr->mappings.count && pr->mappings.at[first].fact.start < by->fact.end; first++) {
		if (means_the_same(&pr->mappings.at[first], by))
			continue;
		retire(pr, &pr->mappings.at[first], by->from_ns);
		*changed = true;
	}
	return first;
}

/* Removes what the new mapping covers. The bias of a remaining tail stays valid. */
static int cut_out(struct process *pr, const struct process_mapping *by, bool *changed)
{
	const struct process_mapping *all = pr->mappings.at;
	uint64_t start = by->fact.start, end = by->fact.end;
	size_t first = SEARCH(i, 0, pr->mappings.count, all[i].fact.end <= start);
	size_t last = retire_all(pr, first, by, changed);

	if (first == last)
		return 0;
	if (all[first].fact.start < start && all[first].fact.end > end) { /* it becomes two */
		struct process_mapping *twin = insert(pr, first);

		if (!twin)
			return -ENOMEM;
		*twin = twin[1];
		last = first + 2;
	}
	if (pr->mappings.at[first].fact.start < start)
		pr->mappings.at[first++].fact.end = start;
	if (first < last && pr->mappings.at[last - 1].fact.end > end) {
		struct mapping_fact *tail = &pr->mappings.at[--last].fact;

		tail->file_offset += end - tail->start;
		tail->start = end;
	}
	memmove(pr->mappings.at + first, pr->mappings.at + last,
		(pr->mappings.count - last) * sizeof(*pr->mappings.at));
	pr->mappings.count -= last - first;
	return 0;
}

int process_map(struct process *pr, const struct process_mapping *mapping, bool *changed)
{
	const struct process_mapping *same = process_mapping_now(pr, mapping->fact.start);
	const struct process_mapping *all;
	struct process_mapping *m;

	*changed = false;
	if (mapping->fact.end <= mapping->fact.start)
		return -EINVAL;
	if (same && same->module == mapping->module && same->fact.start == mapping->fact.start &&
	    same->fact.end == mapping->fact.end && same->fact.file_offset == mapping->fact.file_offset)
		return 0;
	if (cut_out(pr, mapping, changed))
		return -ENOMEM;
	all = pr->mappings.at;
	m = insert(pr, SEARCH(i, 0, pr->mappings.count, all[i].fact.start < mapping->fact.start));
	if (!m)
		return -ENOMEM;
	*m = *mapping;
	m->fact.path = NULL;
	return 1;
}

/* Most children end with the mappings of their parents. */
int process_map_as(struct process *pr, const struct process *from)
{
	if (!from->mappings.count)
		return 0;
	if (VEC_RESERVE(&pr->mappings, from->mappings.count))
		return -ENOMEM;
	memcpy(pr->mappings.at, from->mappings.at, from->mappings.count * sizeof(*pr->mappings.at));
	pr->mappings.count = from->mappings.count;
	return 0;
}
