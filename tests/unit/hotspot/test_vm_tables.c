// SPDX-License-Identifier: Apache-2.0
/* Tests of reading a VM's own tables from outside. This process plays the VM. */
#include "hotspot/vm_tables.h"
#include "jvm/code_cache.h"
#include "symbol/symbol.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* As in vmStructs.hpp. */
struct entry {
	const char *type, *name, *declared;
	int32_t is_static;
	uint64_t offset;
	void *address;
};

struct type_entry {
	const char *name, *super;
	int32_t is_oop, is_integer, is_unsigned;
	uint64_t size;
};

static struct entry entries[] = {
	{"Method", "_constMethod", "ConstMethod*", 0, 8, NULL},
	{"CompileTask", "_osr_bci", "a type of a very long name indeed", 0, 32, NULL},
	{"CompileTask", NULL, NULL, 0, 0, NULL},
	{"CodeCache", "_heap", NULL, 1, 77, &entries},
	{NULL, NULL, NULL, 0, 0, NULL},
};
static struct type_entry type_entries[] = {
	{"ConstMethod", NULL, 0, 0, 0, 56}, {"HeapBlock", NULL, 0, 0, 0, 16}, {NULL, NULL, 0, 0, 0, 0}};

static struct entry *structs = entries;
static struct type_entry *types = type_entries;
/* In the order of enum vm_symbol. */
static uint64_t form[VM_SYMBOLS] = {0, sizeof(struct entry), 0, 8, 16, 24, 32, 40, 0, sizeof(struct type_entry), 0, 32};

/* ELF addresses in a library that is mapped with this bias. */
static void addresses(uint64_t at[VM_SYMBOLS], uint64_t bias)
{
	for (int i = 0; i < VM_SYMBOLS; i++)
		at[i] = (uintptr_t)&form[i] - bias;
	form[VM_STRUCTS] = (uintptr_t)structs;
	form[VM_TYPES] = (uintptr_t)types;
}

static int read_fields(struct vm_field *fields, size_t count, uint64_t bias)
{
	uint64_t at[VM_SYMBOLS];

	addresses(at, bias);
	return vm_process_read(getpid(), bias, at, fields, count, NULL, 0);
}

START_TEST(tables)
{
	struct vm_field fields[] = {{.type = "CompileTask", .name = "_osr_bci"},
				    {.type = "CodeCache", .name = "_heap"},
				    {.type = "Method", .name = "_osr_bci"}};
	struct vm_type wanted[] = {{.name = "HeapBlock"}, {.name = "Method"}};
	uint64_t at[VM_SYMBOLS];

	addresses(at, 1);
	ck_assert_int_eq(vm_process_read(getpid(), 1, at, fields, 3, wanted, 2), 0);
	ck_assert(fields[0].found && fields[0].offset == 32 && !fields[0].address);
	ck_assert_str_eq(fields[0].declared, "a type of a very long n");
	ck_assert(fields[1].found && !fields[1].offset && fields[1].address == (uintptr_t)&entries);
	ck_assert_str_eq(fields[1].declared, "");
	ck_assert(!fields[2].found); /* of another class */
	ck_assert(wanted[0].found && wanted[0].size == 16 && !wanted[1].found);
}
END_TEST

/* Neither before the library is relocated nor before it is initialised. */
START_TEST(tables_early)
{
	static const enum vm_symbol last[] = {VM_STRUCT_STRIDE, VM_STRUCT_ADDRESS, VM_TYPE_STRIDE, VM_TYPE_SIZE};
	struct vm_field field = {.type = "CompileTask", .name = "_osr_bci"};
	const char *name = entries[1].type;

	ck_assert_int_eq(read_fields(&field, 1, UINT64_MAX), -EAGAIN);
	for (size_t i = 0; i < sizeof(last) / sizeof(*last); i++) {
		uint64_t was = form[last[i]];

		form[last[i]] = 0;
		ck_assert_int_eq(read_fields(&field, 1, 1), -EAGAIN);
		form[last[i]] = was;
	}
	entries[1].type = (const char *)8;
	ck_assert_int_eq(read_fields(&field, 1, 4096), -EAGAIN);
	entries[1].type = name;
	ck_assert(!field.found);
	ck_assert_int_eq(read_fields(&field, 1, 4096), 0);
	ck_assert(field.found);
}
END_TEST

