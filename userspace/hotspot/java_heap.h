// SPDX-License-Identifier: Apache-2.0
/*
 * The heap of a JVM from outside: how references and classes are encoded, where the fields are that a thread dump
 * reads, and whether a collector has moved objects meanwhile. All of it comes from the VM's tables and its list of
 * classes, so it needs no agent. Nothing is stopped: what is read between two equal moments is true. jvm/, record/ and
 * thread_sets.c use it.
 */
#ifndef BRAID_HOTSPOT_JAVA_HEAP_H
#define BRAID_HOTSPOT_JAVA_HEAP_H

#include "classes.h"

struct java_heap {
	pid_t pid;
	struct java_runs *runs; /* the memory of java_heap_read() */
	/* The JVM's, in which objects and vthreads have been filled in from outside, without code addresses. */
	struct braid_layout layout;
	struct classes classes;
	uint64_t collections_at, active_at; /* addresses: int, bool */
	uint64_t thread_list;		    /* static field: ThreadsList *, before 11 JavaThread * */
	uint16_t thread_next;		    /* JavaThread: before 11 */
	uint16_t list_length, list_threads; /* ThreadsList */
	uint16_t vm_thread_name;	    /* NamedThread: char *; 0: not known */
	uint16_t mirror;		    /* Klass: OopHandle, before 9 oop */
	uint16_t layout_helper;		    /* Klass */
	uint16_t string_chars;		    /* String: char[], before 9 */
	bool mirror_is_handle;
};

/* Two equal ones say that no collection has moved objects in between. */
struct java_moment {
	uint64_t collections;
	uint64_t bad; /* ZGC: see braid_objects.oop_bad */
};

static inline bool java_moment_same(const struct java_moment *a, const struct java_moment *b)
{
	return a->collections == b->collections && a->bad == b->bad;
}

/*
 * -ENOENT: the VM does not describe its heap, or in a form that is not known. Or -ENOMEM, or as vm_process_read(). It
 * is to be closed in any case, and must stay where it is.
 */
int java_heap_open(struct java_heap *h, pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS],
		   const struct braid_layout *l);

void java_heap_close(struct java_heap *h);

/* Opens one that was open, for the same process, with all that was found of its heap then. 0 or -ENOMEM. */
int java_heap_again(struct java_heap *h);

/* False: a collection moves objects right now, or nothing can be read. */
bool java_heap_now(const struct java_heap *h, struct java_moment *to);

/* The object of a reference that was copied out of the heap; 0: null, or one that may be stale, see object_at(). */
uint64_t java_heap_decode(const struct java_heap *h, const struct java_moment *m, const void *reference);
/* The same of one outside the heap, which has the width of an address. */
uint64_t java_heap_decode_root(const struct java_heap *h, const struct java_moment *m, uint64_t reference);
/* The same of a word in that chunk's stack, which is a reference as in the heap or an address. */
uint64_t java_heap_decode_frozen(const struct java_heap *h, const struct java_moment *m, uint64_t chunk, uint64_t word);
uint32_t java_heap_reference_bytes(const struct java_heap *h);

/* The object that a field of an object refers to. `at` 0: none. */
uint64_t java_heap_field(const struct java_heap *h, uint64_t object, uint16_t at);
/* The object that a static field refers to. */
uint64_t java_heap_static(const struct java_heap *h, uint64_t klass, uint16_t at);
uint64_t java_heap_klass(const struct java_heap *h, uint64_t object);
/* The same of an object whose first 16 bytes were copied. */
uint64_t java_heap_klass_of(const struct java_heap *h, const uint8_t header[16]);
/* The bytes of an object of the class, without an array's elements or a chunk's stack; 0: it is not readable. */
uint16_t java_heap_instance_bytes(const struct java_heap *h, uint64_t klass);
/* The int of a static field; false: it cannot be read. */
bool java_heap_static_int(const struct java_heap *h, uint64_t klass, uint16_t at, int32_t *to);
/* Whether the objects of a class are locks that a thread owns: AbstractOwnableSynchronizer, or a subclass. */
bool java_heap_is_ownable(const struct java_heap *h, uint64_t klass);
/* Reads the class name of a Klass in the form "java.lang.Thread". */
bool java_heap_class_name(const struct java_heap *h, uint64_t klass, char *to, size_t size);
/* The length of an array, and where its elements begin. */
bool java_heap_array(const struct java_heap *h, uint64_t array, uint32_t *length, uint64_t *elements);

/* Many reads at once. Those that fail, and those of no bytes, have ok false. */
struct java_read {
	uint64_t address;
	void *to;
	uint32_t size;
	bool ok;
};
void java_heap_read(const struct java_heap *h, struct java_read *reads, size_t count);

#endif
