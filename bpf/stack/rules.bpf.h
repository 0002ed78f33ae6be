// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Finds mappings and unwind rules for native code: implements walk_mapping() and walk_rule() for the walk. */
#ifndef BRAID_RULES_BPF_H
#define BRAID_RULES_BPF_H

#include "slot.bpf.h"
/*
 * Unwind rules that were found for addresses of native code. They are valid while the process's mappings stay the
 * same, as the generation shows.
 */
struct rule_memo {
	__u64 pc;
	__u32 generation;
	__u32 rule;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, BRAID_RULE_MEMOS); /* set at load: this number per slot */
	__type(key, __u32);
	__type(value, struct rule_memo);
} rule_memos SEC(".maps");

/* Steps of a binary search over a process's mappings (at most 2^16) and over a page's rows (at most one per byte). */
#define MAPPING_STEPS 17
#define ROW_STEPS (BRAID_UNWIND_PAGE_SHIFT + 1)

__noinline int find_mapping(__u64 pc, struct braid_mapping *m, __u32 slot)
{
	struct sample *s = slot_at(slot);
	__u32 low, high;

	if (!s)
		return 0;
	low = s->process.first_mapping;
	high = low + s->process.mapping_count;

	if (pc >= s->last.start && pc < s->last.end) {
		if (m)
			*m = s->last;
		return 1;
	}
	for (int i = 0; i < MAPPING_STEPS && low < high; i++) {
		__u32 middle = (low + high) / 2;
		struct braid_mapping *at = bpf_map_lookup_elem(&mappings, &middle);

		if (!at)
			return 0;
		if (pc < at->start) {
			high = middle;
		} else if (pc >= at->end) {
			low = middle + 1;
		} else {
			s->last = *at;
			if (m)
				*m = *at;
			return 1;
		}
	}
	return 0;
}

WALK_INLINE bool walk_mapping(struct braid_walk *w, __u64 pc, struct braid_mapping *m)
{
	if (m)
		*m = (struct braid_mapping){0}; /* older verifiers require initialised memory */
	return find_mapping(pc, m, w->slot);
}

__noinline __u32 find_rule(__u32 table, __u64 vaddr)
{
	__u32 key = table, low, high, first, base, rule = BRAID_CFA_NONE;
	struct braid_table *t = bpf_map_lookup_elem(&tables, &key);
	struct braid_unwind_row *row;
	struct braid_page *p;
	bool found = false;
	__u64 page;

	if (!t)
		return BRAID_CFA_NONE;
	page = (vaddr >> BRAID_UNWIND_PAGE_SHIFT) - t->first_page;
	if (page >= t->page_count)
		return BRAID_CFA_NONE;
	base = t->rows_at;
	key = t->pages_at + (__u32)page;
	p = bpf_map_lookup_elem(&pages, &key);
	if (!p)
		return BRAID_CFA_NONE;
	low = first = p->first;
	high = p->end;
	for (int i = 0; i < ROW_STEPS && low < high; i++) {
		__u32 middle = (low + high) / 2;

		key = base + middle;
		row = bpf_map_lookup_elem(&rows, &key);
		if (!row)
			return BRAID_CFA_NONE;
		if (row->pc <= vaddr) {
			low = middle + 1;
			rule = row->rule;
			found = true;
		} else {
			high = middle;
		}
	}
	/* A comparison of `low` would make the verifier follow every path of the search. */
	if (found || !first)
		return rule;
	key = base + first - 1;
	row = bpf_map_lookup_elem(&rows, &key);
	return row ? row->rule : BRAID_CFA_NONE;
}

WALK_INLINE __u32 walk_rule(struct braid_walk *w, const struct braid_mapping *m, __u64 vaddr)
{
	(void)w;
	return find_rule(m->table, vaddr);
}

/* The rule in force at `pc`, or the reason why there is none. */
static __always_inline __u32 walk_rule_at(struct braid_walk *w, __u64 pc)
{
	__u32 key = w->slot * BRAID_RULE_MEMOS + (pc ^ pc >> 12) % BRAID_RULE_MEMOS, rule;
	struct rule_memo *m = bpf_map_lookup_elem(&rule_memos, &key);
	struct sample *s = slot_at(w->slot);

	if (!s)
		return BRAID_CFA_NONE;
	if (m && m->pc == pc && m->generation == s->generation && s->generation)
		return m->rule;
	rule = walk_rule_find(w, pc);
	if (m && braid_rule_cfa(rule) < WALK_CFA_NO_TABLE) {
		m->pc = pc;
		m->generation = s->generation;
		m->rule = rule;
	}
	return rule;
}

#endif
