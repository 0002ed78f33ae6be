// SPDX-License-Identifier: Apache-2.0
/* The readers of objects that the kernel side has, over process_vm_readv. No file outside of hotspot/ includes this. */
#ifndef BRAID_HOTSPOT_OBJECTS_H
#define BRAID_HOTSPOT_OBJECTS_H

#include "hotspot_memory.h"

#include "util/utf8.h"

#include <braid/walk/objects.h>

/* They take their reader as a walk: a pointer to a pid. */
static long walk_read(struct braid_walk *w, void *to, __u32 size, __u64 address)
{
	struct memory m = {.read = hotspot_read_process, .ctx = w};

	return memory_read(&m, address, to, size);
}

static inline struct braid_walk *objects_reader(const pid_t *pid)
{
	return (struct braid_walk *)(uintptr_t)pid;
}

/* Reads the name of a Klass, "java.lang.Thread", cut at CLASS_NAME_MAX. False: it is no Klass. */
#define CLASS_NAME_MAX 256
static inline bool klass_name(struct braid_walk *w, const struct braid_layout *l, __u64 klass, char *to, size_t size)
{
	char name[CLASS_NAME_MAX];
	uint64_t symbol;
	uint16_t length;

	if (!klass || walk_read(w, &symbol, sizeof(symbol), klass + l->klass_name) || !symbol ||
	    walk_read(w, &length, sizeof(length), symbol + l->symbol_length) || !length)
		return false;
	length = length < sizeof(name) ? length : sizeof(name) - 1;
	if (walk_read(w, name, length, symbol + l->symbol_body))
		return false;
	class_name_from_signature(to, size, name, length);
	return true;
}

#endif
