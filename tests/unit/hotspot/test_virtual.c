// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of finding virtual threads and copying their frames from outside, in memory that looks like a JVM's, and in
 * memory that does not.
 */
#include "fake_vm.h"

#include <hotspot/thread_sets.h>
#include <hotspot/virtual.h>

Suite *test_virtual(void);

/* Offsets of fields. */
enum { SET_MAP = 16, MAP_TABLE = 16, NODE_HASH = 16, NODE_KEY = 24, NODE_NEXT = 32, NODE_FIRST = 40, NODE_TABLE = 40 };
enum { TID = 16, EETOP = 24, NAME = 32, BLOCKER = 40, CONT = 48, CARRIER = 56, STATE = 64, THREAD_BYTES = 80 };
enum { TAIL = 16, PARENT = 16, SP = 24, BOTTOM = 28, LOCKED = 32, CHUNK_BYTES = 40 };
enum { VALUE = 16, CODER = 24, REGISTRY = 16, ROOT = 16, PARKED = 96, RUNNING = 100 };

#define HASH_MOVED (-1)
#define HASH_TREE (-2)
#define CALLS_MAX 100000 /* for a whole dump: the reader has a time limit besides */

static struct {
	uint64_t root, containers, set, map, node, tree, forward, thread, continuation, chunk, string;
} klass;
static struct fake_field chunk_fields[] = {{"sp", "I", SP}, {"bottom", "I", BOTTOM}, {"lockStackSize", "B", LOCKED}};
static uint64_t registry, threads_set, table;
static struct virtual_thread last;
static uint64_t found, frames_sum;

static void make_map_classes(void)
{
	const struct fake_field reference[] = {{"referent", "Ljava/lang/Object;", 16}},
				view[] = {{"map", "Ljava/util/concurrent/ConcurrentHashMap;", SET_MAP}},
				map[] = {{"table", "[Ljava/util/concurrent/ConcurrentHashMap$Node;", MAP_TABLE}},
				node[] = {{"hash", "I", NODE_HASH},
					  {"key", "Ljava/lang/Object;", NODE_KEY},
					  {"next", "Ljava/util/concurrent/ConcurrentHashMap$Node;", NODE_NEXT}},
				tree[] = {{"first", "Ljava/util/concurrent/ConcurrentHashMap$TreeNode;", NODE_FIRST}},
				forward[] = {
					{"nextTable", "[Ljava/util/concurrent/ConcurrentHashMap$Node;", NODE_TABLE}};

	make_class("java/lang/ref/Reference", 24, reference, 1);
	klass.set = make_class("java/util/concurrent/ConcurrentHashMap$CollectionView", 24, view, 1);
	klass.map = make_class("java/util/concurrent/ConcurrentHashMap", 24, map, 1);
	klass.node = make_class("java/util/concurrent/ConcurrentHashMap$Node", 48, node, 3);
	klass.tree = make_class("java/util/concurrent/ConcurrentHashMap$TreeBin", 48, tree, 1);
	klass.forward = make_class("java/util/concurrent/ConcurrentHashMap$ForwardingNode", 48, forward, 1);
}

static void make_classes(void)
{
	const struct fake_field containers[] = {{"CONTAINER_REGISTRY", "Ljava/util/Set;", REGISTRY}},
				root[] = {{"VTHREADS", "Ljava/util/Set;", ROOT}},
				thread[] = {{"state", "I", STATE},
					    {"carrierThread", "Ljava/lang/Thread;", CARRIER},
					    {"PARKED", "I", PARKED},
					    {"RUNNING", "I", RUNNING}};

	make_map_classes();
	klass.containers = make_class("jdk/internal/vm/ThreadContainers", 16, containers, 1);
	klass.root = make_class("jdk/internal/vm/ThreadContainers$RootContainer$TrackingRootContainer", 16, root, 1);
	klass.thread = make_class("java/lang/VirtualThread", THREAD_BYTES, thread, 4);
	klass.chunk = make_class("jdk/internal/vm/StackChunk", CHUNK_BYTES, chunk_fields, 3);
	klass.continuation = make_class("jdk/internal/vm/Continuation", 24, NULL, 0);
	klass.string = make_class("java/lang/String", 32, NULL, 0);
	put_int(mirror(klass.thread) + PARKED, 4);
	put_int(mirror(klass.thread) + RUNNING, 2);
}

