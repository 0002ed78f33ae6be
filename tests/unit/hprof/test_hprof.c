// SPDX-License-Identifier: Apache-2.0
/* Tests of heap dumps: what is held, retained and by whom, sizes, names, compressed files, and damaged ones. */
#include <report/hprof.h>
#include <hprof/allocated.h>
#include <hprof/names.h>
#include <hprof/tables.h>

#include "unit/hprof_fixture.h"
#include "unit/program.h"

Suite *test_hprof(void);

#define MEMORY (1U << 20)

enum string {
	NONE,
	OBJECT_NAME,
	CLASS_NAME,
	REFERENCE_NAME,
	NODE_NAME,
	CACHE_NAME,
	OBJECTS_NAME,
	BYTES_NAME,
	STRING_NAME,
	THREAD_NAME,
	LOADER_NAME,
	REFERENT,
	NEXT,
	VALUE,
	MAP,
	NAME,
	RUN,
	SOURCE
};

static const char *const strings[] = {[OBJECT_NAME] = "java/lang/Object",
				      [CLASS_NAME] = "java/lang/Class",
				      [REFERENCE_NAME] = "java/lang/ref/Reference",
				      [NODE_NAME] = "app/Node",
				      [CACHE_NAME] = "app/Cache",
				      [OBJECTS_NAME] = "[Ljava/lang/Object;",
				      [BYTES_NAME] = "[B",
				      [STRING_NAME] = "java/lang/String",
				      [THREAD_NAME] = "java/lang/Thread",
				      [LOADER_NAME] = "app/Loader",
				      [REFERENT] = "referent",
				      [NEXT] = "next",
				      [VALUE] = "value",
				      [MAP] = "map",
				      [NAME] = "name",
				      [RUN] = "ru\x1bn",
				      [SOURCE] = "Node.java"};
#define STRINGS (sizeof(strings) / sizeof(strings[0]))

/* Addresses. Those of other objects are as near to each other as a JVM with compressed references puts them. */
enum {
	OBJECT = 0x1000,
	CLASS = 0x1100,
	REFERENCE = 0x1200,
	NODE = 0x1300,
	CACHE = 0x1400,
	OBJECTS = 0x1500,
	BYTES = 0x1600,
	STRING = 0x1700,
	THREAD = 0x1800,
	LOADER = 0x1900
};
enum {
	LOADS = 0x2000,
	ARRAY = 0x2100,
	FIRST = 0x2118,
	SECOND = 0x2130,
	BYTES_1 = 0x2148,
	BYTES_2 = 0x2160,
	WEAK = 0x2178,
	REFERRED = 0x2190,
	MAIN = 0x21a8,
	MAIN_NAME = 0x21c0,
	MAIN_BYTES = 0x21d8,
	LOCAL = 0x21f0,
	LOCAL_BYTES = 0x2208,
	GARBAGE = 0x2220,
	SHARED = 0x2238
};
#define SIZE_OF_BYTES 24 /* of each of these byte arrays */

static void make_classes(struct made *m)
{
	static const struct made_field referent = {2, REFERENT, 0, false}, map = {2, MAP, ARRAY, true},
				       name = {2, NAME, 0, false}, value = {2, VALUE, 0, false},
				       node[] = {{2, NEXT, 0, false}, {2, VALUE, 0, false}};

	made_class(m, OBJECT, 0, 0, NULL, 0);
	made_class(m, CLASS, OBJECT, 0, NULL, 0);
	made_class(m, REFERENCE, OBJECT, 0, &referent, 1);
	made_class(m, NODE, OBJECT, LOADS, node, 2);
	made_class(m, CACHE, OBJECT, LOADS, &map, 1);
	made_class(m, OBJECTS, OBJECT, 0, NULL, 0);
	made_class(m, BYTES, OBJECT, 0, NULL, 0);
	made_class(m, STRING, OBJECT, 0, &value, 1);
	made_class(m, THREAD, OBJECT, 0, &name, 1);
	made_class(m, LOADER, OBJECT, 0, NULL, 0);
}

#define REFS(...)                                                                                                      \
	(const uint64_t[])                                                                                             \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}

