// SPDX-License-Identifier: Apache-2.0
/* The kernel's BTF: what libbpf finds in it is found, and what is no BTF is refused. */
#include "kernel/kernel_types.h"

#include <bpf/btf.h>
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PATH "/sys/kernel/btf/vmlinux"

Suite *test_kernel_types(void);

static void keep_first(void *ctx, const struct type_name *name, uint32_t id)
{
	uint32_t *first = ctx;

	(void)name;
	if (!*first)
		*first = id;
}

static uint32_t find(const struct kernel_types *k, const char *name, uint32_t kind)
{
	struct type_name wanted = {name, kind};
	uint32_t first = 0;

	kernel_types_find(k, &wanted, 1, keep_first, &first);
	return first;
}

/* Of each kind of type, with the parts that it can have. */
static struct btf *every_kind(void)
{
	struct btf *b = btf__new_empty();

	ck_assert_ptr_nonnull(b);
	(void)btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	(void)btf__add_float(b, "double", 8);
	(void)btf__add_ptr(b, 1);
	(void)btf__add_array(b, 1, 1, 3);
	(void)btf__add_struct(b, "structure", 8);
	(void)btf__add_field(b, "first", 1, 0, 0);
	(void)btf__add_field(b, "second", 1, 32, 0);
	(void)btf__add_union(b, "either", 4);
	(void)btf__add_field(b, "one", 1, 0, 0);
	(void)btf__add_enum(b, "values", 4);
	(void)btf__add_enum_value(b, "NONE", 0);
	(void)btf__add_enum64(b, "long_values", 8, false);
	(void)btf__add_enum64_value(b, "LONG", 1ULL << 40);
	(void)btf__add_fwd(b, "elsewhere", BTF_FWD_STRUCT);
	(void)btf__add_typedef(b, "number_t", 1);
	(void)btf__add_volatile(b, 1);
	(void)btf__add_const(b, 1);
	(void)btf__add_restrict(b, 3);
	(void)btf__add_func_proto(b, 1);
	(void)btf__add_func_param(b, "argument", 1);
	(void)btf__add_func(b, "function", BTF_FUNC_GLOBAL, 14);
	(void)btf__add_var(b, "variable", BTF_VAR_STATIC, 1);
	(void)btf__add_datasec(b, ".data", 4);
	(void)btf__add_datasec_var_info(b, 16, 0, 4);
	(void)btf__add_decl_tag(b, "tag", 16, -1);
	(void)btf__add_type_tag(b, "user", 1);
	(void)btf__add_struct(b, "last", 0);
	ck_assert_uint_eq(btf__type_cnt(b), 21);
	return b;
}

START_TEST(each_kind_has_its_size)
{
	struct btf *b = every_kind();
	struct kernel_types k;
	uint32_t size;
	const void *bytes = btf__raw_data(b, &size);

	ck_assert_int_eq(kernel_types_parse(&k, bytes, size), 0);
	ck_assert_uint_eq(k.count, btf__type_cnt(b) - 1);
	for (uint32_t id = 1; id <= k.count; id++) {
		const struct btf_type *t = kernel_types_at(&k, id), *same = btf__type_by_id(b, id);

		ck_assert_mem_eq(t, same, kernel_types_size(same));
		ck_assert_str_eq(kernel_types_name(&k, t->name_off), btf__name_by_offset(b, same->name_off));
	}
	ck_assert_ptr_null(kernel_types_at(&k, 0));
	ck_assert_ptr_null(kernel_types_at(&k, k.count + 1));
	ck_assert_uint_eq(find(&k, "last", BTF_KIND_STRUCT), k.count);
	ck_assert_uint_eq(find(&k, "last", BTF_KIND_UNION), 0);
	ck_assert_uint_eq(find(&k, "las", BTF_KIND_STRUCT), 0);
	ck_assert_uint_eq(find(&k, "", BTF_KIND_PTR), 0);
	kernel_types_free(&k);
	btf__free(b);
}
END_TEST

/* Cut anywhere, or with any byte of it changed, it is refused or read within its bounds (the sanitizers look). */
START_TEST(any_byte_may_be_wrong)
{
	struct btf *b = every_kind();
	struct kernel_types k;
	uint32_t size, refused = 0;
	const void *bytes = btf__raw_data(b, &size);

	for (uint32_t i = 0; i < size; i++) {
		unsigned char *copy = malloc(size);

		memcpy(copy, bytes, size);
		copy[i] ^= 0xff;
		refused += kernel_types_parse(&k, copy, size) != 0;
		(void)find(&k, "last", BTF_KIND_STRUCT);
		for (uint32_t id = 0; id < k.count + 2; id++)
			(void)kernel_types_at(&k, id);
		kernel_types_free(&k);
		free(copy);
		copy = malloc(i + 1);
		memcpy(copy, bytes, i);
		ck_assert_int_eq(kernel_types_parse(&k, copy, i), -EINVAL);
		kernel_types_free(&k);
		free(copy);
	}
	ck_assert_uint_gt(refused, 0);
	btf__free(b);
}
END_TEST

START_TEST(the_running_kernel)
{
	const struct {
		const char *name;
		uint32_t kind;
	} names[] = {{"task_struct", BTF_KIND_STRUCT},	     {"btf_trace_sched_switch", BTF_KIND_TYPEDEF},
		     {"bpf_iter_task", BTF_KIND_FUNC},	     {"sock", BTF_KIND_STRUCT},
		     {"no_such_name_here", BTF_KIND_STRUCT}, {"pid_t", BTF_KIND_TYPEDEF}};
	struct btf *same = btf__load_vmlinux_btf();
	struct kernel_types k;

	if (!same)
		return; /* `braid doctor` says so */
	ck_assert_int_eq(kernel_types_read(&k, PATH), 0);
	ck_assert_uint_eq(k.count, btf__type_cnt(same) - 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int id = btf__find_by_name_kind(same, names[i].name, names[i].kind);

		ck_assert_uint_eq(find(&k, names[i].name, names[i].kind), id > 0 ? (uint32_t)id : 0);
	}
	kernel_types_free(&k);
	btf__free(same);
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
	struct kernel_types k;

	ck_assert_int_eq(kernel_types_read(&k, "/sys/kernel/btf/no-such-module"), -ENOENT);
	kernel_types_free(&k);
	ck_assert_int_ne(kernel_types_read(&k, "/dev/null"), 0);
	kernel_types_free(&k);
	ck_assert_int_eq(kernel_types_read(&k, "/proc/self/exe"), -EINVAL);
	kernel_types_free(&k);
}
END_TEST

Suite *test_kernel_types(void)
{
	Suite *s = suite_create("kernel_types");
	TCase *tc = tcase_create("kernel_types");

	tcase_add_test(tc, each_kind_has_its_size);
	tcase_add_test(tc, any_byte_may_be_wrong);
	tcase_add_test(tc, the_running_kernel);
	tcase_add_test(tc, files_that_cannot_be_read);
	suite_add_tcase(s, tc);
	return s;
}
