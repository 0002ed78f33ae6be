// SPDX-License-Identifier: Apache-2.0
/*
 * The monitors that threads own, with the frames that have locked them, as a JVM says in the text of a thread dump of
 * its own. cli/process/threads.c asks for it.
 */
#ifndef BRAID_DUMP_OWNED_H
#define BRAID_DUMP_OWNED_H

#include <stdint.h>

#include <analyze/hash.h>

/* Strings are in `names`. */
struct owned_lock {
	uint32_t ns_tid;     /* of the OS thread, in the JVM's pid namespace */
	uint64_t vthread;    /* number of the virtual thread that it carries and whose frame it is; 0: none */
	uint32_t depth;	     /* of the frame among the thread's Java frames; 0: the innermost */
	uint32_t method;     /* "demo.Main.work" */
	uint32_t class_name; /* of the object, or "java.lang.Class for demo.Main" */
	uint64_t object;     /* its address then; 0: not said */
	size_t order;	     /* of the text */
};

struct owned {
	VEC(struct owned_lock) locks; /* by ns_tid, vthread and depth, the last one locked first */
	struct strpool names;
	uint64_t threads;	     /* that the text has */
	uint64_t asked_ns, spent_ns; /* the caller's: when it asked the JVM, and for how long the answer took */
};

/* The text is untrusted. 0 or -ENOMEM. */
int owned_parse(struct owned *to, const char *text, size_t size);
void owned_free(struct owned *o);

/* The locks of one thread, which a virtual one is by its number: their count, and the first in *first. */
size_t owned_of(const struct owned *o, uint32_t ns_tid, uint64_t vthread, const struct owned_lock **first);

#endif
