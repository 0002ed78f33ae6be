// SPDX-License-Identifier: Apache-2.0
/* Class files in which the agent puts calls in front of writes to fields. */
#include "class_fixture.h"

#include "timing/patterns.h"

#include <check.h>

Suite *test_rewrite_fields(void);

#define ID 7

static bool choose_all(void *ctx, const struct rewrite_method *m, struct rewrite_choice *to)
{
	(void)ctx;
	(void)m;
	to->id = ID;
	return true;
}

static struct text of(const char *s)
{
	return (struct text){s, strlen(s)};
}

struct writing {
	const char *type, *field;
	struct rewrite_write write;
	uint32_t chosen;
};

static bool may_choose_write(void *ctx, const struct rewrite_field *f)
{
	const struct writing *w = ctx;

	ck_assert(text_equal(f->class, TEXT("C")));
	ck_assert(text_equal(f->type, (struct text){w->type, strlen(w->type)}));
	return text_equal(f->name, (struct text){w->field, strlen(w->field)});
}

static bool choose_write(void *ctx, const struct rewrite_field *f, const struct rewrite_method *by,
			 struct rewrite_write *to)
{
	struct writing *w = ctx;

	(void)f;
	ck_assert(text_equal(by->name, TEXT("m")));
	*to = w->write;
	w->chosen++;
	return true;
}

#define PUTSTATIC 0xb3, 0, FIELD_CONSTANT
#define PUTFIELD 0xb5, 0, FIELD_CONSTANT