static uint64_t make_set(uint32_t bins, uint64_t *its_table)
{
	uint64_t set = make_object(klass.set, 24), map = make_object(klass.map, 24);

	put(set + SET_MAP, map);
	*its_table = make_array(bins);
	put(map + MAP_TABLE, *its_table);
	return set;
}

static uint64_t bin_of(uint64_t of, uint32_t bin)
{
	return of + ARRAY_HEAD + 8ULL * bin;
}

static uint64_t make_node(int32_t hash, uint64_t key, uint64_t next)
{
	uint64_t node = make_object(klass.node, 48);

	put_int(node + NODE_HASH, hash);
	put(node + NODE_KEY, key);
	put(node + NODE_NEXT, next);
	return node;
}

static uint64_t make_chunk(uint32_t words, uint64_t parent)
{
	uint64_t chunk = make_object(klass.chunk, CHUNK_BYTES + 8 * (words + 2));

	put(chunk + PARENT, parent);
	put_int(chunk + SP, 2);
	put_int(chunk + BOTTOM, (int32_t)words + 2);
	return chunk;
}

static uint64_t make_thread(uint64_t number, uint64_t chunk)
{
	uint64_t thread = make_object(klass.thread, THREAD_BYTES), cont = make_object(klass.continuation, 24),
		 name = make_object(klass.string, 32), text = make_array(2);

	put(thread + TID, number);
	put(thread + NAME, name);
	put(thread + CONT, cont);
	put_int(thread + STATE, 4);
	put(cont + TAIL, chunk);
	put(name + VALUE, text);
	put_int(text + 16, 5);
	memcpy((void *)(uintptr_t)(text + ARRAY_HEAD), "hello", 5);
	return thread;
}

static void setup(void)
{
	uint64_t of_registry;

	fake_setup();
	make_classes();
	heap.layout.objects = (struct braid_objects){.virtual_klass = klass.thread,
						     .thread_id = TID,
						     .thread_eetop = EETOP,
						     .thread_name = NAME,
						     .thread_blocker = BLOCKER,
						     .string_value = VALUE,
						     .string_coder = CODER,
						     .array_length = 16,
						     .array_data = ARRAY_HEAD};
	heap.layout.vthreads = (struct braid_vthreads){.flags = BRAID_VTHREADS_FROZEN,
						       .thread_cont = CONT,
						       .cont_tail = TAIL,
						       .chunk_parent = PARENT,
						       .chunk_sp = SP,
						       .chunk_bottom = BOTTOM,
						       .chunk_stack = CHUNK_BYTES};
	registry = make_set(4, &of_registry);
	threads_set = make_set(8, &table);
	put(mirror(klass.containers) + REGISTRY, registry);
	put(mirror(klass.root) + ROOT, threads_set);
	memset(&last, 0, sizeof(last));
	found = frames_sum = 0;
}

static void on_thread(void *ctx, const struct virtual_thread *t)
{
	(void)ctx;
	found++;
	last = *t;
	ck_assert_uint_le(t->chunk_count, VIRTUAL_CHUNKS);
	ck_assert_uint_le(t->name_bytes, VIRTUAL_NAME_BYTES);
	for (uint32_t i = 0; i < t->chunk_count; i++) /* all of it is there */
		for (uint32_t k = 0; k < t->chunks[i].bytes; k++)
			frames_sum += t->chunks[i].frames[k];
}

