// SPDX-License-Identifier: Apache-2.0
#include "abilities.h"

#include "braid.skel.h"
#include "kernel_types.h"
#include "named_types.h"
#include "sections.h"
#include "util/elf_file.h"

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

/*
 * Written to a file of no directory, as libbpf reads types from a path only. Returns its descriptor, which stays open.
 */
static int write_types(const struct btf *btf)
{
	uint32_t length;
	const void *bytes = btf__raw_data(btf, &length);
	int fd = bytes ? memfd_create("braid-types", MFD_CLOEXEC) : -1;

	if (fd < 0 || write(fd, bytes, length) == (ssize_t)length)
		return fd;
	close(fd);
	return -1;
}

static void find_types(const struct kernel_types *kernel, Elf *object, const struct btf *programs)
{
	struct named_types types;
	const struct btf *named;
	int fd;

	sections_find(kernel, object);
	found.switch_end = sections_id("btf_trace_sched_exit_tp");
	if (named_types_make(kernel, programs, &types))
		return;
	named = types.btf;
	fd = write_types(named);
	if (fd >= 0 && sections_register(fd) == 0) {
		(void)snprintf(found.types, sizeof(found.types), "/proc/self/fd/%d", fd);
		found.casts = sections_id("bpf_rdonly_cast");
	} else if (fd >= 0) {
		close(fd);
	}
#define FIND_ID(name) found.cast_ids[BRAID_CAST_##name] = named_types_kernel_id(&types, #name);
	BRAID_CAST_TYPES(FIND_ID)
#undef FIND_ID
	found.queues = has_member(named, "sched_info", "last_queued") && has_member(named, "sched_entity", "cfs_rq") &&
		       has_member(named, "cfs_rq", "rq") && has_member(named, "rq", "clock") && notes_queues();
	named_types_free(&types);
}

static void find(void)
{
	struct kernel_types kernel;
	size_t size;
	const void *bytes = braid_bpf__elf_bytes(&size);
	const Elf_Data *data = NULL;
	Elf_Scn *section = NULL;
	struct btf *programs;
	Elf *object = NULL;
	GElf_Shdr header;

	/* libbpf's own way to them would copy all of the object. */
	if (!kernel_types_read(&kernel, "/sys/kernel/btf/vmlinux") && !elf_open(&object, elf_of_image(bytes, size)))
		section = elf_section_named(object, ".BTF", &header);
	if (section)
		data = elf_getdata(section, NULL);
	programs = data ? btf__new(data->d_buf, (uint32_t)data->d_size) : NULL;
	if (programs)
		find_types(&kernel, object, programs);
	btf__free(programs);
	elf_end(object);
	kernel_types_free(&kernel);
}

const struct abilities *kernel_abilities(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, find);
	return &found;
}
