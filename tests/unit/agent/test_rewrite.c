// SPDX-License-Identifier: Apache-2.0
/* Class files that the agent rewrites: what moves, what is refused, and which methods a pattern means. */
#include "class_fixture.h"

#include "timing/patterns.h"

#include <check.h>

Suite *test_rewrite(void);

#define ID 7

static bool choose(void *ctx, const struct rewrite_method *m, struct rewrite_choice *to)
{
	(void)ctx;
	to->id = ID;
	return text_equal(m->name, TEXT("m")) && text_equal(m->descriptor, TEXT("()I"));
}

static bool choose_none(void *ctx, const struct rewrite_method *m, struct rewrite_choice *to)
{
	(void)ctx;
	(void)m;
	(void)to;
	return false;
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
	ck_assert_uint_eq(get_u2(code - 8), 5);	 /* the deepest stack: an exception, twice, and a call's three */
	ck_assert_uint_eq(get_u2(code - 6), 2);	 /* variables */
	ck_assert_uint_eq(get_u4(code - 4), 44); /* length */
	ck_assert_uint_eq(code[5], 0x03);
	ck_assert_uint_eq(code[6], 0xaa);
	ck_assert_uint_eq(get_u4(code + 8), 18); /* the padding has become shorter by one byte */
	ck_assert_uint_eq(get_u4(code + 20), 18);
	ck_assert_uint_eq(code[24], 0x03);
	ck_assert_mem_eq(code + 25, "\x16\0\x11\0\7\xb8", 6); /* lload 0, sipush 7, invokestatic */
	ck_assert_uint_eq(code[33], 0xac);
	ck_assert_mem_eq(code + 34, "\x59\x16\0\x11\0\7\xb8", 7); /* dup */
	ck_assert_uint_eq(code[43], 0xbf);
	ck_assert_mem_eq(code + 44, "\0\1\0\5\0\x22\0\x22\0\0", 10); /* the only handler: from 5 to 34, at 34, of all */
	ck_assert_mem_eq(code + 58, "\0\0\0\12\0\2\0\0\0\12\0\6\0\13", 14); /* lines at 0 and 6 */
	free(w.out.bytes);
	free(file.bytes);
}
END_TEST

/* The test's method has no argument; its class has a field, which a static method cannot read. */
static bool choose_values(void *ctx, const struct rewrite_method *m, struct rewrite_choice *to)
{
	const struct rewrite_value *v = ctx;

	(void)m;
	to->id = ID;
	to->count = 1;
	to->values[0] = *v;
	return true;
}

START_TEST(values_that_are_not_there_are_left_out)
{
	struct rewrite_value none[] = {{.argument = 1}, {.field = TEXT_OF("m")}, {.argument = 1, .length = true}};
	struct writer file = {0};

	class_make(&file, &(struct class_file){0, 52, switching, sizeof(switching)});
	for (size_t i = 0; i < 3; i++) {
		struct rewrite w = {.choose = choose_values, .ctx = &none[i]};
		const uint8_t *code;

		ck_assert(rewrite_class(&w, file.bytes, file.used));
		ck_assert_uint_eq(w.methods, 1);
		ck_assert_uint_eq(w.lacking, 1);
		code = code_find(&w.out);
		ck_assert_uint_eq(get_u2(code - 6), 2);
		ck_assert_mem_eq(code + 25, "\x16\0\x11\0\7\xb8", 6);
		free(w.out.bytes);
	}
	free(file.bytes);
}
END_TEST

/* The bytes of the descriptor in the file's constants, which has the right length. */
static void descriptor_set(struct writer *file, const char *descriptor)
{
	uint8_t *at = memmem(file->bytes, file->used, "()I", 3);

	ck_assert_ptr_nonnull(at);
	file->used += strlen(descriptor) - 3;
	memmove(at + strlen(descriptor), at + 3, file->used - (size_t)(at - file->bytes) - strlen(descriptor));
	memcpy(at, descriptor, strlen(descriptor));
	put_u2(at - 2, (uint32_t)strlen(descriptor));
}