static void make_objects(struct made *m)
{
	made_instance(m, LOADS, LOADER, NULL, 0);
	made_objects(m, ARRAY, OBJECTS, REFS(0, FIRST), 2);
	made_instance(m, SECOND, NODE, REFS(SHARED, BYTES_2), 2); /* not in order */
	made_instance(m, FIRST, NODE, REFS(SECOND, BYTES_1), 2);
	made_bytes(m, BYTES_1, NULL, 8);
	made_bytes(m, BYTES_2, NULL, 8);
	made_instance(m, WEAK, REFERENCE, REFS(REFERRED), 1);
	made_bytes(m, REFERRED, NULL, 8);
	made_instance(m, MAIN, THREAD, REFS(MAIN_NAME), 1);
	made_instance(m, MAIN_NAME, STRING, REFS(MAIN_BYTES), 1);
	made_bytes(m, MAIN_BYTES, "ma\nn", 4);
	made_instance(m, LOCAL, NODE, REFS(SHARED, LOCAL_BYTES), 2);
	made_bytes(m, LOCAL_BYTES, NULL, 8);
	made_bytes(m, GARBAGE, NULL, 8);
	made_bytes(m, SHARED, NULL, 8);
}

static void make(struct made *m, char version, unsigned id_bytes, unsigned tag)
{
	static const uint64_t classes[] = {OBJECT,  CLASS, REFERENCE, NODE,   CACHE,
					   OBJECTS, BYTES, STRING,    THREAD, LOADER};

	made_begin(m, version, id_bytes);
	for (uint64_t i = 1; i < STRINGS; i++)
		made_string(m, i, strings[i]);
	for (uint32_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		made_load(m, i + 1, classes[i], OBJECT_NAME + i);
	made_frame(m, 900, RUN, SOURCE, 4, 12);
	made_trace(m, 5, 1, 900);
	made_frame(m, 901, RUN, SOURCE, 0, 14);
	made_frame(m, 902, RUN, SOURCE, 4, 13);
	made_trace(m, 6, 0, 901);
	made_trace(m, 7, 0, 902);
	made_sites(m, 3, (const uint32_t[]){48}, 1);
	made_dump(m, tag);
	made_root(m, HPROF_ROOT_THREAD, MAIN, 1, 5);
	made_root(m, HPROF_ROOT_JAVA_FRAME, LOCAL, 1, 0);
	made_root(m, HPROF_ROOT_JNI_GLOBAL, LOADS, -1, -1);
	put_id(m, 0); /* the JNI reference */
	made_root(m, HPROF_ROOT_MONITOR, WEAK, -1, -1);
	make_classes(m);
	if (tag == 0x1c) {
		made_dump_end(m, false);
		made_dump(m, tag);
	}
	make_objects(m);
	made_dump_end(m, tag == 0x1c);
}

static const char *file_of(const struct made *m, size_t length)
{
	const char *path = path_in("made.hprof");
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	/* Over what is there: a file system may write one to disk that is emptied first. */
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, m->bytes, length), (ssize_t)length);
	ck_assert_int_eq(ftruncate(fd, (off_t)length), 0);
	ck_assert_int_eq(close(fd), 0);
	return path;
}

static void open_made(struct hprof *h, const struct made *m)
{
	int err = hprof_open(h, file_of(m, m->length), MEMORY);

	ck_assert_msg(!err, "%s", h->dump.why);
}

static uint32_t place_of(const struct hprof *h, uint64_t id)
{
	uint32_t number = hprof_find(&h->dump, id);

	ck_assert_uint_ne(number, HPROF_NONE);
	return graph_u32(&h->graph.place)[number];
}

static uint64_t retained(const struct hprof *h, uint64_t id)
{
	return hprof_retained_at(h, place_of(h, id));
}

static void retained_is_right(const struct hprof *h)
{
	ck_assert_uint_eq(retained(h, SECOND), 24 + SIZE_OF_BYTES);
	ck_assert_uint_eq(retained(h, FIRST), 24 + SIZE_OF_BYTES + 24 + SIZE_OF_BYTES);
	ck_assert_uint_eq(retained(h, ARRAY), 24 + 2 * (24 + SIZE_OF_BYTES));
	ck_assert_uint_eq(retained(h, SHARED), SIZE_OF_BYTES);
	ck_assert_uint_eq(retained(h, MAIN), 16 + 16 + 24 + 24 + SIZE_OF_BYTES);
	ck_assert_uint_eq(retained(h, WEAK), 16);
	ck_assert_uint_eq(graph_u32(&h->graph.above)[place_of(h, SHARED)], 0);
	ck_assert_uint_eq(h->weakly.objects, 1);
	ck_assert_uint_eq(h->weakly.bytes, SIZE_OF_BYTES);
	ck_assert_uint_eq(h->garbage.objects, 1);
	ck_assert_uint_eq(h->held.objects, 10 + 15 - 2);
	ck_assert_uint_eq(h->dangling, 0);
	ck_assert_uint_eq(h->dump.duplicates, 0);
}

