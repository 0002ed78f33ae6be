// SPDX-License-Identifier: Apache-2.0
#include "abilities.h"

#include <bpf/btf.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct abilities found;

static bool has_member(const struct btf *kernel, const char *type, const char *member)
{
	int id = btf__find_by_name_kind(kernel, type, BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(kernel, (uint32_t)id) : NULL;

	for (uint32_t i = 0; t && i < btf_vlen(t); i++)
		if (strcmp(btf__name_by_offset(kernel, btf_members(t)[i].name_off), member) == 0)
			return true;
	return false;
}

/* The account exists in every kernel of today, but may be off: then it never counts that a thread came to a CPU. */
static bool notes_queues(void)
{
	FILE *f = fopen("/proc/self/schedstat", "re");
	unsigned long long times = 0;
	bool counts = f && fscanf(f, "%*u %*u %llu", &times) == 1 && times;

	if (f)
		(void)fclose(f);
	return counts;
}

static void find(void)
{
	struct btf *kernel = btf__load_vmlinux_btf();

	if (!kernel)
		return;
	found.switch_end = btf__find_by_name_kind(kernel, "btf_trace_sched_exit_tp", BTF_KIND_TYPEDEF) > 0;
	found.casts = btf__find_by_name_kind(kernel, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	found.queues = has_member(kernel, "sched_info", "last_queued") &&
		       has_member(kernel, "sched_entity", "cfs_rq") && has_member(kernel, "cfs_rq", "rq") &&
		       has_member(kernel, "rq", "clock") && notes_queues();
	btf__free(kernel);
}

const struct abilities *kernel_abilities(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, find);
	return &found;
}
