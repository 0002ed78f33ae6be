// SPDX-License-Identifier: Apache-2.0
/*
 * What a dump has: its strings, classes, threads, stacks, roots and objects. An object's number is its place among all
 * ids, which are sorted. Nothing here is larger than the file by more than a constant factor.
 */
#ifndef BRAID_HPROF_DUMP_H
#define BRAID_HPROF_DUMP_H

#include "items.h"
#include <util/scratch.h>
#include "util/vec.h"

#define HPROF_NONE UINT32_MAX

struct hprof_string {
	uint64_t id, at;
	uint32_t length;
};

struct hprof_field {
	uint64_t name;
	uint32_t offset; /* in what a class adds to an instance's bytes */
	uint8_t type;
};

enum {				  /* flags of classes */
       HPROF_CLASS_REFERENCE = 1, /* java.lang.ref.Reference, whose field `referent` does not hold what it refers to */
       HPROF_CLASS_LOADED = 2,	  /* its name is known */
};

struct hprof_class {
	uint64_t id; /* 0: an array of primitives whose class the dump does not have */
	uint64_t super_id, loader, name;
	uint64_t at;	      /* of its part of the dump */
	uint32_t super;	      /* index, or HPROF_NONE */
	uint32_t with_fields; /* the nearest class above it that has fields; or HPROF_NONE */
	uint32_t serial;      /* of the record that names it */
	uint32_t field;	      /* its fields: [field, field + fields) */
	uint32_t fields;
	uint32_t own_bytes; /* that it adds to an instance's bytes */
	uint32_t statics;   /* bytes of its static fields that are no references */
	uint32_t static_refs;
	uint8_t primitive;			     /* of its elements, if it is an array of primitives */
	uint8_t injected_words, injected_references; /* fields that the dump does not have */
	uint8_t flags;
	bool is_array; /* of either kind */
	uint64_t objects, bytes, retained;
};

struct hprof_thread {
	uint32_t serial, trace;
	uint64_t id;
};

struct hprof_trace {
	uint32_t serial, count;
	uint64_t at;	  /* of its frames' ids */
	uint64_t objects; /* that it has allocated and that are in the dump */
	uint64_t live;	  /* bytes, of its sites; 0: the dump has none */
};

struct hprof_site_of {
	uint32_t trace; /* serial */
	uint32_t live;	/* bytes */
};

struct hprof_frame {
	uint64_t id, at;
};

struct hprof_load {
	uint64_t id, name;
	uint32_t serial;
};

struct hprof_root_of {
	uint64_t id;
	uint32_t object; /* its number */
	uint32_t thread; /* the number of the thread's object, through which it holds; HPROF_NONE: it holds by itself */
	uint32_t serial, frame;
	uint8_t type;
};

struct hprof_object {
	uint64_t id, at;
};

struct hprof_dump {
	struct hprof_file file;
	struct hprof_items items;
	struct scratch_room room;	  /* for temporary files */
	char why[1024];			  /* why it cannot be read */
	VEC(struct hprof_string) strings; /* by id, as all of these */
	VEC(struct hprof_class) classes;  /* arrays of primitives that the dump has not follow */
	uint32_t *supers_first;		  /* all classes, each after those above it */
	VEC(struct hprof_field) fields;
	VEC(struct hprof_thread) threads; /* by serial */
	VEC(struct hprof_trace) traces;	  /* by serial */
	VEC(struct hprof_frame) frames;
	VEC(struct hprof_load) loads; /* by serial */
	VEC(struct hprof_root_of) roots;
	VEC(struct hprof_site_of) sites;
	struct scratch objects; /* struct hprof_object */
	struct scratch buckets; /* the first object of each, see hprof_find() */
	unsigned bucket_shift;
	uint32_t count;		/* of objects */
	uint64_t duplicates;	/* ids that two objects have */
	uint32_t class_class;	/* java.lang.Class; or HPROF_NONE */
	uint32_t unknown_class; /* of objects whose class the dump does not have */
	uint32_t array_of[12];	/* the class of arrays, by type of primitive */
	bool has_records;	/* the class java.lang.Record */
	uint32_t referent;	/* the field of java.lang.ref.Reference that does not hold; or HPROF_NONE */
};

/* 0 or a negative errno, with the reason in d->why. hprof_dump_close() is needed in either case. */
int hprof_dump_open(struct hprof_dump *d, const char *path, uint64_t memory);
void hprof_dump_close(struct hprof_dump *d);

/* Says in d->why what has failed, unless it says so already. Returns err. */
int hprof_dump_fail(struct hprof_dump *d, int err);

static inline const struct hprof_object *hprof_objects(const struct hprof_dump *d)
{
	return d->objects.at;
}

/* The number of an object; HPROF_NONE: there is none. */
uint32_t hprof_find(const struct hprof_dump *d, uint64_t id);

/* The stack with that number; NULL: it is not in the dump. */
struct hprof_trace *hprof_trace_find(const struct hprof_dump *d, uint32_t serial);

/* The index of a class; HPROF_NONE: it is not in the dump. */
uint32_t hprof_find_class(const struct hprof_dump *d, uint64_t id);

#define HPROF_NAME 256

/* A string of the dump in printable UTF-8; "?" if it is not in the dump. Returns `buf`. */
const char *hprof_string_text(const struct hprof_dump *d, uint64_t id, char buf[HPROF_NAME]);

/* "java.lang.String", "int[]". Returns `buf`. */
const char *hprof_class_text(const struct hprof_dump *d, uint32_t class, char buf[HPROF_NAME]);

/* Whether the string is exactly this text. */
bool hprof_string_is(const struct hprof_dump *d, uint64_t id, const char *text);

#endif
