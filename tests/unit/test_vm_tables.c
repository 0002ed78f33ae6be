// SPDX-License-Identifier: Apache-2.0
/* A VM's own tables, read from outside: this process stands for the VM. */
#include "jvm/code_cache.h"
#include "hotspot/vm_tables.h"
#include "symbol/symbol.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* As vmStructs.hpp has it. */
struct entry {
	const char *type, *name, *type_string;
	int32_t is_static;
	uint64_t offset;
	void *address;
};

static struct entry entries[] = {
	{"Method", "_constMethod", "ConstMethod*", 0, 8, NULL},
	{"CompileTask", "_osr_bci", "int", 0, 32, NULL},
	{"CompileTask", NULL, NULL, 0, 0, NULL},
	{"CompileTask", "_comp_level", "int", 0, 1 << 20, NULL},
	{NULL, NULL, NULL, 0, 0, NULL},
};
static struct entry *structs = entries;
static uint64_t stride = sizeof(struct entry), type_at = 0, name_at = 8, offset_at = 32;

static void addresses(uint64_t at[VM_SYMBOLS])
{
	at[VM_STRUCTS] = (uintptr_t)&structs;
	at[VM_STRIDE] = (uintptr_t)&stride;
	at[VM_TYPE_NAME] = (uintptr_t)&type_at;
	at[VM_FIELD_NAME] = (uintptr_t)&name_at;
	at[VM_OFFSET] = (uintptr_t)&offset_at;
}

START_TEST(offsets)
{
	struct vm_offset wanted[] = {{.type = "CompileTask", .name = "_osr_bci"},
				     {.type = "CompileTask", .name = "_comp_level"},
				     {.type = "Method", .name = "_osr_bci"}};
	uint64_t at[VM_SYMBOLS];

	addresses(at);
	ck_assert_int_eq(vm_offsets_read(getpid(), 1, at, wanted, 1), 0);
	ck_assert_int_eq(wanted[0].offset, 32);
	/* Too large to be one, and of another class. */
	ck_assert_int_eq(vm_offsets_read(getpid(), 1, at, wanted, 3), -ENOENT);
	ck_assert(!wanted[1].found && !wanted[2].found);
}
END_TEST

/* The VM says how its entries are made when it has come so far. */
START_TEST(offsets_early)
{
	struct vm_offset wanted[] = {{.type = "CompileTask", .name = "_osr_bci"}};
	uint64_t at[VM_SYMBOLS];

	addresses(at);
	stride = type_at = name_at = offset_at = 0;
	ck_assert_int_eq(vm_offsets_read(getpid(), 1, at, wanted, 1), 0);
	ck_assert_int_eq(wanted[0].offset, 32);
	/* Its loader has not come so far. */
	ck_assert_int_eq(vm_offsets_read(getpid(), UINT64_MAX, at, wanted, 1), -EAGAIN);
}
END_TEST

START_TEST(offsets_of_nonsense)
{
	struct vm_offset wanted[] = {{.type = "CompileTask", .name = "_osr_bci"}};
	uint64_t at[VM_SYMBOLS];

	addresses(at);
	for (uint64_t s = 1; s < 8; s++) {
		stride = s;
		ck_assert_int_eq(vm_offsets_read(getpid(), 1, at, wanted, 1), -EINVAL);
	}
	stride = 1 << 20;
	ck_assert_int_eq(vm_offsets_read(getpid(), 1, at, wanted, 1), -EINVAL);
	stride = sizeof(struct entry);
	name_at = stride;
	ck_assert_int_eq(vm_offsets_read(getpid(), 1, at, wanted, 1), -EINVAL);
	name_at = 8;
	structs = (struct entry *)4096;
	ck_assert_int_eq(vm_offsets_read(getpid(), 1, at, wanted, 1), -EFAULT);
	at[VM_STRIDE] = 0;
	ck_assert_int_eq(vm_offsets_read(getpid(), 1, at, wanted, 1), -ENOENT);
}
END_TEST

START_TEST(strings)
{
	static const char *const names[] = {"None", "Cleanup", (const char *)4096, "ThreadDump"};
	char long_name[400], *at_end, *to[4] = {NULL};
	uint64_t one;
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_int_eq(vm_strings_read(getpid(), 1, (uintptr_t)names, 4, to), 0);
	ck_assert_str_eq(to[1], "Cleanup");
	ck_assert_ptr_null(to[2]);
	ck_assert_str_eq(to[3], "ThreadDump");
	for (int i = 0; i < 4; i++)
		free(to[i]);
	ck_assert_int_eq(vm_strings_read(getpid(), UINT64_MAX, (uintptr_t)names, 4, to), -EAGAIN);
	ck_assert_int_eq(vm_strings_read(getpid(), 1, 4096, 4, to), -EFAULT);

	/* One that ends with its mapping, one that does not end. */
	ck_assert_ptr_ne(pages, MAP_FAILED);
	munmap(pages + 4096, 4096);
	at_end = strcpy(pages + 4092, "end");
	one = (uintptr_t)at_end;
	ck_assert_int_eq(vm_strings_read(getpid(), 1, (uintptr_t)&one, 1, to), 0);
	ck_assert_str_eq(to[0], "end");
	free(to[0]);
	memset(long_name, 'x', sizeof(long_name));
	one = (uintptr_t)long_name;
	ck_assert_int_eq(vm_strings_read(getpid(), 1, (uintptr_t)&one, 1, to), 0);
	ck_assert_ptr_null(to[0]);
	munmap(pages, 4096);
}
END_TEST

