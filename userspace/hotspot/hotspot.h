// SPDX-License-Identifier: Apache-2.0
/*
 * Reads names out of a live JVM's memory from outside (process_vm_readv), with the offsets of its layout. They are for
 * interpreted frames, whose methods JVM TI never reports, and for compiled code whose record has not arrived.
 * Everything read is untrusted: lengths are bounded, and pointers may lead anywhere. jvm/ calls this.
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

/* Reads all of `size` bytes at `address` of the target: 0 or a negative errno. */
typedef int (*hotspot_read_fn)(void *ctx, uint64_t address, void *to, size_t size);

/* The usual reader; ctx points to a pid_t. */
int hotspot_read_process(void *ctx, uint64_t address, void *to, size_t size);

#define HOTSPOT_NAME_MAX 1024
/* JVM_ACC_WRITTEN_FLAGS: the class file's bits. HotSpot keeps its own flags above them (JDK 8 to 20). */
#define HOTSPOT_MODIFIERS 0x7fffU

struct hotspot_method {
	uint32_t modifiers;
	uint32_t code_size; /* byte codes */
	/* UTF-8, zero-terminated, converted from modified UTF-8 (util/utf8.h) and cut at the array's end. */
	char class_name[HOTSPOT_NAME_MAX]; /* "java.lang.String" */
	char name[HOTSPOT_NAME_MAX];
	char signature[HOTSPOT_NAME_MAX];
};

/*
 * Reads the names of the Method at `method`. -EINVAL when the layout lacks a field, -EFAULT when the memory is no
 * Method.
 */
int hotspot_method_read(const struct braid_layout *l, hotspot_read_fn read, void *ctx, uint64_t method,
			struct hotspot_method *out);

/* Reads the source file of the class of `const_method`; "" when it is not known. */
int hotspot_source_read(const struct braid_layout *l, const struct braid_names *n, hotspot_read_fn read, void *ctx,
			uint64_t const_method, char *to, size_t size);

/*
 * Reads the line number table of a ConstMethod, sorted by byte code index. Returns the number of lines, 0 when it has
 * none.
 */
int hotspot_lines_read(const struct braid_layout *l, const struct braid_names *n, hotspot_read_fn read, void *ctx,
		       uint64_t const_method, struct braid_line *to, uint32_t room);

struct hotspot_scope {
	uint64_t method; /* Method address */
	int32_t bci;	 /* -1: none */
};

/*
 * Reads what is inlined in the nmethod at `blob` at an offset into its code, innermost first. Returns the number of
 * scopes, 0 when the compiler recorded none. `exact` as in code_scopes_at(): the offset is no return address.
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

/* Finds the CodeBlob that covers `pc` in the code heap's segment map. -ENOENT when there is none. */
int hotspot_blob_find(const struct braid_layout *l, hotspot_read_fn read, void *ctx, uint64_t pc,
		      struct hotspot_blob *out);

#endif
