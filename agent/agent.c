// SPDX-License-Identifier: Apache-2.0
/* The agent's entry points and the life of a connection. The JVM calls in here at load and at the ends of its phases;
 * the helper thread calls agent_disconnect. Nothing here may harm the JVM: a failure leaves the agent dormant. */
#include "agent.h"

#include "core/helper.h"
#include "events/handlers.h"
#include "events/named_event.h"
#include "vm/layout.h"
#include "vm/mem.h"
#include "vm/names.h"
#include "vm/objects.h"
#include "vm/vmstructs.h"

#include "core/glibc.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ONLOAD_WAIT_MS 2000U
#define ONLOAD_MORE_MS 8000U
#define LIVE_WAIT_MS 60000U
#define LIVE_STEP_NS 2000000
#define HANDLERS_WAIT_MS 2000U
#define VANISHED_WAIT_S 15
#define DEATH_WAIT_MS 200U
#define READ_MS 100U /* the JVM waits at most this long for the kernel side to read the ring */

static bool handlers_wait(void)
{
	const struct timespec step = {.tv_nsec = 1000000};

	for (uint32_t i = 0; i < HANDLERS_WAIT_MS; i++) {
		if (!atomic_load(&agent.inside))
			return true;
		nanosleep(&step, NULL);
	}
	return false;
}

/* NULL on a thread that is not the JVM's. */
static JNIEnv *jni_here(void)
{
	JNIEnv *jni;

	return (*agent.vm)->GetEnv(agent.vm, (void **)&jni, JNI_VERSION_1_6) == JNI_OK ? jni : NULL;
}