START_TEST(arguments_are_kept_at_the_entry)
{
	static const struct {
		const char *descriptor;
		struct rewrite_value value;
		const char *load; /* up to the store into variable 2 */
		size_t size;
		uint32_t locals, kind;
	} cases[] = {
		{"(Ljava/lang/String;)I", {.argument = 1}, "\x19\0\x3a\2", 4, 3, REWRITE_OBJECT},
		{"(J[[JC)I", {.argument = 2, .length = true}, "\x19\2\x3a\2", 4, 3, REWRITE_OBJECT},
		{"(J[[JC)I", {.argument = 3}, "\x15\3\x85\x37\2", 5, 4, REWRITE_CHAR},
		{"(J[[JC)I", {.argument = 1}, "\x16\0\x37\2", 4, 4, REWRITE_LONG},
		{"(DZ)I", {.argument = 2}, "\x15\2\x85\x37\2", 5, 4, REWRITE_BOOLEAN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rewrite_value v = cases[i].value;
		struct rewrite w = {.choose = choose_values, .ctx = &v};
		struct writer file = {0};
		const uint8_t *code, *exit;

		class_make(&file, &(struct class_file){0, 52, switching, sizeof(switching)});
		descriptor_set(&file, cases[i].descriptor);
		ck_assert(rewrite_class(&w, file.bytes, file.used));
		ck_assert_uint_eq(w.methods, 1);
		ck_assert_uint_eq(w.lacking, 0);
		code = memmem(w.out.bytes, w.out.used, cases[i].load, cases[i].size);
		ck_assert_ptr_nonnull(code);
		ck_assert_uint_eq(get_u2(code - 8), 18); /* an exception, twice, and 16 for the call */
		ck_assert_uint_eq(get_u2(code - 6), cases[i].locals);
		ck_assert_uint_eq(code[cases[i].size], 0xb8);
		exit = memmem(code, 80, "\x16\0\x11\0\7\x11", 6);
		ck_assert_ptr_nonnull(exit);
		ck_assert_uint_eq(get_u2(exit + 6), cases[i].kind);
		if (cases[i].kind == REWRITE_OBJECT)
			ck_assert_mem_eq(exit + 8, "\x19\2\1\1\1\x9\x9\x9\x9\xb8", 10);
		else
			ck_assert_mem_eq(exit + 8, "\1\1\1\1\x16\2\x9\x9\x9\xb8", 10);
		free(w.out.bytes);
		free(file.bytes);
	}
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

/* HotSpot compiles no method of more than 8000 bytes. */
START_TEST(a_method_that_would_never_be_compiled_again_is_refused)
{
	static const struct {
		size_t nops;
		bool rewritten;
	} cases[] = {{7900, true}, {7995, false}, {8100, true}};
	static uint8_t code[8102];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct writer file = {0};
		struct rewrite w = {.choose = choose};

		memset(code, 0, sizeof(code));
		code[cases[i].nops] = 0x03;
		code[cases[i].nops + 1] = 0xac;
		class_make(&file, &(struct class_file){0, 52, code, cases[i].nops + 2});
		ck_assert(rewrite_class(&w, file.bytes, file.used));
		ck_assert_uint_eq(w.methods, cases[i].rewritten);
		ck_assert_uint_eq(w.refused, !cases[i].rewritten);
		free(w.out.bytes);
		free(file.bytes);
	}
}
END_TEST

START_TEST(the_name_of_a_class)
{
	struct writer file = {0};

	class_make(&file, &(struct class_file){0, 52, switching, sizeof(switching)});
	ck_assert(text_equal(rewrite_class_name(file.bytes, file.used), TEXT("C")));
	for (size_t size = 0; size < file.used; size++) {
		struct text name = rewrite_class_name(file.bytes, size);

		ck_assert(!name.size || text_equal(name, TEXT("C")));
	}
	ck_assert_uint_eq(rewrite_class_name(file.bytes, 20).size, 0);
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
		{"/Dao$#^find/", "com/example/OrderDao", "findAll", "(I)V", true},
		{"/Dao$#^find/", "com/example/DaoUser", "findAll", "(I)V", false},
		{"/Dao$#^find/", "com/example/OrderDao", "refind", "(I)V", false},
		{"/^com\\.example\\.(a|b)\\.#^(get|set)[^(]*\\(I/", "com/example/b/X", "setCount", "(IJ)V", true},
		{"/^com\\.example\\.(a|b)\\.#^(get|set)[^(]*\\(I/", "com/example/b/X", "setCount", "(J)V", false},
		{"/Dao#./", "Dao", "<init>", "()V", false},
		{"/Dao#<init>/", "Dao", "<init>", "()V", true},
		{"/Dao#^<init>/", "Dao", "<init>", "()V", true},
		{"/.#./", "java/lang/String", "length", "()I", false},
		/* those that no collector sends */
		{"/", "a/B", "c", "()V", false},
		{"//", "a/B", "c", "()V", false},
		{"/#/", "a/B", "c", "()V", false},
		{"/a/", "a/B", "c", "()V", false},
		{"/a", "a/B", "c", "()V", false},
		{"/a[#c/", "a/B", "c", "()V", false},
		{"/a#c(/", "a/B", "c", "()V", false},
		{"*.*", "java/lang/String", "length", "()I", false},
		{"*.*", "java/util/HashMap", "get", "(Ljava/lang/Object;)Ljava/lang/Object;", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct braid_event_config c = {0};
		struct subject subject = {
			of(cases[i].class), {.name = of(cases[i].name), .descriptor = of(cases[i].descriptor)}, 0};
		bool matches;

		strcpy(c.methods[0].text, cases[i].pattern);
		matches = patterns_match_class(&c, of(cases[i].class)) && patterns_match(&c, &subject) == 0;
		ck_assert_msg(matches == cases[i].matches, "%s and %s.%s", cases[i].pattern, cases[i].class,
			      cases[i].name);
	}
}
END_TEST

START_TEST(annotations)
{
	static const struct {
		const char *pattern, *name, *of_class, *own;
		bool matches;
	} cases[] = {
		{"@a.B", "x", "La/B;", "", true},	    {"@a.B", "x", "", "La/B;", true},
		{"@*.B", "x", "La/C;", "Lx/y/B;", true},    {"@a.B", "x", "La/B2;", "La/b/B;", false},
		{"@a.B", "<init>", "La/B;", "", false},	    {"@a.B", "<init>", "", "La/B;", true},
		{"/@^a[.](B|C)$/", "x", "La/C;", "", true}, {"/@^a[.](B|C)$/", "x", "", "La/D;Lx/C;", false},
		{"/@B/", "<init>", "La/B;", "", false},	    {"@*", "x", "", "", false},
		{"@*", "x", "a.B", "[La/B;", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct rewrite_annotations of_class = {1, {of(cases[i].of_class)}}, own = {1, {of(cases[i].own)}};
		struct subject s = {TEXT("x/Y"), {of(cases[i].name), TEXT("()V"), &of_class, &own}, 0};
		struct braid_event_config c = {0};

		strcpy(c.methods[0].text, cases[i].pattern);
		ck_assert(patterns_have_annotations(&c));
		ck_assert(!patterns_match_class(&c, s.class));
		ck_assert_msg((patterns_match(&c, &s) == 0) == cases[i].matches, "%zu", i);
		s.method.of_class = s.method.own = NULL; /* later, when only the pattern is known */
		ck_assert_int_eq(patterns_match(&c, &s), -1);
		s.annotated = patterns_key(&c.methods[0]);
		ck_assert_int_eq(patterns_match(&c, &s), 0);
	}
}
END_TEST

static bool is_seven(void *ctx, struct text text)
{
	++*(int *)ctx;
	return text.size == 7;
}

START_TEST(texts_of_a_pool)
{
	static const uint8_t bytes[] = "\1\0\1x\5\0\0\0\0\0\0\0\7\7\0\1\1\0\7La/b/C;";
	int calls = 0;

	ck_assert(rewrite_pool_has(bytes, sizeof(bytes) - 1, 6, is_seven, &calls));
	ck_assert_int_eq(calls, 2);
	for (size_t size = 0; size < sizeof(bytes) - 1; size++)
		ck_assert(!rewrite_pool_has(bytes, size, 6, is_seven, &calls));
	ck_assert(!rewrite_pool_has(bytes, sizeof(bytes) - 1, 0, is_seven, &calls));
	ck_assert(!rewrite_pool_has(bytes, sizeof(bytes) - 1, 65536, is_seven, &calls));
}
END_TEST

START_TEST(values_of_a_pattern)
{
	struct braid_method_pattern p = {.values = "arg1,this.name,arg255.length(),this.x.length()"};
	struct rewrite_choice c = {0};

	patterns_values(&p, &c);
	ck_assert_uint_eq(c.count, 4);
	ck_assert_uint_eq(c.values[0].argument, 1);
	ck_assert(!c.values[0].length);
	ck_assert(text_equal(c.values[1].field, TEXT("name")));
	ck_assert_uint_eq(c.values[1].argument, 0);
	ck_assert_uint_eq(c.values[2].argument, 255);
	ck_assert(c.values[2].length && c.values[3].length);
	ck_assert(text_equal(c.values[3].field, TEXT("x")));

	memset(p.values, 'a', sizeof(p.values)); /* without an end */
	c = (struct rewrite_choice){0};
	patterns_values(&p, &c);
	ck_assert_uint_eq(c.count, 1);
}
END_TEST

Suite *test_rewrite(void)
{
	Suite *s = suite_create("agent rewrite");
	TCase *t = tcase_create("rewrite");

	tcase_add_test(t, a_method_calls_at_its_beginning_and_end);
	tcase_add_test(t, values_that_are_not_there_are_left_out);
	tcase_add_test(t, arguments_are_kept_at_the_entry);
	tcase_add_test(t, what_is_not_chosen_stays);
	tcase_add_test(t, a_method_that_would_never_be_compiled_again_is_refused);
	tcase_add_test(t, a_jump_that_becomes_too_long_is_refused);
	tcase_add_test(t, the_name_of_a_class);
	tcase_add_test(t, damaged_files_are_refused);
	tcase_add_test(t, versions);
	tcase_add_test(t, patterns);
	tcase_add_test(t, annotations);
	tcase_add_test(t, texts_of_a_pool);
	tcase_add_test(t, values_of_a_pattern);
	suite_add_tcase(s, t);
	return s;
}
