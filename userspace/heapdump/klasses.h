// SPDX-License-Identifier: Apache-2.0
/*
 * The classes of a copied JVM: what their objects look like, and which classes and loaders keep each other alive. All
 * of it comes from the VM's memory and is checked here, so that those who go through objects need not doubt it.
 */
#ifndef BRAID_HEAPDUMP_KLASSES_H
#define BRAID_HEAPDUMP_KLASSES_H

#include "vm.h"

#include "util/pair_map.h"
#include "util/vec.h"

#define CLASSES_MAX (1U << 20)
#define NAME_MAX_BYTES 65535U
#define CLASS_VALUES_MAX (512U << 10) /* bytes of an instance's values: 65,535 fields of eight bytes */

/* HPROF's types of values. */
enum value_type {
	VALUE_OBJECT = 2,
	VALUE_BOOLEAN = 4,
	VALUE_CHAR = 5,
	VALUE_FLOAT = 6,
	VALUE_DOUBLE = 7,
	VALUE_BYTE = 8,
	VALUE_SHORT = 9,
	VALUE_INT = 10,
	VALUE_LONG = 11,
};

/* Bytes of a value in a dump, whose references have eight. */
static inline uint32_t value_bytes(enum value_type type)
{
	static const uint8_t bytes[] = {
		[VALUE_OBJECT] = 8, [VALUE_BOOLEAN] = 1, [VALUE_CHAR] = 2, [VALUE_FLOAT] = 4, [VALUE_DOUBLE] = 8,
		[VALUE_BYTE] = 1,   [VALUE_SHORT] = 2,	 [VALUE_INT] = 4,  [VALUE_LONG] = 8};

	return bytes[type];
}

/* The field that a chunk has in the dump only: the id of its name, which no symbol has, and instead of an offset: */
#define CHUNK_FRAMES_NAME 3U
#define CHUNK_FRAMES_AT UINT32_MAX

struct class_field {
	uint64_t name;	 /* a Symbol */
	uint32_t offset; /* in the object; of a static field, in the class's own object */
	uint8_t type;	 /* enum value_type */
	bool is_static;
	uint16_t reserved;
};

/* References that follow each other in an object. */
struct class_oops {
	uint32_t offset, count;
};

enum class_kind { CLASS_INSTANCE, CLASS_OBJECTS, CLASS_VALUES }; /* instances, arrays of references, of values */

/* class.flags */
#define CLASS_IS_CLASS 0x1U  /* java.lang.Class: its objects are classes */
#define CLASS_IS_LOADER 0x2U /* a class loader, which keeps its classes */
#define CLASS_IS_WEAK 0x4U   /* a weak or phantom reference */
#define CLASS_IS_CHUNK 0x8U  /* frames of a virtual thread */
#define CLASS_IS_LIVE 0x10U  /* its loader is reachable, so it is dumped */
#define CLASS_IS_REFERENCE 0x20U

struct class
{
	uint64_t klass, mirror, name; /* Klass, the class's own object, Symbol */
	uint64_t protection_domain, signers;
	uint32_t super;	 /* index + 1; 0: none */
	uint32_t loader; /* index of its loader's data */
	uint32_t next;	 /* of the same loader, index + 1 */
	uint8_t kind;	 /* enum class_kind */
	uint8_t flags;	 /* CLASS_* */
	uint8_t element; /* enum value_type of an array's elements */
	uint8_t element_log2;
	uint32_t size;			   /* bytes of an instance; of an array's header */
	uint32_t field_first, field_count; /* its own, in `fields` */
	uint32_t oops_first, oops_count;   /* of it and its superclasses, in `oops` */
	uint32_t value_bytes;		   /* of an instance's values in a dump */
};

/* What one loader has loaded (ClassLoaderData). */
struct class_loader {
	uint64_t data;	 /* address */
	uint64_t object; /* 0: the boot loader's */
	uint32_t first;	 /* class, index + 1 */
	bool live;
};

struct klasses {
	const struct vm *vm;
	VEC(struct class) at;
	VEC(struct class_field) fields;
	VEC(struct class_oops) oops;
	VEC(struct class_loader) loaders;
	struct pair_map of_klass;		     /* index + 1 */
	struct pair_map of_data;		     /* loader, the same */
	struct pair_map of_loader;		     /* loader's object: the same */
	uint64_t domain_at, signers_at;		     /* fields that the VM adds to java.lang.Class; 0: none */
	uint64_t referent, discovered;		     /* offsets in java.lang.ref.Reference */
	uint32_t loader_name;			     /* offset in java.lang.ClassLoader; 0: not known */
	uint32_t thread_name;			     /* in java.lang.Thread, the same */
	uint32_t string_value, string_coder;	     /* in java.lang.String; JDK 8 has no coder */
	uint32_t chunk_sp, chunk_words, chunk_flags; /* offsets in jdk.internal.vm.StackChunk; 0: not known */
	uint64_t bad;				     /* that were refused */
	uint64_t wasted;			     /* reads for classes that were refused then */
};

void klasses_open(struct klasses *c, const struct vm *vm);
void klasses_free(struct klasses *c);

/* The class of a Klass: its index. Negative: it is none, or there is no memory. */
int64_t klasses_find(struct klasses *c, uint64_t klass);

/* The class that an object of java.lang.Class represents; CLASSES_PRIMITIVE or CLASSES_NONE. */
#define CLASSES_PRIMITIVE (-1)
#define CLASSES_NONE (-2)
int64_t klasses_of_mirror(struct klasses *c, uint64_t object);

/* Reads all classes, from the superclass of all down. `klass` is any one. 0 or a negative errno. */
int klasses_read(struct klasses *c, uint64_t klass);

/* Reads a Symbol's bytes; the length, 0 if it is none. */
size_t klasses_symbol(const struct vm *vm, uint64_t symbol, char *to, size_t size);
/* Whether a Symbol has that text. */
bool klasses_symbol_is(const struct vm *vm, uint64_t symbol, const char *text);

/* The array of what a class's constants refer to; 0: none. */
uint64_t klasses_resolved(const struct klasses *c, const struct class *k);

#endif
