// SPDX-License-Identifier: Apache-2.0
/*
 * The agent's one thread, alive while a collector is connected. It tells what is older than the connection, puts into
 * the ring what waits for room, says what was lost, and hears when the collector stops or goes.
 */
#include "agent.h"

#include "events/handlers.h"
#include "vm/vthreads.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define THREAD_NAME "braid agent"
#define IDLE_MS 1000 /* losses of events are told this often */
#define TICK_NS 1000000000ULL
#define RETRY_MS 1	   /* something waits for room */
#define LAST_WORDS_MS 500  /* for what waits when the collector wants no more */
#define PACE_STALL_MS 2000 /* without the consumer moving at all: do not wait for it again until it does */

static int kick_fd = -1;
static _Atomic bool kicked;
static enum link_word heard; /* helper thread only, like what follows */
static struct braid_choices choices;
static uint32_t chooses;	    /* times that the choices were changed since they held; each is answered */
static bool demand_changed;	    /* the program has */
static uint32_t acts;		    /* bits of enum braid_act */
static _Atomic bool dump_requested; /* by SIGQUIT */
static bool stalled;
static uint64_t stalled_at; /* consumer position */

bool helper_open(void)
{
	kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	atomic_store(&kicked, false);
	heard = LINK_QUIET;
	chooses = 0;
	demand_changed = false;
	acts = 0;
	atomic_store(&dump_requested, false);
	stalled = false;
	return kick_fd >= 0;
}

void helper_close(void)
{
	if (kick_fd >= 0)
		close(kick_fd);
	kick_fd = -1;
}

void helper_kick(void)
{
	const uint64_t one = 1;

	/* EAGAIN would mean that it is awake already */
	if (!atomic_exchange(&kicked, true) && kick_fd >= 0)
		(void)!write(kick_fd, &one, sizeof(one));
}

bool helper_is_self(void)
{
	return atomic_load_explicit(&agent.helper_tid, memory_order_relaxed) == self_tid();
}

