// SPDX-License-Identifier: Apache-2.0
/*
 * The format "JAVA PROFILE 1.0.1" and "1.0.2" (the JDK's heapDumper.cpp describes it): a reader that goes through a
 * dump item by item. An item is a record, or a part of a heap dump. Whatever a length or a count says, an item ends
 * within its record, and a record within the file.
 */
#ifndef BRAID_HPROF_ITEMS_H
#define BRAID_HPROF_ITEMS_H

#include "file.h"

enum hprof_kind {
	HPROF_END,
	HPROF_STRING,	  /* id, length of its text */
	HPROF_LOAD_CLASS, /* serial, id, name */
	HPROF_FRAME,	  /* id */
	HPROF_TRACE,	  /* serial, thread, count */
	HPROF_SITES,	  /* count */
	HPROF_ROOT,	  /* id, type, thread, and trace of a thread or the number of a frame */
	HPROF_CLASS,	  /* id */
	HPROF_INSTANCE,	  /* id, class, length of its fields; as of arrays: serial of the stack that allocated it */
	HPROF_OBJECTS,	  /* an array: id, class, count */
	HPROF_PRIMITIVES, /* an array: id, type, count */
};

enum hprof_root {
	HPROF_ROOT_UNKNOWN = 0xff,
	HPROF_ROOT_JNI_GLOBAL = 0x01,
	HPROF_ROOT_JNI_LOCAL = 0x02,
	HPROF_ROOT_JAVA_FRAME = 0x03,
	HPROF_ROOT_NATIVE_STACK = 0x04,
	HPROF_ROOT_STICKY_CLASS = 0x05,
	HPROF_ROOT_THREAD_BLOCK = 0x06,
	HPROF_ROOT_MONITOR = 0x07,
	HPROF_ROOT_THREAD = 0x08,
};

#define HPROF_SITE_BYTES 25U /* of one entry of HPROF_SITES */
#define HPROF_REFERENCE 2    /* the type of fields that refer to objects; 4 to 11 are the primitive types */
#define HPROF_NO_FRAME UINT32_MAX

struct hprof_item {
	enum hprof_kind kind;
	uint64_t at; /* of its first byte, which hprof_items_at() takes for a part of a heap dump */
	uint64_t id;
	uint64_t class; /* id */
	uint64_t name;	/* id of a string */
	uint32_t serial, thread, number;
	uint32_t count;
	uint8_t type;
	uint64_t body; /* where what is not in this structure begins */
	uint64_t length;
};

struct hprof_items {
	struct hprof_file *file;
	unsigned id_bytes;
	uint64_t time_ms;  /* since 1970 */
	char version[8];   /* "1.0.2" */
	uint64_t next;	   /* where the next item is */
	uint64_t dump_end; /* the end of the heap dump that it is in; 0: it is a record */
	bool segmented, ended;
	const char *why; /* what is wrong at error_at */
	uint64_t error_at;
};

/* Reads the head. 0 or -EBADMSG with `why`. */
int hprof_items_open(struct hprof_items *r, struct hprof_file *file);

/* 1: *item is the next one; 0: the end of the file; -EBADMSG with `why`. Its body may be read before the next call. */
int hprof_items_next(struct hprof_items *r, struct hprof_item *item);

/* Begins again. */
void hprof_items_rewind(struct hprof_items *r);

/* Reads the part of a heap dump that is at that place. 1, or -EBADMSG. */
int hprof_items_at(struct hprof_items *r, uint64_t at, struct hprof_item *item);

/* -EBADMSG, with the reason. */
int hprof_items_bad(struct hprof_items *r, uint64_t at, const char *why);

/* Bytes of a value of that type; 0: there is no such type. */
unsigned hprof_type_bytes(unsigned type, unsigned id_bytes);

/* "int[]"; `type` is one of the primitive types. */
const char *hprof_array_name(unsigned type);

#endif