/* Reads all threads; returns what was left out. With no time, each call reads a group. */
static uint64_t read_all_until(uint64_t until_ns)
{
	struct virtuals *v;
	uint64_t left_out = 0;
	int more = virtuals_new(&v, &heap);

	found = 0;
	for (int calls = 0; !more || more == 1; calls++) {
		ck_assert_int_lt(calls, CALLS_MAX);
		more = virtuals_next(v, until_ns, on_thread, NULL);
		if (!more)
			break;
	}
	if (v)
		left_out = virtuals_left_out(v).unreadable;
	virtuals_free(v);
	return left_out;
}

static uint64_t read_all(void)
{
	return read_all_until(UINT64_MAX);
}

START_TEST(threads_and_frames)
{
	uint64_t deeper = make_chunk(3, 0), chunk = make_chunk(4, deeper), one = make_thread(41, chunk);

	put(bin_of(table, 0), make_node(0, one, make_node(8, make_thread(42, 0), 0)));
	put(bin_of(table, 7), make_node(7, one, 0)); /* met twice */
	ck_assert_uint_eq(read_all(), 0);
	ck_assert_uint_eq(found, 2);
	put(bin_of(table, 0), 0);
	ck_assert_uint_eq(read_all(), 0);
	ck_assert_uint_eq(found, 1);
	ck_assert_uint_eq(last.number, 41);
	ck_assert_int_eq(last.state, BRAID_VTHREAD_PARKED);
	ck_assert_uint_eq(last.name_bytes, 5);
	ck_assert_int_eq(memcmp(last.name, "hello", 5), 0);
	ck_assert_uint_eq(last.chunk_count, 2);
	ck_assert_uint_eq(last.chunks[0].chunk, chunk);
	ck_assert_uint_eq(last.chunks[0].bytes, 8 * (4 + 2));
	ck_assert_uint_eq(last.chunks[1].chunk, deeper);
}
END_TEST

/* However little time there is at once, each thread is found, and is found once. */
START_TEST(little_time)
{
	const uint32_t count = 1000;
	struct virtuals *v;
	int calls = 0;

	table = make_array(4096);
	put(word(threads_set + SET_MAP) + MAP_TABLE, table);
	for (uint32_t i = 0; i < count; i++)
		put(bin_of(table, i), make_node((int32_t)i, make_thread(i + 1, 0), 0));
	ck_assert_uint_eq(read_all_until(0), 0);
	ck_assert_uint_eq(found, count);
	ck_assert_int_eq(virtuals_new(&v, &heap), 0);
	for (found = 0; virtuals_next(v, 0, on_thread, NULL); calls++)
		ck_assert_uint_le(found, 256U * (uint32_t)(calls + 1));
	ck_assert_int_gt(calls, (int)count / 256);
	virtuals_free(v);
}
END_TEST

/* ---- sets ---- */

START_TEST(nodes_without_end)
{
	uint64_t node = make_node(0, make_thread(41, 0), 0), tree = make_object(klass.tree, 48);

	put(node + NODE_NEXT, node);
	put(bin_of(table, 0), node);
	ck_assert_uint_gt(read_all(), 0);
	ck_assert_uint_eq(found, 1);
	put(node + NODE_NEXT, 0);
	put_int(tree + NODE_HASH, HASH_TREE);
	put(tree + NODE_FIRST, tree);
	put(bin_of(table, 1), tree);
	ck_assert_uint_gt(read_all(), 0);
	ck_assert_uint_eq(found, 1);
}
END_TEST

/* Bins that have moved to a larger table, whose bins have moved to it, too: each is two more. */
START_TEST(moves_without_end)
{
	uint64_t forward = make_object(klass.forward, 48), next = make_array(16);

	put_int(forward + NODE_HASH, HASH_MOVED);
	put(forward + NODE_TABLE, next);
	put(bin_of(next, 0), make_node(0, make_thread(41, 0), 0));
	put(bin_of(next, 8), make_node(8, make_thread(42, 0), 0));
	put(bin_of(table, 0), forward);
	ck_assert_uint_eq(read_all(), 0);
	ck_assert_uint_eq(found, 2);
	for (uint32_t i = 0; i < 16; i++)
		put(bin_of(next, i), forward);
	for (uint32_t i = 0; i < 8; i++)
		put(bin_of(table, i), forward);
	ck_assert_uint_gt(read_all(), 0);
	put(forward + NODE_TABLE, table); /* which is not twice as large */
	ck_assert_uint_gt(read_all(), 0);
	put(forward + NODE_TABLE, NOWHERE);
	ck_assert_uint_gt(read_all(), 0);
	ck_assert_uint_eq(found, 0);
}
END_TEST

