// SPDX-License-Identifier: Apache-2.0
/*
 * A Java heap, and the VM's structures of its classes, in this process's own memory. Tests make what readers from
 * outside look for there, and then what they should not trust.
 */
#ifndef TESTS_UNIT_FAKE_VM_H
#define TESTS_UNIT_FAKE_VM_H

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hotspot/java_heap.h>

/* Offsets in a Klass. All references are addresses. */
enum {
	K_NAME = 8,
	K_NEXT = 16,
	K_LOADER = 24,
	K_POOL = 32,
	K_FIELDS = 40,
	K_COUNT = 48,
	K_HELPER = 52,
	K_MIRROR = 56,
	K_SUBCLASS = 64,
	K_BYTES = 72
};
enum { POOL_HEAD = 16, ARRAY_HEAD = 24, MIRROR_BYTES = 512 };
#define FAKE_BYTES (1U << 20)
#define NOWHERE 0x7fedcba98000ULL

static struct {
	uint8_t bytes[FAKE_BYTES];
	uint32_t used;
	uint64_t loader[2], first; /* ClassLoaderData, with its list of classes in word 1 */
	uint64_t array;		   /* Klass of arrays of references */
	uint32_t collections;
	uint8_t active;
} vm;

static struct java_heap heap;
static struct braid_layout layout;

struct fake_field {
	const char *name, *signature;
	uint16_t offset;
};

static inline uint64_t address(const void *of)
{
	return (uint64_t)(uintptr_t)of;
}

static inline uint64_t make(uint32_t size)
{
	uint64_t at = address(vm.bytes + vm.used);

	vm.used += (size + 7U) & ~7U;
	ck_assert_uint_le(vm.used, FAKE_BYTES - 1024); /* symbols are read with what follows them */
	return at;
}

static inline void put(uint64_t at, uint64_t value)
{
	memcpy((void *)(uintptr_t)at, &value, sizeof(value));
}

static inline void put_int(uint64_t at, int32_t value)
{
	memcpy((void *)(uintptr_t)at, &value, sizeof(value));
}

static inline void put_u16(uint64_t at, uint16_t value)
{
	memcpy((void *)(uintptr_t)at, &value, sizeof(value));
}

static inline uint64_t word(uint64_t at)
{
	uint64_t value;

	memcpy(&value, (const void *)(uintptr_t)at, sizeof(value));
	return value;
}

static inline uint64_t make_symbol(const char *text)
{
	uint64_t at = make((uint32_t)strlen(text) + 2);

	put_u16(at, (uint16_t)strlen(text));
	memcpy((void *)(uintptr_t)(at + 2), text, strlen(text));
	return at;
}

/* A class of the boot loader, whose objects have this many bytes. */
static inline uint64_t make_class(const char *name, int32_t helper, const struct fake_field *fields, uint16_t count)
{
	uint64_t klass = make(K_BYTES), pool = make(POOL_HEAD + 8U + count * 16U), array = make(4U + count * 12U);

	put(klass + K_NAME, make_symbol(name));
	put(klass + K_NEXT, vm.first);
	put(klass + K_LOADER, address(vm.loader));
	put(klass + K_POOL, pool);
	put(klass + K_FIELDS, array);
	put_u16(klass + K_COUNT, count);
	put_int(klass + K_HELPER, helper);
	put(klass + K_MIRROR, make(MIRROR_BYTES));
	put_int(array, count * 6);
	for (uint16_t i = 0; i < count; i++) {
		uint64_t at = array + 4 + i * 12U;

		put(pool + POOL_HEAD + 8 + i * 16U, make_symbol(fields[i].name));
		put(pool + POOL_HEAD + 16 + i * 16U, make_symbol(fields[i].signature));
		put_u16(at + 2, (uint16_t)(1 + 2 * i));
		put_u16(at + 4, (uint16_t)(2 + 2 * i));
		put_u16(at + 8, (uint16_t)(fields[i].offset << 2));
		put_u16(at + 10, (uint16_t)(fields[i].offset >> 14));
	}
	vm.loader[1] = vm.first = klass;
	return klass;
}

/* Where a class has its static fields. */
static inline uint64_t mirror(uint64_t klass)
{
	return word(klass + K_MIRROR);
}

static inline uint64_t make_object(uint64_t klass, uint32_t size)
{
	uint64_t at = make(size);

	put(at + 8, klass);
	return at;
}

static inline uint64_t make_array(uint32_t length)
{
	uint64_t at = make_object(vm.array, ARRAY_HEAD + 8 * length);

	put_int(at + 16, (int32_t)length);
	return at;
}

/* java_heap_open() refuses what has no tables, but makes its memory; the rest is filled in here. */
static inline void fake_setup(void)
{
	const uint64_t nothing[VM_SYMBOLS] = {0};

	memset(&vm, 0, sizeof(vm));
	layout = (struct braid_layout){
		.flags = BRAID_LAYOUT_NAMES, .klass_name = K_NAME, .symbol_body = 2, .pool_size = POOL_HEAD};
	ck_assert_int_lt(java_heap_open(&heap, getpid(), 0, nothing, &layout), 0);
	ck_assert_ptr_nonnull(heap.runs);
	heap.layout = layout;
	heap.mirror = K_MIRROR;
	heap.layout_helper = K_HELPER;
	heap.collections_at = address(&vm.collections);
	heap.active_at = address(&vm.active);
	heap.classes = (struct classes){.pid = getpid(),
					.layout = &heap.layout,
					.next = K_NEXT,
					.loader = K_LOADER,
					.loader_klasses = 8,
					.constants = K_POOL,
					.fields = K_FIELDS,
					.field_count = K_COUNT};
	vm.array = make_class("[Ljava/lang/Object;", (int32_t)(0x80000000U | ARRAY_HEAD << 16), NULL, 0);
	heap.classes.object_klass = make_class("java/lang/Object", 16, NULL, 0);
}

static inline void fake_teardown(void)
{
	java_heap_close(&heap);
}

/* xorshift64: the same values in every run. */
static inline uint64_t fake_random(void)
{
	static uint64_t state = 0x68656170;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Writes something else into a word: nothing, a place in this memory, nowhere, or anything. */
static inline void damage_word(void)
{
	uint64_t at = address(vm.bytes) + fake_random() % vm.used / 8 * 8, r = fake_random();
	const uint64_t values[] = {0, address(vm.bytes) + r % vm.used / 8 * 8, NOWHERE, r, r & 0xffff, UINT64_MAX};

	put(at, values[fake_random() % 6]);
}

#endif
