// SPDX-License-Identifier: Apache-2.0
/*
 * The process whose stacks are walked from outside: its memory, its mappings with their unwind tables, and names.
 * capture.c and step.c use it.
 */
#ifndef BRAID_CAPTURE_TARGET_H
#define BRAID_CAPTURE_TARGET_H

#include "tests/snapshots/snapshot.h"

#include <sys/types.h>

#define TARGET_PAGE 4096U
#define TARGET_PAGES 1024U

struct target_module;

struct target_mapping {
	struct braid_mapping m;
	struct target_module *module;
};

struct target_page {
	uint64_t address;
	uint64_t moment;
	bool readable;
	uint8_t bytes[TARGET_PAGE];
};

struct target {
	pid_t pid;
	bool has_layout;
	struct braid_layout layout;
	char version[64];

	struct target_mapping *mappings; /* executable ones, sorted */
	size_t mapping_count, mapping_room;
	struct target_module **modules;
	size_t module_count, module_room;

	uint64_t moment; /* pages read at an earlier one are stale */
	uint64_t mappings_moment;
	struct target_page *pages;
	struct snapshot *recording; /* what the walk reads is recorded here, or NULL */
};

/* 0 or a negative errno, with a message on standard error. */
int target_open(struct target *t, pid_t pid);
void target_close(struct target *t);

/* Reads the layout that layout_agent wrote. */
int target_read_layout(struct target *t, const char *path);

/* The thread has run since: discards what was read before. */
void target_moment(struct target *t);

int target_read(struct target *t, uint64_t address, void *to, size_t size);

/* Reads everything from the target; ctx is the struct target. */
extern const struct host_walk_ops target_ops;

struct target_blob {
	bool found;
	uint64_t address;
	uint64_t code;
	uint32_t size;
	uint32_t tier;
	char name[64];
};

void target_blob_find(struct target *t, uint64_t pc, struct target_blob *b);

/* "C2 java.lang.String.length", "native memcpy (libc.so.6)", ... */
void target_frame_name(struct target *t, uint64_t frame, char *to, size_t size);

#endif