/* Nodes without a set, in the table that lists the sets: its slices are read at once, and bounded together. */
START_TEST(lists_without_end)
{
	const uint32_t bins = 1U << 16;
	uint64_t list = make_array(bins), node = make_node(-3, 0, 0);
	const struct java_moment m = {0};
	struct thread_sets s;
	thread_objects none = {0};

	put(node + NODE_NEXT, node);
	put(word(registry + SET_MAP) + MAP_TABLE, list);
	for (uint32_t i = 0; i < bins; i++)
		put(bin_of(list, i), node);
	ck_assert_int_eq(thread_sets_open(&s, &heap), 0);
	s.slice = 1024;
	ck_assert_int_eq(thread_sets_read(&s, &m, &none), 1);
	ck_assert_uint_eq(none.count, 0);
	ck_assert_uint_ge(s.damaged, 50);
	thread_sets_close(&s);
}
END_TEST

/* Tables that say they are larger than all memory. */
START_TEST(large_tables)
{
	uint64_t map = word(registry + SET_MAP), of_registry = word(map + MAP_TABLE);

	put(bin_of(table, 0), make_node(0, make_thread(41, 0), 0));
	put_int(table + 16, 1 << 24);
	ck_assert_uint_gt(read_all(), 0);
	put_int(table + 16, -1);
	(void)read_all();
	ck_assert_uint_eq(found, 0);
	put_int(table + 16, 8);
	put_int(of_registry + 16, 1 << 30);
	ck_assert_uint_gt(read_all(), 0);
	put(map + MAP_TABLE, NOWHERE);
	(void)read_all();
	ck_assert_uint_eq(found, 1);
	put(mirror(klass.containers) + REGISTRY, NOWHERE);
	ck_assert_uint_gt(read_all(), 0);
	put(mirror(klass.root) + ROOT, 0);
	ck_assert_uint_gt(read_all(), 0);
	ck_assert_uint_eq(found, 0);
}
END_TEST

/* ---- threads ---- */

START_TEST(chunks_without_end)
{
	uint64_t chunk = make_chunk(4, 0);

	put(chunk + PARENT, chunk);
	put(bin_of(table, 0), make_node(0, make_thread(41, chunk), 0));
	ck_assert_uint_eq(read_all(), 0);
	ck_assert_uint_eq(last.chunk_count, VIRTUAL_CHUNKS);
	ck_assert(last.deep);
	put(chunk + PARENT, NOWHERE);
	ck_assert_uint_eq(read_all(), 0);
	ck_assert_uint_eq(last.chunk_count, 1);
}
END_TEST

/* A chunk whose frames are not there, or are none: what was read of another one is not shown for it. */
START_TEST(frames_that_are_none)
{
	static const struct {
		int32_t sp, bottom;
		bool read;
	} chunks[] = {
		{2, 6, true},  {2, 1 << 20, false}, {INT32_MAX - 1, INT32_MAX, false}, {-1, 6, false}, {6, 2, false},
		{0, 6, false}, {2, -1, false},	    {1 << 19, 1 << 20, false},	       {2, 2, true}};
	uint64_t chunk = make_chunk(4, 0);

	put(bin_of(table, 0), make_node(0, make_thread(41, chunk), 0));
	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		put_int(chunk + SP, chunks[i].sp);
		put_int(chunk + BOTTOM, chunks[i].bottom);
		ck_assert_msg((read_all() == 0) == chunks[i].read, "chunk %zu", i);
		ck_assert_uint_eq(found, 1);
		ck_assert_uint_eq(last.chunk_count, chunks[i].read);
	}
}
END_TEST