/* Pointers in the file are 0: the table's variable is relocated before its entries. */
START_TEST(tables_without_pointers)
{
	struct vm_field field = {.type = "CompileTask", .name = "_osr_bci"};
	struct entry was = entries[0];
	struct type_entry type_was = type_entries[0];
	struct vm_type type = {.name = "HeapBlock"};
	uint64_t at[VM_SYMBOLS];

	entries[0] = (struct entry){.offset = was.offset};
	ck_assert_int_eq(read_fields(&field, 1, 4096), -EAGAIN);
	entries[0] = was;
	type_entries[0] = (struct type_entry){.size = type_was.size};
	addresses(at, 4096);
	ck_assert_int_eq(vm_process_read(getpid(), 4096, at, &field, 1, &type, 1), -EAGAIN);
	type_entries[0] = type_was;
	ck_assert_int_eq(vm_process_read(getpid(), 4096, at, &field, 1, &type, 1), 0);
	ck_assert(field.found && type.found);
}
END_TEST

START_TEST(tables_of_nonsense)
{
	struct vm_field field = {.type = "CompileTask", .name = "_osr_bci"};
	uint64_t at[VM_SYMBOLS];

	for (int i = 0; i < VM_SYMBOLS; i++) {
		uint64_t was = form[i];

		if (i == VM_STRUCTS || i == VM_TYPES)
			continue;
		form[i] = i == VM_STRUCT_STRIDE || i == VM_TYPE_STRIDE ? VM_ENTRY_MAX + 1 : VM_ENTRY_MAX;
		ck_assert_int_eq(read_fields(&field, 1, 1), -EINVAL);
		form[i] = i == VM_STRUCT_STRIDE || i == VM_TYPE_STRIDE ? 7 : UINT64_MAX - 7;
		ck_assert_int_eq(read_fields(&field, 1, 1), -EINVAL);
		form[i] = was;
	}
	structs = (struct entry *)4096;
	ck_assert_int_eq(read_fields(&field, 1, 1), -EFAULT);
	structs = entries;
	addresses(at, 1);
	at[VM_TYPE_SIZE] = 0;
	ck_assert_int_eq(vm_process_read(getpid(), 1, at, &field, 1, NULL, 0), -ENOENT);
}
END_TEST

/* The reader stops a little beyond the number of entries that any JDK has, and skips names with invalid addresses. */
START_TEST(tables_without_end)
{
	struct vm_field field = {.type = "CompileTask", .name = "_osr_bci"};
	size_t count = VM_ENTRIES_MAX + 8;
	struct entry *endless = calloc(count, sizeof(*endless));

	ck_assert_ptr_nonnull(endless);
	for (size_t i = 0; i < count; i++)
		endless[i] = (struct entry){.type = i & 1 ? (const char *)4096 : "CompileTask", .name = "_other"};
	structs = endless;
	ck_assert_int_eq(read_fields(&field, 1, 1), 0);
	endless[VM_ENTRIES_MAX - 2].name = "_osr_bci";
	endless[VM_ENTRIES_MAX].offset = 1;
	ck_assert_int_eq(read_fields(&field, 1, 1), 0);
	ck_assert(field.found && field.offset == 0);
	field.found = false;
	endless[VM_ENTRIES_MAX - 2].name = "_other";
	endless[VM_ENTRIES_MAX].name = "_osr_bci";
	ck_assert_int_eq(read_fields(&field, 1, 1), 0);
	ck_assert(!field.found);
	free(endless);
}
END_TEST

/* ---- what a JVM makes while it starts ---- */

struct fake_heap {
	uint64_t low, high, segmap;
	int32_t log2;
};

static struct {
	uint64_t heaps; /* static fields */
	uint64_t interpreter;
	uint64_t call_stub;
	int32_t length; /* the array */
	uint64_t data;
	uint64_t heap[6];
	uint64_t buffer; /* the queue */
	int32_t limit;
} vm;

static const struct braid_statics vm_statics = {
	.heaps = (uintptr_t)&vm.heaps,
	.interpreter = (uintptr_t)&vm.interpreter,
	.call_stub = (uintptr_t)&vm.call_stub,
	.array = 1,
	.array_length = 0,
	.array_data = 8,
	.heap_low = offsetof(struct fake_heap, low),
	.heap_high = offsetof(struct fake_heap, high),
	.heap_segmap = offsetof(struct fake_heap, segmap),
	.heap_log2 = offsetof(struct fake_heap, log2),
	.queue_buffer = 0,
	.queue_limit = 8,
};

