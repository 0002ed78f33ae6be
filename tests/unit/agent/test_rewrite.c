// SPDX-License-Identifier: Apache-2.0
/* Class files that the agent rewrites: what moves, what is refused, and which methods a pattern means. */
#include "rewrite/rewrite.h"
#include "timing/patterns.h"

#include <check.h>

Suite *test_rewrite(void);

/* A class with one static method `()I`. */
struct class_file {
	uint32_t minor, major;
	const uint8_t *code;
	size_t code_size;
};

#define ID 7

static void class_make(struct writer *w, const struct class_file *f)
{
	static const char *const texts[] = {"C", "java/lang/Object", "m", "()I", "Code", "LineNumberTable"};
	size_t code, attribute;

	write_u4(w, 0xcafebabe);
	write_u2(w, f->minor);
	write_u2(w, f->major);
	write_u2(w, 9);
	for (size_t i = 0; i < 6; i++) {
		write_u1(w, 1);
		write_u2(w, (uint32_t)strlen(texts[i]));
		write_bytes(w, texts[i], strlen(texts[i]));
	}
	write_bytes(w, "\7\0\1\7\0\2", 6); /* 7, 8: classes */
	write_bytes(w, "\0\x21\0\7\0\10\0\0\0\0\0\1", 12);
	write_bytes(w, "\0\11\0\3\0\4\0\1", 8);
	write_u2(w, 5);
	code = w->used;
	write_u4(w, 0);
	write_u2(w, 1);
	write_u2(w, 0);
	write_u4(w, (uint32_t)f->code_size);
	write_bytes(w, f->code, f->code_size);
	write_u2(w, 0);
	write_u2(w, 1);
	write_u2(w, 6);
	attribute = w->used;
	write_u4(w, 0);
	write_bytes(w, "\0\2\0\0\0\12\0\1\0\13", 10); /* lines 10 and 11, at 0 and 1 */
	write_length(w, attribute);
	write_length(w, code);
	write_u2(w, 0);
}

static int32_t choose(void *ctx, struct text name, struct text descriptor)
{
	(void)ctx;
	return text_equal(name, TEXT("m")) && text_equal(descriptor, TEXT("()I")) ? ID : -1;
}

static int32_t choose_none(void *ctx, struct text name, struct text descriptor)
{
	(void)ctx;
	(void)name;
	(void)descriptor;
	return -1;
}

/* iconst_0, a tableswitch with one case and padding, iconst_0, ireturn: all jumps lead to 20. */
static const uint8_t switching[] = {0x03, 0xaa, 0, 0, 0, 0, 0, 19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 19, 0x03, 0xac};

/* The code of the only method: it is the only attribute whose code begins with invokestatic, lstore 0. */
static const uint8_t *code_find(const struct writer *w)
{
	for (size_t i = 0; i + 5 < w->used; i++)
		if (w->bytes[i] == 0xb8 && w->bytes[i + 3] == 0x37 && w->bytes[i + 4] == 0)
			return w->bytes + i;
	ck_abort_msg("no call at the beginning of the method");
	return NULL;
}

START_TEST(a_method_calls_at_its_beginning_and_end)
{
	struct writer file = {0};
	struct rewrite w = {.choose = choose};
	const uint8_t *code;

	class_make(&file, &(struct class_file){0, 52, switching, sizeof(switching)});
	ck_assert(rewrite_class(&w, file.bytes, file.used));
	ck_assert_uint_eq(w.methods, 1);
	ck_assert_uint_eq(w.refused, 0);
	code = code_find(&w.out);
	ck_assert_uint_eq(get_u2(code - 8), 5);	 /* the deepest stack: one more for an exception, and a call's three */
	ck_assert_uint_eq(get_u2(code - 6), 2);	 /* variables */
	ck_assert_uint_eq(get_u4(code - 4), 43); /* length */
	ck_assert_uint_eq(code[5], 0x03);
	ck_assert_uint_eq(code[6], 0xaa);
	ck_assert_uint_eq(get_u4(code + 8), 18); /* the padding has become shorter by one byte */
	ck_assert_uint_eq(get_u4(code + 20), 18);
	ck_assert_uint_eq(code[24], 0x03);
	ck_assert_mem_eq(code + 25, "\x16\0\x11\0\7\xb8", 6); /* lload 0, sipush 7, invokestatic */
	ck_assert_uint_eq(code[33], 0xac);
	ck_assert_mem_eq(code + 34, "\x16\0\x11\0\7\xb8", 6);
	ck_assert_uint_eq(code[42], 0xbf);
	ck_assert_mem_eq(code + 43, "\0\1\0\5\0\x22\0\x22\0\0", 10); /* the only handler: from 5 to 34, at 34, of all */
	ck_assert_mem_eq(code + 57, "\0\0\0\12\0\2\0\0\0\12\0\6\0\13", 14); /* lines at 0 and 6 */
	free(w.out.bytes);
	free(file.bytes);
}
END_TEST

START_TEST(what_is_not_chosen_stays)
{
	struct writer file = {0};
	struct rewrite w = {.choose = choose_none};

	class_make(&file, &(struct class_file){0, 52, switching, sizeof(switching)});
	ck_assert(rewrite_class(&w, file.bytes, file.used));
	ck_assert_uint_eq(w.methods + w.refused, 0);
	ck_assert_uint_eq(w.out.used, 0);
	free(file.bytes);
}
END_TEST

