/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How libbpf loads a program, by its ELF section. What libbpf does by itself needs all of the kernel's types for each object that
 * is loaded (kernel_types.h); here the few ids that programs need are found once.
 */
#ifndef BRAID_SECTIONS_H
#define BRAID_SECTIONS_H

#include <stdint.h>

struct bpf_object;
struct kernel_types;

/*
 * Finds what the programs of `object` are attached to, and bpf_rdonly_cast(). From then on, objects that are opened are loaded by
 * that; `types_fd` must stay open. Called once, before others open objects. Returns a negative errno if libbpf refuses: then
 * objects are loaded as it does by itself, and the kernel's function is not called.
 */
int sections_register(const struct kernel_types *kernel, const struct bpf_object *object, int types_fd);

/* The function's id in the kernel's BTF; 0 if it has none. */
uint32_t sections_rdonly_cast(void);

#endif
