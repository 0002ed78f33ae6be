// SPDX-License-Identifier: Apache-2.0
/*
 * Rewrites a class file so that chosen methods call BraidMethods (agent/java) when they begin and end. A chosen method
 * becomes
 *
 *	values, as they are at the entry, in new variables
 *	long t = BraidMethods.enter();
 *	try { body, with BraidMethods.exit(t, id, values) in front of every return }
 *	catch (Throwable e) { BraidMethods.thrown(e, t, id, values); throw e; }
 *
 * A value is a reference or a number as a long; nothing of the program's is called for it. In front of an instruction
 * that writes a chosen field it calls BraidFields (agent/java), with the value that is written, and the one before:
 *
 *	BraidFields.wrote(id); or wrote(now, id); or wrote(now, before, id)
 *
 * A constructor has no handler: in front of super() there is no object yet that one could cover, so its exceptions are
 * not seen. The body of a synchronized method begins when it has its lock.
 *
 * The input is untrusted. A method that cannot be rewritten stays as it is and is counted. It uses nothing of the
 * agent.
 */
#ifndef BRAID_AGENT_REWRITE_H
#define BRAID_AGENT_REWRITE_H

#include "bytes.h"
#include "pool.h"

/* The class that rewritten methods call. Its package is one that each class loader and each module can see. */
#define REWRITE_HELPER "java/lang/BraidMethods"
#define REWRITE_FIELD_HELPER "java/lang/BraidFields"

#define REWRITE_CLASS_MAX (16U << 20) /* bytes of a class file; longer ones are refused */

#define REWRITE_VALUES 4U

/* What became of a value. BraidMethods passes them on as one number. */
enum rewrite_kind {
	REWRITE_NONE, /* the method has no such argument, or its class no such field */
	REWRITE_BOOLEAN,
	REWRITE_BYTE,
	REWRITE_CHAR,
	REWRITE_SHORT,
	REWRITE_INT,
	REWRITE_LONG,
	REWRITE_FLOAT, /* these two as bits of a double */
	REWRITE_DOUBLE,
	REWRITE_OBJECT,
};
#define REWRITE_KIND_BITS 4U

/* By the first character of a descriptor. */
enum rewrite_kind rewrite_kind_of(char type);

/* An argument, or a field of the method's object that its class declares. */
struct rewrite_value {
	uint32_t argument; /* from 1 on; 0: it is a field */
	struct text field;
	bool length; /* only if it is an object */
};

#define REWRITE_ANNOTATIONS 64U /* of a class or of a method; further ones are not looked at */

/* Types of annotations, as descriptors. Those that the JVM does not keep are known only while a class is loaded. */
struct rewrite_annotations {
	uint32_t count;
	struct text at[REWRITE_ANNOTATIONS];
};

struct rewrite_method {
	struct text name, descriptor;
	const struct rewrite_annotations *of_class, *own; /* NULL: not read */
};

struct rewrite_choice {
	uint32_t id; /* that the method's calls pass on */
	uint32_t count;
	struct rewrite_value values[REWRITE_VALUES];
};

/* A field as the code that writes it names it: its class may be one that inherits it. */
struct rewrite_field {
	struct text class, name, type;
};

struct rewrite_write {
	uint32_t id;	  /* that the call passes on */
	bool now, before; /* values; `before` comes with `now`, and not of a field of an object in its constructor */
};

struct rewrite {
	/* False: the method is not chosen. `choice` is empty before. NULL: none is. */
	bool (*choose)(void *ctx, const struct rewrite_method *m, struct rewrite_choice *choice);
	/* Whether writes to a field may be chosen, and whether those in a method are. NULL: none are. */
	bool (*may_choose_write)(void *ctx, const struct rewrite_field *f);
	bool (*choose_write)(void *ctx, const struct rewrite_field *f, const struct rewrite_method *by,
			     struct rewrite_write *write);
	void *ctx;
	bool annotations; /* choose() needs them */
	/* results */
	struct writer out; /* the new class file, to be freed; nothing, unless a method was rewritten */
	uint32_t methods;  /* rewritten for choose() */
	uint32_t lacking;  /* of them, those without a value that was chosen */
	uint32_t writes;   /* instructions in front of which is a call */
	uint32_t refused;  /* chosen, and not rewritten: too long for its jumps or to be compiled, or malformed */
};

/*
 * Calls `is` with the texts of a constant pool, of `count` as JVM TI's GetConstantPool returns it, until it returns
 * true. Whether it did.
 */
bool rewrite_pool_has(const uint8_t *bytes, size_t size, uint32_t count, bool (*is)(void *ctx, struct text text),
		      void *ctx);

/* The same with the fields that the class uses. */
bool rewrite_pool_uses(const uint8_t *bytes, size_t size, uint32_t count,
		       bool (*is)(void *ctx, const struct rewrite_field *f), void *ctx);

/* The name of the file's class, which is in the file; empty: it is malformed, or out of memory. */
struct text rewrite_class_name(const void *file, size_t size);

/* False: the class file is malformed, of an unknown version, or out of memory; it stays as it is. */
bool rewrite_class(struct rewrite *w, const void *file, size_t size);

#endif
