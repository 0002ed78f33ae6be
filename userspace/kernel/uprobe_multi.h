// SPDX-License-Identifier: Apache-2.0
/*
 * One link for all places of a program in a file (uprobe_multi, Linux 6.6). A perf event for each place instead makes
 * the kernel wait for all CPUs once for each, and other recordings cannot set or remove a probe meanwhile. programs.c
 * and jvm/ call this.
 */
#ifndef BRAID_KERNEL_UPROBE_MULTI_H
#define BRAID_KERNEL_UPROBE_MULTI_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_program;

/* Makes a program that is not loaded yet one for such links, if this kernel has them for single processes. */
void uprobe_multi_prepare(struct bpf_program *program);
/* Whether the program is one. Then it can have no other link. */
bool uprobe_multi_is(const struct bpf_program *program);

/*
 * Links the program to these offsets in the file, each with its cookie. `pid` -1: in all processes. Returns a
 * descriptor of the link or a negative errno.
 */
int uprobe_multi_attach(const struct bpf_program *program, pid_t pid, const char *path, const uint64_t *offsets,
			const uint64_t *cookies, uint32_t count);

#endif