START_TEST(retained_bytes)
{
	struct made m;
	struct hprof h;
	uint32_t node;

	make(&m, '2', 8, 0x1c);
	open_made(&h, &m);
	retained_is_right(&h);
	node = hprof_find_class(&h.dump, NODE);
	ck_assert_uint_eq(h.dump.classes.at[node].objects, 3);
	ck_assert_uint_eq(h.dump.classes.at[node].bytes, 3 * 24);
	/* the second node is below the first */
	ck_assert_uint_eq(h.dump.classes.at[node].retained, 3 * (24 + SIZE_OF_BYTES));
	hprof_close(&h);
}
END_TEST

/* Heads of 8 bytes, and of arrays of 12. */
START_TEST(ids_of_4_bytes)
{
	struct made m;
	struct hprof h;

	make(&m, '1', 4, 0x0c);
	open_made(&h, &m);
	ck_assert_uint_eq(retained(&h, SECOND), 16 + 24);
	ck_assert_uint_eq(retained(&h, MAIN), 16 + 16 + 16 + 16 + 24);
	hprof_close(&h);
}
END_TEST

static void path_is(struct hprof *h, uint64_t id, const char *root, const char *expected)
{
	struct hprof_paths paths;
	struct hprof_path path;
	const struct hprof_root_of *of;
	enum hprof_anchor anchor;
	char all[4096], text[HPROF_TEXT];

	ck_assert_int_eq(hprof_paths_init(&paths, h), 0);
	for (int twice = 0; twice < 2; twice++) {
		ck_assert_int_eq(hprof_path_find(&paths, place_of(h, id), &path), 0);
		ck_assert_uint_gt(path.count, 0);
		ck_assert_str_eq(hprof_root_kind(h, path.places[0], &of), root);
		snprintf(all, sizeof(all), "%s", hprof_object_text(h, path.places[0], text));
		for (size_t i = 1; i < path.count; i++) {
			snprintf(all + strlen(all), sizeof(all) - strlen(all),
				 " %s: ", hprof_link_text(h, path.places[i - 1], path.places[i], text, &anchor));
			snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s",
				 hprof_object_text(h, path.places[i], text));
		}
		ck_assert_str_eq(all, expected);
		hprof_path_free(&path);
	}
	hprof_paths_free(&paths);
}

/* With names that would steer a terminal. */
START_TEST(paths)
{
	struct made m;
	struct hprof h;
	char text[HPROF_TEXT];

	make(&m, '2', 8, 0x1c);
	open_made(&h, &m);
	path_is(&h, BYTES_2, "JNI global",
		"app.Loader loads: class app.Cache static app.Cache.map: java.lang.Object[2] [1]: app.Node .next: app.Node .value: byte[8]");
	path_is(&h, LOCAL_BYTES, "thread",
		"java.lang.Thread \"ma?n\" local of app.Node.ru?n(Node.java:12): app.Node .value: byte[8]");
	path_is(&h, REFERRED, "monitor in use", "java.lang.ref.Reference .referent, weakly: byte[8]");
	path_is(&h, OBJECT, "system class", "class java.lang.Object");
	path_is(&h, NODE, "JNI global", "app.Loader loads: class app.Node");
	ck_assert_uint_eq(place_of(&h, GARBAGE), 0);
	ck_assert_uint_eq(hprof_find(&h.dump, GARBAGE + 8), HPROF_NONE);
	ck_assert_str_eq(hprof_object_text(&h, place_of(&h, MAIN_NAME), text), "java.lang.String \"ma?n\"");
	hprof_close(&h);
}
END_TEST