static void nap_ms(long ms)
{
	const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* From the first STOP or hang-up on no handler publishes any more. What else is said is done later, see do_as_told().
 */
static void listen(void)
{
	struct braid_grant said = {0};

	if (heard == LINK_QUIET)
		heard = link_listen(&agent.link, &said, &demand_changed);
	if (heard == LINK_CHOOSE) {
		choices = said.choices;
		chooses++;
	} else if (heard == LINK_ACT && said.msg.value < 32) {
		acts |= 1U << said.msg.value;
	}
	if (heard == LINK_CHOOSE || heard == LINK_ACT)
		heard = LINK_QUIET;
	if (heard != LINK_QUIET)
		atomic_store(&agent.active, false);
}

/* Losses first: while anything waits, whatever room there is would be gone before their turn. */
static bool catch_up(void)
{
	classes_flush();
	publish_losses();
	return publish_flush();
}

static bool has_room(void)
{
	return catch_up() && ring_free_bytes(agent.ring) >= agent.ring->size / 2;
}

/*
 * What the replay tells can be more than the ring holds, and it is told on this thread alone: so it waits for the
 * consumer, and the spill stays free for those who must not wait.
 */
void helper_pace(void)
{
	uint64_t since_ns, at;

	if (!helper_is_self() || has_room() || (stalled && ring_consumed(agent.ring) == stalled_at))
		return;
	stalled = false;
	at = ring_consumed(agent.ring);
	since_ns = clock_ns();
	while (!has_room() && atomic_load(&agent.active)) {
		link_wake(&agent.link);
		nap_ms(RETRY_MS);
		listen();
		if (ring_consumed(agent.ring) != at) {
			at = ring_consumed(agent.ring);
			since_ns = clock_ns();
		} else if (clock_ns() - since_ns > PACE_STALL_MS * 1000000ULL) {
			stalled = true;
			stalled_at = at;
			return;
		}
	}
}

static void generate(jvmtiEvent event, const char *what)
{
	jvmtiError err;

	if (!atomic_load(&agent.active))
		return;
	err = (*agent.jvmti)->GenerateEvents(agent.jvmti, event);
	if (err && atomic_load(&agent.active))
		publish_notice(BRAID_NOTICE_WARNING,
			       "the JVM does not tell of its %s (JVM TI error %d): what is older "
			       "than this recording has no names",
			       what, err);
}

static void replay(JNIEnv *jni)
{
	uint32_t classes = loads_count();
	struct braid_rec_replayed r = {0};

	threads_tell(jni, false);
	generate(JVMTI_EVENT_DYNAMIC_CODE_GENERATED, "stubs");
	if (caps_has(CAP_COMPILED_METHOD_LOAD))
		generate(JVMTI_EVENT_COMPILED_METHOD_LOAD, "compiled code");
	if (!agent_enter())
		return;
	record_init(&r.hdr, BRAID_REC_REPLAYED, 0);
	r.methods = methods_count();
	r.code_loads = atomic_load(&agent.code_loads);
	r.stubs = atomic_load(&agent.stubs);
	r.threads = atomic_load(&agent.threads);
	r.classes = classes;
	r.took_ns = clock_ns() - agent.joined_ns;
	publish_definition((struct iovec[]){PART(&r, sizeof(r))}, 1);
	agent_leave();
}

static void wait_for_news(bool waiting)
{
	struct pollfd p[2] = {{.fd = agent.link.sock_fd, .events = POLLIN}, {.fd = kick_fd, .events = POLLIN}};
	uint64_t count;

	if (poll(p, 2, waiting ? RETRY_MS : IDLE_MS) > 0 && p[1].revents & POLLIN)
		(void)!read(kick_fd, &count, sizeof(count));
}

static void do_as_told(JNIEnv *jni)
{
	if (!agent_enter())
		return;
	if (demand_changed)
		demand_start();
	demand_changed = false;
	if (chooses)
		chosen_change(&choices);
	for (; chooses; chooses--)
		link_chosen(&agent.link, caps_can(choices.wanted));
	if (atomic_exchange(&dump_requested, false)) {
		publish_notice(BRAID_NOTICE_INFO, "SIGQUIT: what is told at the end is told now, too");
		acts |= 1U << BRAID_ACT_DUMP;
	}
	for (uint32_t act = 0; acts; act++, acts >>= 1)
		if (acts & 1)
			chosen_act(jni, (enum braid_act)act);
	agent_leave();
}

void JNICALL helper_on_dump_request(jvmtiEnv *env)
{
	(void)env;
	if (!agent_enter())
		return;
	atomic_store(&dump_requested, true);
	helper_kick();
	agent_leave();
}

static void serve(JNIEnv *jni)
{
	uint64_t ticked_ns = clock_ns();
	bool waiting, soon;

	while (heard == LINK_QUIET && !atomic_load(&agent.dead)) {
		atomic_store(&kicked, false);
		soon = vthreads_resolve(jni);
		do_as_told(jni);
		if (clock_ns() - ticked_ns >= TICK_NS) {
			ticked_ns = clock_ns();
			chosen_tick(jni);
		}
		waiting = !catch_up();
		if (waiting)
			link_wake(&agent.link);
		wait_for_news(waiting || soon);
		listen();
	}
}

/* Handlers publish nothing any more, and the collector waits for the word that this is all. */
static void last_words(JNIEnv *jni)
{
	uint64_t until_ns = clock_ns() + LAST_WORDS_MS * 1000000ULL;

	chosen_last_words(jni);
	while (!catch_up() && clock_ns() < until_ns && !link_is_gone(&agent.link)) {
		link_wake(&agent.link);
		nap_ms(RETRY_MS);
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
	link_chosen(&agent.link, caps_can(agent.link.choices.wanted));
	replay(jni);
	serve(jni);
	if (heard == LINK_STOP && !atomic_load(&agent.dead))
		last_words(jni);
	agent_disconnect(heard == LINK_STOP);
}

/* JNI calls one after the other: an exception of any of them ends it, and is taken away. */
static jobject thread_new(JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
	jmethodID init = NULL;
	jstring name = NULL;
	jobject thread = NULL;

	if (class && !(*jni)->ExceptionCheck(jni))
		init = (*jni)->GetMethodID(jni, class, "<init>", "(Ljava/lang/String;)V");
	if (init && !(*jni)->ExceptionCheck(jni))
		name = (*jni)->NewStringUTF(jni, THREAD_NAME);
	if (name && !(*jni)->ExceptionCheck(jni))
		thread = (*jni)->NewObject(jni, class, init, name);
	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		thread = NULL;
	}
	return thread;
}

bool helper_start(JNIEnv *jni)
{
	jobject thread;
	bool ok;

	if ((*jni)->PushLocalFrame(jni, 16)) {
		(*jni)->ExceptionClear(jni);
		return false;
	}
	thread = thread_new(jni);
	ok = thread &&
	     (*agent.jvmti)->RunAgentThread(agent.jvmti, thread, helper_main, NULL, JVMTI_THREAD_NORM_PRIORITY) ==
		     JVMTI_ERROR_NONE;
	if (!ok)
		atomic_store(&agent.helped, false);
	(*jni)->PopLocalFrame(jni, NULL);
	return ok;
}
