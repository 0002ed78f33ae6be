// SPDX-License-Identifier: Apache-2.0
/*
 * A kind of event: what it needs of JVM TI, and what it does besides handling its events. To add one: a file in events/
 * with its handlers and its descriptor, declared in handlers.h, and a place in the list of kinds.c.
 */
#ifndef BRAID_AGENT_KIND_H
#define BRAID_AGENT_KIND_H

#include "held.h"
#include "jvm.h"

#include <braid/ring.h>

#define KIND_EVENTS 4
#define KIND_CAPS 2
#define KIND_HANDLER(f) ((void (*)(void))(f))

/* JDK 21's, as its header numbers them. A VM takes of the table of callbacks what it knows. */
#define EVENT_VIRTUAL_THREAD_START ((jvmtiEvent)87)
#define EVENT_VIRTUAL_THREAD_END ((jvmtiEvent)88)

struct kind {
	/* An event without its capability cannot be enabled, and is not missed: caps.c has said so. */
	struct kind_event {
		jvmtiEvent event;
		void (*handler)(void); /* as JVM TI has it for the event; NULL: no more events */
		unsigned cap;	       /* 0: none */
		uint32_t types;	       /* choices that it is for; 0: always */
	} events[KIND_EVENTS];
	struct kind_cap {
		unsigned bit;	    /* 0: no more capabilities */
		bool at_start_only; /* cannot be had later, and is not missed then */
		uint32_t types;	    /* choices that need it; 0: always */
		const char *lacking;
	} caps[KIND_CAPS];
	uint32_t types;					   /* choices that have the rest done; 0: always */
	void (*start)(const struct braid_event_config *c); /* before its events come, and when figures change */
	void (*on_enabled)(JNIEnv *jni);		   /* after that, when they come */
	void (*tick)(JNIEnv *jni);			   /* once a second */
	void (*publish)(JNIEnv *jni);			   /* what is told at the end, or when asked for */
	void (*forget)(JNIEnv *jni);
	void (*stop)(JNIEnv *jni); /* after its events */
};

#endif
