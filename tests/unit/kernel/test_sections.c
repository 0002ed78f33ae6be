// SPDX-License-Identifier: Apache-2.0
/* Programs are loaded by what their sections say, as libbpf does without help. */
#include "braid.skel.h"
#include "kernel/object.h"

#include <bpf/libbpf.h>
#include <check.h>

Suite *test_sections(void);

START_TEST(programs_are_what_libbpf_makes_of_them)
{
	struct braid_bpf *by_libbpf = braid_bpf__open(), *by_us;
	struct bpf_program *p, *same;
	int tracing = 0;

	ck_assert_ptr_nonnull(by_libbpf);
	by_us = object_open(); /* registers the sections */
	ck_assert_ptr_nonnull(by_us);
	bpf_object__for_each_program(p, by_libbpf->obj)
	{
		same = bpf_object__find_program_by_name(by_us->obj, bpf_program__name(p));
		ck_assert_ptr_nonnull(same);
		ck_assert_msg(bpf_program__type(same) == bpf_program__type(p) &&
				      bpf_program__expected_attach_type(same) == bpf_program__expected_attach_type(p),
			      "%s in %s", bpf_program__name(p), bpf_program__section_name(p));
		tracing += bpf_program__type(p) == BPF_PROG_TYPE_TRACING;
	}
	ck_assert_int_gt(tracing, 20);
	braid_bpf__destroy(by_us);
	braid_bpf__destroy(by_libbpf);
}
END_TEST

Suite *test_sections(void)
{
	Suite *s = suite_create("sections");
	TCase *tc = tcase_create("sections");

	tcase_add_test(tc, programs_are_what_libbpf_makes_of_them);
	suite_add_tcase(s, tc);
	return s;
}
