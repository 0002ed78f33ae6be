// SPDX-License-Identifier: Apache-2.0
/*
 * Whose memory the resident set of a process is: every mapping, or part of one, with its owner, as far as it can be
 * found from outside, by /proc/PID/smaps, the JVM's own tables, and what allocators write in front of their memory. The
 * parts add up to what the kernel says. Nothing is loaded into the process, and nothing is stopped. What is read of its
 * memory is not trusted.
 */
#ifndef BRAID_RESIDENT_RESIDENT_H
#define BRAID_RESIDENT_RESIDENT_H

#include "util/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum resident_owner {
	RESIDENT_UNKNOWN,
	RESIDENT_TRACKED, /* the JVM's own tracking says whose it is, see `name` */
	RESIDENT_HEAP,
	RESIDENT_CODE_CACHE,
	RESIDENT_STACK,
	RESIDENT_MALLOC,
	RESIDENT_LIBRARY,
	RESIDENT_ARCHIVE,
	RESIDENT_FILE,
	RESIDENT_SHARED,
	RESIDENT_OWNERS,
};

const char *resident_owner_name(enum resident_owner owner);

#define RESIDENT_NAME 64

struct resident_part {
	uint64_t start, end;
	uint64_t resident; /* bytes */
	uint64_t swapped;
	uint8_t owner;		  /* enum resident_owner */
	uint32_t tid;		  /* of a thread's stack */
	char name[RESIDENT_NAME]; /* of the file, cut; or what the JVM's tracking calls it: printable */
};

struct resident_range {
	uint64_t start, end;
	uint8_t owner;
	uint32_t tid;
	char name[RESIDENT_NAME];
};

struct resident {
	pid_t pid;
	VEC(struct resident_part) parts;
	VEC(struct resident_range) ranges; /* that are known before; those added first count more */
	uint64_t total, swapped;
	uint32_t mappings;
	char exe[512];	/* the program's file, as mappings name it */
	uint32_t turns; /* how often all threads that run may still be looked at again */
};

/*
 * Adds the ranges of `jcmd PID VM.native_memory detail`, an answer in `from`. -EINVAL: it has none, -ENOMEM, -EFBIG.
 */
int resident_add_tracking(struct resident *r, FILE *from);
/* Reads all. 0, or a negative errno: -ESRCH, -EACCES, -ENOMEM, -EFBIG. */
int resident_read(struct resident *r, pid_t pid);
void resident_free(struct resident *r);

#endif
