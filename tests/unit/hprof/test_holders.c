// SPDX-License-Identifier: Apache-2.0
/* Tests of who holds the objects of a class in a heap dump: ways that are one, their shares, and stacks beside them. */
#include <report/hprof.h>

#include "unit/hprof_fixture.h"
#include "unit/program.h"

Suite *test_holders(void);

enum string {
	NONE,
	OBJECT_NAME,
	CLASS_NAME,
	NODE_NAME,
	CACHE_NAME,
	OBJECTS_NAME,
	NEXT,
	FIRST,
	SLOTS,
	LIST,
	PUT,
	SOURCE
};

static const char *const strings[] = {[OBJECT_NAME] = "java/lang/Object",
				      [CLASS_NAME] = "java/lang/Class",
				      [NODE_NAME] = "app/Node",
				      [CACHE_NAME] = "app/Cache",
				      [OBJECTS_NAME] = "[Ljava/lang/Object;",
				      [NEXT] = "next",
				      [FIRST] = "first",
				      [SLOTS] = "slots",
				      [LIST] = "list",
				      [PUT] = "put",
				      [SOURCE] = "Cache.java"};
#define STRINGS (sizeof(strings) / sizeof(strings[0]))

enum { OBJECT = 0x1000, CLASS = 0x1100, NODE = 0x1200, CACHE = 0x1300, OBJECTS = 0x1400, TABLE = 0x2000 };

#define LINKED 700  /* nodes of a list */
#define SLOTTED 300 /* nodes of an array */
#define NODE_AT(i) (0x10000ULL + (i)*16)

#define BY_LIST 6 /* stacks */
#define BY_TABLE 7

static void make_definitions(struct made *m)
{
	static const uint64_t classes[] = {OBJECT, CLASS, NODE, CACHE, OBJECTS};

	made_begin(m, '2', 8);
	for (uint64_t i = 1; i < STRINGS; i++)
		made_string(m, i, strings[i]);
	for (uint32_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		made_load(m, i + 1, classes[i], OBJECT_NAME + i);
	made_frame(m, 900, LIST, SOURCE, 4, 12);
	made_frame(m, 901, PUT, SOURCE, 4, 15);
	made_trace(m, BY_LIST, 0, 900);
	made_trace(m, BY_TABLE, 0, 901);
}

/* A static field has a list of nodes, another root an array of them. Nodes have a stack from the number `traced` on. */
static void make(struct made *m, unsigned traced)
{
	static const struct made_field next = {2, NEXT, 0, false}, first = {2, FIRST, NODE_AT(0), true};
	uint64_t slots[SLOTTED];

	make_definitions(m);
	made_dump(m, 0x1c);
	made_root(m, HPROF_ROOT_STICKY_CLASS, CACHE, -1, -1);
	made_root(m, HPROF_ROOT_MONITOR, TABLE, -1, -1);
	made_class(m, OBJECT, 0, 0, NULL, 0);
	made_class(m, CLASS, OBJECT, 0, NULL, 0);
	made_class(m, NODE, OBJECT, 0, &next, 1);
	made_class(m, CACHE, OBJECT, 0, &first, 1);
	made_class(m, OBJECTS, OBJECT, 0, NULL, 0);
	for (unsigned i = 0; i < LINKED + SLOTTED; i++) {
		uint64_t to = i + 1 < LINKED ? NODE_AT(i + 1) : 0;

		m->allocated_by = i < traced ? 0 : i < LINKED ? BY_LIST : BY_TABLE;
		made_instance(m, NODE_AT(i), NODE, &to, 1);
		if (i >= LINKED)
			slots[i - LINKED] = NODE_AT(i);
	}
	m->allocated_by = 0;
	made_objects(m, TABLE, OBJECTS, slots, SLOTTED);
	made_dump_end(m, true);
}

struct found {
	struct hprof h;
	struct hprof_paths paths;
	struct hprof_holders holders;
};

static void find(struct found *f, const struct made *m, const char *class_name)
{
	const char *path = path_in("made.hprof");
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(m->bytes, 1, m->length, out), m->length);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_msg(!hprof_open(&f->h, path, 1U << 20), "%s", f->h.dump.why);
	ck_assert_int_eq(hprof_paths_init(&f->paths, &f->h), 0);
	ck_assert_int_eq(hprof_holders_find(&f->holders, &f->paths, class_name), 0);
}

