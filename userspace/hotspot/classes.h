// SPDX-License-Identifier: Apache-2.0
/*
 * The boot loader's classes of a JVM and the offsets of their fields, read from outside: the VM keeps a list of the
 * classes, and of each what the class file parser found. Nothing is believed: lists are bounded, pointers may lead
 * anywhere. heap.c and thread_sets.c use it.
 */
#ifndef BRAID_HOTSPOT_CLASSES_H
#define BRAID_HOTSPOT_CLASSES_H

#include <braid/layout.h>
#include <braid/vm_tables.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where the VM keeps classes; 0: the VM has no such field. */
struct classes {
	pid_t pid;
	const struct braid_layout *layout;
	uint64_t object_klass; /* of java.lang.Object */
	uint64_t symbols;      /* the VM's own, by number */
	/*
	 * Of the boot loader's list; without it `loader` and `loader_klasses` are 0, and `next` is of those with one
	 * superclass.
	 */
	uint16_t next, loader, loader_klasses;
	uint16_t subclass;
	uint16_t constants, field_stream, fields, field_count;
};

/* A class to look for. Its klass is 0 if it is not loaded. */
struct class_wanted {
	const char *name; /* "java/lang/Thread" */
	uint64_t klass;
};

/* A field to look for. `to` gets the offset in the object, or in the class's mirror; it is left as it is otherwise. */
struct field_wanted {
	size_t class; /* index of its class */
	const char *name;
	const char *signature;
	uint16_t *to;
};

/* Reads where the process keeps classes. 0, -ENOENT if the VM does not say so, or as vm_process_read(). */
int classes_open(struct classes *c, pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS],
		 const struct braid_layout *l);

/*
 * Finds those of the classes that are loaded, and the fields of those. Before 9 the VM's tables do not lead to its
 * list: only classes of java.* that extend Object itself are found.
 */
void classes_find(const struct classes *c, struct class_wanted *classes, size_t class_count,
		  const struct field_wanted *fields, size_t field_count);

#endif
