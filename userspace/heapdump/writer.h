// SPDX-License-Identifier: Apache-2.0
/* What the parts that write a dump share. heapdump.c owns it; no other room includes this. */
#ifndef BRAID_HEAPDUMP_WRITER_H
#define BRAID_HEAPDUMP_WRITER_H

#include "allocated.h"
#include "reach.h"
#include "heapdump.h"
#include "records.h"

struct writer_thread {
	uint64_t object;
	uint64_t id;		/* Java's */
	uint32_t first, frames; /* of its stack, the innermost first */
};

struct writer_site {
	uint32_t stack, class; /* indices */
	uint64_t objects;      /* sampled ones */
	uint64_t bytes;	       /* of allocations that they represent */
};

#define WRITER_BCI_UNKNOWN (-1)
#define WRITER_BCI_NATIVE (-2)

struct writer_frame {
	uint64_t constants, pool; /* the method's ConstMethod and ConstantPool */
	uint32_t class;
	int32_t bci; /* or WRITER_BCI_* */
};

struct writer {
	struct heapdump *d;
	struct copy copy;
	struct braid_heap_roots head;
	struct vm vm;
	struct klasses classes;
	struct reach reach;
	uint64_t alignment; /* of all objects, see marks_alignment() */
	struct records out;
	struct pair_map names;		   /* symbols that are written */
	uint64_t name_bytes;		   /* of them */
	VEC(struct writer_thread) threads; /* the serial number is the index + 1 */
	struct pair_map thread_of;	   /* Java's id to the same */
	VEC(struct writer_frame) frames;
	uint32_t steps;		  /* of all walks, with the frames that they found */
	struct pair_map frame_of; /* id of a frame that is written */
	VEC(uint64_t) frozen;	  /* objects that the frames in a chunk refer to, see chunks.h */
	uint64_t object_array;	  /* the class Object[] */
	const struct heapdump_allocated *allocated;
	struct pair_map stack_of;	   /* a watched object's address to the stack that allocated it, index + 1 */
	VEC(struct writer_site) sites;	   /* of what is in the dump */
	struct pair_map site_of;	   /* stack and class to index + 1 */
	uint64_t site_bytes;		   /* of all of them */
	uint64_t texts, allocation_frames; /* written for these stacks */
};

/* Serial number of the stack trace of objects, which has no frames. Those of threads follow. */
#define WRITER_NO_TRACE 1U

/* The id of a name that no symbol of the VM has. */
#define WRITER_RESOLVED_REFERENCES 1U
/* The first id, and every second after it, of other names that no symbol has. Symbols' addresses are even. */
#define WRITER_TEXTS 5U

static inline uint32_t writer_trace(uint32_t thread)
{
	return WRITER_NO_TRACE + 1 + thread;
}

/* ---- roots.c ---- */

/* Calls back with every root, until `fn` returns not 0. */
int roots_each(struct writer *w, int (*fn)(struct writer *w, const struct braid_heap_root *r, void *ctx), void *ctx);

/* Checks the roots against the classes of their objects, and marks them. */
int roots_mark(struct writer *w);
int roots_write(struct writer *w);
/* The index of the class of the object there, whose size the JVM has reported; -1: there is no such object. */
int64_t roots_class_at(struct writer *w, uint64_t object, uint64_t reported);

/* ---- stacks.c ---- */

/* Takes all threads, with those that JVM TI does not show, and their stacks; marks what they keep. */
int stacks_read(struct writer *w, const uint64_t at[VM_SYMBOLS]);
int stacks_write(struct writer *w);
void stacks_trace_write(struct writer *w, uint32_t serial, uint32_t thread, const uint64_t *frames, uint32_t count);

/* ---- allocations.c ---- */

/* Finds the watched objects that are in the dump. After what is reachable is known, and before: */
int allocations_read(struct writer *w);
/* The serial number of the stack that allocated an object; WRITER_NO_TRACE: not known. */
uint32_t allocations_trace(const struct writer *w, uint64_t object);
/* The stacks and sites, after the stacks of threads. */
int allocations_write(struct writer *w);

/* ---- histogram.c ---- */

struct histogram;

/* What the VM has allocated for an object: a class has its static fields as well, and a chunk its frames. */
uint64_t histogram_bytes(const struct writer *w, const struct reach_object *o);
/* Counts what is reachable. */
int histogram_count(struct writer *w, struct histogram *h);
/* A Symbol's text, to be freed; NULL: no memory. */
char *histogram_symbol(const struct vm *vm, uint64_t symbol);
/* A String's characters; NULL: they cannot be read, or there is none. */
char *histogram_string(struct klasses *c, uint64_t string);

/* ---- by_root.c ---- */

struct by_root;

/* Counts by root what the marked roots lead to, see reach_by_root(). */
int by_root_count(struct writer *w, struct by_root *r);

/* ---- content.c ---- */

void content_text(struct writer *w, uint64_t id, const char *text, size_t length);
/* Writes a name once. */
void content_name(struct writer *w, uint64_t symbol);
/* Names and numbers of all classes that are dumped. */
int content_classes(struct writer *w);
/* Classes with their static fields, and all objects. */
int content_heap(struct writer *w);

#endif
