// SPDX-License-Identifier: Apache-2.0
/*
 * The agent's own state and what its files offer each other.
 *
 * A handler that publishes runs between agent_enter and agent_leave: the ring stays mapped while any handler is inside.
 * Handlers run on any thread, several at once. Those of GC and class unload neither allocate nor lock nor use JNI.
 */
#ifndef BRAID_AGENT_H
#define BRAID_AGENT_H

#include "core/link.h"
#include "core/options.h"
#include "core/publish.h"
#include "core/ring.h"

#include "core/jvm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum agent_state {
	AGENT_DORMANT,	 /* costs nothing: no event enabled, no capability held, no thread */
	AGENT_CONNECTED, /* a collector has granted a ring */
};

struct agent {
	JavaVM *vm;
	jvmtiEnv *jvmti; /* made once: GetEnv would make another one each time */
	jint jvmti_version;
	bool bci_locations; /* a jlocation is a byte code index */

	/* Connecting and disconnecting; never taken by a handler */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum agent_state state;

	/* One connection: written while no handler is active */
	struct options options;
	struct link link;
	struct ring *ring; /* allocated per connection: one whose handlers never came back is left to them */
	enum braid_start start;
	uintptr_t generation; /* counts connections */
	uint64_t joined_ns;

	_Atomic bool active;	 /* handlers may publish */
	_Atomic bool dead;	 /* the VM is: no JVM TI, no JNI */
	_Atomic uint32_t inside; /* handlers */
	_Atomic bool helped;	 /* there is a helper thread, or there will be in a moment: only it disconnects then */
	_Atomic uint32_t helper_tid;

	/* Published in this connection, for REPLAYED */
	_Atomic uint32_t code_loads;
	_Atomic uint32_t stubs;
	_Atomic uint32_t threads;
};

extern struct agent agent;

/* agent.c */
bool agent_enter(void);
void agent_leave(void);
/* Gives memory back that JVM TI has given; NULL is none. */
void agent_release(void *p);
/* On standard error, when asked to be verbose. */
void agent_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The helper's last act: lets go of the ring. `stopped`: the collector asked for it and wants to hear that it is done.
 */
void agent_disconnect(bool stopped);

/* events.c */
/* Those that are always wanted, and those of these choices. */
jvmtiError events_enable(uint32_t wanted);
/* From now on those of these choices, and of no others. */
jvmtiError events_choose(uint32_t wanted);
/* Of single threads, besides; of a Java thread that runs or waits for something. */
void events_choose_threads(JNIEnv *jni, const struct braid_choices *c);
void events_disable(void);

/* caps.c */
struct caps {
	uint64_t got[2];
	uint64_t refused[2];
};

/* Asks for what is lacking for these choices (enum braid_choice). */
void caps_acquire(struct caps *c, uint32_t wanted);
/* Gives back what these choices do not need, after their events have been disabled: what happens to events of a
 * capability that goes is not specified. */
void caps_keep(struct caps *c, uint32_t wanted);
/* Which of the choices can be had with what is held. */
uint32_t caps_can(uint32_t wanted);
void caps_relinquish(void);
void caps_say_refused(const struct caps *c);
bool caps_has(unsigned bit);

#define CAP_SOURCE_FILE_NAME 11U
#define CAP_LINE_NUMBERS 12U
#define CAP_EXCEPTION_EVENTS 17U /* when loaded at the start only */
#define CAP_COMPILED_METHOD_LOAD 27U
#define CAP_MONITOR_EVENTS 28U
#define CAP_NATIVE_METHOD_BIND 30U
#define CAP_GARBAGE_COLLECTION 31U
#define CAP_RESOURCE_HEAP 39U
#define CAP_RESOURCE_THREADS 40U
#define CAP_VIRTUAL_THREADS 44U	     /* JDK 21 */
#define CAP_SAMPLED_OBJECT_ALLOC 43U /* JDK 11 */
#define CAP_EARLY_VM_START 41U	     /* JDK 9; when loaded at the start only */

/* hello.c */
void hello_publish(const struct caps *c);

/* helper.c */
/* Around a connection: what wakes the helper. */
bool helper_open(void);
void helper_close(void);
bool helper_start(JNIEnv *jni);
/* Wakes the helper; fit for any handler that may publish definitions. */
void helper_kick(void);
bool helper_is_self(void);
void JNICALL helper_on_dump_request(jvmtiEnv *env);
/* On the helper thread: waits until the ring has room again. Does nothing elsewhere. */
void helper_pace(void);

