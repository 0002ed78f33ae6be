// SPDX-License-Identifier: Apache-2.0
/*
 * Where functions begin in an image that has lost its symbols: .eh_frame_hdr lists the start of every frame description
 * in order (Linux Standard Base, "Exception Frames"). They get empty names: one place in a report instead of one per
 * address.
 */
#include "set.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>

#define HEADER_MAX (64UL << 20)
#define POINTER_PCREL_SDATA4 0x1b
#define COUNT_UDATA4 0x03
#define TABLE_DATAREL_SDATA4 0x3b

struct entry {
	int32_t start; /* from the header's address */
	int32_t description;
};

static int32_t word(const char *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static int add_entries(struct symbol_set *set, uint64_t base, const char *table, size_t count)
{
	static char unnamed[] = "";
	size_t sorted = set->count;
	int err = 0;

	set_sort(set);
	for (size_t i = 0; i + 1 < count && !err; i++) { /* the last one's end is not known */
		uint64_t start = base + (uint64_t)(int64_t)word(table + i * sizeof(struct entry));
		uint64_t end = base + (uint64_t)(int64_t)word(table + (i + 1) * sizeof(struct entry));
		struct symbol_candidate c = {
			.address = start, .size = end - start, .name = unnamed, .binding = SYMBOL_LOCAL};

		if (end > start && !set_name_at(set, sorted, start))
			err = set_add(set, &c);
	}
	return err;
}

int set_add_frames(struct symbol_set *set, Elf *elf)
{
	const char *at;
	Elf_Data *data;
	GElf_Phdr ph;
	size_t phnum, count;

	if (elf_getphdrnum(elf, &phnum))
		return 0;
	for (size_t i = 0; i < phnum; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_GNU_EH_FRAME)
			continue;
		if (ph.p_filesz < 12 || ph.p_filesz > HEADER_MAX || ph.p_offset > INT64_MAX)
			return 0;
		data = elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, ph.p_filesz, ELF_T_BYTE);
		if (!data || data->d_size < 12)
			return 0;
		at = data->d_buf;
		if (at[0] != 1 || at[1] != POINTER_PCREL_SDATA4 || at[2] != COUNT_UDATA4 ||
		    at[3] != TABLE_DATAREL_SDATA4)
			return 0;
		count = (uint32_t)word(at + 8);
		if (count > (data->d_size - 12) / sizeof(struct entry))
			count = (data->d_size - 12) / sizeof(struct entry);
		return add_entries(set, ph.p_vaddr, at + 12, count);
	}
	return 0;
}