/* The report, and the paths of all objects; of some 64 of more. */
static char *printed(const struct made *m, bool json)
{
	struct hprof h;
	struct hprof_report r = {.path = "made.hprof", .h = &h, .rows = 5, .levels = 5, .percent = 10};
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	uint32_t step;

	open_made(&h, m);
	step = 1 + h.dump.count / 128 * 2; /* odd: each other object is an array */
	ck_assert_int_eq(hprof_paths_init(&r.paths, &h), 0);
	ck_assert_int_eq(hprof_suspects_find(&r.suspects, &h, r.percent), 0);
	ck_assert_int_eq(json ? hprof_json(out, &r) : hprof_text(out, &r), 0);
	for (uint32_t number = 0; number < h.dump.count; number++)
		if (number % step == 0 || number + step >= h.dump.count)
			ck_assert_int_eq(json ? hprof_path_json(out, &r, number) : hprof_path_text(out, &r, number), 0);
	hprof_suspects_free(&r.suspects);
	hprof_paths_free(&r.paths);
	hprof_close(&h);
	fclose(out);
	return text;
}

#define NODES 1000
#define NODE_AT(i) (0x10000ULL + (i)*48)

/*
 * A list of nodes with a byte array each, which a static field has. The nodes of the first third are by stack 6, other
 * ones by stack 7; their arrays by none.
 */
static void make_list(struct made *m, unsigned nodes)
{
	make(m, '2', 8, 0x1c);
	m->length -= 9; /* the record of the end */
	made_dump(m, 0x1c);
	for (unsigned i = 0; i < nodes; i++) {
		m->allocated_by = i < nodes / 3 ? 6 : 7;
		made_instance(m, NODE_AT(i), NODE, REFS(i + 1 < nodes ? NODE_AT(i + 1) : 0, NODE_AT(i) + 24), 2);
		m->allocated_by = 4; /* has no frames */
		made_bytes(m, NODE_AT(i) + 24, NULL, 8);
	}
	made_root(m, HPROF_ROOT_JNI_GLOBAL, NODE_AT(0), -1, -1);
	put_id(m, 0);
	made_dump_end(m, true);
}

START_TEST(linked_list)
{
	static struct made m;
	struct hprof h;
	struct hprof_suspects s;
	struct hprof_places biggest;
	char *text;

	make_list(&m, NODES);
	open_made(&h, &m);
	ck_assert_int_eq(hprof_suspects_find(&s, &h, 10), 0);
	ck_assert_uint_eq(s.list.count, 1);
	ck_assert_uint_eq(s.list.at[0].place, place_of(&h, NODE_AT(0)));
	ck_assert_uint_eq(s.list.at[0].share, NODES * 48);
	ck_assert_uint_eq(s.list.at[0].chained, NODES);
	ck_assert_uint_eq(s.list.at[0].groups[0].objects, NODES);
	ck_assert_uint_eq(s.list.at[0].groups[0].bytes, NODES * SIZE_OF_BYTES);
	hprof_suspects_free(&s);
	ck_assert_int_eq(hprof_biggest(&h, 3, &biggest), 0);
	ck_assert_uint_eq(biggest.count, 3);
	ck_assert_uint_eq(biggest.at[0], place_of(&h, NODE_AT(0)));
	ck_assert_uint_ne(hprof_class_at(&h, biggest.at[1]), hprof_class_at(&h, biggest.at[0]));
	hprof_places_free(&biggest);
	hprof_close(&h);
	text = printed(&m, false);
	ck_assert_ptr_nonnull(strstr(text, "  1000 app.Node, linked; held by app.Node\n"));
	ck_assert_ptr_nonnull(strstr(text, "  968 more\n")); /* in the path to the last one */
	free(text);
}
END_TEST

