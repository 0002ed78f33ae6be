// SPDX-License-Identifier: Apache-2.0
/* The kernel's types that programs name: chosen from BTF that is made here. */
#include "kernel/kernel_types.h"
#include "kernel/named_types.h"

#include <check.h>

Suite *test_named_types(void);

static struct btf *kernel, *programs;

static void make(void)
{
	kernel = btf__new_empty();
	programs = btf__new_empty();
	ck_assert_ptr_nonnull(kernel);
	ck_assert_ptr_nonnull(programs);
}

static void drop(void)
{
	btf__free(kernel);
	btf__free(programs);
}

/* What is made of `kernel` as it is now. */
static struct named_types make_named(void)
{
	struct kernel_types types;
	struct named_types t;
	uint32_t size;
	const void *bytes = btf__raw_data(kernel, &size);

	ck_assert_int_eq(kernel_types_parse(&types, bytes, size), 0);
	ck_assert_int_eq(named_types_make(&types, programs, &t), 0);
	kernel_types_free(&types);
	return t;
}

static int structure(struct btf *btf, const char *name)
{
	return btf__add_struct(btf, name, 16);
}

static const struct btf_type *named(const struct named_types *t, const char *name, int kind)
{
	int id = btf__find_by_name_kind(t->btf, name, (uint32_t)kind);

	ck_assert_int_gt(id, 0);
	return btf__type_by_id(t->btf, (uint32_t)id);
}

START_TEST(takes_what_lies_in_a_structure)
{
	struct named_types t;
	const struct btf_type *task;
	int integer, inner, array, constant, pointer;

	(void)structure(kernel, "unused");
	integer = btf__add_int(kernel, "unsigned int", 4, 0);
	pointer = btf__add_ptr(kernel, structure(kernel, "pointed_at"));
	inner = structure(kernel, "inner");
	ck_assert_int_eq(btf__add_field(kernel, "count", integer, 0, 0), 0);
	array = btf__add_array(kernel, integer, inner, 3);
	constant = btf__add_const(kernel, btf__add_typedef(kernel, "array_t", array));
	(void)structure(kernel, "task");
	ck_assert_int_eq(btf__add_field(kernel, "list", constant, 0, 0), 0);
	ck_assert_int_eq(btf__add_field(kernel, "next", pointer, 64, 0), 0);
	(void)structure(programs, "task");

	t = make_named();
	task = named(&t, "task", BTF_KIND_STRUCT);
	ck_assert_int_eq(btf_vlen(task), 2);
	ck_assert_int_eq(btf_kind(btf__type_by_id(t.btf, btf_members(task)[0].type)), BTF_KIND_CONST);
	ck_assert_int_eq(btf__resolve_size(t.btf, btf_members(task)[0].type), 48);
	ck_assert_int_eq(btf__resolve_size(t.btf, btf_members(named(&t, "inner", BTF_KIND_STRUCT))[0].type), 4);
	ck_assert_int_eq(btf__type_by_id(t.btf, btf_members(task)[1].type)->type, 0);
	ck_assert_int_lt(btf__find_by_name_kind(t.btf, "unused", BTF_KIND_STRUCT), 0);
	ck_assert_int_lt(btf__find_by_name_kind(t.btf, "pointed_at", BTF_KIND_STRUCT), 0);
	named_types_free(&t);
}
END_TEST

START_TEST(knows_the_kernels_ids)
{
	struct named_types t;
	int id;

	(void)structure(kernel, "unused");
	id = structure(kernel, "file");
	(void)structure(programs, "file");
	(void)structure(programs, "absent");
	t = make_named();
	ck_assert_int_eq(named_types_kernel_id(&t, "file"), id);
	ck_assert_int_eq(named_types_kernel_id(&t, "absent"), 0);
	ck_assert_int_eq(named_types_kernel_id(&t, "unused"), 0);
	named_types_free(&t);
}
END_TEST

/* Two source files of the kernel may each have a structure of one name; CO-RE tries all of them. */
START_TEST(takes_every_structure_of_a_name)
{
	struct named_types t;

	(void)structure(kernel, "cfs_rq");
	(void)btf__add_union(kernel, "cfs_rq", 8);
	(void)structure(kernel, "cfs_rq");
	(void)structure(kernel, "");
	(void)structure(programs, "cfs_rq");
	(void)structure(programs, "");
	t = make_named();
	ck_assert_int_eq(btf__type_cnt(t.btf), 3);
	named_types_free(&t);
}
END_TEST

START_TEST(names_what_it_takes)
{
	struct named_types t;
	const struct btf_type *task, *state;

	ck_assert_int_gt(btf__add_enum(kernel, "state", 4), 0);
	ck_assert_int_eq(btf__add_enum_value(kernel, "RUNNING", 0), 0);
	ck_assert_int_eq(btf__add_enum_value(kernel, "ASLEEP", 1), 0);
	(void)structure(kernel, "task");
	ck_assert_int_eq(btf__add_field(kernel, "state", 1, 0, 0), 0);
	ck_assert_int_eq(btf__add_field(kernel, "", 1, 32, 0), 0);
	(void)structure(programs, "task");
	t = make_named();
	task = named(&t, "task", BTF_KIND_STRUCT);
	ck_assert_str_eq(btf__name_by_offset(t.btf, btf_members(task)[0].name_off), "state");
	ck_assert_str_eq(btf__name_by_offset(t.btf, btf_members(task)[1].name_off), "");
	state = btf__type_by_id(t.btf, btf_members(task)[1].type);
	ck_assert_str_eq(btf__name_by_offset(t.btf, state->name_off), "state");
	ck_assert_str_eq(btf__name_by_offset(t.btf, btf_enum(state)[0].name_off), "RUNNING");
	ck_assert_str_eq(btf__name_by_offset(t.btf, btf_enum(state)[1].name_off), "ASLEEP");
	named_types_free(&t);
}
END_TEST

/* A structure that holds a pointer to itself, and one that holds what holds it, as only a broken BTF has it. */
START_TEST(ends_with_circles)
{
	struct named_types t;
	int id = structure(kernel, "node");

	ck_assert_int_eq(btf__add_field(kernel, "next", id + 1, 0, 0), 0);
	ck_assert_int_eq(btf__add_ptr(kernel, id), id + 1);
	(void)structure(kernel, "self");
	ck_assert_int_eq(btf__add_field(kernel, "inner", id + 2, 0, 0), 0);
	(void)structure(programs, "node");
	(void)structure(programs, "self");
	t = make_named();
	ck_assert_int_eq(btf__type_cnt(t.btf), 4);
	named_types_free(&t);
}
END_TEST

Suite *test_named_types(void)
{
	Suite *s = suite_create("named_types");
	TCase *tc = tcase_create("named_types");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, takes_what_lies_in_a_structure);
	tcase_add_test(tc, knows_the_kernels_ids);
	tcase_add_test(tc, takes_every_structure_of_a_name);
	tcase_add_test(tc, names_what_it_takes);
	tcase_add_test(tc, ends_with_circles);
	suite_add_tcase(s, tc);
	return s;
}
