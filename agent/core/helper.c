// SPDX-License-Identifier: Apache-2.0
/* How the helper wakes, receives messages and waits; see helper.h. loop.c has what it does. */
#include "helper.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define IDLE_MS 1000	   /* losses of events are reported this often */
#define RETRY_MS 1	   /* while a record waits for room */
#define PACE_STALL_MS 2000 /* a consumer that stands still for this long is not waited for until it moves */

static int kick_fd = -1;
static _Atomic jint own_hash; /* of the helper's Thread; 0: not known */
static _Atomic bool kicked;
static bool stalled;	    /* this and what follows: helper thread only */
static uint64_t stalled_at; /* consumer position */

struct received received;

bool helper_open(void)
{
	kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	atomic_store(&kicked, false);
	received = (struct received){.message = LINK_IDLE};
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

	/* EAGAIN means that the helper is awake already. */
	if (!atomic_exchange(&kicked, true) && kick_fd >= 0)
		(void)!write(kick_fd, &one, sizeof(one));
}

bool helper_is_self(void)
{
	return atomic_load_explicit(&agent.helper_tid, memory_order_relaxed) == self_tid();
}

jint helper_hash(jthread thread)
{
	jint hash;

	return (*agent.jvmti)->GetObjectHashCode(agent.jvmti, thread, &hash) == JVMTI_ERROR_NONE ? hash : 0;
}

void helper_own(jint hash)
{
	atomic_store(&own_hash, hash);
}

/* Compares hash codes: a reference would have to be deleted while handlers may be using it. */
bool helper_is_thread(jthread thread)
{
	jint own = atomic_load(&own_hash);

	return own && helper_hash(thread) == own;
}

void helper_nap_ms(long ms)
{
	const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

void helper_receive(void)
{
	struct braid_grant message = {0};

	if (received.message == LINK_IDLE && !received.commands) /* else what comes later would precede it */
		received.message = link_receive(&agent.link, &message, &received.program_changed);
	if (received.message == LINK_CONFIGURE) {
		received.config = message.config;
		received.configures++;
	} else if (received.message == LINK_COMMAND && message.msg.value < 32) {
		received.commands |= 1U << message.msg.value;
	}
	if (received.message == LINK_CONFIGURE || received.message == LINK_COMMAND)
		received.message = LINK_IDLE;
	if (received.message != LINK_IDLE)
		atomic_store(&agent.active, false);
}

/* Losses go first: spilled records would take all the room. */
bool helper_catch_up(void)
{
	publish_losses();
	return publish_flush();
}

static bool has_room(void)
{
	return helper_catch_up() && ring_free_bytes(agent.ring) >= agent.ring->size / 2;
}

/*
 * The replay may exceed the ring, and only this thread publishes it. It waits for the consumer, so the spill stays free
 * for handlers, which must not wait.
 */
void helper_pace(void)
{
	uint64_t since_ns, at;

	if (!helper_is_self() || has_room() || (stalled && ring_consumed(agent.ring) == stalled_at))
		return;
	stalled = false;
	at = ring_consumed(agent.ring);
	since_ns = clock_ns();
	while (!has_room() && atomic_load(&agent.active) && !atomic_load(&agent.ending)) {
		link_wake(&agent.link);
		helper_nap_ms(RETRY_MS);
		helper_receive();
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

void helper_busy(void)
{
	atomic_store(&kicked, false);
}

void helper_wait(bool soon)
{
	struct pollfd p[2] = {{.fd = agent.link.sock_fd, .events = POLLIN}, {.fd = kick_fd, .events = POLLIN}};
	uint64_t count;

	if (poll(p, 2, soon ? RETRY_MS : IDLE_MS) > 0 && p[1].revents & POLLIN)
		(void)!read(kick_fd, &count, sizeof(count));
}
