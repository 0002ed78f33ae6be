// SPDX-License-Identifier: Apache-2.0
/*
 * The descriptor of an event kind: what it needs from JVM TI, and its hooks besides the event handlers. One thread at a
 * time runs hooks: the one that connects, then the helper, and in VMDeath the one that ends the JVM.
 *
 * To add a kind, put a file with its handlers and descriptor into events/, declare the descriptor in handlers.h and
 * list it in kinds.c.
 */
#ifndef BRAID_AGENT_KIND_H
#define BRAID_AGENT_KIND_H

#include "held.h"
#include "jvm.h"

#include <braid/ring.h>

#define KIND_EVENTS 4
#define KIND_CAPS 2
#define KIND_HANDLER(f) ((void (*)(void))(f))

/* Events of JDK 21, with the numbers of its header. An older VM ignores their slots in the callback table. */
#define EVENT_VIRTUAL_THREAD_START ((jvmtiEvent)87)
#define EVENT_VIRTUAL_THREAD_END ((jvmtiEvent)88)

struct kind {
	/* An event without its capability stays disabled; caps.c has reported that. */
	struct kind_event {
		jvmtiEvent event;
		void (*handler)(void); /* with the event's own signature in JVM TI; NULL: no more events */
		unsigned cap;	       /* 0: none */
		uint32_t types;	       /* the event types that enable it; 0: always enabled */
	} events[KIND_EVENTS];
	struct kind_cap {
		unsigned bit;	    /* 0: no more capabilities */
		bool at_start_only; /* cannot be acquired later; that is not reported as a refusal */
		uint32_t types;	    /* the event types that need it; 0: always needed */
		const char *lacking;
		uint32_t users; /* the event types that use it where there is one, and do without */
	} caps[KIND_CAPS];
	uint32_t types;					   /* the event types that enable the hooks; 0: always */
	void (*start)(const struct braid_event_config *c); /* before its events arrive, and when figures change */
	void (*on_enabled)(JNIEnv *jni);		   /* after start, once its events are enabled */
	bool (*work)(JNIEnv *jni);    /* a part of what takes long, on the helper thread; true: there is more */
	void (*tick)(JNIEnv *jni);    /* once a second */
	void (*publish)(JNIEnv *jni); /* at the end, and on a dump command */
	void (*forget)(JNIEnv *jni);
	void (*stop)(JNIEnv *jni); /* after its events are disabled */
	bool without_jvm;	   /* stop also runs when the VM is dead, with NULL */
};

#endif