START_TEST(a_write_has_a_call_in_front_of_it)
{
	static const uint8_t of_class[] = {0x03, PUTSTATIC, 0x03, PUTSTATIC, 0x03, 0xac};
	static const uint8_t of_object[] = {0x01, 0x03, PUTFIELD, 0x01, 0x03, PUTFIELD, 0x03, 0xac};
	static const struct {
		const char *type;
		bool is_static, now, before;
		const char *inserted; /* up to the id; "~" for a zero */
	} cases[] = {
		{"I", true, false, false, ""},
		{"I", false, false, false, ""},
		{"Z", true, true, false, "\x59"},
		{"D", true, true, false, "\x5c"},
		{"[I", false, true, false, "\x59"},
		{"J", false, true, false, "\x5c"},
		{"I", true, true, true, "\xb2~\11"},
		{"J", true, false, true, "\xb2~\11"},
		{"LC;", true, true, true, "\x59\xb2~\11"},
		{"F", false, true, true, "\x5c\x57\xb4~\11"},
		{"D", false, true, true, "\x5d\x58\x5b\xb4~\11"},
		{"LC;", false, true, true, "\x5c\x5f\xb4~\11"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct writing writing = {cases[i].type, "f", {ID, cases[i].now, cases[i].before}, 0};
		struct rewrite w = {
			.may_choose_write = may_choose_write, .choose_write = choose_write, .ctx = &writing};
		const uint8_t *code = cases[i].is_static ? of_class : of_object, *at, *first;
		size_t size = cases[i].is_static ? sizeof(of_class) : sizeof(of_object),
		       length = strlen(cases[i].inserted);
		uint8_t inserted[16];
		struct writer file = {0};

		for (size_t k = 0; k < length; k++)
			inserted[k] = cases[i].inserted[k] == '~' ? 0 : (uint8_t)cases[i].inserted[k];
		memcpy(inserted + length, "\x11\0\7\xb8", 4); /* sipush 7, invokestatic */
		class_with_field(&file, code, size, cases[i].type);
		ck_assert(rewrite_class(&w, file.bytes, file.used));
		ck_assert_uint_eq(w.writes, 2);
		ck_assert_uint_eq(w.methods, 0);
		ck_assert_uint_eq(writing.chosen, 1);
		first = at = memmem(w.out.bytes, w.out.used, inserted, length + 4);
		ck_assert_msg(at, "case %zu", i);
		at += length + 6;
		ck_assert_mem_eq(at, code + (cases[i].is_static ? 1 : 2), 3);
		at = memmem(at, w.out.used - (size_t)(at - w.out.bytes), inserted, length + 4);
		ck_assert_msg(at, "case %zu", i);
		first -= cases[i].is_static ? 1 : 2;
		ck_assert_uint_eq(get_u2(first - 8), 6); /* stack: it was 1 */
		ck_assert_uint_eq(get_u2(first - 6), 0); /* no new variable */
		ck_assert_uint_eq(get_u4(first - 4), size + 2 * (length + 6));
		free(w.out.bytes);
		free(file.bytes);
	}
}
END_TEST

/* Jumps to a write lead to the call in front of it; lines and variables move. */
START_TEST(jumps_lead_to_the_call)
{
	static const uint8_t code[] = {0x03, 0xa7, 0, 3, PUTSTATIC, 0x03, 0xac}; /* goto the putstatic */
	struct writing writing = {"I", "f", {ID, false, false}, 0};
	struct rewrite w = {.choose = choose_all,
			    .may_choose_write = may_choose_write,
			    .choose_write = choose_write,
			    .ctx = &writing};
	struct writer file = {0};
	const uint8_t *at;

	class_with_field(&file, code, sizeof(code), "I");
	ck_assert(rewrite_class(&w, file.bytes, file.used)); /* timed, too */
	ck_assert_uint_eq(w.methods, 1);
	ck_assert_uint_eq(w.writes, 1);
	at = memmem(w.out.bytes, w.out.used, "\x03\xa7\0\3\x11\0\7\xb8", 8);
	ck_assert_ptr_nonnull(at);
	free(w.out.bytes);
	free(file.bytes);
}
END_TEST

/* An instruction that fails, since the field is static or is not, stays as it is: the stack may be another one. */
START_TEST(other_writes_stay)
{
	static const uint8_t code[] = {0x01, 0x03, PUTFIELD, 0x03, PUTSTATIC, 0x03, 0xac};
	struct writing writing = {"I", "f", {ID, true, true}, 0};
	struct rewrite w = {.may_choose_write = may_choose_write, .choose_write = choose_write, .ctx = &writing};
	struct writer file = {0};

	class_with_field(&file, code, sizeof(code), "I");
	ck_assert(rewrite_class(&w, file.bytes, file.used));
	ck_assert_uint_eq(w.writes, 1);
	ck_assert_ptr_nonnull(memmem(w.out.bytes, w.out.used, code + 5, 6));
	free(w.out.bytes);

	writing.field = "g";
	ck_assert(rewrite_class(&w, file.bytes, file.used));
	ck_assert_uint_eq(w.writes, 0);
	ck_assert_ptr_null(w.out.bytes);
	ck_assert_uint_eq(writing.chosen, 1);
	free(file.bytes);
}
END_TEST

START_TEST(patterns_of_fields)
{
	static const struct {
		const char *pattern, *class, *name;
		bool matches;
	} cases[] = {{"a.B.c", "a/B", "c", true},	  {"a.B.c", "a/B", "cc", false},
		     {"*.c", "a/B", "c", true},		  {"a.*.c?", "a/x/B", "cd", true},
		     {"a.B$C.*", "a/B$C", "value", true}, {"a.B.*", "a/B$C", "value", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct braid_event_config c = {.fields = {{.text = "x.Y.z"}}};

		ck_assert(patterns_have_fields(&c));
		strcpy(c.fields[1].text, cases[i].pattern);
		ck_assert_int_eq(patterns_match_field(&c, of(cases[i].class), of(cases[i].name)),
				 cases[i].matches ? 1 : -1);
	}
}
END_TEST

static bool is_field_f(void *ctx, const struct rewrite_field *f)
{
	(void)ctx;
	return text_equal(f->name, TEXT("f"));
}

START_TEST(fields_of_a_pool)
{
	static const uint8_t bytes[] = "\11\0\2\0\3\7\0\4\14\0\5\0\6\1\0\1C\1\0\1f\1\0\1I";

	ck_assert(rewrite_pool_uses(bytes, sizeof(bytes) - 1, 7, is_field_f, NULL));
	for (size_t size = 0; size < sizeof(bytes) - 1; size++)
		ck_assert(!rewrite_pool_uses(bytes, size, 7, is_field_f, NULL));
}
END_TEST

Suite *test_rewrite_fields(void)
{
	Suite *s = suite_create("agent rewrite fields");
	TCase *t = tcase_create("rewrite");

	tcase_add_test(t, a_write_has_a_call_in_front_of_it);
	tcase_add_test(t, jumps_lead_to_the_call);
	tcase_add_test(t, other_writes_stay);
	tcase_add_test(t, patterns_of_fields);
	tcase_add_test(t, fields_of_a_pool);
	suite_add_tcase(s, t);
	return s;
}
