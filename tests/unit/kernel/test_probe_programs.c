// SPDX-License-Identifier: Apache-2.0
/* What the programs and maps have to be for the kernel to run them safely. */
#include "braid.skel.h"

#include <bpf/libbpf.h>
#include <check.h>
#include <linux/bpf.h>
#include <string.h>

Suite *test_probe_programs(void);

static bool has_tail_call(const struct bpf_program *p)
{
	const struct bpf_insn *insns = bpf_program__insns(p);

	for (size_t i = 0; i < bpf_program__insn_cnt(p); i++)
		if (insns[i].code == (BPF_JMP | BPF_CALL) && !insns[i].src_reg && insns[i].imm == BPF_FUNC_tail_call)
			return true;
	return false;
}

/* See probe_on_thread_stack() in bpf/jvm/probes.bpf.h. */
START_TEST(programs_of_probes_run_on_the_threads_stack)
{
	struct braid_bpf *b = braid_bpf__open();
	struct bpf_program *p;
	int probes = 0;

	ck_assert_ptr_nonnull(b);
	bpf_object__for_each_program(p, b->obj)
	{
		if (bpf_program__type(p) != BPF_PROG_TYPE_KPROBE)
			continue;
		ck_assert_msg(has_tail_call(p), "%s has no tail call", bpf_program__name(p));
		probes++;
	}
	ck_assert_int_ge(probes, 3);
	braid_bpf__destroy(b);
}
END_TEST

/*
 * A sample may be taken in an NMI, which must not add to such a map: its CPU may hold the map's lock, for which most
 * kernels then wait for ever. Only uprobes, and the drain for `java_threads`, add to these.
 */
START_TEST(no_sample_adds_to_a_map_that_evicts)
{
	const char *const others[] = {"compiling", "timed_calls", "java_threads"};
	struct braid_bpf *b = braid_bpf__open();
	struct bpf_map *m;
	size_t found = 0;

	ck_assert_ptr_nonnull(b);
	bpf_object__for_each_map(m, b->obj)
	{
		enum bpf_map_type type = bpf_map__type(m);
		bool known = false;

		if (type != BPF_MAP_TYPE_LRU_HASH && type != BPF_MAP_TYPE_LRU_PERCPU_HASH)
			continue;
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			known |= !strcmp(bpf_map__name(m), others[i]);
		ck_assert_msg(known, "%s", bpf_map__name(m));
		found++;
	}
	ck_assert_uint_eq(found, sizeof(others) / sizeof(others[0]));
	braid_bpf__destroy(b);
}
END_TEST

Suite *test_probe_programs(void)
{
	Suite *s = suite_create("probe_programs");
	TCase *tc = tcase_create("probe_programs");

	tcase_add_test(tc, programs_of_probes_run_on_the_threads_stack);
	tcase_add_test(tc, no_sample_adds_to_a_map_that_evicts);
	suite_add_tcase(s, tc);
	return s;
}