/* Sites have the estimated bytes of a stack; without them, its objects have their own. */
START_TEST(allocated_by_stack)
{
	const uint32_t live[] = {1000000, 9000};
	static struct made m;
	struct hprof h;
	struct hprof_suspects s;
	struct hprof_allocated a;

	for (int with_sites = 0; with_sites < 2; with_sites++) {
		make_list(&m, 999);
		if (with_sites)
			made_sites(&m, 6, live, 2);
		open_made(&h, &m);
		ck_assert_int_eq(hprof_suspects_find(&s, &h, 10), 0);
		ck_assert_int_eq(hprof_allocated_below(&a, &h, &s, 0), 0);
		ck_assert_uint_eq(a.sites.count, 2);
		ck_assert_uint_eq(a.objects, 999);
		ck_assert_uint_eq(a.sites.at[0].trace, with_sites ? 6 : 7);
		ck_assert_uint_eq(a.sites.at[0].objects, with_sites ? 333 : 666);
		ck_assert_uint_eq(a.sites.at[0].bytes, with_sites ? live[0] : 666 * 24);
		ck_assert_uint_eq(a.sites.at[1].bytes, with_sites ? live[1] : 333 * 24);
		ck_assert_uint_eq(hprof_allocated_by(&h, hprof_find(&h.dump, NODE_AT(332))), 6);
		ck_assert_uint_eq(hprof_allocated_by(&h, hprof_find(&h.dump, NODE_AT(333))), 7);
		ck_assert_uint_eq(hprof_allocated_by(&h, hprof_find(&h.dump, NODE_AT(0) + 24)), 0);
		ck_assert_uint_eq(hprof_allocated_by(&h, hprof_find(&h.dump, MAIN)), 0);
		hprof_allocated_free(&a);
		hprof_suspects_free(&s);
		hprof_close(&h);
	}
}
END_TEST

/* A frame whose class the dump does not have has it in its method's name. */
START_TEST(allocated_is_printed)
{
	static struct made m;
	char *text;

	make_list(&m, NODES);
	text = printed(&m, false);
	ck_assert_ptr_nonnull(strstr(text, "allocated  by (1000 of its objects have their stack)\n"));
	ck_assert_ptr_nonnull(strstr(text, "15.63 KiB   66.70%  app.Node.ru?n(Node.java:13)\n"));
	ck_assert_ptr_nonnull(strstr(text, "7.80 KiB   33.30%  ru?n(Node.java:14)\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nAllocated by\n    ru?n(Node.java:14)\n"));
	free(text);
	text = printed(&m, true);
	ck_assert_ptr_nonnull(
		strstr(text, "{\"objects\":667,\"bytes\":16008,\"stack\":[\"app.Node.ru?n(Node.java:13)\"]}"));
	ck_assert_ptr_nonnull(strstr(text, "\"allocated_by\":[\"ru?n(Node.java:14)\"]"));
	free(text);
}
END_TEST

/* Objects of one class that only roots have. */
START_TEST(many_without_a_holder)
{
	static struct made m;
	struct hprof h;
	struct hprof_suspects s;

	make(&m, '2', 8, 0x1c);
	m.length -= 9;
	made_dump(&m, 0x1c);
	for (unsigned i = 0; i < 500; i++) {
		made_bytes(&m, NODE_AT(i), NULL, 32);
		made_root(&m, HPROF_ROOT_UNKNOWN, NODE_AT(i), -1, -1);
	}
	made_dump_end(&m, true);
	open_made(&h, &m);
	ck_assert_int_eq(hprof_suspects_find(&s, &h, 50), 0);
	ck_assert_uint_eq(s.list.count, 1);
	ck_assert_uint_eq(s.list.at[0].place, 0);
	ck_assert_uint_eq(s.list.at[0].groups[0].objects, 500 + 1); /* and SHARED */
	ck_assert_uint_eq(s.list.at[0].share, 500 * 48 + SIZE_OF_BYTES);
	hprof_suspects_free(&s);
	hprof_close(&h);
}
END_TEST

/* ---- compressed files ---- */

/* Makes it as long as can be, which is a multiple of what is decompressed at once; so is each half. */
static void pad(struct made *m)
{
	size_t from = record(m, 0x01);

	while (m->length < sizeof(m->bytes))
		put(m, 'x', 1);
	record_end(m, from);
}

START_TEST(compressed_files)
{
	struct made m;
	struct hprof h;
	size_t length;
	bool zstd = _i & 1;
	const char *path;

	make(&m, '2', 8, 0x1c);
	if (_i & 2)
		pad(&m);
	path = compressed(&m, zstd, &length);
	ck_assert_msg(!hprof_open(&h, path, MEMORY), "%s", h.dump.why);
	retained_is_right(&h);
	hprof_close(&h);
	ck_assert_int_eq(truncate(path, (off_t)length - 3), 0);
	ck_assert_int_ne(hprof_open(&h, path, MEMORY), 0);
	ck_assert_str_eq(h.dump.why, zstd ? "its zstd data is damaged or cut" : "its gzip data is damaged or cut");
	hprof_close(&h);
}
END_TEST

