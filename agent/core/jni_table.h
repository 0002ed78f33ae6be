// SPDX-License-Identifier: Apache-2.0
/*
 * Functions of the agent in the JVM's table of JNI functions, in front of the JVM's own. The table is shared by all
 * agents and has no owner: each one reads it, changes its copy and has the JVM take that, at a safepoint. Files in
 * events/ hook functions; each function has at most one hook.
 *
 * Another agent may have put its function in front of the agent's. It is left there, and goes on calling the agent's
 * function, which therefore only calls on when nothing is recorded.
 */
#ifndef BRAID_AGENT_JNI_TABLE_H
#define BRAID_AGENT_JNI_TABLE_H

#include "jvm.h"

#include <stdbool.h>
#include <stddef.h>

#define JNI_SLOT(function) (offsetof(struct JNINativeInterface_, function) / sizeof(void *))
#define JNI_HOOK(function, with)                                                                                       \
	{                                                                                                              \
		.slot = JNI_SLOT(function), .own = (void (*)(void))(with)                                              \
	}

struct jni_hook {
	size_t slot;
	void (*own)(void);
	bool hooked;
	bool covered; /* another agent's function is in front of it */
};

/* What hooks call on: the functions that the table had before. Those that were never hooked are NULL. */
extern struct JNINativeInterface_ jni_below;

/* Hooks functions that are not hooked yet, on a thread of the JVM in its start or live phase. False: a notice says why
 * not. */
bool jni_table_hook(struct jni_hook *hooks, size_t count);
/* Puts back what the table had, but leaves functions of other agents; a notice says so. */
void jni_table_unhook(struct jni_hook *hooks, size_t count);

/* References of the agent itself, which no hook sees. */
jobject jni_global_new(JNIEnv *jni, jobject object);
jweak jni_weak_new(JNIEnv *jni, jobject object);
void jni_weak_delete(JNIEnv *jni, jweak ref);

#endif