START_TEST(names_that_are_none)
{
	uint64_t thread = make_thread(41, 0), name = word(thread + NAME), text = word(name + VALUE);

	put(bin_of(table, 0), make_node(0, thread, 0));
	memset((void *)(uintptr_t)(name + CODER), 0x5a, 1);
	put_int(text + 16, -1);
	(void)read_all();
	ck_assert_uint_eq(last.name_bytes, VIRTUAL_NAME_BYTES);
	ck_assert_uint_eq(last.coder, 0x5a);
	put(name + VALUE, NOWHERE);
	(void)read_all();
	ck_assert_uint_eq(last.name_bytes, 0);
	put(thread + NAME, NOWHERE);
	put(thread + CONT, NOWHERE);
	put(thread + CARRIER, NOWHERE);
	put(thread + BLOCKER, NOWHERE);
	(void)read_all();
	ck_assert_uint_eq(found, 1);
	ck_assert_uint_eq(last.blocker, 0);
	ck_assert_uint_eq(last.carrier, 0);
	put(thread + 8, klass.chunk); /* no thread */
	ck_assert_uint_eq(read_all(), 0);
	ck_assert_uint_eq(found, 0);
}
END_TEST

/* Fields outside of what is copied of an object. */
START_TEST(fields_far_away)
{
	struct virtuals *v;

	for (int i = 0; i < 4; i++) {
		uint16_t *fields[] = {&heap.layout.vthreads.chunk_sp, &heap.layout.vthreads.chunk_bottom,
				      &heap.layout.vthreads.chunk_parent, &heap.layout.objects.thread_id};
		uint16_t right = *fields[i];

		*fields[i] = 60000;
		ck_assert_int_eq(virtuals_new(&v, &heap), -ENOENT);
		virtuals_free(v);
		*fields[i] = right;
	}
	ck_assert_int_eq(virtuals_new(&v, &heap), 0);
	virtuals_free(v);
	chunk_fields[2].offset = 60000;
	make_class("jdk/internal/vm/StackChunk", CHUNK_BYTES, chunk_fields, 3); /* the first of the list */
	chunk_fields[2].offset = LOCKED;
	ck_assert_int_eq(virtuals_new(&v, &heap), -ENOENT);
	virtuals_free(v);
}
END_TEST

START_TEST(any_memory)
{
	static uint8_t before[FAKE_BYTES];
	uint32_t threads = 0;

	for (uint32_t bin = 0; bin < 8; bin++) {
		put(bin_of(table, bin), make_node(0, make_thread(41 + bin, make_chunk(4, make_chunk(5, 0))), 0));
		threads++;
	}
	memcpy(before, vm.bytes, sizeof(before));
	for (int round = 0; round < 80; round++) {
		for (int i = 0; i < 8; i++)
			damage_word();
		memcpy(vm.bytes, before, vm.used < 0x4000 ? vm.used : 0x4000); /* classes have a test of their own */
		(void)read_all();
		memcpy(vm.bytes, before, vm.used);
	}
	ck_assert_uint_eq(read_all(), 0);
	ck_assert_uint_eq(found, threads);
}
END_TEST

Suite *test_virtual(void)
{
	Suite *s = suite_create("virtual threads");
	TCase *t = tcase_create("memory");

	tcase_add_checked_fixture(t, setup, fake_teardown);
	tcase_add_test(t, threads_and_frames);
	tcase_add_test(t, little_time);
	tcase_add_test(t, nodes_without_end);
	tcase_add_test(t, lists_without_end);
	tcase_add_test(t, moves_without_end);
	tcase_add_test(t, large_tables);
	tcase_add_test(t, chunks_without_end);
	tcase_add_test(t, frames_that_are_none);
	tcase_add_test(t, names_that_are_none);
	tcase_add_test(t, fields_far_away);
	tcase_add_test(t, any_memory);
	suite_add_tcase(s, t);
	return s;
}
