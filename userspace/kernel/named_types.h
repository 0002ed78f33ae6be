/* SPDX-License-Identifier: Apache-2.0 */
/* Those of the kernel's types that the programs name, as BTF by itself. */
#ifndef BRAID_NAMED_TYPES_H
#define BRAID_NAMED_TYPES_H

#include <bpf/btf.h>
#include <stdint.h>

struct kernel_types;

struct named_types {
	struct btf *btf;
	uint32_t *kernel_ids; /* of each of its types, by its id there; that of 0, no type, is 0 */
};

/*
 * The structures of `kernel` that have the name of one in `programs`, before its "___", with the types of all that lies
 * in them. What is behind their pointers is left out, since CO-RE asks only whether a field is one. *out is all zero
 * after an error.
 */
int named_types_make(const struct kernel_types *kernel, const struct btf *programs, struct named_types *out);
void named_types_free(struct named_types *t);

/* The structure's id in the kernel's BTF; 0 if it has none of that name. */
uint32_t named_types_kernel_id(const struct named_types *t, const char *structure);

#endif
