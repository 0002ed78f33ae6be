// SPDX-License-Identifier: Apache-2.0
#include "sections.h"

#include "braid/cast_types.h"
#include "kernel_types.h"
#include "util/elf_file.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <gelf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TARGETS_MAX 64
#define RDONLY_CAST "bpf_rdonly_cast"
#define NAME_BYTES 64

/*
 * As libbpf's own table has them. A section ends with its name, or with "/" and the name of what the program is
 * attached to.
 */
static const struct section {
	const char *name;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	uint32_t flags;
	const char *prefix; /* of that name in the kernel's BTF; NULL: attached by other means */
	uint32_t kind;	    /* there */
} sections[] = {
	{"tp_btf+", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, 0, "btf_trace_", BTF_KIND_TYPEDEF},
	{"iter+", BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, 0, "bpf_iter_", BTF_KIND_FUNC},
	{"iter.s+", BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, BPF_F_SLEEPABLE, "bpf_iter_", BTF_KIND_FUNC},
	{"perf_event", BPF_PROG_TYPE_PERF_EVENT, 0, 0, NULL, 0},
	{"tracepoint", BPF_PROG_TYPE_TRACEPOINT, 0, 0, NULL, 0},
	{"uprobe", BPF_PROG_TYPE_KPROBE, 0, 0, NULL, 0},
	{"uretprobe", BPF_PROG_TYPE_KPROBE, 0, 0, NULL, 0},
	{"usdt", BPF_PROG_TYPE_KPROBE, 0, 0, NULL, 0},
	{"syscall", BPF_PROG_TYPE_SYSCALL, 0, BPF_F_SLEEPABLE, NULL, 0},
};

#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* In the kernel's BTF; an id is 0 where the kernel has none. */
static struct target {
	char name[NAME_BYTES];
	uint32_t kind, id;
} targets[TARGETS_MAX] = {{RDONLY_CAST, BTF_KIND_FUNC, 0}};
static size_t target_count = 1;
static int stand_in_fd;

static struct target *find_target(const char *name)
{
	for (size_t i = 0; i < target_count; i++)
		if (strcmp(targets[i].name, name) == 0)
			return &targets[i];
	return NULL;
}

uint32_t sections_id(const char *name)
{
	const struct target *t = find_target(name);

	return t ? t->id : 0;
}

/* The name of what the programs of a section are attached to; false: it is too long. */
static bool target_name(char name[NAME_BYTES], const struct section *s, const char *section_name)
{
	const char *slash = strchr(section_name, '/');

	return snprintf(name, NAME_BYTES, "%s%s", s->prefix, slash ? slash + 1 : "") < NAME_BYTES;
}

static const struct section *section_of(const char *name)
{
	size_t length = strcspn(name, "/");

	for (size_t i = 0; i < SECTIONS; i++)
		if (strcspn(sections[i].name, "+") == length && strncmp(sections[i].name, name, length) == 0)
			return &sections[i];
	return NULL;
}

static void found(void *ctx, const struct type_name *name, uint32_t id)
{
	struct target *t = find_target(name->name);

	(void)ctx;
	if (t && !t->id)
		t->id = id;
}

void sections_find(const struct kernel_types *kernel, Elf *object)
{
	struct type_name names[TARGETS_MAX];
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(object, scn))) {
		const char *name = elf_section_name(object, scn, &header);
		const struct section *s = section_of(name);
		struct target *t = &targets[target_count];

		if (s && s->prefix && target_count < TARGETS_MAX && target_name(t->name, s, name) &&
		    find_target(t->name) == NULL) {
			t->kind = s->kind;
			target_count++;
		}
	}
	for (size_t i = 0; i < target_count; i++)
		names[i] = (struct type_name){targets[i].name, targets[i].kind};
	kernel_types_find(kernel, names, target_count, found, NULL);
}

/* ---- what libbpf calls ---- */

/*
 * libbpf looks for nothing in the kernel if the program is to be attached to another program, of which it wants to know
 * the descriptor only.
 */
static int set_up(struct bpf_program *p, long cookie)
{
	return sections[cookie].prefix ? bpf_program__set_attach_target(p, stand_in_fd, NULL) : 0;
}

/* The instructions belong to libbpf, which copies its subprograms behind those of each program before it loads them. */
static void put_kernel_function(const struct bpf_program *p)
{
	struct bpf_insn *insns = (struct bpf_insn *)bpf_program__insns(p);
	uint32_t id = sections_id(RDONLY_CAST);

	if (!id)
		return;
	for (size_t i = 0; i < bpf_program__insn_cnt(p); i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg || insns[i].imm != BRAID_CALL_RDONLY_CAST)
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].imm = (int32_t)id;
	}
}

static int prepare(struct bpf_program *p, struct bpf_prog_load_opts *options, long cookie)
{
	const struct section *s = &sections[cookie];
	char name[NAME_BYTES];

	options->prog_flags |= s->flags;
	put_kernel_function(p);
	if (!s->prefix)
		return 0;
	options->attach_prog_fd = 0;
	options->attach_btf_id = target_name(name, s, bpf_program__section_name(p)) ? sections_id(name) : 0;
	return options->attach_btf_id ? 0 : -ESRCH;
}

static int attach(const struct bpf_program *p, long cookie, struct bpf_link **link)
{
	(void)cookie;
	*link = bpf_program__attach_trace(p);
	return *link ? 0 : -errno;
}

int sections_register(int types_fd)
{
	int handlers[SECTIONS], err = 0;
	size_t count = 0;

	stand_in_fd = types_fd;
	for (; count < SECTIONS && err >= 0; count++) {
		const struct section *s = &sections[count];
		LIBBPF_OPTS(libbpf_prog_handler_opts, options, .cookie = (long)count, .prog_setup_fn = set_up,
			    .prog_prepare_load_fn = prepare, .prog_attach_fn = s->prefix ? attach : NULL);

		err = handlers[count] = libbpf_register_prog_handler(s->name, s->type, s->attach, &options);
	}
	if (err >= 0)
		return 0;
	for (count--; count; count--)
		(void)libbpf_unregister_prog_handler(handlers[count - 1]);
	return err;
}
