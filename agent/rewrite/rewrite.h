// SPDX-License-Identifier: Apache-2.0
/*
 * Rewrites a class file so that chosen methods call BraidMethods (agent/java) when they begin and end. A chosen method
 * becomes
 *
 *	long t = BraidMethods.enter();
 *	try { body, with BraidMethods.exit(t, id) in front of every return }
 *	catch (Throwable e) { BraidMethods.thrown(t, id); throw e; }
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

#define REWRITE_CLASS_MAX (16U << 20) /* bytes of a class file; longer ones are refused */

struct rewrite {
	/* The id that a method's calls pass on, or a negative number: the method is not chosen. */
	int32_t (*choose)(void *ctx, struct text name, struct text descriptor);
	void *ctx;
	/* results */
	struct writer out; /* the new class file, to be freed; nothing, unless a method was rewritten */
	uint32_t methods;  /* rewritten */
	uint32_t refused;  /* chosen, and not rewritten: too long for its jumps, or malformed */
};

/* False: the class file is malformed, of an unknown version, or out of memory; it stays as it is. */
bool rewrite_class(struct rewrite *w, const void *file, size_t size);

#endif
