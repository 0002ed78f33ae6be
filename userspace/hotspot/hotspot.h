// SPDX-License-Identifier: Apache-2.0
/*
 * Reading names out of a live JVM's memory, with the offsets of its LAYOUT record, from outside (process_vm_readv). For
 * interpreted frames, whose methods JVM TI never announces, and for compiled code whose record has not arrived.
 * Everything read is untrusted: lengths are bounded, pointers may lead anywhere.
 */
#ifndef BRAID_HOTSPOT_HOTSPOT_H
#define BRAID_HOTSPOT_HOTSPOT_H

#include <braid/layout.h>
#include <braid/names.h>

#include "util/utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads `size` bytes at `address` of the target: 0 or a negative errno; never a part. */
typedef int (*hotspot_read_fn)(void *ctx, uint64_t address, void *to, size_t size);

/* The usual reader; ctx points to a pid_t. */
int hotspot_read_process(void *ctx, uint64_t address, void *to, size_t size);

#define HOTSPOT_NAME_MAX 1024
/* JVM_ACC_WRITTEN_FLAGS: the bits of the class file; HotSpot keeps its own above them (JDK 8 to 20). */
#define HOTSPOT_MODIFIERS 0x7fffU

struct hotspot_method {
	uint32_t modifiers;
	uint32_t code_size; /* byte codes */
	/* UTF-8, zero-terminated, converted from the JVM's modified UTF-8 (util/utf8.h), cut at the array's end */
	char class_name[HOTSPOT_NAME_MAX]; /* "java.lang.String" */
	char name[HOTSPOT_NAME_MAX];
	char signature[HOTSPOT_NAME_MAX];
};

/*
 * Names of the Method at `method`. -EINVAL when the layout lacks what is needed, -EFAULT when memory does not look like
 * one.
 */
int hotspot_method_read(const struct braid_layout *l, hotspot_read_fn read, void *ctx, uint64_t method,
			struct hotspot_method *out);

/* The source file of the class that `const_method` belongs to: empty when it is not known. */
int hotspot_source_read(const struct braid_layout *l, const struct braid_names *n, hotspot_read_fn read, void *ctx,
			uint64_t const_method, char *to, size_t size);

/* The line number table of a ConstMethod, ascending byte code indexes: the number of lines, 0 when it has none. */
int hotspot_lines_read(const struct braid_layout *l, const struct braid_names *n, hotspot_read_fn read, void *ctx,
		       uint64_t const_method, struct braid_line *to, uint32_t room);

struct hotspot_scope {
	uint64_t method; /* Method address */
	int32_t bci;	 /* -1: none */
};

/*
 * What is inlined in the nmethod at `blob` at an offset into its code, innermost first: the number of scopes, 0 when
 * the compiler recorded none there. `exact` as in code_scopes_at(): an offset that is no return address.
 */
int hotspot_scopes_read(const struct braid_layout *l, const struct braid_names *n, hotspot_read_fn read, void *ctx,
			uint64_t blob, uint32_t offset, bool exact, struct hotspot_scope *to, uint32_t room);

struct hotspot_blob {
	uint64_t address; /* of the CodeBlob */
	uint64_t code_begin;
	uint32_t size;	 /* whole blob */
	uint64_t method; /* Method address for nmethods, 0 for other blobs and for nmethods without one */
	uint32_t tier;	 /* enum braid_tier, for nmethods */
	uint32_t compile_id;
	char name[64]; /* "nmethod", "native nmethod", "StubRoutines (1)", ... */
};

/* The CodeBlob that covers `pc`, found through the code heap's segment map. -ENOENT when none does. */
int hotspot_blob_find(const struct braid_layout *l, hotspot_read_fn read, void *ctx, uint64_t pc,
		      struct hotspot_blob *out);

#endif
