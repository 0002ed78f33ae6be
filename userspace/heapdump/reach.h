// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the objects that can be reached from the roots, and goes through them in the order of their addresses. Marking
 * takes its next objects by the thousand and reads them with one system call. Its list of objects has a limit; what
 * finds no room there is found again when all marked objects are gone through once more.
 */
#ifndef BRAID_HEAPDUMP_REACH_H
#define BRAID_HEAPDUMP_REACH_H

#include "klasses.h"
#include "marks.h"

#define REACH_WINDOW (1U << 20)

struct reach_slice {
	uint64_t address; /* of references that are to be marked */
	uint64_t count;
};

/* An object, with as many of its first bytes as are wanted and there are. */
struct reach_object {
	uint64_t address;
	struct class *class;
	uint64_t length; /* of an array */
	uint64_t bytes;	 /* of all of it, as far as it is described by its class: it ends in the heap */
	const uint8_t *at;
};

struct reach {
	const struct vm *vm;
	struct klasses *classes;
	struct marks marks;
	VEC(uint64_t) objects; /* marked, and not gone through */
	size_t room;	       /* the most objects there */
	VEC(struct reach_slice) slices;
	struct pair_map
		dormant;    /* classes in the VM's archive that are not loaded: references to them are not followed */
	struct marks moved; /* where objects were that are elsewhere, see vm_where() */
	bool overflow;	    /* an object was marked that had no room there */
	uint64_t most;	    /* bytes of all objects: more cannot be, unless they overlap */
	uint64_t left;	    /* of these, while all objects are gone through */
	bool exhausted;	    /* there were more */
	uint64_t bad;	    /* references that lead to no object */
	/* If every object is to count with one root, see by_root.h: */
	bool by_root;
	struct marks later;   /* roots whose turn has not come: nothing else marks them */
	struct marks counted; /* objects that were counted */
	VEC(uint32_t) turns;  /* live classes, in the order in which they were found */
	void (*count)(void *ctx, const struct reach_object *o); /* called with each object once */
	void *ctx;
	struct reach_batch *batch;
	uint8_t *window;
	uint64_t window_at;
	size_t window_bytes;
};

/* `bytes`: what the process has in memory. -EFBIG from below: its objects take much more than that. */
int reach_open(struct reach *g, const struct vm *vm, struct klasses *classes, uint64_t bytes);
void reach_free(struct reach *g);

/* Where the object is to which a reference leads, after all are marked. */
static inline uint64_t reach_where(const struct reach *g, uint64_t object)
{
	return g->moved.used && marks_has(&g->moved, object) ? vm_where(g->vm, object) : object;
}

/* Makes every object count with one root. -ENOMEM. */
int reach_by_root(struct reach *g, uint64_t bytes);

/* The index of the class that the object at this address is; negative: it is none, or a primitive type. */
int64_t reach_class_that_is(struct reach *g, uint64_t object);

/* Marks the object at that address; 0 is none. */
void reach_mark(struct reach *g, uint64_t object);
/* The same of a root. With by_root, its turn comes later. */
void reach_mark_root(struct reach *g, uint64_t object);
/* The turn of a root: marks it. */
void reach_turn(struct reach *g, uint64_t object);
/* The same with what a class keeps: all classes of its loader. */
void reach_mark_loader(struct reach *g, uint32_t loader);

/* Takes bytes of what may be gone through. False: there are more than there can be, and everything ends with -EFBIG. */
bool reach_charge(struct reach *g, uint64_t bytes);

/* Marks all that can be reached from what is marked. 0 or a negative errno. */
int reach_close_over(struct reach *g);

/* Calls back with every marked object, until `fn` returns not 0, which is then returned. */
int reach_each(struct reach *g, int (*fn)(void *ctx, const struct reach_object *o), void *ctx);

/* Bytes of the heap: a pointer that is valid until the next call; NULL: not readable. `size` is at most a window. */
const uint8_t *reach_bytes(struct reach *g, uint64_t address, size_t size);

#endif
