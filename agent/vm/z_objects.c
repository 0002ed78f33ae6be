// SPDX-License-Identifier: Apache-2.0
/*
 * ZGC allocates the objects of a page one behind the other from its start, and they keep their headers while they are
 * moved. So the first objects of a page say how many there are in a megabyte of it. A large page has one object, an
 * array. See z_objects.h.
 */
#include "z_objects.h"

#include "flags.h"
#include "layout.h"
#include "mem.h"
#include "vmstructs.h"
#include "core/state.h"

#include <braid/layout.h>

#include <string.h>

#define GRANULE_LOG2 21U /* ZGranuleSizeShift */
#define GRANULES_MAX (1U << 23)
#define TYPE_LARGE 2U
#define SAMPLED_MAX 64U
#define OBJECTS_MAX 256U /* of a sampled page */
#define OBJECT_MIN 8U
#define BLOCK (MEM_READ_MAX / sizeof(uint64_t))

enum {
	F_COLLECTED,
	F_HEAP,
	F_TABLE,
	F_GRANULES,
	F_MAP,
	F_TYPE,
	F_VIRTUAL,
	F_START,
	F_TOP,
	F_GLOBALS,
	F_OFFSET_MASK,
	F_GOOD_MASK, /* the older ZGC: references have these bits, which are part of the address */
	F_HELPER,
	FIELDS
};

/* Z: of JDK 17, and the generational one; X: the older one in JDK 21 to 23. */
#define Z_FIELDS(z)                                                                                                    \
	{                                                                                                              \
		[F_COLLECTED] = {.type = "Universe", .name = "_collectedHeap"},                                        \
		[F_HEAP] = {.type = z "CollectedHeap", .name = "_heap"},                                               \
		[F_TABLE] = {.type = z "Heap", .name = "_page_table"},                                                 \
		[F_GRANULES] = {.type = z "PageTable", .name = "_map"},                                                \
		[F_MAP] = {.type = z "GranuleMapForPageTable", .name = "_map"},                                        \
		[F_TYPE] = {.type = z "Page", .name = "_type"}, [F_VIRTUAL] = {.type = z "Page", .name = "_virtual"},  \
		[F_START] = {.type = z "VirtualMemory", .name = "_start"},                                             \
		[F_TOP] = {.type = z "Page", .name = "_top"},                                                          \
		[F_GLOBALS] = {.type = z "GlobalsForVMStructs", .name = "_instance_p"},                                \
		[F_OFFSET_MASK] = {.type = z "GlobalsForVMStructs", .name = "_" z "AddressOffsetMask"},                \
		[F_GOOD_MASK] = {.type = z "GlobalsForVMStructs", .name = "_" z "AddressGoodMask"},                    \
		[F_HELPER] = {.type = "Klass", .name = "_layout_helper"},                                              \
	}

static struct vm_field fields[2][FIELDS] = {Z_FIELDS("Z"), Z_FIELDS("X")};
static const struct vm_field *field; /* of the collector in use */

struct page {
	uint64_t start, bytes; /* what is used of it */
	uint8_t type;
};

struct sample {
	struct page page[SAMPLED_MAX];
	uint32_t count;
	uint64_t stride, seen; /* every stride-th of the pages of small objects is sampled */
	uint64_t small_bytes, large, large_bytes;
};

static struct {
	bool in_use, generational;
} flags;

static void flag_take(const struct vm_flag *f)
{
	bool set = !strcmp(f->value, "true");

	if (!strcmp(f->name, "UseZGC"))
		flags.in_use = set;
	else if (!strcmp(f->name, "ZGenerational"))
		flags.generational = set;
}

/* Helper thread only, once for each estimate. False: it is another collector, or its tables have not all of this. */
static bool fields_find(void)
{
	void *libjvm = vmstructs_library(agent.vm);

	memset(&flags, 0, sizeof(flags));
	flags_open(libjvm);
	flags_each(flag_take);
	if (!flags.in_use)
		return false;
	vmstructs_read(libjvm, fields[0], FIELDS, NULL, 0);
	vmstructs_read(libjvm, fields[1], FIELDS, NULL, 0);
	field = fields[fields[1][F_HEAP].found && !flags.generational];
	for (int i = 0; i < FIELDS; i++)
		if (!field[i].found && i != F_GOOD_MASK)
			return false;
	return true;
}

static bool read_word(uint64_t at, uint64_t *value)
{
	return mem_read(value, at, sizeof(*value));
}

/* ---- pages ---- */

/* Reads what globals of the collector a field points to. */
static bool global_read(int which, uint64_t *value)
{
	uint64_t instance, at;

	return read_word(field[F_GLOBALS].address, &instance) && read_word(instance + field[which].offset, &at) &&
	       read_word(at, value);
}

/* Where offset 0 of the heap is. */
static bool base_read(uint64_t offset_mask, uint64_t *base)
{
	if (field[F_GOOD_MASK].found)
		return global_read(F_GOOD_MASK, base);
	*base = offset_mask + 1;
	return true;
}

/* False: it is none, or not the one that begins there. */
static bool page_read(uint64_t at, uint64_t granule, struct page *page)
{
	uint64_t start, top;

	if (!mem_read(&page->type, at + field[F_TYPE].offset, 1) ||
	    !read_word(at + field[F_VIRTUAL].offset + field[F_START].offset, &start) ||
	    !read_word(at + field[F_TOP].offset, &top) || start >> GRANULE_LOG2 != granule || top <= start)
		return false;
	page->start = start;
	page->bytes = top - start;
	return true;
}

