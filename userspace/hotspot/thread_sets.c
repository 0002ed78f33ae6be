// SPDX-License-Identifier: Apache-2.0
#include "thread_sets.h"

#include "util/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_MAX 65536U /* bins; a bin has one node on average, or less */
#define SLICE_MIN 1024U
#define TABLE_MAX (1U << 30) /* ConcurrentHashMap.MAXIMUM_CAPACITY */
#define NODES_MAX 262144U    /* of a slice, and of all tables that list the sets */
#define ROUNDS_MAX 4096U     /* nodes in a row; the hash codes of threads are random, so a bin has a few */
#define SETS_MAX 65536U
#define SETS_BINS_MAX (4 * SETS_MAX) /* of the table that lists them; no table is that empty */
#define PASSES_MAX 8U
#define NODE_BYTES 64U

/* ConcurrentHashMap: hashes of nodes that are no entries. */
#define HASH_MOVED (-1)
#define HASH_TREE (-2)

enum {
	C_CONTAINERS,
	C_ROOT,
	C_UNTRACKED,
	C_PER_TASK,
	C_SHARED,
	C_FLOCK_CONTAINER,
	C_FLOCK,
	C_REFERENCE,
	C_VIEW,
	C_MAP,
	C_NODE,
	C_TREE,
	C_FORWARD,
	CLASSES
};

int thread_sets_open(struct thread_sets *s, const struct java_heap *h)
{
	struct class_wanted classes[CLASSES] = {
		[C_CONTAINERS] = {.name = "jdk/internal/vm/ThreadContainers"},
		[C_ROOT] = {.name = "jdk/internal/vm/ThreadContainers$RootContainer$TrackingRootContainer"},
		[C_UNTRACKED] = {.name = "jdk/internal/vm/ThreadContainers$RootContainer$CountingRootContainer"},
		[C_PER_TASK] = {.name = "java/util/concurrent/ThreadPerTaskExecutor"},
		[C_SHARED] = {.name = "jdk/internal/vm/SharedThreadContainer"},
		[C_FLOCK_CONTAINER] = {.name = "jdk/internal/misc/ThreadFlock$ThreadContainerImpl"},
		[C_FLOCK] = {.name = "jdk/internal/misc/ThreadFlock"},
		[C_REFERENCE] = {.name = "java/lang/ref/Reference"},
		[C_VIEW] = {.name = "java/util/concurrent/ConcurrentHashMap$CollectionView"},
		[C_MAP] = {.name = "java/util/concurrent/ConcurrentHashMap"},
		[C_NODE] = {.name = "java/util/concurrent/ConcurrentHashMap$Node"},
		[C_TREE] = {.name = "java/util/concurrent/ConcurrentHashMap$TreeBin"},
		[C_FORWARD] = {.name = "java/util/concurrent/ConcurrentHashMap$ForwardingNode"},
	};
	const struct field_wanted fields[] = {
		{C_CONTAINERS, "CONTAINER_REGISTRY", "Ljava/util/Set;", &s->at.registry},
		{C_ROOT, "VTHREADS", "Ljava/util/Set;", &s->at.root},
		{C_PER_TASK, "threads", "Ljava/util/Set;", &s->at.per_task},
		{C_SHARED, "virtualThreads", "Ljava/util/Set;", &s->at.shared},
		{C_FLOCK_CONTAINER, "flock", "Ljdk/internal/misc/ThreadFlock;", &s->at.flock},
		{C_FLOCK, "threads", "Ljava/util/Set;", &s->at.flock_threads},
		{C_REFERENCE, "referent", "Ljava/lang/Object;", &s->at.referent},
		{C_VIEW, "map", "Ljava/util/concurrent/ConcurrentHashMap;", &s->at.map},
		{C_MAP, "table", "[Ljava/util/concurrent/ConcurrentHashMap$Node;", &s->at.table},
		{C_NODE, "hash", "I", &s->at.hash},
		{C_NODE, "key", "Ljava/lang/Object;", &s->at.key},
		{C_NODE, "next", "Ljava/util/concurrent/ConcurrentHashMap$Node;", &s->at.next},
		{C_TREE, "first", "Ljava/util/concurrent/ConcurrentHashMap$TreeNode;", &s->at.first},
		{C_FORWARD, "nextTable", "[Ljava/util/concurrent/ConcurrentHashMap$Node;", &s->at.next_table},
	};

	*s = (struct thread_sets){.heap = h, .slice = SLICE_MAX};
	classes_find(&h->classes, classes, CLASSES, fields, sizeof(fields) / sizeof(fields[0]));
	s->klass.registry = classes[C_CONTAINERS].klass;
	s->klass.root = classes[C_ROOT].klass;
	s->klass.untracked = classes[C_UNTRACKED].klass;
	s->klass.per_task = classes[C_PER_TASK].klass;
	s->klass.shared = classes[C_SHARED].klass;
	s->klass.flock = classes[C_FLOCK_CONTAINER].klass;
	return s->at.registry && s->at.referent && s->at.map && s->at.table && s->at.hash && s->at.key && s->at.next &&
			       s->at.hash + 4U <= NODE_BYTES && s->at.key + 8U <= NODE_BYTES &&
			       s->at.next + 8U <= NODE_BYTES
		       ? 0
		       : -ENOENT;
}