/* ---- bad files ---- */

static void refused(const struct made *m, size_t length, const char *why)
{
	struct hprof h;

	ck_assert_int_ne(hprof_open(&h, file_of(m, length), MEMORY), 0);
	ck_assert_msg(strstr(h.dump.why, why), "'%s' is not in '%s'", why, h.dump.why);
	hprof_close(&h);
}

/* Wherever it is cut. */
START_TEST(cut)
{
	struct made m;

	make(&m, '2', 8, 0x1c);
	refused(&m, 10, "no heap dump");
	for (size_t length = 31; length < m.length; length++)
		refused(&m, length, "");
	refused(&m, m.length - 9, "its end is missing");
	refused(&m, m.length - 1, "cut");
	refused(&m, 31, "no objects");
}
END_TEST

/* Whatever a byte is, it is read or refused; if it is read, it is printed. */
START_TEST(any_byte)
{
	static const uint8_t values[] = {0, 0xff, 0x80, 1, 2, 0x21, 0x22, 0x23};
	struct made m;
	struct hprof h;
	unsigned read = 0;

	make(&m, '2', 8, 0x1c);
	for (size_t at = 0; at < m.length; at++) {
		uint8_t value = m.bytes[at];

		m.bytes[at] = values[at % sizeof(values)];
		if (!hprof_open(&h, file_of(&m, m.length), MEMORY)) {
			read++;
			if (at % 8 == 0)
				free(printed(&m, at % 16));
		}
		hprof_close(&h);
		m.bytes[at] = value;
	}
	ck_assert_uint_gt(read, m.length / 10);
}
END_TEST

START_TEST(senseless)
{
	struct made m;

	made_begin(&m, '2', 8);
	made_dump(&m, 0x1c);
	made_class(&m, NODE, CACHE, 0, NULL, 0);
	made_class(&m, CACHE, NODE, 0, NULL, 0);
	made_dump_end(&m, true);
	refused(&m, m.length, "a class is above itself");
	make(&m, '2', 2, 0x1c);
	refused(&m, m.length, "neither 4 nor 8");
	make(&m, '2', 8, 0x1c);
	m.length -= 9;
	made_dump(&m, 0x1c);
	made_instance(&m, 0x9000, NODE, REFS(0), 1);
	made_dump_end(&m, true);
	refused(&m, m.length, "shorter than its class says");
	m.bytes[17] = '3';
	refused(&m, m.length, "no heap dump");
}
END_TEST

/* The first of two objects with one address counts. */
START_TEST(same_address_twice)
{
	struct made m;
	struct hprof h;

	make(&m, '2', 8, 0x1c);
	m.length -= 9;
	made_dump(&m, 0x1c);
	made_instance(&m, SECOND, NODE, REFS(0, 0x777), 2);
	made_instance(&m, 0x9000, NODE, REFS(0x777, 0), 2);
	made_dump_end(&m, true);
	open_made(&h, &m);
	ck_assert_uint_eq(h.dump.duplicates, 1);
	ck_assert_uint_eq(h.dangling, 1);
	ck_assert_uint_eq(retained(&h, SECOND), 24 + SIZE_OF_BYTES);
	hprof_close(&h);
}
END_TEST

Suite *test_hprof(void)
{
	Suite *s = suite_create("hprof");
	TCase *tc = tcase_create("hprof");

	tcase_add_checked_fixture(tc, directory_make, directory_remove);
	tcase_add_test(tc, retained_bytes);
	tcase_add_test(tc, ids_of_4_bytes);
	tcase_add_test(tc, paths);
	tcase_add_test(tc, linked_list);
	tcase_add_test(tc, allocated_by_stack);
	tcase_add_test(tc, allocated_is_printed);
	tcase_add_test(tc, many_without_a_holder);
	tcase_add_loop_test(tc, compressed_files, 0, 4);
	tcase_add_test(tc, cut);
	tcase_add_test(tc, any_byte);
	tcase_add_test(tc, senseless);
	tcase_add_test(tc, same_address_twice);
	suite_add_tcase(s, tc);
	return s;
}