/* Keeps pages at equal distances, however many there are. */
static void page_take(struct sample *s, const struct page *page)
{
	if (page->type == TYPE_LARGE) {
		s->large++;
		s->large_bytes += page->bytes;
		return;
	}
	s->small_bytes += page->bytes;
	if (s->seen++ % s->stride)
		return;
	if (s->count == SAMPLED_MAX) {
		for (uint32_t i = 0; i < SAMPLED_MAX / 2; i++)
			s->page[i] = s->page[2 * i];
		s->count /= 2;
		s->stride *= 2;
		if ((s->seen - 1) % s->stride)
			return;
	}
	s->page[s->count++] = *page;
}

static bool pages_take(struct sample *s, uint64_t offset_mask)
{
	uint64_t block[BLOCK], heap, map, granules = (offset_mask + 1) >> GRANULE_LOG2, before = 0;
	struct page page;

	if (granules > GRANULES_MAX || !read_word(field[F_COLLECTED].address, &heap) ||
	    !read_word(heap + field[F_HEAP].offset + field[F_TABLE].offset + field[F_GRANULES].offset +
			       field[F_MAP].offset,
		       &map))
		return false;
	for (uint64_t g = 0; g + BLOCK <= granules; g += BLOCK) {
		if (!mem_read(block, map + g * sizeof(block[0]), sizeof(block)))
			break; /* 25 has fewer granules than its mask allows */
		for (uint64_t i = 0; i < BLOCK; i++) {
			if (block[i] && block[i] != before && page_read(block[i], g + i, &page))
				page_take(s, &page);
			before = block[i];
		}
	}
	return true;
}

/* ---- objects ---- */

/* 0: none; memory that nobody has allocated yet is mostly zero. */
static uint64_t klass_read(const struct braid_objects *o, uint64_t object)
{
	uint64_t word;

	if (!read_word(object + (o->klasses == BRAID_KLASSES_COMPACT ? 0 : 8), &word))
		return 0;
	if (o->klasses == BRAID_KLASSES_PLAIN)
		return word;
	word = o->klasses == BRAID_KLASSES_COMPACT ? word >> 42 : word & UINT32_MAX;
	return word ? o->klass_base + (word << o->klass_shift) : 0;
}

/*
 * Klass::_layout_helper (klass.hpp): the bytes of an instance, or of an array the header's and its elements'. 0: not
 * known.
 */
static uint64_t object_bytes(const struct braid_objects *o, uint64_t object, bool *array)
{
	uint64_t klass = klass_read(o, object);
	int32_t helper;
	uint32_t length;

	if (!klass || klass % 8 || !mem_read(&helper, klass + field[F_HELPER].offset, sizeof(helper)) || !helper)
		return 0;
	*array = helper < 0;
	if (helper > 0)
		return (uint64_t)helper & ~7ULL;
	if (!mem_read(&length, object + braid_array_length_at(o->klasses), sizeof(length)) ||
	    ((uint32_t)helper & 0xff) > 3)
		return 0;
	return (((uint64_t)((uint32_t)helper >> 16 & 0xff) + ((uint64_t)length << ((uint32_t)helper & 0xff))) + 7) &
	       ~7ULL;
}

/* What objects are, as far as they have been looked at. */
struct tally {
	double objects, instances, words, array_bytes, bytes;
};

static void tally_add(struct tally *to, const struct tally *t, double times)
{
	to->objects += t->objects * times;
	to->instances += t->instances * times;
	to->words += t->words * times;
	to->array_bytes += t->array_bytes * times;
	to->bytes += t->bytes * times;
}

/*
 * Objects of the page, by those at its start. What cannot be read ends them: a class, or what nobody has allocated yet.
 */
static void page_tally(const struct braid_objects *o, const struct page *page, uint64_t base, struct tally *to)
{
	uint64_t at = 0, count = 0, words = 0, bytes;
	struct tally t = {0};
	bool array;

	while (count < OBJECTS_MAX && at < page->bytes) {
		bytes = object_bytes(o, (base | page->start) + at, &array);
		if (bytes < OBJECT_MIN || bytes > page->bytes - at)
			break;
		t.instances += !array;
		words += array ? 0 : bytes / 8 - 1;
		t.array_bytes += array ? (double)bytes : 0;
		at += bytes;
		count++;
	}
	t.objects = (double)count;
	t.words = (double)words;
	t.bytes = (double)at;
	if (at)
		tally_add(to, &t, (double)page->bytes / (double)at);
}

bool z_objects_estimate(struct z_objects *to)
{
	struct sample s = {.stride = 1};
	struct tally sampled = {0}, all;
	struct braid_layout layout;
	uint64_t offset_mask, base;

	layout_get(&layout);
	if (!fields_find() || !(layout.objects.flags & BRAID_OBJECTS_THREADS) ||
	    !global_read(F_OFFSET_MASK, &offset_mask) || !base_read(offset_mask, &base) || !pages_take(&s, offset_mask))
		return false;
	for (uint32_t i = 0; i < s.count; i++)
		page_tally(&layout.objects, &s.page[i], base, &sampled);
	if (s.small_bytes && !(sampled.bytes > 0))
		return false;
	all = (struct tally){.objects = (double)s.large, .array_bytes = (double)s.large_bytes};
	if (sampled.bytes > 0)
		tally_add(&all, &sampled, (double)s.small_bytes / sampled.bytes);
	*to = (struct z_objects){.count = (uint64_t)(all.objects + 0.5),
				 .instances = (uint64_t)(all.instances + 0.5),
				 .words = (uint64_t)(all.words + 0.5),
				 .array_bytes = (uint64_t)(all.array_bytes + 0.5),
				 .generational = !field[F_GOOD_MASK].found};
	return to->count;
}