/* methods.c */
void methods_reset(void);
/* The id of a method, defined on first sight; 0 when it could not be. For live methods only: their names are asked for.
 */
uint32_t methods_id(jmethodID method, uint32_t event);
/* A number for an event: within it, a method stays what it is. */
uint32_t methods_event(void);
uint32_t methods_count(void);
/* Classes have been unloaded: a jmethodID may name something else. Fit for every handler. */
void methods_unloaded(void);

/* names.c */
/* Once per process. */
void names_open(void *libjvm, jint jvmti_version);
/* Where this VM keeps names: at the start of a connection, and again when the VM is up. */
void names_publish(void);
/* A class was redefined: its methods' addresses may mean other versions. */
void names_redefined(void);
/* May calls still go to this nmethod? */
bool names_in_use(uint64_t nmethod);

/* scopes.c */
struct scopes {
	uint8_t *bytes; /* packed braid_scope_row */
	size_t used;
	size_t room;
	size_t last; /* offset of the row added last */
	uint32_t rows;
	bool truncated;
	bool outer_only; /* inlined methods are not told */
	uint32_t event;	 /* methods_event() */
};

void scopes_from_inlining(struct scopes *s, const void *compile_info, const void *code, uint32_t code_size);
void scopes_from_map(struct scopes *s, uint32_t method, const jvmtiAddrLocationMap *map, jint length, const void *code,
		     uint32_t code_size);
void scopes_publish(const struct scopes *s, uint64_t address, uint16_t flags);
void scopes_free(struct scopes *s);

/* threads.c */
/* All that run; `again`: they may be called otherwise now. */
void threads_tell(JNIEnv *jni, bool again);
/* The OS's number of a thread that may end meanwhile; 0: it has ended, or cannot be found. */
uint32_t threads_tid(JNIEnv *jni, jthread thread);
uint64_t threads_java_thread(JNIEnv *jni, jthread thread);

/* jni.c: for handlers that may use JNI */
/* A field of the class below Object that the object's class comes from; *known remembers it. NULL when there is none.
 */
jfieldID jni_root_field(JNIEnv *jni, jobject object, const char *name, const char *type, _Atomic(jfieldID) *known);
/* A field's string as modified UTF-8, cut to `size`; "" for null. */
void jni_string(JNIEnv *jni, jobject object, jfieldID field, char *to, size_t size);
/* Around other calls: an exception of the application, which they must not meet. */
jthrowable jni_save(JNIEnv *jni);
void jni_restore(JNIEnv *jni, jthrowable pending);

/* classes.c */
void classes_enable(void);
void classes_disable(void);
/* Says what class unload handlers could not, if anything. */
void classes_flush(void);

/* gc.c */
/* Once per process. */
void gc_open(void *libjvm);
/* Finds what pauses are described by, which comes to exist while the VM starts. */
void gc_start(const struct braid_choices *c);
void gc_prepare(void);
/* A new connection. */
void gc_reset(void);

/* gc.c, code.c, threads.c: handlers */
void JNICALL gc_on_start(jvmtiEnv *env);
void JNICALL gc_on_finish(jvmtiEnv *env);
void JNICALL code_on_load(jvmtiEnv *env, jmethodID method, jint code_size, const void *code_addr, jint map_length,
			  const jvmtiAddrLocationMap *map, const void *compile_info);
void JNICALL code_on_unload(jvmtiEnv *env, jmethodID method, const void *code_addr);
/* Where the number of the calls of it stands, for others to read. */
uint64_t code_unloads_at(void);
void JNICALL code_on_stub(jvmtiEnv *env, const char *name, const void *address, jint length);
void JNICALL threads_on_start(jvmtiEnv *env, JNIEnv *jni, jthread thread);
void JNICALL threads_on_end(jvmtiEnv *env, JNIEnv *jni, jthread thread);
void JNICALL agent_on_vm_start(jvmtiEnv *env, JNIEnv *jni);
void JNICALL agent_on_vm_init(jvmtiEnv *env, JNIEnv *jni, jthread thread);
void JNICALL agent_on_vm_death(jvmtiEnv *env, JNIEnv *jni);

/* Cuts a string to what a record may hold; *flags gets BRAID_REC_TRUNCATED then. NULL is empty. */
uint16_t string_cut(const char *s, uint16_t *flags);

#endif