/* The helper and handlers run this library's code: it must not be unmapped under them. */
static void library_pin(void)
{
	Dl_info info;

	if (dladdr((void *)&agent, &info) && info.dli_fname)
		(void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* Looks up what stays the same for the life of the process. */
static void process_look(JavaVM *vm)
{
	jvmtiJlocationFormat format;
	void *libjvm;

	agent.vm = vm;
	if ((*agent.jvmti)->GetVersionNumber(agent.jvmti, &agent.jvmti_version) != JVMTI_ERROR_NONE)
		agent.jvmti_version = JVMTI_VERSION_1_2;
	agent.bci_locations = (*agent.jvmti)->GetJLocationFormat(agent.jvmti, &format) == JVMTI_ERROR_NONE &&
			      format == JVMTI_JLOCATION_JVMBCI;
	libjvm = vmstructs_library(vm);
	layout_open(libjvm);
	names_open(libjvm, agent.jvmti_version);
	gc_open(libjvm);
	library_pin();
}

/*
 * An environment without capabilities and events, which stays for ever. HotSpot frees what it knows of a thread when
 * the thread ends, but only while there is an environment (JvmtiEnvBase::environments_might_exist; JDK 8 to 27).
 * Without one, a JvmtiThreadState keeps a pointer to the freed thread, and any agent's next environment writes to that
 * memory (JvmtiEventControllerPrivate::recompute_thread_enabled).
 */
static jvmtiEnv *kept;

/*
 * JVMs before 21 load agents before the live phase. HotSpot gives no environment then (JNI_EDETACHED), and events can
 * be enabled in the live phase alone. The thread that loads agents waits here; it is in native code and holds up no
 * other thread.
 */
static jint environment_await(JavaVM *vm)
{
	const struct timespec step = {.tv_nsec = LIVE_STEP_NS};
	uint64_t until_ns = clock_ns() + LIVE_WAIT_MS * 1000000ULL;
	jint result;

	while ((result = (*vm)->GetEnv(vm, (void **)&kept, JVMTI_VERSION_1_2)) == JNI_EDETACHED &&
	       clock_ns() < until_ns && !link_is_closed(&agent.link))
		nanosleep(&step, NULL);
	return result;
}

static bool environment_open(JavaVM *vm)
{
	jint result;

	if (agent.jvmti) /* the former connection could not give it back */
		return true;
	result = kept ? JNI_OK : environment_await(vm);
	if (result == JNI_OK)
		result = (*vm)->GetEnv(vm, (void **)&agent.jvmti, JVMTI_VERSION_1_2);
	else
		kept = NULL;
	if (result != JNI_OK) {
		agent.jvmti = NULL;
		agent_log("%s; nothing will be recorded",
			  result == JNI_EDETACHED ? "the JVM did not reach its live phase within a minute"
						  : "this JVM has no JVM TI 1.2");
		return false;
	}
	if (!agent.vm)
		process_look(vm);
	return true;
}

/*
 * The caller has seen that no handler is inside, and `active` keeps new ones out. A handler may still be on its way:
 * HotSpot frees an environment only in a collection during which no thread iterates over the environments to send an
 * event (JvmtiGCMarker, JvmtiEnvBase::check_for_periodic_clean_up). The one that is kept remains.
 */
static void environment_close(void)
{
	if ((*agent.jvmti)->DisposeEnvironment(agent.jvmti) == JVMTI_ERROR_NONE)
		agent.jvmti = NULL;
}

/* `stopped`: the collector waits for the message that the agent has let go of the ring. */
static void ring_leave(bool stopped)
{
	ring_close(agent.ring);
	free(agent.ring);
	agent.ring = NULL;
	helper_close();
	if (stopped)
		link_stopped(&agent.link);
	link_close(&agent.link);
}

/*
 * The caller holds the lock. A handler that is still inside keeps the ring, the descriptors and the environment until
 * end_former, and one that never returns for ever.
 */
static void disconnect(bool stopped)
{
	bool alive = !atomic_load(&agent.dead), empty;

	atomic_store(&agent.active, false);
	if (alive)
		events_disable();
	empty = handlers_wait();
	if (empty) {
		kinds_end(alive ? jni_here() : NULL);
		publish_end();
		mem_close();
	}
	methods_reset();
	if (alive && empty) { /* what is still to be ended needs its capabilities: see end_former */
		caps_relinquish();
		environment_close();
	}
	if (empty) {
		ring_leave(stopped);
	} else {
		close(agent.link.sock_fd);
		agent.link.sock_fd = -1;
	}
	atomic_store(&agent.helper_tid, 0);
	atomic_store(&agent.end_taken, false);
	agent.state = AGENT_DORMANT;
	pthread_cond_broadcast(&agent.changed);
}

void agent_disconnect(bool stopped)
{
	pthread_mutex_lock(&agent.lock);
	disconnect(stopped);
	pthread_mutex_unlock(&agent.lock);
}

static bool ring_join(const struct options *o, enum braid_start start)
{
	uint32_t wait_ms = o->wait_ms, more_ms = 0;
	char why[LINK_WHY_MAX];
	int err;

	if (start == BRAID_START_ONLOAD && wait_ms >= ONLOAD_WAIT_MS) {
		wait_ms = ONLOAD_WAIT_MS;
		more_ms = ONLOAD_MORE_MS;
	}
	if (link_open(&agent.link, o->sock, wait_ms, more_ms, why)) {
		agent_log("%s (%s); nothing will be recorded", why, o->sock);
		return false;
	}
	agent.ring = aligned_alloc(_Alignof(struct ring), sizeof(struct ring));
	err = agent.ring ? ring_open(agent.ring, agent.link.ring_fd, agent.link.ring_bytes) : -ENOMEM;
	if (!err && helper_open())
		return true;
	agent_log("mapping the collector's ring of %llu bytes: %s; nothing will be recorded",
		  (unsigned long long)agent.link.ring_bytes, strerror(err ? -err : errno));
	if (!err)
		ring_close(agent.ring);
	free(agent.ring);
	agent.ring = NULL;
	link_close(&agent.link);
	return false;
}

/* True for one caller in each connection: the one that disconnects. */
static bool end_take(void)
{
	return !atomic_exchange(&agent.end_taken, true);
}

/* The caller's lock keeps other threads from disconnecting before the helper runs. */
static bool begin_attached(void)
{
	JNIEnv *jni = jni_here();

	if (!jni)
		return false;
	(void)end_take();
	kinds_on_enabled(jni);
	return loop_start(jni);
}

/* The caller holds the lock. What the collector must know first is published before any handler can be active. */
static void connect_to(JavaVM *vm, const struct options *o, enum braid_start start)
{
	struct caps caps;

	if (!ring_join(o, start))
		return;
	if (!environment_open(vm)) {
		ring_leave(false);
		return;
	}
	agent.options = *o;
	agent.start = start;
	agent.generation++;
	agent.joined_ns = clock_ns();
	atomic_store(&agent.code_loads, 0);
	atomic_store(&agent.stubs, 0);
	atomic_store(&agent.threads, 0);
	publish_start(agent.ring, &agent.link, o->spill_bytes);
	methods_reset();
	layout_reset();
	caps_acquire(&caps, agent.link.config.enabled);
	hello_publish(&caps);
	caps_report_refused(&caps);
	gc_reset();
	kinds_start(&agent.link.config);
	names_publish();
	layout_publish(true);
	if (o->complaint[0])
		publish_notice(BRAID_NOTICE_WARNING, "agent options: %s", o->complaint);

	agent.state = AGENT_CONNECTED;
	atomic_store(&agent.active, true);
	if (events_enable(agent.link.config.enabled) != JVMTI_ERROR_NONE) {
		agent_log("the JVM refuses to enable events; nothing will be recorded");
		disconnect(false);
	} else if (start == BRAID_START_ATTACH && !begin_attached()) {
		agent_log("the JVM refuses to start the agent's thread; nothing will be recorded");
		disconnect(false);
	}
}

/* The caller holds the lock. The helper finds out by itself that its collector has gone. */
static bool helper_await_end(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += VANISHED_WAIT_S;
	while (agent.state != AGENT_DORMANT)
		if (pthread_cond_timedwait(&agent.changed, &agent.lock, &until))
			break;
	if (agent.state != AGENT_DORMANT)
		agent_log("the former recording has not ended yet; this load changes nothing");
	return agent.state == AGENT_DORMANT;
}

/* What could not be ended while a handler was inside. */
static void end_former(void)
{
	if (!agent.ring)
		return;
	kinds_end(jni_here());
	publish_end();
	mem_close();
	caps_relinquish();
	ring_leave(false);
}

/* The caller holds the lock. True when a new connection may be made. */
static bool make_dormant(void)
{
	if (agent.state != AGENT_DORMANT && !link_is_closed(&agent.link) && !atomic_load(&agent.dead)) {
		agent_log("already connected to %s; this load changes nothing", agent.options.sock);
		return false;
	}
	if (agent.state != AGENT_DORMANT && end_take())
		disconnect(false);
	else if (agent.state != AGENT_DORMANT && !helper_await_end())
		return false;
	/* A handler that is still inside uses the method and class ids of the former connection. */
	if (handlers_wait()) {
		end_former();
		return true;
	}
	agent_log("a handler of the former recording is still running; this load changes nothing");
	return false;
}

static void load(JavaVM *vm, const char *text, enum braid_start start)
{
	struct options o;

	options_parse(&o, text);
	if (o.help)
		fputs(options_usage, stderr);
	if (o.verbose)
		agent_be_verbose();

	pthread_mutex_lock(&agent.lock);
	if (!o.sock[0])
		agent_log("%s%sno sock= given: dormant", o.complaint, o.complaint[0] ? "; " : "");
	else if (atomic_load(&agent.dead))
		agent_log("this JVM is about to end; nothing will be recorded");
	else if (make_dormant())
		connect_to(vm, &o, start);
	pthread_mutex_unlock(&agent.lock);
}

static void JNICALL on_vm_start(jvmtiEnv *env, JNIEnv *jni)
{
	if (!agent_enter_event(env))
		return;
	names_publish();
	layout_publish(true);
	named_event_publish(&(struct braid_rec_named_event){.event = BRAID_JVM_PHASE}, "start", NULL, NULL);
	natives_on_vm_start(jni);
	gc_prepare();
	publish_let_read(READ_MS); /* the kernel side needs these records to read the causes of collections */
	agent_leave();
}

static void JNICALL on_vm_init(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	struct braid_rec hdr;
	bool helped = false;

	(void)thread;
	if (!agent_enter_event(env))
		return;
	if (!end_take()) { /* a concurrent load has found the collector gone and disconnects */
		agent_leave();
		return;
	}
	gc_prepare();
	record_init(&hdr, BRAID_REC_VM_INIT, 0);
	publish_event((struct iovec[]){PART(&hdr, sizeof(hdr))}, 1);
	objects_resolve(jni);
	kinds_on_enabled(jni);
	helped = loop_start(jni);
	publish_let_read(READ_MS); /* the kernel side must know how to find virtual threads before the program begins */
	if (!helped)
		publish_notice(BRAID_NOTICE_WARNING,
			       "the JVM refuses to start the agent's thread: nothing more is recorded");
	agent_leave();
	if (!helped)
		agent_disconnect(false); /* after agent_leave: it waits for the handlers inside */
}

/* Publishes the last records. The ring outlives the process, so the collector need not have read them yet. */
static void JNICALL on_vm_death(jvmtiEnv *env, JNIEnv *jni)
{
	struct braid_rec hdr;
	uint32_t turns = 0;

	if (!agent_enter_event(env))
		return;
	atomic_store(&agent.ending, true);
	if (!kinds_publish_final(jni)) {
		publish_lost(BRAID_REC_JVM_EVENT, 1);
		publish_notice(BRAID_NOTICE_WARNING,
			       "the JVM ended while the agent was at work: what it reports at the end is missing");
	}
	while (!publish_flush() && publish_wait(&turns, DEATH_WAIT_MS))
		;
	publish_abandon();
	classes_flush();
	record_init(&hdr, BRAID_REC_VM_DEATH, 0);
	turns = 0;
	while ((!publish_losses() || !publish_direct((struct iovec[]){PART(&hdr, sizeof(hdr))}, 1)) &&
	       publish_wait(&turns, DEATH_WAIT_MS))
		;
	link_wake(&agent.link);
	publish_let_read(READ_MS); /* the kernel side reads names of interpreted methods from this process's memory */
	atomic_store(&agent.active, false);
	atomic_store(&agent.dead, true);
	helper_kick();
	agent_leave();
}

const struct kind life_kind = {
	.events = {{JVMTI_EVENT_VM_START, KIND_HANDLER(on_vm_start), 0, 0},
		   {JVMTI_EVENT_VM_INIT, KIND_HANDLER(on_vm_init), 0, 0},
		   {JVMTI_EVENT_VM_DEATH, KIND_HANDLER(on_vm_death), 0, 0}},
	/* Without it Java code runs before VMStart, and its stacks end where the walk needs the layout. */
	.caps = {{CAP_EARLY_VM_START, true, 0, NULL, 0}},
};

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	load(vm, options, BRAID_START_ONLOAD);
	return JNI_OK; /* any other value ends the JVM */
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	load(vm, options, BRAID_START_ATTACH);
	return JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm;
	/* Called after VMDeath, once per load, or never: the agent only stops publishing. */
	atomic_store(&agent.active, false);
}

/* Entry points for a VM that the agent is statically linked into (JVM TI 1.2.3). */
JNIEXPORT jint JNICALL Agent_OnLoad_braid_agent(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnAttach_braid_agent(JavaVM *vm, char *options, void *reserved);
JNIEXPORT void JNICALL Agent_OnUnload_braid_agent(JavaVM *vm);

JNIEXPORT jint JNICALL Agent_OnLoad_braid_agent(JavaVM *vm, char *options, void *reserved)
{
	return Agent_OnLoad(vm, options, reserved);
}

JNIEXPORT jint JNICALL Agent_OnAttach_braid_agent(JavaVM *vm, char *options, void *reserved)
{
	return Agent_OnAttach(vm, options, reserved);
}

JNIEXPORT void JNICALL Agent_OnUnload_braid_agent(JavaVM *vm)
{
	Agent_OnUnload(vm);
}
