// SPDX-License-Identifier: Apache-2.0
/* For each collector, the paths through the VM's structures to the counts that add up to the used heap; see heap.h. */
#include "heap.h"

#include "mem.h"
#include "vmstructs.h"

#include <stddef.h>

enum {
	F_HEAP,
	F_TOP_SERIAL,
	F_BOTTOM_SERIAL,
	F_BOTTOM_NEW,
	F_YOUNG_NEW,
	F_OLD_NEW,
	F_YOUNG,
	F_OLD,
	F_GENERATIONS,
	F_EDEN,
	F_FROM,
	F_TENURED,
	F_TENURED_8,
	F_TOP_PARALLEL,
	F_BOTTOM_PARALLEL,
	F_BOTTOM_PARALLEL_OLD,
	F_PS_YOUNG,
	F_PS_OLD,
	F_PS_EDEN,
	F_PS_FROM,
	F_PS_SPACE,
	F_G1_USED,
	F_G1_ALLOCATOR,
	F_G1_USED_8,
	F_Z_HEAP,
	F_Z_PAGES,
	F_Z_USED,
	F_X_HEAP,
	F_X_PAGES,
	F_X_USED,
	F_SHENANDOAH_USED,
	F_SHENANDOAH_ALL,
	F_GENERATION_USED,
	FIELDS
};

static struct vm_field field[FIELDS] = {
	[F_HEAP] = {.type = "Universe", .name = "_collectedHeap"},
	[F_TOP_SERIAL] = {.type = "ContiguousSpace", .name = "_top"},
	[F_BOTTOM_SERIAL] = {.type = "Space", .name = "_bottom"},	 /* up to 21 */
	[F_BOTTOM_NEW] = {.type = "ContiguousSpace", .name = "_bottom"}, /* later */
	[F_YOUNG_NEW] = {.type = "SerialHeap", .name = "_young_gen"},	 /* 22 and later */
	[F_OLD_NEW] = {.type = "SerialHeap", .name = "_old_gen"},
	[F_YOUNG] = {.type = "GenCollectedHeap", .name = "_young_gen"}, /* 9 to 21 */
	[F_OLD] = {.type = "GenCollectedHeap", .name = "_old_gen"},
	[F_GENERATIONS] = {.type = "GenCollectedHeap", .name = "_gens"}, /* 8: an array of pointers */
	[F_EDEN] = {.type = "DefNewGeneration", .name = "_eden_space"},
	[F_FROM] = {.type = "DefNewGeneration", .name = "_from_space"},
	[F_TENURED] = {.type = "TenuredGeneration", .name = "_the_space"},
	[F_TENURED_8] = {.type = "OneContigSpaceCardGeneration", .name = "_the_space"},
	[F_TOP_PARALLEL] = {.type = "MutableSpace", .name = "_top"},
	[F_BOTTOM_PARALLEL] = {.type = "MutableSpace", .name = "_bottom"},
	[F_BOTTOM_PARALLEL_OLD] = {.type = "ImmutableSpace", .name = "_bottom"}, /* up to 11 */
	[F_PS_YOUNG] = {.type = "ParallelScavengeHeap", .name = "_young_gen"},
	[F_PS_OLD] = {.type = "ParallelScavengeHeap", .name = "_old_gen"},
	[F_PS_EDEN] = {.type = "PSYoungGen", .name = "_eden_space"},
	[F_PS_FROM] = {.type = "PSYoungGen", .name = "_from_space"},
	[F_PS_SPACE] = {.type = "PSOldGen", .name = "_object_space"},
	[F_G1_USED] = {.type = "G1CollectedHeap", .name = "_summary_bytes_used"},
	[F_G1_ALLOCATOR] = {.type = "G1CollectedHeap", .name = "_allocator"}, /* 8 */
	[F_G1_USED_8] = {.type = "G1Allocator", .name = "_summary_bytes_used"},
	[F_Z_HEAP] = {.type = "ZCollectedHeap", .name = "_heap"},
	[F_Z_PAGES] = {.type = "ZHeap", .name = "_page_allocator"},
	[F_Z_USED] = {.type = "ZPageAllocator", .name = "_used"}, /* not in 25, which counts by NUMA node */
	[F_X_HEAP] = {.type = "XCollectedHeap", .name = "_heap"}, /* 21 to 23 */
	[F_X_PAGES] = {.type = "XHeap", .name = "_page_allocator"},
	[F_X_USED] = {.type = "XPageAllocator", .name = "_used"},
	[F_SHENANDOAH_USED] = {.type = "ShenandoahHeap", .name = "_used"},
	[F_SHENANDOAH_ALL] = {.type = "ShenandoahHeap", .name = "_global_generation"}, /* 24 and later */
	[F_GENERATION_USED] = {.type = "ShenandoahGeneration", .name = "_used"},
};

#define STEPS 2
#define TERMS 3

/* One summand: from the pointer at `root` through pointers at offsets to a count or to a space. */
struct term {
	uint64_t root;
	uint32_t steps;
	uint64_t offset[STEPS]; /* of the pointer to follow */
	uint64_t last;		/* of the count, or of the space's top */
	uint64_t bottom;	/* of the space's bottom */
	bool space;
};

static struct {
	struct term term[TERMS];
	uint32_t count;
} heap;

void heap_open(void *libjvm)
{
	vmstructs_read(libjvm, field, FIELDS, NULL, 0);
}

typedef bool load_fn(uint64_t at, uint64_t *value);

static bool load_checked(uint64_t at, uint64_t *value)
{
	return mem_read(value, at, sizeof(*value));
}

