// SPDX-License-Identifier: Apache-2.0
#include "uprobe_multi.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRACE_UPROBE_MULTI 48 /* BPF_TRACE_UPROBE_MULTI in enum bpf_attach_type; 6.1's header lacks it */

/* The part of union bpf_attr for this kind of link (link_create.uprobe_multi). */
struct multi_attr {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t count;
	uint32_t probe_flags;
	uint32_t pid; /* 0: all processes */
	uint32_t reserved;
};

static int link_create(struct multi_attr *attr)
{
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));

	return fd < 0 ? -errno : (int)fd;
}

/*
 * The first kernels with such links took a pid for a thread's. The later ones refuse a negative pid before they look
 * for the file, and those that do not know the link refuse both.
 */
static bool is_supported(void)
{
	const struct bpf_insn end[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	uint64_t offset = 0;
	struct multi_attr attr = {
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (uint64_t)(uintptr_t) "/", /* no regular file */
		.offsets = (uint64_t)(uintptr_t)&offset,
		.count = 1,
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "multi", "GPL", end, sizeof(end) / sizeof(end[0]), &opts);
	bool known;

	if (fd < 0)
		return false;
	attr.prog_fd = (uint32_t)fd;
	known = link_create(&attr) == -EBADF;
	attr.pid = (uint32_t)-1;
	known = known && link_create(&attr) == -EINVAL;
	close(fd);
	return known;
}

void uprobe_multi_prepare(struct bpf_program *program)
{
	static enum { UNKNOWN, SUPPORTED, NOT } support;

	if (support == UNKNOWN)
		support = is_supported() ? SUPPORTED : NOT;
	if (support == SUPPORTED)
		(void)bpf_program__set_expected_attach_type(program, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
}

bool uprobe_multi_is(const struct bpf_program *program)
{
	return (int)bpf_program__expected_attach_type(program) == TRACE_UPROBE_MULTI;
}

int uprobe_multi_attach(const struct bpf_program *program, pid_t pid, const char *path, const uint64_t *offsets,
			const uint64_t *cookies, uint32_t count)
{
	struct multi_attr attr = {
		.prog_fd = (uint32_t)bpf_program__fd(program),
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (uint64_t)(uintptr_t)path,
		.offsets = (uint64_t)(uintptr_t)offsets,
		.cookies = (uint64_t)(uintptr_t)cookies,
		.count = count,
		.pid = pid < 0 ? 0 : (uint32_t)pid,
	};

	return link_create(&attr);
}