/* ---- code heaps ---- */

#define HEAP 0x10000
#define MAP_AT 0x900000
static uint8_t heap[HEAP], segments[HEAP / 128];
static uint64_t committed;

static int read_heap(void *ctx, uint64_t address, void *to, size_t size)
{
	(void)ctx;
	if (address >= MAP_AT && address - MAP_AT + size <= sizeof(segments))
		memcpy(to, segments + (address - MAP_AT), size);
	else if (address >= 0x100000 && address - 0x100000 + size <= committed)
		memcpy(to, heap + (address - 0x100000), size);
	else
		return -EFAULT;
	return 0;
}

/* A block from a segment on: HeapBlock::Header is a length in segments, 8 bytes or 4, and whether it is used. */
static void block(uint32_t at, uint64_t length, uint8_t used, int width)
{
	memcpy(heap + at * 128, &length, (size_t)width);
	heap[at * 128 + (uint32_t)width] = used;
	for (uint64_t i = at; i < at + length && i < sizeof(segments); i++)
		segments[i] = 1;
	segments[at] = 0;
}

START_TEST(code_heap)
{
	struct braid_code_heap h = {.low = 0x100000, .high = 0x100000 + HEAP, .segmap = MAP_AT, .log2_segment = 7};
	uint16_t width = _i ? 8 : 4;
	uint64_t bytes;

	memset(heap, 0, sizeof(heap));
	memset(segments, 0xff, sizeof(segments));
	committed = 100 * 128;
	block(0, 3, 1, width);
	block(3, 7, 0, width); /* free */
	block(10, 90, 1, width);
	ck_assert_int_eq(code_cache_measure(&h, 0, width, read_heap, NULL, &bytes), 0);
	ck_assert_uint_eq(bytes, 93 * 128);
	/* Bytes of the map behind what is committed. */
	memset(segments + 100, 0, 28);
	ck_assert_int_eq(code_cache_measure(&h, 0, width, read_heap, NULL, &bytes), 0);
	ck_assert_uint_eq(bytes, 93 * 128);
	/* Half written, and lies. */
	heap[10 * 128 + width] = 0x55;
	ck_assert_int_eq(code_cache_measure(&h, 0, width, read_heap, NULL, &bytes), -EAGAIN);
	block(10, 10000, 1, width);
	ck_assert_int_eq(code_cache_measure(&h, 0, width, read_heap, NULL, &bytes), -EAGAIN);
	ck_assert_int_eq(code_cache_measure(&h, 8, 8, read_heap, NULL, &bytes), -EINVAL);
	ck_assert_int_eq(code_cache_measure(&h, 0, 200, read_heap, NULL, &bytes), -EINVAL);
	h.segmap = 0;
	ck_assert_int_eq(code_cache_measure(&h, 0, width, read_heap, NULL, &bytes), -EFAULT);
}
END_TEST

/* ---- symbols by name ---- */

int vm_tables_datum[3] = {1, 2, 3};

START_TEST(lookup)
{
	struct symbol wanted[] = {{.name = "vm_tables_datum"}, {.name = "test_vm_tables"}, {.name = "no_such_name"}};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char name[64], small[4];

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(symbols_lookup(fd, "", "/proc/self/exe", wanted, 3), 0);
	ck_assert_uint_ge(wanted[0].size, sizeof(vm_tables_datum)); /* sanitizers add to it */
	ck_assert_uint_ne(wanted[1].address, 0);
	ck_assert_uint_eq(wanted[2].address, 0);
	ck_assert_int_eq(symbols_data_at(fd, "", "/proc/self/exe", wanted[0].address + 8, name, sizeof(name)), 0);
	ck_assert_str_eq(name, "vm_tables_datum");
	ck_assert_int_eq(symbols_data_at(fd, "", "/proc/self/exe", wanted[0].address, small, sizeof(small)), -ENOENT);
	ck_assert_int_eq(symbols_data_at(fd, "", "/proc/self/exe", wanted[1].address, name, sizeof(name)), -ENOENT);
	close(fd);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_lt(symbols_lookup(fd, "", "/dev/null", wanted, 3), 0);
	close(fd);
}
END_TEST

Suite *test_vm_tables(void);

Suite *test_vm_tables(void)
{
	Suite *suite = suite_create("vm_tables");
	TCase *tc = tcase_create("vm_tables");

	tcase_add_test(tc, offsets);
	tcase_add_test(tc, offsets_early);
	tcase_add_test(tc, offsets_of_nonsense);
	tcase_add_test(tc, strings);
	tcase_add_loop_test(tc, code_heap, 0, 2);
	tcase_add_test(tc, lookup);
	suite_add_tcase(suite, tc);
	return suite;
}