void thread_sets_close(struct thread_sets *s)
{
	free(s->sets.at);
	s->sets = (thread_objects){0};
}

bool thread_sets_untracked(const struct thread_sets *s)
{
	return s->klass.untracked;
}

/* ---- nodes ---- */

struct node {
	uint64_t address;
	uint32_t bin;
};

typedef VEC(struct node) nodes;

struct table {
	uint64_t elements;
	uint32_t length;
};

static bool table_read(const struct thread_sets *s, uint64_t array, struct table *to)
{
	return java_heap_array(s->heap, array, &to->length, &to->elements) && to->length && to->length <= TABLE_MAX;
}

/* The table of a set. False: it has none yet, or is no such set. */
static bool table_of(struct thread_sets *s, uint64_t set, struct table *to)
{
	uint64_t map = java_heap_field(s->heap, set, s->at.map);

	s->damaged += !map;
	return table_read(s, java_heap_field(s->heap, map, s->at.table), to);
}

/* Appends the first nodes of `count` bins from `bin` on. */
static int bins_read(struct thread_sets *s, const struct java_moment *m, const struct table *t, uint32_t bin,
		     uint32_t count, nodes *to)
{
	uint32_t size = java_heap_reference_bytes(s->heap);
	uint8_t *references = malloc((size_t)count * size);
	struct java_read read = {.address = t->elements + (uint64_t)bin * size, .to = references, .size = count * size};
	int err = 0;

	if (!references)
		return -ENOMEM;
	java_heap_read(s->heap, &read, 1);
	s->damaged += !read.ok;
	for (uint32_t i = 0; i < count && read.ok && !err; i++) {
		uint64_t address = java_heap_decode(s->heap, m, references + (size_t)i * size);

		if (address)
			err = VEC_PUSH(to, (struct node){.address = address, .bin = bin + i});
	}
	free(references);
	return err;
}

/* The table to which bins have moved, by the node that says so: all that have moved from a table have the same one. */
struct moved {
	uint64_t node;
	bool known;
	struct table to;
};

/* A bin that was moved to a table twice as large is two bins there. */
static int follow_move(struct thread_sets *s, const struct java_moment *m, const struct node *n, uint32_t length,
		       struct moved *moved, nodes *to)
{
	int err;

	if (moved->node != n->address) {
		*moved = (struct moved){.node = n->address};
		moved->known = table_read(s, java_heap_field(s->heap, n->address, s->at.next_table), &moved->to);
	}
	if (!moved->known || moved->to.length != length * 2) {
		s->damaged++;
		return 0;
	}
	err = bins_read(s, m, &moved->to, n->bin, 1, to);
	return err ?: bins_read(s, m, &moved->to, n->bin + length, 1, to);
}

static int take_node(struct thread_sets *s, const struct java_moment *m, const struct node *n, const uint8_t *bytes,
		     uint32_t length, struct moved *moved, nodes *more, thread_objects *keys)
{
	struct node next = {.bin = n->bin};
	uint64_t key;
	int32_t hash;

	memcpy(&hash, bytes + s->at.hash, sizeof(hash));
	if (hash == HASH_MOVED)
		return follow_move(s, m, n, length, moved, more);
	next.address = hash == HASH_TREE ? java_heap_field(s->heap, n->address, s->at.first)
					 : java_heap_decode(s->heap, m, bytes + s->at.next);
	key = hash < 0 ? 0 : java_heap_decode(s->heap, m, bytes + s->at.key);
	if (key && VEC_PUSH(keys, key))
		return -ENOMEM;
	return next.address && VEC_PUSH(more, next) ? -ENOMEM : 0;
}

