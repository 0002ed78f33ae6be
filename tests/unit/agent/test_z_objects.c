// SPDX-License-Identifier: Apache-2.0
/* Tests of the number of objects in a heap of ZGC, which is read while the program may change all of it. */
#include "fake_jvmti.h"
#include "recorder.h"
#include "vm/layout.h"
#include "vm/z_objects.h"

#include <braid/layout.h>

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

Suite *test_z_objects(void);

#define GRANULE (2ULL << 20)
#define GRANULES 512U
#define HEAP_BYTES (GRANULES * GRANULE)
#define STRING_MAX 128 /* readers of the tables read this much at a time */

/* ---- the VM: its tables, and what they lead to ---- */

struct flag {
	const char *name;
	void *value;
	uint32_t bits, type;
};

struct page {
	uint8_t type;
	uint64_t start, top;
};

struct collected {
	uint64_t other, heap, table, map;
	struct page **granules;
};

struct globals {
	uint64_t *offset_mask, *good_mask;
};

static bool use_z, generational;
static char flag_names[][STRING_MAX] = {"UseZGC", "ZGenerational"};
static struct flag vm_flags[] = {{flag_names[0], &use_z, 0, 0}, {flag_names[1], &generational, 0, 0}};
static struct flag *first_flag = vm_flags;
static uint64_t flag_count = 2;

/* Of the older collector ("X" beside a generational one), and of the other. */
static struct page *granules[GRANULES], *x_granules[GRANULES];
static struct collected heap = {.granules = granules}, x_heap = {.granules = x_granules}, *collected = &heap;
static uint64_t offset_mask, good_mask;
static struct globals globals = {&offset_mask, &good_mask}, *globals_at = &globals;
static struct page pages[GRANULES];
static char *memory; /* the heap, aligned to its size: an address is the good mask and an offset */

/* Classes: instances of 16 and 64 bytes, and an array of bytes behind a header of 24. */
struct klass {
	uint64_t other;
	int32_t helper;
};
static struct klass of_16 = {.helper = 16}, of_64 = {.helper = 64}, bytes_class = {.helper = (int32_t)0x80180000};

struct entry {
	const char *type, *name, *declared;
	int32_t is_static;
	uint64_t offset;
	void *address;
};
struct type_entry {
	const char *name;
	uint64_t size;
};
extern struct entry *gHotSpotVMStructs;
extern struct type_entry *gHotSpotVMTypes;

static char strings[128][STRING_MAX];
static struct entry structs[64];
static struct type_entry types[2];
static size_t string_count, struct_count;

static const char *string(const char *prefix, const char *text)
{
	char *to = strings[string_count++];

	snprintf(to, STRING_MAX, "%s%s", prefix, text);
	return to;
}

static void field(const char *prefix, const char *type, const char *name, uint64_t offset, void *address)
{
	structs[struct_count++] = (struct entry){
		.type = string(prefix, type),
		.name = string("", name),
		.declared = string("", "int"),
		.is_static = address != NULL,
		.offset = offset,
		.address = address,
	};
}

static void collector(const char *z, const char *offset_field, const char *good_field)
{
	field(z, "CollectedHeap", "_heap", offsetof(struct collected, heap), NULL);
	field(z, "Heap", "_page_table", offsetof(struct collected, table) - offsetof(struct collected, heap), NULL);
	field(z, "PageTable", "_map", offsetof(struct collected, map) - offsetof(struct collected, table), NULL);
	field(z, "GranuleMapForPageTable", "_map",
	      offsetof(struct collected, granules) - offsetof(struct collected, map), NULL);
	field(z, "Page", "_type", offsetof(struct page, type), NULL);
	field(z, "Page", "_virtual", offsetof(struct page, start), NULL);
	field(z, "VirtualMemory", "_start", 0, NULL);
	field(z, "Page", "_top", offsetof(struct page, top), NULL);
	field(z, "GlobalsForVMStructs", "_instance_p", 0, &globals_at);
	field(z, "GlobalsForVMStructs", offset_field, offsetof(struct globals, offset_mask), NULL);
	field(z, "GlobalsForVMStructs", good_field, offsetof(struct globals, good_mask), NULL);
}

