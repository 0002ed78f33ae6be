/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How libbpf loads a program, by its ELF section. What libbpf does by itself needs all of the kernel's types for each
 * object that is loaded (kernel_types.h); here the few ids that programs need are found once.
 */
#ifndef BRAID_SECTIONS_H
#define BRAID_SECTIONS_H

#include <libelf.h>
#include <stdint.h>

struct kernel_types;

/*
 * Finds what the programs of `object` are attached to, and bpf_rdonly_cast(). Called once, before the object is opened
 * for libbpf.
 */
void sections_find(const struct kernel_types *kernel, Elf *object);

/* The id of one of these by its name in the kernel's BTF, as "btf_trace_sched_switch"; 0 if the kernel has none. */
uint32_t sections_id(const char *name);

/*
 * From then on, objects that are opened are loaded by what was found; `types_fd` must stay open. Returns a negative
 * errno if libbpf refuses: then objects are loaded as it does by itself, and must not call the kernel's function.
 */
int sections_register(int types_fd);

#endif
