// SPDX-License-Identifier: Apache-2.0
/*
 * The helper, the agent's one thread, which runs while a collector is connected. It publishes what is older than the
 * connection, puts spilled records into the ring, reports losses, and executes the collector's messages until the
 * collector stops the recording or goes.
 */
#include "agent.h"

#include "core/helper.h"
#include "core/jni.h"
#include "events/handlers.h"
#include "vm/objects.h"

#include <sys/prctl.h>

#define THREAD_NAME "braid agent"
#define TICK_NS 1000000000ULL
#define RETRY_MS 1
#define REPLAY_READ_MS 250U
#define FINAL_MS 500 /* for spilled records after the collector's stop */

static _Atomic bool dump_requested; /* by SIGQUIT */

static void generate(jvmtiEvent event, const char *what)
{
	jvmtiError err;

	if (!atomic_load(&agent.active))
		return;
	err = (*agent.jvmti)->GenerateEvents(agent.jvmti, event);
	if (err && atomic_load(&agent.active))
		publish_notice(BRAID_NOTICE_WARNING,
			       "the JVM does not report its %s (JVM TI error %d): what is older "
			       "than this recording has no names",
			       what, err);
}

/*
 * What walks need is known to the kernel side when the replay is said to be over, unless the collector takes too
 * long.
 */
static void replay_let_read(void)
{
	uint32_t turns = 0;

	while (!publish_flush() && publish_wait(&turns, REPLAY_READ_MS))
		;
	publish_let_read(REPLAY_READ_MS);
}

static void replay(JNIEnv *jni)
{
	struct braid_rec_replayed r = {0};

	if (agent.start == BRAID_START_ATTACH)
		objects_resolve(jni);
	threads_publish(jni, false);
	generate(JVMTI_EVENT_DYNAMIC_CODE_GENERATED, "stubs");
	if (caps_has(CAP_COMPILED_METHOD_LOAD))
		generate(JVMTI_EVENT_COMPILED_METHOD_LOAD, "compiled code");
	if (!agent_enter())
		return;
	if (agent.start == BRAID_START_ATTACH)
		replay_let_read();
	record_init(&r.hdr, BRAID_REC_REPLAYED, 0);
	r.methods = methods_count();
	r.code_loads = atomic_load(&agent.code_loads);
	r.stubs = atomic_load(&agent.stubs);
	r.threads = atomic_load(&agent.threads);
	r.classes = loads_count();
	r.took_ns = clock_ns() - agent.joined_ns;
	publish_definition((struct iovec[]){PART(&r, sizeof(r))}, 1);
	kinds_on_replayed(jni);
	agent_leave();
}

static void apply_received(JNIEnv *jni)
{
	uint32_t commands;

	if (!agent_enter())
		return;
	if (received.program_changed)
		stack_request_start();
	received.program_changed = false;
	if (received.configures)
		kinds_change(&received.config);
	for (; received.configures; received.configures--)
		link_configured(&agent.link, caps_can(received.config.enabled));
	if (atomic_exchange(&dump_requested, false)) {
		publish_notice(BRAID_NOTICE_INFO, "SIGQUIT: the agent reports now what it reports at the end, too");
		received.commands |= 1U << BRAID_COMMAND_DUMP;
	}
	commands = received.commands;
	received.commands = 0; /* while these publish, another one may come */
	for (uint32_t command = 0; commands; command++, commands >>= 1)
		if (commands & 1)
			kinds_command(jni, (enum braid_command)command);
	agent_leave();
}

static void JNICALL on_dump_request(jvmtiEnv *env)
{
	if (!agent_enter_event(env))
		return;
	atomic_store(&dump_requested, true);
	helper_kick();
	agent_leave();
}

const struct kind dump_kind = {
	.events = {{JVMTI_EVENT_DATA_DUMP_REQUEST, KIND_HANDLER(on_dump_request), 0, 0}},
};

/* Puts everything that waits for room into the ring. */
static bool flush(void)
{
	classes_flush();
	return helper_catch_up();
}

static void serve(JNIEnv *jni)
{
	uint64_t ticked_ns = 0;
	bool waiting, soon;

	while (received.message == LINK_IDLE && !atomic_load(&agent.dead)) {
		helper_busy();
		soon = objects_retry(jni);
		apply_received(jni);
		soon |= kinds_work(jni) || received.commands || received.configures;
		if (clock_ns() - ticked_ns >= TICK_NS) {
			ticked_ns = clock_ns();
			kinds_tick(jni);
		}
		waiting = !flush();
		if (waiting)
			link_wake(&agent.link);
		helper_wait(waiting || soon);
		helper_receive();
	}
}

/* Handlers publish nothing any more. The collector waits for the STOPPED message, which agent_disconnect sends. */
static void publish_final(JNIEnv *jni)
{
	uint64_t until_ns = clock_ns() + FINAL_MS * 1000000ULL;

	(void)kinds_publish_final(jni); /* false: the JVM ends, and the thread that ends it publishes */
	while (!flush() && clock_ns() < until_ns && !link_is_closed(&agent.link)) {
		link_wake(&agent.link);
		helper_nap_ms(RETRY_MS);
	}
	publish_abandon();
	publish_losses();
}

static void JNICALL helper_main(jvmtiEnv *env, JNIEnv *jni, void *arg)
{
	(void)env;
	(void)arg;
	prctl(PR_SET_NAME, THREAD_NAME);
	atomic_store(&agent.helper_tid, self_tid());
	link_configured(&agent.link, caps_can(agent.link.config.enabled));
	replay(jni);
	serve(jni);
	if (received.message == LINK_STOP && !atomic_load(&agent.dead))
		publish_final(jni);
	agent_disconnect(received.message == LINK_STOP);
}

/* A pending exception forbids the next JNI call: any exception ends the sequence and is cleared. */
static jobject thread_new(JNIEnv *jni)
{
	jclass class = jni_boot_class(jni, "java/lang/Thread");
	jmethodID init = NULL;
	jstring name = NULL;
	jobject thread = NULL;

	if (class)
		init = (*jni)->GetMethodID(jni, class, "<init>", "(Ljava/lang/String;)V");
	if (init && !(*jni)->ExceptionCheck(jni))
		name = (*jni)->NewStringUTF(jni, THREAD_NAME);
	if (name && !(*jni)->ExceptionCheck(jni))
		thread = (*jni)->NewObject(jni, class, init, name);
	return jni_failed(jni) ? NULL : thread;
}

bool loop_start(JNIEnv *jni)
{
	jobject thread;
	bool ok;

	if ((*jni)->PushLocalFrame(jni, 16)) {
		(*jni)->ExceptionClear(jni);
		return false;
	}
	thread = thread_new(jni);
	helper_own(thread ? helper_hash(thread) : 0);
	ok = thread &&
	     (*agent.jvmti)->RunAgentThread(agent.jvmti, thread, helper_main, NULL, JVMTI_THREAD_NORM_PRIORITY) ==
		     JVMTI_ERROR_NONE;
	(*jni)->PopLocalFrame(jni, NULL);
	return ok;
}