START_TEST(a_jump_that_becomes_too_long_is_refused)
{
	static uint8_t code[32770];
	struct writer file = {0};
	struct rewrite w = {.choose = choose};

	memset(code, 0, sizeof(code)); /* nop */
	code[0] = 0x03;
	code[1] = 0x99; /* ifeq, to the last but one byte */
	code[2] = 0x7f;
	code[3] = 0xff;
	code[4] = 0x03;
	code[5] = 0xac; /* here a call is inserted */
	code[32768] = 0x03;
	code[32769] = 0xac;
	class_make(&file, &(struct class_file){0, 49, code, sizeof(code)});
	ck_assert(rewrite_class(&w, file.bytes, file.used));
	ck_assert_uint_eq(w.methods, 0);
	ck_assert_uint_eq(w.refused, 1);
	ck_assert_uint_eq(w.out.used, 0);
	free(file.bytes);
}
END_TEST

START_TEST(damaged_files_are_refused)
{
	struct writer file = {0};
	struct rewrite w = {.choose = choose};

	class_make(&file, &(struct class_file){0, 52, switching, sizeof(switching)});
	for (size_t size = 0; size < file.used; size++) {
		uint8_t *copy = malloc(size + 1); /* of exactly this size, for the sanitizer */

		memcpy(copy, file.bytes, size);
		ck_assert(!rewrite_class(&w, copy, size));
		ck_assert_ptr_null(w.out.bytes);
		free(copy);
	}
	for (size_t i = 0; i < file.used; i++)
		for (int bit = 0; bit < 8; bit++) {
			file.bytes[i] ^= (uint8_t)(1 << bit);
			(void)rewrite_class(&w, file.bytes, file.used);
			free(w.out.bytes);
			file.bytes[i] ^= (uint8_t)(1 << bit);
		}
	free(file.bytes);
}
END_TEST

START_TEST(versions)
{
	static const struct {
		uint32_t minor, major;
		bool known;
	} cases[] = {{2, 45, false}, {3, 45, true}, {0, 44, false}, {0, 50, true}, {65535, 69, true}, {0, 101, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct class_file f = {cases[i].minor, cases[i].major, switching, sizeof(switching)};
		struct rewrite w = {.choose = choose};
		struct writer file = {0};

		class_make(&file, &f);
		ck_assert_int_eq(rewrite_class(&w, file.bytes, file.used), cases[i].known);
		free(w.out.bytes);
		free(file.bytes);
	}
}
END_TEST

static struct text of(const char *s)
{
	return (struct text){s, strlen(s)};
}

START_TEST(patterns)
{
	static const struct {
		const char *pattern, *class, *name, *descriptor;
		bool matches;
	} cases[] = {
		{"com.example.Dao.find", "com/example/Dao", "find", "()V", true},
		{"com.example.Dao.find", "com/example/Dao2", "find", "()V", false},
		{"com.example.Dao.find", "com/example/Dao", "findAll", "()V", false},
		{"com.example.*.*", "com/example/a/b/Dao$Inner", "x", "()V", true},
		{"*Dao.find*", "com/example/OrderDao", "findAll", "(I)V", true},
		{"*Dao.f?nd", "OrderDao", "fond", "(I)V", true},
		{"com.example.Dao.*", "com/example/Dao", "<init>", "()V", false},
		{"com.example.Dao.<init>", "com/example/Dao", "<init>", "()V", true},
		{"com.example.Dao.<*", "com/example/Dao", "<clinit>", "()V", true},
		{"a.B.c(I*)*", "a/B", "c", "(IJ)V", true},
		{"a.B.c(Ljava/lang/String;)V", "a/B", "c", "(Ljava/lang/String;)V", true},
		{"a.B.c(Ljava/lang/String;)V", "a/B", "c", "(Ljava/lang/Object;)V", false},
		{"*.*", "java/lang/String", "length", "()I", false},
		{"*.*", "java/util/HashMap", "get", "(Ljava/lang/Object;)Ljava/lang/Object;", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct braid_event_config c = {.methods[0].min_ns = 5};
		uint64_t min_ns = 0;
		bool matches;

		strcpy(c.methods[0].text, cases[i].pattern);
		matches = patterns_match_class(&c, of(cases[i].class)) &&
			  patterns_match(&c, of(cases[i].class), of(cases[i].name), of(cases[i].descriptor), &min_ns);
		ck_assert_msg(matches == cases[i].matches, "%s and %s.%s", cases[i].pattern, cases[i].class,
			      cases[i].name);
		ck_assert_uint_eq(min_ns, matches ? 5 : 0);
	}
}
END_TEST

Suite *test_rewrite(void)
{
	Suite *s = suite_create("agent rewrite");
	TCase *t = tcase_create("rewrite");

	tcase_add_test(t, a_method_calls_at_its_beginning_and_end);
	tcase_add_test(t, what_is_not_chosen_stays);
	tcase_add_test(t, a_jump_that_becomes_too_long_is_refused);
	tcase_add_test(t, damaged_files_are_refused);
	tcase_add_test(t, versions);
	tcase_add_test(t, patterns);
	suite_add_tcase(s, t);
	return s;
}