START_TEST(statics_grow)
{
	struct fake_heap heaps[] = {{1 << 20, 2 << 20, 1 << 16, 7}, {2 << 20, 3 << 20, 2 << 16, 7}};
	struct braid_statics one = vm_statics;
	struct braid_layout l = {0};

	memset(&vm, 0, sizeof(vm));
	ck_assert(!vm_statics_read(getpid(), &vm_statics, &l) && !l.heap_count);
	vm.heaps = (uintptr_t)&vm.length;
	vm.data = (uintptr_t)vm.heap;
	vm.heap[0] = (uintptr_t)&heaps[0];
	vm.length = 1;
	ck_assert(!vm_statics_read(getpid(), &vm_statics, &l));
	ck_assert(l.heap_count == 1 && l.heaps[0].low == 1 << 20 && l.heaps[0].segmap == 1 << 16);
	for (int i = 1; i < 6; i++)
		vm.heap[i] = (uintptr_t)&heaps[1];
	vm.length = 6; /* more than fit */
	vm.interpreter = (uintptr_t)&vm.buffer;
	vm.buffer = 0x1000;
	vm.limit = 0x500;
	ck_assert(!vm_statics_read(getpid(), &vm_statics, &l));
	ck_assert(l.heap_count == BRAID_CODE_HEAPS && l.interpreter_start == 0x1000 && l.interpreter_end == 0x1500);
	vm.call_stub = 0x1234;
	ck_assert(vm_statics_read(getpid(), &vm_statics, &l) && l.call_stub_return == 0x1234);
	/* Values that can no longer be read stay as they were. */
	vm.heaps = vm.interpreter = 4096;
	ck_assert(vm_statics_read(getpid(), &vm_statics, &l) && l.heap_count == BRAID_CODE_HEAPS);
	/* JDK 8 has one heap and no array. */
	l = (struct braid_layout){0};
	one.array = 0;
	vm.heaps = (uintptr_t)&heaps[1];
	ck_assert(!vm_statics_read(getpid(), &one, &l) && l.heap_count == 1 && l.heaps[0].low == 2 << 20);
}
END_TEST

START_TEST(statics_of_nonsense)
{
	static const struct fake_heap bad[] = {{0, 1 << 20, 1, 7},	    {2 << 20, 1 << 20, 1, 7},
					       {1 << 20, UINT64_MAX, 1, 7}, {1 << 20, 2 << 20, 0, 7},
					       {1 << 20, 2 << 20, 1, 64},   {1 << 20, 2 << 20, 1, -1}};

	memset(&vm, 0, sizeof(vm));
	vm.heaps = (uintptr_t)&vm.length;
	vm.data = (uintptr_t)vm.heap;
	vm.interpreter = (uintptr_t)&vm.buffer;
	vm.buffer = 0x1000;
	vm.limit = -1;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct braid_layout l = {0};

		vm.heap[0] = (uintptr_t)&bad[i];
		vm.length = i ? 1 : -1;
		ck_assert(!vm_statics_read(getpid(), &vm_statics, &l));
		ck_assert(!l.heap_count && !l.interpreter_start);
	}
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

	/* One string ends with its mapping, the other does not end. */
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

/* A block from a segment on. HeapBlock::Header is a length in segments, 8 bytes or 4, and whether it is used. */
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
	/* Bytes of the map after the committed part. */
	memset(segments + 100, 0, 28);
	ck_assert_int_eq(code_cache_measure(&h, 0, width, read_heap, NULL, &bytes), 0);
	ck_assert_uint_eq(bytes, 93 * 128);
	/* Half-written and false values. */
	heap[10 * 128 + width] = 0x55;
	ck_assert_int_eq(code_cache_measure(&h, 0, width, read_heap, NULL, &bytes), -EAGAIN);
	block(10, 10000, 1, width);
	ck_assert_int_eq(code_cache_measure(&h, 0, width, read_heap, NULL, &bytes), -EAGAIN);
	ck_assert_int_eq(code_cache_measure(&h, 8, 8, read_heap, NULL, &bytes), -EINVAL);
	ck_assert_int_eq(code_cache_measure(&h, 0, 200, read_heap, NULL, &bytes), -EINVAL);
	h.segmap = 0x10;
	ck_assert_int_eq(code_cache_measure(&h, 0, width, read_heap, NULL, &bytes), -EFAULT);
}
END_TEST

static unsigned reads;

/* As large as an address space may be, and full of blocks. */
static int read_zeroes(void *ctx, uint64_t address, void *to, size_t size)
{
	(void)ctx;
	(void)address;
	reads++;
	memset(to, 0, size);
	return 0;
}

START_TEST(code_heap_of_a_lie)
{
	struct braid_code_heap h = {
		.low = 1ULL << 40, .high = (1ULL << 40) + (1ULL << 32), .segmap = 0x1000, .log2_segment = 4};
	uint64_t bytes;

	ck_assert_int_eq(code_cache_measure(&h, 0, 8, read_zeroes, NULL, &bytes), -E2BIG);
	reads = 0;
	h.high = h.low + (1ULL << 43);
	ck_assert_int_eq(code_cache_measure(&h, 0, 8, read_zeroes, NULL, &bytes), -EINVAL);
	h.high = h.low + (1 << 20);
	h.log2_segment = 200;
	ck_assert_int_eq(code_cache_measure(&h, 0, 8, read_zeroes, NULL, &bytes), -EINVAL);
	h.log2_segment = 0;
	ck_assert_int_eq(code_cache_measure(&h, 0, 8, read_zeroes, NULL, &bytes), -EINVAL);
	ck_assert_uint_eq(reads, 0);
}
END_TEST