static void *heap_memory(void)
{
	char *p =
		mmap(NULL, 2 * HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return (void *)(((uintptr_t)p + HEAP_BYTES - 1) & ~(HEAP_BYTES - 1));
}

static void begin(struct recorder *r)
{
	static const struct braid_event_config none;

	recorder_begin(r, &none);
	use_z = true;
	field("", "JVMFlag", "flags", 0, &first_flag);
	field("", "JVMFlag", "numFlags", 0, &flag_count);
	field("", "JVMFlag", "_name", offsetof(struct flag, name), NULL);
	field("", "JVMFlag", "_addr", offsetof(struct flag, value), NULL);
	field("", "JVMFlag", "_flags", offsetof(struct flag, bits), NULL);
	field("", "JVMFlag", "_type", offsetof(struct flag, type), NULL);
	field("", "Universe", "_collectedHeap", 0, &collected);
	field("", "Klass", "_layout_helper", offsetof(struct klass, helper), NULL);
	collector("Z", "_ZAddressOffsetMask", "_ZAddressGoodMask");
	types[0] = (struct type_entry){string("", "JVMFlag"), sizeof(struct flag)};
	gHotSpotVMStructs = structs;
	gHotSpotVMTypes = types;
	layout_objects_set(&(struct braid_objects){.flags = BRAID_OBJECTS_THREADS, .klasses = BRAID_KLASSES_PLAIN});
	memory = heap_memory();
	good_mask = (uintptr_t)memory;
	offset_mask = HEAP_BYTES - 1;
}

/* A page at this granule, of which `used` bytes are used. */
static struct page *page(uint64_t granule, uint8_t type, uint64_t used)
{
	pages[granule] = (struct page){.type = type, .start = granule * GRANULE, .top = granule * GRANULE + used};
	granules[granule] = &pages[granule];
	return &pages[granule];
}

/* Objects one behind the other from the page's start; `length` is for arrays. */
static void objects(uint64_t granule, uint64_t count, const struct klass *class, uint64_t bytes, uint32_t length)
{
	char *at = memory + granule * GRANULE;

	for (uint64_t i = 0; i < count; i++, at += bytes) {
		*(const struct klass **)(void *)(at + 8) = class;
		if (class->helper < 0)
			*(uint32_t *)(void *)(at + braid_array_length_at(BRAID_KLASSES_PLAIN)) = length;
	}
}

static uint64_t estimated(void)
{
	struct z_objects z;

	return z_objects_estimate(&z) ? z.count : 0;
}

/* Pages of small objects count by what their first objects are; a large one has one, however many granules it takes. */
START_TEST(by_the_first_objects)
{
	struct z_objects z;
	struct recorder r;

	begin(&r);
	page(3, 0, 16 * 1000);
	objects(3, 300, &of_16, 16, 0); /* more than are read */
	page(4, 0, 64 * 100);
	objects(4, 100, &of_64, 64, 0);
	page(5, 1, 1024 * 50);
	objects(5, 50, &bytes_class, 1024, 1000);
	page(7, 2, 3 * GRANULE);
	granules[8] = granules[9] = granules[7];
	ck_assert(z_objects_estimate(&z));
	ck_assert_uint_eq(z.count, 1000 + 100 + 50 + 1);
	ck_assert_uint_eq(z.instances, 1000 + 100);
	ck_assert_uint_eq(z.words, 1000 + 7 * 100);
	ck_assert_uint_eq(z.array_bytes, 1024 * 50 + 3 * GRANULE);
	ck_assert(!z.generational);
	recorder_close(&r);
}
END_TEST

/* Pages that say nothing, because nobody has allocated in them yet or their memory has gone, are like the others. */
START_TEST(unreadable_pages)
{
	struct recorder r;

	begin(&r);
	page(0, 0, 16 * 1000);
	objects(0, 256, &of_16, 16, 0);
	page(1, 0, 16 * 500);
	page(2, 0, 16 * 500);
	ck_assert_int_eq(mprotect(memory + 2 * GRANULE, GRANULE, PROT_NONE), 0);
	ck_assert_uint_eq(estimated(), 2000);

	/* Page 0 says nothing, either: an object that would be larger than the page, and one whose class is none. */
	objects(0, 1, &bytes_class, 0, UINT32_MAX);
	ck_assert_uint_eq(estimated(), 0);
	*(uint64_t *)(void *)(memory + 8) = 0x1000;
	ck_assert_uint_eq(estimated(), 0);
	recorder_close(&r);
}
END_TEST

/* Of more pages than are read, those at equal distances stand for all. */
START_TEST(many_pages)
{
	struct recorder r;

	begin(&r);
	for (uint64_t i = 0; i < GRANULES; i++) {
		bool wide = i % 64 < 32;

		page(i, 0, 64 * 40);
		objects(i, wide ? 40 : 160, wide ? &of_64 : &of_16, wide ? 64 : 16, 0);
	}
	ck_assert_uint_eq(estimated(), GRANULES / 2 * (40 + 160));
	recorder_close(&r);
}
END_TEST

/* A table whose pages are gone, or others by now. */
START_TEST(damaged_pages)
{
	struct recorder r;

	begin(&r);
	page(0, 0, 64 * 100);
	objects(0, 100, &of_64, 64, 0);
	page(1, 0, 64 * 100)->start = 5 * GRANULE; /* it begins elsewhere */
	page(2, 0, 0);				   /* nothing is used of it */
	granules[3] = (struct page *)8;
	granules[4] = (struct page *)(UINTPTR_MAX - 8);
	ck_assert_uint_eq(estimated(), 100);

	heap.granules = (struct page **)16;
	ck_assert_uint_eq(estimated(), 0);
	heap.granules = granules;
	offset_mask = UINT64_MAX >> 4; /* more granules than any heap has */
	ck_assert_uint_eq(estimated(), 0);
	offset_mask = HEAP_BYTES - 1;
	collected = NULL;
	ck_assert_uint_eq(estimated(), 0);
	collected = &heap;
	globals_at = (struct globals *)32;
	ck_assert_uint_eq(estimated(), 0);
	globals_at = &globals;
	ck_assert_uint_eq(estimated(), 100);
	recorder_close(&r);
}
END_TEST

/* Without ZGC, and in a VM whose objects are not known yet. */
START_TEST(not_known)
{
	struct recorder r;

	begin(&r);
	page(0, 0, 64 * 100);
	objects(0, 100, &of_64, 64, 0);
	layout_objects_set(&(struct braid_objects){.klasses = BRAID_KLASSES_PLAIN});
	ck_assert_uint_eq(estimated(), 0);
	layout_objects_set(&(struct braid_objects){.flags = BRAID_OBJECTS_THREADS});
	ck_assert_uint_eq(estimated(), 100);
	use_z = false;
	ck_assert_uint_eq(estimated(), 0);
	recorder_close(&r);
}
END_TEST

/* JDK 21 has two ZGCs, and tables of both. */
START_TEST(of_the_collector_in_use)
{
	struct recorder r;

	begin(&r);
	collector("X", "_XAddressOffsetMask", "_XAddressGoodMask");
	page(0, 0, 64 * 100);
	objects(0, 100, &of_64, 64, 0);
	page(1, 0, 64 * 20);
	x_granules[1] = &pages[1];
	objects(1, 20, &of_64, 64, 0);
	generational = true;
	ck_assert_uint_eq(estimated(), 120);
	generational = false;
	collected = &x_heap;
	ck_assert_uint_eq(estimated(), 20);
	recorder_close(&r);
}
END_TEST

Suite *test_z_objects(void)
{
	Suite *s = suite_create("agent z_objects");
	TCase *c = tcase_create("all");

	tcase_add_test(c, by_the_first_objects);
	tcase_add_test(c, unreadable_pages);
	tcase_add_test(c, many_pages);
	tcase_add_test(c, damaged_pages);
	tcase_add_test(c, not_known);
	tcase_add_test(c, of_the_collector_in_use);
	suite_add_tcase(s, c);
	return s;
}
