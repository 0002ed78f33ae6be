// SPDX-License-Identifier: Apache-2.0
/* Tests of finding out how a JVM encodes references, from tables that look like a VM's. */
#include "fake_vm.h"

#include <sys/mman.h>

Suite *test_java_heap(void);

/* As in vmStructs.hpp. */
struct entry {
	const char *type, *name, *declared;
	uint64_t is_static, offset;
	const void *address;
};

enum { OBJECT, STRING = 0x100, TEXT = 0x200, LOW_BYTES = 4096 };     /* in memory below 4 GiB */
enum { EETOP = 16, TID = 24, NAME = 40, VALUE = 24, CODER = 20 };    /* in objects */
enum { CARRIER = 8, LIST_LENGTH = 8, LIST_THREADS = 16, COUNT = 8 }; /* in the VM's structures */

static struct {
	uint64_t java_thread[2], carrier, threads[1], list[3], list_at, heap[2], heap_at, object_klass, oop_base;
	int32_t oop_shift;
} tables;

static const struct entry entries[] = {
	{"Universe", "_collectedHeap", "", 1, 0, &tables.heap_at},
	{"CollectedHeap", "_total_collections", "", 0, COUNT, NULL},
	{"CollectedHeap", "_is_stw_gc_active", "", 0, COUNT + 4, NULL},
	{"ThreadsSMRSupport", "_java_thread_list", "", 1, 0, &tables.list_at},
	{"ThreadsList", "_length", "", 0, LIST_LENGTH, NULL},
	{"ThreadsList", "_threads", "", 0, LIST_THREADS, NULL},
	{"JavaThread", "_threadObj", "OopHandle", 0, CARRIER, NULL},
	{"CompressedOops", "_base", "", 1, 0, &tables.oop_base},
	{"CompressedOops", "_shift", "", 1, 0, &tables.oop_shift},
	{"vmClasses", "_klasses[static_cast<int>(vmClassID::Object_klass_knum)]", "", 1, 0, &tables.object_klass},
	{"Klass", "_java_mirror", "", 0, K_MIRROR, NULL},
	{"Klass", "_layout_helper", "", 0, K_HELPER, NULL},
	{"Klass", "_super", "", 0, K_BYTES, NULL}, /* nothing is read there */
	{"Klass", "_next_link", "", 0, K_NEXT, NULL},
	{"Klass", "_class_loader_data", "", 0, K_LOADER, NULL},
	{"ClassLoaderData", "_klasses", "", 0, 8, NULL},
	{"InstanceKlass", "_constants", "", 0, K_POOL, NULL},
	{"InstanceKlass", "_fields", "", 0, K_FIELDS, NULL},
	{"InstanceKlass", "_java_fields_count", "", 0, K_COUNT, NULL},
	{NULL, NULL, NULL, 0, 0, NULL},
};

/* In the order of enum vm_symbol. */
static const uint64_t form[VM_SYMBOLS] = {0, sizeof(struct entry), 0, 8, 16, 24, 32, 40, 0, 16, 0, 8};
static const struct entry *structs = entries;

/*
 * The only thread has no loader of its own, so four bytes of its name are followed by four that are 0; so are those of
 * the name's text. All addresses are below 4 GiB.
 */
START_TEST(width_of_references)
{
	const bool is_wide = _i;
	const struct fake_field thread[] = {{"eetop", "J", EETOP},
					    {"tid", "J", TID},
					    {"name", "Ljava/lang/String;", NAME},
					    {"contextClassLoader", "Ljava/lang/ClassLoader;",
					     is_wide ? NAME + 8 : NAME + 4}},
				string[] = {{"value", "[B", VALUE}, {"coder", "B", CODER}};
	uint8_t *low = mmap(NULL, LOW_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	uint64_t object = address(low) + OBJECT, at[VM_SYMBOLS];
	static struct java_heap h;

	ck_assert_ptr_ne(low, MAP_FAILED);
	put(object + 8, make_class("java/lang/Thread", 56, thread, 4));
	put(object + EETOP, address(tables.java_thread));
	put(object + NAME, object + STRING);
	put(object + STRING + 8, make_class("java/lang/String", 32, string, 2));
	put(object + STRING + VALUE, object + TEXT);
	put(object + TEXT + 8, vm.array);
	tables.java_thread[CARRIER / 8] = address(&tables.carrier);
	tables.carrier = object;
	tables.threads[0] = address(tables.java_thread);
	tables.list[LIST_LENGTH / 8] = 1;
	tables.list[LIST_THREADS / 8] = address(tables.threads);
	tables.list_at = address(tables.list);
	tables.heap_at = address(tables.heap);
	tables.object_klass = heap.classes.object_klass;
	for (int i = 0; i < VM_SYMBOLS; i++)
		at[i] = address(&form[i]);
	at[VM_STRUCTS] = address(&structs);
	ck_assert_int_eq(java_heap_open(&h, getpid(), 0, at, &layout), 0);
	ck_assert_uint_eq(java_heap_reference_bytes(&h), is_wide ? 8 : 4);
	ck_assert_uint_eq(java_heap_field(&h, object, NAME), object + STRING);
	ck_assert_uint_eq(h.layout.objects.array_data, ARRAY_HEAD);
	ck_assert_uint_eq(h.layout.objects.string_value, VALUE);
	java_heap_close(&h);
	munmap(low, LOW_BYTES);
}
END_TEST

Suite *test_java_heap(void)
{
	Suite *s = suite_create("java_heap");
	TCase *t = tcase_create("tables");

	tcase_add_checked_fixture(t, fake_setup, fake_teardown);
	tcase_add_loop_test(t, width_of_references, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
