// SPDX-License-Identifier: Apache-2.0
#include "fake_vm.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* As in perfMemory.hpp. */
struct counter {
	int32_t length, name_offset, vector_length;
	uint8_t type, flags, units, variability;
	int32_t data_offset;
	char name[44];
	union {
		volatile uint64_t number;
		char text[64];
	} data;
};

static struct {
	uint32_t magic;
	uint8_t order, major, minor, accessible;
	int32_t used, overflow;
	int64_t modified;
	int32_t entry_offset, entries;
	struct counter counters[FAKE_COUNTERS];
} perf;

static const struct {
	const char *name;
	char type;
} counters[FAKE_COUNTERS] = {
	[FAKE_FREQUENCY] = {"sun.os.hrt.frequency", 'J'},
	[FAKE_CAUSE] = {"sun.gc.cause", 'B'},
	[FAKE_LAST_CAUSE] = {"sun.gc.lastCause", 'B'},
	[FAKE_YOUNG_NAME] = {"sun.gc.collector.0.name", 'B'},
	[FAKE_YOUNG_RUNS] = {"sun.gc.collector.0.invocations", 'J'},
	[FAKE_YOUNG_ENTRY] = {"sun.gc.collector.0.lastEntryTime", 'J'},
	[FAKE_YOUNG_EXIT] = {"sun.gc.collector.0.lastExitTime", 'J'},
	[FAKE_FULL_NAME] = {"sun.gc.collector.1.name", 'B'},
	[FAKE_FULL_RUNS] = {"sun.gc.collector.1.invocations", 'J'},
	[FAKE_FULL_ENTRY] = {"sun.gc.collector.1.lastEntryTime", 'J'},
	[FAKE_FULL_EXIT] = {"sun.gc.collector.1.lastExitTime", 'J'},
};

volatile uint64_t *fake_vm_number(enum fake_counter c)
{
	return &perf.counters[c].data.number;
}

void fake_vm_text(enum fake_counter c, const char *text)
{
	snprintf(perf.counters[c].data.text, sizeof(perf.counters[c].data.text), "%s", text);
}

/* ---- the tables ---- */

static void *perf_start; /* NULL: the VM does not count */
static struct {
	uint64_t before;
	volatile uint64_t used;
} heap;
static void *heap_start = &heap;

/* As in vmStructs.hpp. */
struct entry {
	const char *type, *name, *declared;
	int32_t is_static;
	uint64_t offset;
	void *address;
};

#define STRING_MAX 128 /* readers of the tables read this much at a time */
static char strings[][STRING_MAX] = {"PerfMemory",     "_start",	  "Universe",
				     "_collectedHeap", "G1CollectedHeap", "_summary_bytes_used",
				     "JavaThread",     "_vthread"};

static struct entry structs[] = {
	{strings[0], strings[1], NULL, 1, 0, &perf_start},
	{strings[2], strings[3], NULL, 1, 0, &heap_start},
	{strings[4], strings[5], NULL, 0, offsetof(__typeof__(heap), used), NULL},
	{strings[6], strings[7], NULL, 0, 8, NULL},
	{NULL, NULL, NULL, 0, 0, NULL},
};

static struct type_entry {
	const char *name;
	uint64_t size;
} types[] = {{NULL, 0}};

/* The variables that HotSpot exports. */
extern struct entry *gHotSpotVMStructs;
extern struct type_entry *gHotSpotVMTypes;
extern uint64_t gHotSpotVMStructEntryArrayStride, gHotSpotVMStructEntryTypeNameOffset,
	gHotSpotVMStructEntryFieldNameOffset, gHotSpotVMStructEntryTypeStringOffset,
	gHotSpotVMStructEntryIsStaticOffset, gHotSpotVMStructEntryOffsetOffset, gHotSpotVMStructEntryAddressOffset,
	gHotSpotVMTypeEntryArrayStride, gHotSpotVMTypeEntryTypeNameOffset, gHotSpotVMTypeEntrySizeOffset;
struct entry *gHotSpotVMStructs = structs;
struct type_entry *gHotSpotVMTypes = types;
uint64_t gHotSpotVMStructEntryArrayStride = sizeof(struct entry);
uint64_t gHotSpotVMStructEntryTypeNameOffset = offsetof(struct entry, type);
uint64_t gHotSpotVMStructEntryFieldNameOffset = offsetof(struct entry, name);
uint64_t gHotSpotVMStructEntryTypeStringOffset = offsetof(struct entry, declared);
uint64_t gHotSpotVMStructEntryIsStaticOffset = offsetof(struct entry, is_static);
uint64_t gHotSpotVMStructEntryOffsetOffset = offsetof(struct entry, offset);
uint64_t gHotSpotVMStructEntryAddressOffset = offsetof(struct entry, address);
uint64_t gHotSpotVMTypeEntryArrayStride = sizeof(struct type_entry);
uint64_t gHotSpotVMTypeEntryTypeNameOffset = offsetof(struct type_entry, name);
uint64_t gHotSpotVMTypeEntrySizeOffset = offsetof(struct type_entry, size);

void fake_vm_heap(uint64_t used)
{
	heap.used = used;
}

void fake_vm_count(const char *young, const char *full)
{
	for (int i = 0; i < FAKE_COUNTERS; i++) {
		struct counter *c = &perf.counters[i];

		*c = (struct counter){.length = sizeof(*c),
				      .name_offset = offsetof(struct counter, name),
				      .vector_length = counters[i].type == 'B' ? (int32_t)sizeof(c->data) : 0,
				      .type = (uint8_t)counters[i].type,
				      .data_offset = offsetof(struct counter, data)};
		snprintf(c->name, sizeof(c->name), "%s", counters[i].name);
	}
	*fake_vm_number(FAKE_FREQUENCY) = 1000000000;
	fake_vm_text(FAKE_CAUSE, "No GC");
	fake_vm_text(FAKE_LAST_CAUSE, "No GC");
	fake_vm_text(FAKE_YOUNG_NAME, young);
	fake_vm_text(FAKE_FULL_NAME, full);
	perf.magic = 0xc0c0fecaU;
	perf.entry_offset = (int32_t)((char *)perf.counters - (char *)&perf);
	perf.entries = FAKE_COUNTERS;
	perf_start = &perf;
}

int32_t *fake_vm_entry(int number)
{
	return &perf.counters[number].length;
}
