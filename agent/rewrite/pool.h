// SPDX-License-Identifier: Apache-2.0
/* The constant pool of a class that is rewritten: entries keep their indices, new ones are appended. */
#ifndef BRAID_AGENT_POOL_H
#define BRAID_AGENT_POOL_H

#include "bytes.h"

struct text {
	const char *at;
	size_t size;
};

#define TEXT_OF(s)                                                                                                     \
	{                                                                                                              \
		.at = (s), .size = sizeof(s) - 1                                                                       \
	}
#define TEXT(s) ((struct text)TEXT_OF(s))

static inline bool text_equal(struct text a, struct text b)
{
	return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

struct pool_class {
	struct text name;
	uint32_t index; /* 0: a free place */
};

struct pool {
	struct reader entries; /* as they are in the class file */
	uint32_t *at;	       /* offsets into them, by index; 0: no such entry */
	uint32_t count;	       /* one more than the last index, with the appended entries */
	uint32_t own;	       /* the same without them */
	struct writer added;
	struct pool_class *classes; /* Class entries by name: a hash table that is made when it is needed */
	uint32_t class_room, class_count;
};

/*
 * Reads the pool at which `r` stands. False: it is malformed, or out of memory. The pool keeps pointers into the
 * file.
 */
bool pool_read(struct pool *p, struct reader *r);
/* The same without the count in front of the entries: one more than the last index. */
bool pool_read_entries(struct pool *p, struct reader *r, uint32_t count);
void pool_free(struct pool *p);

/* A Utf8 entry of the file; empty for all others. */
struct text pool_text(const struct pool *p, uint32_t index);
/* The name of a Class entry of the file; empty for all others. */
struct text pool_class_name(const struct pool *p, uint32_t index);

struct rewrite_field;
/* A Field entry of the file. False: it is another one, or malformed. */
bool pool_field(const struct pool *p, uint32_t index, struct rewrite_field *f);

/* Append an entry and return its index; 0: the pool is full. */
uint32_t pool_add_text(struct pool *p, struct text text);
uint32_t pool_add_int(struct pool *p, uint32_t value);
uint32_t pool_add_method(struct pool *p, uint32_t class, struct text name, struct text descriptor);
uint32_t pool_add_field(struct pool *p, uint32_t class, struct text name, struct text type);
/* The same, or an entry that there is. The name must live as long as the pool. */
uint32_t pool_class(struct pool *p, struct text name);

#endif
