// SPDX-License-Identifier: Apache-2.0
/*
 * Function starts of an image without symbols: .eh_frame_hdr lists the start of every frame description in order (Linux
 * Standard Base, "Exception Frames"). These functions get empty names, so that a report has one location for each
 * instead of one per address. A symbol to be probed must match such a start, too.
 */
#include "set.h"

#include "util/elf_file.h"
#include "util/search.h"
#include "util/stint.h"

#include <errno.h>
#include <gelf.h>
#include <stddef.h>
#include <string.h>

#define HEADER_MAX (64UL << 20)
#define POINTER_PCREL_SDATA4 0x1b
#define COUNT_UDATA4 0x03
#define TABLE_DATAREL_SDATA4 0x3b

struct entry {
	int32_t start; /* relative to the header's address */
	int32_t description;
};

static uint32_t word(const char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* A word that is a distance, possibly backwards, to be added to an address. */
static uint64_t distance(const char *at)
{
	return (uint64_t)(int32_t)word(at);
}

/* .eh_frame_hdr's sorted table, in the form that all linkers write. */
struct frame_table {
	const char *entries;
	uint64_t base;
	size_t count;
};

static uint64_t start_of(const struct frame_table *t, size_t i)
{
	return t->base + distance(t->entries + i * sizeof(struct entry) + offsetof(struct entry, start));
}

static uint64_t description_of(const struct frame_table *t, size_t i)
{
	return t->base + distance(t->entries + i * sizeof(struct entry) + offsetof(struct entry, description));
}

static bool header_read(struct frame_table *t, Elf *elf, const GElf_Phdr *ph)
{
	const char *at;

	if (ph->p_filesz < 12 || ph->p_filesz > HEADER_MAX)
		return false;
	at = elf_segment_bytes(elf, ph, ph->p_vaddr, ph->p_filesz);
	if (!at || at[0] != 1 || at[1] != POINTER_PCREL_SDATA4 || at[2] != COUNT_UDATA4 ||
	    at[3] != TABLE_DATAREL_SDATA4)
		return false;
	*t = (struct frame_table){.entries = at + 12, .base = ph->p_vaddr, .count = word(at + 8)};
	if (t->count > (ph->p_filesz - 12) / sizeof(struct entry))
		t->count = (ph->p_filesz - 12) / sizeof(struct entry);
	return true;
}

static bool frame_table_find(struct frame_table *t, Elf *elf)
{
	size_t phnum;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &phnum))
		return false;
	for (size_t i = 0; i < phnum; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_GNU_EH_FRAME)
			return header_read(t, elf, &ph);
	return false;
}

int set_add_frames(struct symbol_set *set, Elf *elf)
{
	static char unnamed[] = "";
	size_t sorted = set->list.count;
	struct frame_table t;
	int err;

	if (!frame_table_find(&t, elf))
		return 0;
	err = set_sort(set);
	for (size_t i = 0; i + 1 < t.count && !err; i++) { /* the last one has no known end */
		uint64_t start = start_of(&t, i), end = start_of(&t, i + 1);
		struct symbol_candidate c = {
			.address = start, .name = unnamed, .size = symbol_size(end - start), .binding = SYMBOL_LOCAL};

		if (stint_over())
			return -ETIME;
		if (end > start && !set_has(set, sorted, start))
			err = set_add(set, &c);
	}
	return err;
}

/* The number of starts before this address, or at it if `at`. */
static size_t count_before(const struct frame_table *t, uint64_t address, bool at)
{
	return SEARCH(i, 0, t->count, start_of(t, i) < address || (at && start_of(t, i) == address));
}

bool frames_begin_at(Elf *elf, uint64_t address)
{
	struct frame_table t;
	size_t i;

	if (!frame_table_find(&t, elf))
		return false;
	i = count_before(&t, address, false);
	return i < t.count && start_of(&t, i) == address;
}

/*
 * An FDE is its length, the distance to its CIE, where its function begins, mostly relative to that place itself, and
 * the function's length. One in another form covers everything.
 */
bool frames_cover(Elf *elf, uint64_t address)
{
	struct frame_table t;
	uint64_t start, fde;
	const char *at;
	GElf_Phdr ph;
	size_t i;

	if (!frame_table_find(&t, elf) || !(i = count_before(&t, address, true)))
		return false;
	start = start_of(&t, i - 1);
	fde = description_of(&t, i - 1);
	at = elf_segment_of(elf, fde, 0, &ph) ? elf_segment_bytes(elf, &ph, fde, 16) : NULL;
	if (!at || fde + 8 + distance(at + 8) != start)
		return true;
	return address - start < word(at + 12);
}

bool frames_around(Elf *elf, uint64_t address, uint64_t *start, uint64_t *end)
{
	struct frame_table t;
	size_t i;

	if (!frame_table_find(&t, elf))
		return false;
	i = count_before(&t, address, true);
	if (!i || i == t.count) /* the last one has no known end */
		return false;
	*start = start_of(&t, i - 1);
	*end = start_of(&t, i);
	return *start <= address && address < *end;
}