static void found_free(struct found *f)
{
	hprof_holders_free(&f->holders);
	hprof_paths_free(&f->paths);
	hprof_close(&f->h);
}

static char *printed(struct found *f, bool json, unsigned rows)
{
	struct hprof_report r = {.path = "made.hprof", .h = &f->h, .paths = f->paths, .rows = rows};
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	ck_assert_int_eq((json ? hprof_holders_json : hprof_holders_text)(out, &r, "app.Node", &f->holders), 0);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

static uint64_t id_of(const struct found *f, size_t holder)
{
	return hprof_id_at(&f->h, f->holders.list.at[holder].place);
}

/* All nodes of the list are one way, however far they are from its root; so are all elements of the array. */
START_TEST(ways)
{
	static struct made m;
	struct found f;
	char *text;

	make(&m, LINKED + SLOTTED);
	find(&f, &m, "app.Node");
	ck_assert_uint_eq(f.holders.held.objects, LINKED + SLOTTED);
	ck_assert_uint_eq(f.holders.held.bytes, (LINKED + SLOTTED) * 16);
	ck_assert_uint_eq(f.holders.list.count, 2);
	ck_assert_uint_eq(f.holders.points, 200); /* one in each 80 bytes */
	ck_assert_uint_eq(f.holders.list.at[0].points, 140);
	ck_assert_uint_lt(id_of(&f, 0), NODE_AT(LINKED));
	ck_assert_uint_eq(f.holders.list.at[1].points, 60);
	ck_assert_uint_ge(id_of(&f, 1), NODE_AT(LINKED));
	ck_assert_uint_eq(f.holders.traced, 0);
	text = printed(&f, false, 1);
	ck_assert_ptr_nonnull(strstr(text, "\napp.Node: 1000 objects held, 15.62 KiB; "));
	ck_assert_ptr_nonnull(strstr(text, "\n  70.0% of the points, for example\n"));
	ck_assert_ptr_nonnull(strstr(text, "static app.Cache.first: app.Node 0x10000\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nand 1 more\n"));
	ck_assert_ptr_null(strstr(text, "allocated"));
	free(text);
	found_free(&f);
}
END_TEST

/* Every second node or so has a stack: those of the array all by one, which is beside its way only. */
START_TEST(stacks)
{
	static struct made m;
	struct found f;
	char *text;

	make(&m, LINKED / 2);
	find(&f, &m, "app.Node");
	ck_assert_uint_eq(f.holders.list.count, 2);
	ck_assert_uint_eq(f.holders.list.at[0].trace, BY_LIST);
	ck_assert_uint_eq(f.holders.list.at[1].trace, BY_TABLE);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_uint_gt(f.holders.list.at[i].traced, 0);
		ck_assert_uint_eq(f.holders.list.at[i].of_trace, f.holders.list.at[i].traced);
	}
	ck_assert_uint_eq(f.holders.list.at[0].traced + f.holders.list.at[1].traced, f.holders.traced);
	text = printed(&f, false, 2);
	ck_assert_ptr_nonnull(strstr(text, "\n                 app.Cache.list(Cache.java:12)\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n                 app.Cache.put(Cache.java:15)\n"));
	free(text);
	text = printed(&f, true, 2);
	ck_assert_ptr_nonnull(strstr(text, "\"of_class\":{\"objects\":1000,\"bytes\":16000},\"points\":200,"));
	ck_assert_ptr_nonnull(strstr(text, "\"stack\":[\"app.Cache.put(Cache.java:15)\"]"));
	free(text);
	found_free(&f);
}
END_TEST

START_TEST(no_such_class)
{
	static struct made m;
	struct found f;

	make(&m, 0);
	find(&f, &m, "app.None");
	ck_assert_uint_eq(f.holders.held.objects, 0);
	ck_assert_uint_eq(f.holders.list.count, 0);
	found_free(&f);
}
END_TEST

Suite *test_holders(void)
{
	Suite *s = suite_create("holders");
	TCase *tc = tcase_create("holders");

	tcase_add_checked_fixture(tc, directory_make, directory_remove);
	tcase_add_test(tc, ways);
	tcase_add_test(tc, stacks);
	tcase_add_test(tc, no_such_class);
	suite_add_tcase(s, tc);
	return s;
}