/* Appends the keys of `todo` and of all nodes behind them, round by round: all first nodes, all second ones. */
static int nodes_follow(struct thread_sets *s, const struct java_moment *m, uint32_t length, nodes *todo,
			thread_objects *keys)
{
	uint32_t size = (s->at.key > s->at.next ? s->at.key : s->at.next) + java_heap_reference_bytes(s->heap);
	struct java_read *reads = NULL;
	uint8_t *bytes = NULL;
	struct moved moved = {0};
	nodes more = {0};
	int err = 0;

	size = size > s->at.hash + 4U ? size : s->at.hash + 4U;
	for (uint32_t round = 0; todo->count && !err && round < ROUNDS_MAX && todo->count <= s->nodes_left; round++) {
		s->nodes_left -= (uint32_t)todo->count;
		free(reads);
		free(bytes);
		reads = calloc(todo->count, sizeof(*reads));
		bytes = malloc(todo->count * size);
		err = reads && bytes ? 0 : -ENOMEM;
		for (size_t i = 0; i < todo->count && !err; i++)
			reads[i] = (struct java_read){
				.address = todo->at[i].address, .to = bytes + i * size, .size = size};
		if (!err)
			java_heap_read(s->heap, reads, todo->count);
		more.count = 0;
		for (size_t i = 0; i < todo->count && !err; i++) {
			s->damaged += !reads[i].ok;
			if (reads[i].ok)
				err = take_node(s, m, &todo->at[i], bytes + i * size, length, &moved, &more, keys);
		}
		nodes swap = *todo;
		*todo = more;
		more = swap;
	}
	s->damaged += todo->count && !err;
	free(more.at);
	free(reads);
	free(bytes);
	return err;
}

static int keys_read(struct thread_sets *s, const struct java_moment *m, const struct table *t, uint32_t bin,
		     thread_objects *keys)
{
	uint32_t count = t->length - bin < s->slice ? t->length - bin : s->slice;
	nodes todo = {0};
	int err = bins_read(s, m, t, bin, count, &todo);

	err = err ?: nodes_follow(s, m, t->length, &todo, keys);
	free(todo.at);
	return err;
}

/* ---- the sets ---- */

/* The set of a container; 0: it has none. */
static uint64_t set_of(const struct thread_sets *s, uint64_t container)
{
	uint64_t klass = container ? java_heap_klass(s->heap, container) : 0;

	if (!klass)
		return 0;
	if (klass == s->klass.per_task)
		return java_heap_field(s->heap, container, s->at.per_task);
	if (klass == s->klass.shared)
		return java_heap_field(s->heap, container, s->at.shared);
	if (klass == s->klass.flock)
		return java_heap_field(s->heap, java_heap_field(s->heap, container, s->at.flock), s->at.flock_threads);
	return 0;
}

/* Lists the sets, always in the same order: objects keep their hash codes, and so their bins. */
static int list(struct thread_sets *s, const struct java_moment *m)
{
	uint64_t registry = java_heap_static(s->heap, s->klass.registry, s->at.registry);
	thread_objects references = {0};
	struct table t;
	int err = 0;

	s->sets.count = 0;
	s->nodes_left = NODES_MAX;
	s->damaged += !registry;
	err = VEC_PUSH(&s->sets, java_heap_static(s->heap, s->klass.root, s->at.root));
	s->damaged += s->klass.root && !err && !s->sets.at[0];
	if (!err && registry && table_of(s, registry, &t)) {
		for (uint32_t bin = 0; bin < t.length && bin < SETS_BINS_MAX && !err && references.count < SETS_MAX;
		     bin += s->slice)
			err = keys_read(s, m, &t, bin, &references);
		s->damaged += t.length > SETS_BINS_MAX || references.count > SETS_MAX;
	}
	for (size_t i = 0; i < references.count && i < SETS_MAX && !err; i++)
		err = VEC_PUSH(&s->sets, set_of(s, java_heap_field(s->heap, references.at[i], s->at.referent)));
	free(references.at);
	s->listed = *m;
	s->is_listed = !err;
	return err;
}

static void next_set(struct thread_sets *s)
{
	s->set++;
	s->bin = s->length = s->passes = 0;
}

static int compare_objects(const void *x, const void *y)
{
	return compare_u64(*(const uint64_t *)x, *(const uint64_t *)y);
}

/* Threads that were created together are close together, and so is what belongs to them. */
int thread_sets_read(struct thread_sets *s, const struct java_moment *m, thread_objects *to)
{
	struct table t;
	int err;

	if (!s->is_listed || !java_moment_same(&s->listed, m)) {
		err = list(s, m);
		if (err)
			return err;
	}
	for (; s->set < s->sets.count; next_set(s)) {
		if (!s->sets.at[s->set] || !table_of(s, s->sets.at[s->set], &t))
			continue;
		/* In another table, threads are in other bins. */
		if (s->length != t.length && s->passes++ < PASSES_MAX)
			s->bin = 0;
		s->length = t.length;
		if (s->bin >= t.length)
			continue;
		s->nodes_left = NODES_MAX;
		err = keys_read(s, m, &t, s->bin, to);
		VEC_SORT(to, compare_objects);
		return err ?: 1;
	}
	s->ended = true;
	return 0;
}

bool thread_sets_ended(const struct thread_sets *s)
{
	return s->ended;
}

void thread_sets_advance(struct thread_sets *s)
{
	s->bin += s->slice;
}

void thread_sets_retry(struct thread_sets *s)
{
	if (s->slice > SLICE_MIN)
		s->slice /= 2;
}
