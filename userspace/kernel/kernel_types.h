/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of a kernel, as its BTF has them (Documentation/bpf/btf.rst). libbpf reads the same, but copies all of it
 * and notes where each type is; that takes longer than all the rest of what a recording does before it begins.
 */
#ifndef BRAID_KERNEL_TYPES_H
#define BRAID_KERNEL_TYPES_H

#include <linux/btf.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_types {
	const char *types, *strings;
	uint32_t types_size, strings_size;
	uint32_t count;	 /* of the types; the first has id 1 */
	uint32_t *index; /* offset of each 64th type, from id 1 on */
	void *pages;	 /* of kernel_types_read(), from pages_alloc() */
};

/* Finds the types in `bytes`, which must stay. -EINVAL: no BTF, or of a form that is not known; -ENOMEM. */
int kernel_types_parse(struct kernel_types *k, const void *bytes, size_t size);

/* Reads a file. A negative errno as above or of read_all(). */
int kernel_types_read(struct kernel_types *k, const char *path);

/* Also after an error. */
void kernel_types_free(struct kernel_types *k);

/* The type of an id, valid as long as *k; NULL: there is none, or the id is 0. */
const struct btf_type *kernel_types_at(const struct kernel_types *k, uint32_t id);

/* The name at the offset that a type, or a part of one, has for it; "" if there is none. */
const char *kernel_types_name(const struct kernel_types *k, uint32_t offset);

/* Size of a type with what follows it, in bytes; 0: its kind is not known. */
uint32_t kernel_types_size(const struct btf_type *t);

struct type_name {
	const char *name;
	uint32_t kind; /* BTF_KIND_... */
};

typedef void (*kernel_types_fn)(void *ctx, const struct type_name *name, uint32_t id);

/* Sorts the names, and calls fn for each type that has one of them and its kind, by ascending ids. */
void kernel_types_find(const struct kernel_types *k, struct type_name *names, size_t count, kernel_types_fn fn,
		       void *ctx);

#endif
