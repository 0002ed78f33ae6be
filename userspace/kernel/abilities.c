// SPDX-License-Identifier: Apache-2.0
#include "abilities.h"

#include "braid.skel.h"
#include "named_types.h"

#include <bpf/btf.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Written to a file of no directory, as libbpf reads types from a path only. */
static int write_types(const struct btf *btf, char *path, size_t size)
{
	uint32_t length;
	const void *bytes = btf__raw_data(btf, &length);
	int fd = bytes ? memfd_create("braid-types", MFD_CLOEXEC) : -1;

	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	(void)snprintf(path, size, "/proc/self/fd/%d", fd); /* open for as long as programs may be loaded */
	return 0;
}

static void find_types(const struct btf *kernel, const struct btf *programs)
{
	struct named_types types;
	const struct btf *named;

	if (named_types_make(kernel, programs, &types))
		return;
	named = types.btf;
#define FIND_ID(name) found.cast_ids[BRAID_CAST_##name] = named_types_kernel_id(&types, #name);
	BRAID_CAST_TYPES(FIND_ID)
#undef FIND_ID
	found.casts = btf__find_by_name_kind(kernel, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	found.queues = has_member(named, "sched_info", "last_queued") && has_member(named, "sched_entity", "cfs_rq") &&
		       has_member(named, "cfs_rq", "rq") && has_member(named, "rq", "clock") && notes_queues();
	if (write_types(named, found.types, sizeof(found.types)))
		found.types[0] = '\0';
	named_types_free(&types);
}

static void find(void)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	struct braid_bpf *programs = kernel ? braid_bpf__open() : NULL;

	if (kernel)
		found.switch_end = btf__find_by_name_kind(kernel, "btf_trace_sched_exit_tp", BTF_KIND_TYPEDEF) > 0;
	if (programs)
		find_types(kernel, bpf_object__btf(programs->obj));
	braid_bpf__destroy(programs);
	btf__free(kernel);
}

const struct abilities *kernel_abilities(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, find);
	return &found;
}
