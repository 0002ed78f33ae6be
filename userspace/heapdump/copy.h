// SPDX-License-Identifier: Apache-2.0
/*
 * The copy of a JVM: finding it, and reading its memory from outside. The copy does not change, but it can end at any
 * moment, and it belongs to a process that braid does not trust: every read may fail.
 */
#ifndef BRAID_HEAPDUMP_COPY_H
#define BRAID_HEAPDUMP_COPY_H

#include <braid/heap_roots.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define COPY_PAGE 4096U
#define COPY_PIECES 1024U /* IOV_MAX */

struct copy {
	pid_t pid;
	int fd;			 /* pidfd */
	const atomic_bool *stop; /* set from another thread: everything is to end */
	struct copy_page *pages;
};

/* -ESRCH: there is no such process. */
int copy_open(struct copy *m, pid_t pid, const atomic_bool *stop);
void copy_close(struct copy *m);
/* Ends the process, whose memory is not needed any more, and waits for that. Its parent will find it ended. */
void copy_end(const struct copy *m);

/* 0 while the process lives and nobody wants to stop; else -ESRCH or -EINTR. What was read before is then doubtful. */
int copy_check(const struct copy *m);
/* The same after something has failed. The memory of a process goes a moment before it has ended. */
int copy_check_failed(const struct copy *m);

/* Reads all of it, or returns a negative errno. */
int copy_read(const struct copy *m, uint64_t address, void *to, size_t size);
/* Reads what is readable from the address on, and returns how much that is. */
size_t copy_read_some(const struct copy *m, uint64_t address, void *to, size_t size);

/* Small reads of the VM's structures, through a cache. False: not readable. */
bool copy_peek(const struct copy *m, uint64_t address, void *to, size_t size);
/* The same; 0 if it is not readable. */
uint64_t copy_word(const struct copy *m, uint64_t address);
uint32_t copy_int(const struct copy *m, uint64_t address);
uint16_t copy_short(const struct copy *m, uint64_t address);

struct copy_piece {
	uint64_t address;
	uint32_t size;
	uint8_t *to; /* NULL afterwards: not readable */
};

/* Reads many pieces at once, COPY_PIECES at most. */
void copy_gather(const struct copy *m, struct copy_piece *pieces, size_t count);

/* ---- copy.c ---- */

/* The child of `jvm` that has the number `ns_pid` in its pid namespace; 0: there is none. */
pid_t copy_find(pid_t jvm, pid_t ns_pid);

/* The bytes that a process has in memory and in swap space; 0: not known. */
uint64_t copy_bytes(pid_t pid);

/*
 * Waits until the table at that address is complete, and reads its head. -ETIMEDOUT: the walk over the roots does not
 * end; -E2BIG: there are too many roots; -EPROTO: there is no such table.
 */
int copy_wait(const struct copy *m, uint64_t roots, struct braid_heap_roots *head);

#endif