static bool load_plain(uint64_t at, uint64_t *value)
{
	*value = *(const volatile uint64_t *)(uintptr_t)at;
	return true;
}

static bool term_value(const struct term *t, load_fn *load, uint64_t *value)
{
	uint64_t at, top, bottom = 0;

	if (!load(t->root, &at))
		return false;
	for (uint32_t i = 0; i < t->steps; i++)
		if (!at || !load(at + t->offset[i], &at))
			return false;
	if (!at || !load(at + t->last, &top) || (t->space && !load(at + t->bottom, &bottom)) || top < bottom)
		return false;
	*value = top - bottom;
	return true;
}

static bool sum(load_fn *load, uint64_t *used)
{
	uint64_t value;

	*used = 0;
	for (uint32_t i = 0; i < heap.count; i++) {
		if (!term_value(&heap.term[i], load, &value))
			return false;
		*used += value;
	}
	return heap.count > 0;
}

static bool found(int a, int b, int c)
{
	return field[a].found && field[b].found && field[c].found;
}

static void space_add(uint64_t root, uint32_t steps, uint64_t first, uint64_t second, int top, int bottom)
{
	heap.term[heap.count++] = (struct term){
		.root = root,
		.steps = steps,
		.offset = {first, second},
		.last = field[top].offset,
		.bottom = field[bottom].offset,
		.space = true,
	};
}

static void serial_take(void)
{
	int bottom = field[F_BOTTOM_NEW].found ? F_BOTTOM_NEW : F_BOTTOM_SERIAL;
	int the_space = field[F_TENURED].found ? F_TENURED : F_TENURED_8;
	uint64_t young, old, root = field[F_HEAP].address;

	if (field[F_GENERATIONS].found) {
		young = field[F_GENERATIONS].offset;
		old = young + sizeof(void *);
	} else {
		young = field[F_YOUNG_NEW].found ? field[F_YOUNG_NEW].offset : field[F_YOUNG].offset;
		old = field[F_OLD_NEW].found ? field[F_OLD_NEW].offset : field[F_OLD].offset;
	}
	if (!young || !old || !found(F_HEAP, F_TOP_SERIAL, bottom) || !found(F_EDEN, F_FROM, the_space))
		return;
	space_add(root, 2, young, field[F_EDEN].offset, F_TOP_SERIAL, bottom);
	space_add(root, 2, young, field[F_FROM].offset, F_TOP_SERIAL, bottom);
	space_add(root, 2, old, field[the_space].offset, F_TOP_SERIAL, bottom);
}

static void parallel_take(void)
{
	int bottom = field[F_BOTTOM_PARALLEL].found ? F_BOTTOM_PARALLEL : F_BOTTOM_PARALLEL_OLD;
	uint64_t young = field[F_PS_YOUNG].address, old = field[F_PS_OLD].address;

	if (!young || !old || !found(F_TOP_PARALLEL, bottom, F_PS_SPACE) || !found(F_PS_EDEN, F_PS_FROM, F_PS_YOUNG))
		return;
	space_add(young, 1, field[F_PS_EDEN].offset, 0, F_TOP_PARALLEL, bottom);
	space_add(young, 1, field[F_PS_FROM].offset, 0, F_TOP_PARALLEL, bottom);
	space_add(old, 1, field[F_PS_SPACE].offset, 0, F_TOP_PARALLEL, bottom);
}

/* Adds a count in the heap's object, or through one pointer when there is a field `pointer`. */
static void count_take(int pointer, uint64_t offset)
{
	if (!field[F_HEAP].found)
		return;
	heap.term[heap.count++] = (struct term){
		.root = field[F_HEAP].address,
		.steps = pointer < FIELDS,
		.offset = {pointer < FIELDS ? field[pointer].offset : 0},
		.last = offset,
	};
}

static void z_take(int z_heap, int pages, int used)
{
	if (found(z_heap, pages, used)) /* one object is inside the other */
		count_take(FIELDS, field[z_heap].offset + field[pages].offset + field[used].offset);
}

bool heap_choose(enum heap_kind kind)
{
	uint64_t used;

	heap.count = 0;
	if (kind == HEAP_SERIAL)
		serial_take();
	else if (kind == HEAP_PARALLEL)
		parallel_take();
	else if (kind == HEAP_G1 && field[F_G1_USED].found)
		count_take(FIELDS, field[F_G1_USED].offset);
	else if (kind == HEAP_G1 && field[F_G1_USED_8].found && field[F_G1_ALLOCATOR].found)
		count_take(F_G1_ALLOCATOR, field[F_G1_USED_8].offset);
	else if (kind == HEAP_Z_OLD && field[F_X_USED].found)
		z_take(F_X_HEAP, F_X_PAGES, F_X_USED);
	else if (kind == HEAP_Z || kind == HEAP_Z_OLD)
		z_take(F_Z_HEAP, F_Z_PAGES, F_Z_USED);
	else if (kind == HEAP_SHENANDOAH && field[F_SHENANDOAH_USED].found)
		count_take(FIELDS, field[F_SHENANDOAH_USED].offset);
	else if (kind == HEAP_SHENANDOAH && field[F_GENERATION_USED].found && field[F_SHENANDOAH_ALL].found)
		count_take(F_SHENANDOAH_ALL, field[F_GENERATION_USED].offset);
	if (!sum(load_checked, &used))
		heap.count = 0;
	return heap.count > 0;
}

uint64_t heap_used(void)
{
	uint64_t used;

	return sum(load_plain, &used) ? used : 0;
}