/* ---- symbols by name ---- */

int vm_tables_datum[3] = {1, 2, 3};

static bool take_first(void *ctx, const struct symbol *symbol)
{
	*(struct symbol *)ctx = *symbol;
	return false;
}

START_TEST(lookup)
{
	struct symbol wanted[] = {{.name = "vm_tables_datum"}, {.name = "test_vm_tables"}, {.name = "no_such_name"}};
	struct symbol any[] = {{.name = "vm_tables_datum"}, {.name = "vm_tables_datum"}, {.name = ""}};
	struct symbol functions[] = {{.name = "vm_tables_datum"}, {.name = "test_vm_tables"}, {.name = ""}};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct symbol seen = {0};

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(symbols_lookup(fd, "/proc/self/exe", wanted, 3, NULL, 0), 0);
	ck_assert_uint_ge(wanted[0].size, sizeof(vm_tables_datum)); /* sanitizers enlarge it */
	ck_assert_uint_ne(wanted[1].address, 0);
	ck_assert_uint_eq(wanted[2].address, 0);
	/* The same name twice, in both lists; no name; a function that is data. */
	ck_assert_int_eq(symbols_lookup(fd, "/proc/self/exe", any, 3, functions, 3), 0);
	ck_assert_uint_eq(any[0].address, wanted[0].address);
	ck_assert_uint_eq(any[1].address, wanted[0].address);
	ck_assert_uint_eq(any[2].address, 0);
	ck_assert_uint_eq(functions[0].address, 0);
	ck_assert_uint_ne(functions[1].address, 0);
	ck_assert_uint_eq(functions[2].address, 0);
	ck_assert_int_eq(symbols_of_data(fd, "/proc/self/exe", "vm_tables_dat", take_first, &seen), 0);
	ck_assert_uint_eq(seen.address, wanted[0].address);
	ck_assert_uint_eq(seen.size, wanted[0].size);
	seen.address = 0;
	ck_assert_int_eq(symbols_of_data(fd, "/proc/self/exe", "test_vm_tables", take_first, &seen), 0);
	ck_assert_uint_eq(seen.address, 0); /* no data */
	close(fd);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_lt(symbols_lookup(fd, "/dev/null", wanted, 3, NULL, 0), 0);
	close(fd);
}
END_TEST

/* The dynamic symbols of a library, and of that library truncated anywhere. */
START_TEST(exported)
{
	struct symbol wanted[] = {{.name = "strtol"}, {.name = "no_such_name"}};
	uint64_t at[VM_SYMBOLS];
	Dl_info library;
	int fd, cut;
	off_t size;

	ck_assert_int_ne(dladdr((void *)(uintptr_t)strtol, &library), 0);
	fd = open(library.dli_fname, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(symbols_exported(fd, wanted, 2), 0);
	ck_assert_uint_ne(wanted[0].address, 0);
	ck_assert_uint_eq(wanted[1].address, 0);
	ck_assert_int_eq(vm_symbols_find(fd, at), 0);
	for (int i = 0; i < VM_SYMBOLS; i++)
		ck_assert_uint_eq(at[i], 0); /* no JVM's symbol */
	size = lseek(fd, 0, SEEK_END);
	cut = memfd_create("cut", MFD_CLOEXEC);
	for (off_t left = 0; left < size; left = left ? left * 2 : 16) {
		off_t from = 0;

		ck_assert_int_eq(ftruncate(cut, 0), 0);
		ck_assert_int_eq(lseek(cut, 0, SEEK_SET), 0);
		while (from < left)
			ck_assert_int_gt(sendfile(cut, fd, &from, (size_t)(left - from)), 0);
		wanted[0].address = 0;
		(void)symbols_exported(cut, wanted, 2); /* an error or no result, but it returns */
		ck_assert_uint_eq(wanted[1].address, 0);
	}
	close(cut);
	close(fd);
}
END_TEST

Suite *test_vm_tables(void);

Suite *test_vm_tables(void)
{
	Suite *suite = suite_create("vm_tables");
	TCase *tc = tcase_create("vm_tables");

	tcase_add_test(tc, tables);
	tcase_add_test(tc, tables_early);
	tcase_add_test(tc, tables_without_pointers);
	tcase_add_test(tc, tables_of_nonsense);
	tcase_add_test(tc, tables_without_end);
	tcase_add_test(tc, statics_grow);
	tcase_add_test(tc, statics_of_nonsense);
	tcase_add_test(tc, strings);
	tcase_add_loop_test(tc, code_heap, 0, 2);
	tcase_add_test(tc, code_heap_of_a_lie);
	tcase_add_test(tc, lookup);
	tcase_add_test(tc, exported);
	suite_add_tcase(suite, tc);
	return suite;
}
