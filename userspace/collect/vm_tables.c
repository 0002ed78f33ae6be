// SPDX-License-Identifier: Apache-2.0
#include "hotspot/vm_tables.h"

#include "hotspot/hotspot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* More entries than any JDK has: the table ends with an entry without a name. */
#define ENTRIES_MAX 20000U
#define ENTRY_MAX 256U
#define STRING_MAX 128U

const char *const vm_symbols[VM_SYMBOLS] = {
	[VM_STRUCTS] = "gHotSpotVMStructs",
	[VM_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[VM_TYPE_NAME] = "gHotSpotVMStructEntryTypeNameOffset",
	[VM_FIELD_NAME] = "gHotSpotVMStructEntryFieldNameOffset",
	[VM_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
};

/* Strings lie in read-only data: what is behind a short one can be read, too, but for the last of a mapping. */
static bool read_string(pid_t pid, uint64_t address, char *to)
{
	size_t page = 4096 - (address & 4095), first = page < STRING_MAX ? page : STRING_MAX;

	to[STRING_MAX] = '\0';
	if (!address || hotspot_read_process(&pid, address, to, first))
		return false;
	if (memchr(to, '\0', first))
		return true;
	return first < STRING_MAX && !hotspot_read_process(&pid, address + first, to + first, STRING_MAX - first) &&
	       memchr(to, '\0', STRING_MAX);
}

static uint64_t word_at(const uint8_t *entry, uint64_t offset)
{
	uint64_t w;

	memcpy(&w, entry + offset, sizeof(w));
	return w;
}

/* True when the entry is one of the wanted: its class is looked at first, as most are of others. */
static bool take_entry(pid_t pid, const uint8_t *entry, const uint64_t v[VM_SYMBOLS], struct vm_offset *wanted,
		       size_t count)
{
	char type[STRING_MAX + 1], name[STRING_MAX + 1] = "";

	if (!read_string(pid, word_at(entry, v[VM_TYPE_NAME]), type))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(wanted[i].type, type) != 0)
			continue;
		if (!name[0] && !read_string(pid, word_at(entry, v[VM_FIELD_NAME]), name))
			return false;
		if (strcmp(wanted[i].name, name) != 0 || word_at(entry, v[VM_OFFSET]) > UINT16_MAX)
			continue;
		wanted[i].offset = (uint16_t)word_at(entry, v[VM_OFFSET]);
		wanted[i].found = 1;
		return true;
	}
	return false;
}

/*
 * JDK 25 says how entries are made when it has come further than agents that start with it; until then they are taken
 * for what they have been since JDK 6 (vmStructs.hpp), which finds nothing when it is wrong.
 */
static const uint64_t entry_form[VM_SYMBOLS] = {
	[VM_STRIDE] = 48, [VM_TYPE_NAME] = 0, [VM_FIELD_NAME] = 8, [VM_OFFSET] = 32};

int vm_offsets_read(pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS], struct vm_offset *wanted, size_t count)
{
	uint64_t v[VM_SYMBOLS];
	uint8_t entry[ENTRY_MAX];
	size_t missing = count;

	for (int i = 0; i < VM_SYMBOLS; i++)
		if (!at[i] || hotspot_read_process(&pid, at[i], &v[i], sizeof(v[i])))
			return -ENOENT;
	if (v[VM_STRUCTS] < bias)
		return -EAGAIN;
	if (!v[VM_STRIDE])
		memcpy(v + VM_STRIDE, entry_form + VM_STRIDE, sizeof(v) - VM_STRIDE * sizeof(*v));
	if (v[VM_STRIDE] < 8 || v[VM_STRIDE] > ENTRY_MAX || v[VM_TYPE_NAME] > v[VM_STRIDE] - 8 ||
	    v[VM_FIELD_NAME] > v[VM_STRIDE] - 8 || v[VM_OFFSET] > v[VM_STRIDE] - 8)
		return -EINVAL;
	for (uint32_t i = 0; i < ENTRIES_MAX && missing; i++) {
		if (hotspot_read_process(&pid, v[VM_STRUCTS] + i * v[VM_STRIDE], entry, v[VM_STRIDE]))
			return -EFAULT;
		if (!word_at(entry, v[VM_TYPE_NAME]))
			break;
		missing -= take_entry(pid, entry, v, wanted, count);
	}
	return missing ? -ENOENT : 0;
}

int vm_strings_read(pid_t pid, uint64_t bias, uint64_t address, size_t count, char **to)
{
	char text[STRING_MAX + 1];

	for (size_t i = 0; i < count; i++) {
		uint64_t at;

		if (hotspot_read_process(&pid, address + i * 8, &at, sizeof(at)))
			return -EFAULT;
		if (at < bias) {
			while (i)
				free(to[--i]);
			return -EAGAIN;
		}
		to[i] = read_string(pid, at, text) ? strdup(text) : NULL;
	}
	return 0;
}
