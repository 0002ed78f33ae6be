// SPDX-License-Identifier: Apache-2.0
#include "link.h"

#include "proc/procfs.h"

#include "jvm/jvm.h"
#include "kernel/kernel_side.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES (1U << 20)
#define PART_BYTES (64U << 10)
#define RECORD_BYTES 128
#define TURN_NS 20000000ULL
#define LAST_NS 1000000000ULL
#define WAKE_AGAIN_NS 50000000ULL
#define STOP_WAIT_NS 1000000000ULL
#define HEAP_WAIT_NS 5000000000ULL	/* at most, for histograms of the heap at the end */
#define METHODS_WAIT_NS 120000000000ULL /* for classes that are put back */

/* The first two pages of a user ring buffer: the kernel writes the first, the JVM the second. */
#define POSITIONS_PAGE 4096
struct ring_positions {
	uint64_t consumer;
	uint8_t unused[POSITIONS_PAGE - sizeof(uint64_t)];
	uint64_t producer;
};

static const struct ring_positions *positions_map(int ring_fd)
{
	void *p = mmap(NULL, sizeof(struct ring_positions), PROT_READ, MAP_SHARED, ring_fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void positions_unmap(const struct ring_positions *p)
{
	if (p)
		munmap((void *)p, sizeof(*p));
}

/* Only this thread has the ring read, so the consumer's position does not change. */
static bool claims_too_much(const struct ring_positions *p)
{
	return __atomic_load_n(&p->producer, __ATOMIC_ACQUIRE) - __atomic_load_n(&p->consumer, __ATOMIC_ACQUIRE) >
	       RING_BYTES;
}

void link_close(struct link *l)
{
	const struct agents_env *env = l ? l->env : NULL;

	if (!l)
		return;
	if (l->connection.fd >= 0) {
		source_unwatch(env->sources, &l->connection);
		close(l->connection.fd);
		l->connection.fd = -1;
	}
	if (l->wake.fd >= 0) {
		source_unwatch(env->sources, &l->wake);
		close(l->wake.fd);
		l->wake.fd = -1;
	}
	if (l->ring_fd >= 0) {
		kernel_side_remove_ring(env->jvms->kernel, jvm_slot(l->jvm));
		positions_unmap(l->positions);
		l->positions = NULL;
		close(l->ring_fd);
		l->ring_fd = -1;
		l->behind = false;
		jvm_left(l->jvm);
	}
}

static void on_record(void *ctx, const struct braid_event *e)
{
	struct link *l = ctx;
	const struct braid_event_agent *a = (const void *)e;
	const struct braid_rec *rec = (const void *)(a + 1);

	if (e->kind != BRAID_EVENT_AGENT || e->size < sizeof(*a) + sizeof(*rec) || a->slot != jvm_slot(l->jvm) ||
	    a->generation != jvm_generation(l->jvm))
		return;
	jvm_record(l->jvm, rec, e->size - sizeof(*a));
}

/* For differences between two readings on one thread. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static bool holds_something(const struct ring_positions *p)
{
	return __atomic_load_n(&p->producer, __ATOMIC_ACQUIRE) != __atomic_load_n(&p->consumer, __ATOMIC_ACQUIRE);
}

/* Whether to read the ring now. A ring put off, which is counted once, keeps its records. */
static bool may_read(struct link *l)
{
	struct account *a = &l->process->account;
	uint64_t n = !l->put_off;

	if (!holds_something(l->positions))
		return false;
	l->put_off = !account_has(a, l->env->jvms->sink, BUDGET_RING_BYTES, n) ||
		     !account_has(a, l->env->jvms->sink, BUDGET_RING_TIME, n);
	return !l->put_off;
}

/* Reads at most one ring's size, part by part, while CPU time is left. */
static int read_ring(struct link *l, uint64_t most_ns, struct braid_drain *d)
{
	struct account *a = &l->process->account;
	uint64_t began = cpu_ns(), bytes = 0;
	int err;

	do {
		d->budget = PART_BYTES;
		err = kernel_side_drain(l->env->jvms->kernel, jvm_slot(l->jvm), on_record, l, d);
		bytes += PART_BYTES - d->budget;
	} while (!err && d->more && bytes < RING_BYTES && cpu_ns() - began < most_ns);
	account_spend(a, BUDGET_RING_TIME, cpu_ns() - began);
	/* A record counts as at least RECORD_BYTES, since each takes time. */
	account_spend(a, BUDGET_RING_BYTES, bytes > d->records * RECORD_BYTES ? bytes : d->records * RECORD_BYTES);
	return err;
}

static void drain(struct link *l, uint64_t most_ns)
{
	const struct agents_env *env = l->env;
	struct braid_drain d = {0};
	bool overfull;
	int err = read_ring(l, most_ns, &d);

	if (d.lost)
		sink_loss(env->jvms->sink, l->process->id, "ring", "record", d.lost);
	if (d.bad)
		sink_loss(env->jvms->sink, l->process->id, "ring", "bad_record", d.bad);
	l->behind = d.more;
	overfull = claims_too_much(l->positions);
	if ((!overfull && (!err || err == -EBUSY)) || l->damage_reported)
		return;
	l->damage_reported = true; /* the JVM has overwritten its ring: nothing after this can be read */
	account_notice(&l->process->account, env->jvms->sink, BRAID_NOTICE_WARNING,
		       "the ring of process %d is damaged (%s): its agent is stopped", l->process->pid,
		       overfull ? "it claims to hold more than its size" : strerror(-err));
	sink_loss(env->jvms->sink, l->process->id, "ring", "damaged", 1);
	l->stopped = true;
}

void link_drain(struct link *l)
{
	if (l->ring_fd < 0)
		return;
	if (may_read(l))
		drain(l, TURN_NS);
	else
		l->behind = false; /* others have their turn until its budget has room again */
}

void link_drain_last(struct link *l)
{
	if (l->ring_fd >= 0)
		drain(l, LAST_NS);
}

static void on_wake(struct source *src)
{
	struct link *l = src->ctx;
	const struct agents_env *env = l->env;
	struct account *a = &l->process->account;

	account_spend(a, BUDGET_WAKES, 1);
	if (!account_has(a, env->jvms->sink, BUDGET_WAKES, 1)) {
		source_unwatch(env->sources, src);
		l->asleep_ns = now_ns();
		return;
	}
	/*
	 * A JVM that ends waits until its ring is read. Its samples are read first, while its names are still there.
	 * An agent that was attached first reports what walks need, and many samples may have been taken before.
	 */
	if (l->attached && !jvm_replayed(l->jvm))
		link_drain(l);
	env->read_events(env->ctx);
	link_drain(l);
}

static void on_connection(struct source *src)
{
	struct link *l = src->ctx;
	struct account *a = &l->process->account;
	struct braid_msg msg;
	ssize_t n = recv(src->fd, &msg, sizeof(msg), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	account_spend(a, BUDGET_MESSAGES, 1);
	if (account_has(a, l->env->jvms->sink, BUDGET_MESSAGES, 1) && n == sizeof(msg) &&
	    msg.magic == BRAID_SOCK_MAGIC && msg.kind != BRAID_MSG_STOPPED) {
		if (msg.kind == BRAID_MSG_CONFIGURED) {
			l->held = (uint32_t)msg.value;
			l->unanswered -= l->unanswered > 0;
		}
		return;
	}
	link_drain_last(l); /* the final records */
	l->stopped = true;
	link_close(l);
}

/* Sends a message with file descriptors. */
static int send_with(const struct link *l, const struct braid_grant *grant, const int *fds, size_t count)
{
	struct iovec iov = {.iov_base = (void *)grant, .iov_len = sizeof(*grant)};
	size_t bytes = count * sizeof(*fds);
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(3 * sizeof(*fds))];
	} control = {0};
	struct msghdr h = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = CMSG_SPACE(bytes)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(c), fds, bytes);
	return sendmsg(l->connection.fd, &h, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(*grant) ? 0 : -errno;
}

/* The grant includes the program that agents run, if it is loaded. Without it, their events have no stacks. */
int link_grant(struct link *l)
{
	struct braid_grant grant = {.msg = {.magic = BRAID_SOCK_MAGIC,
					    .version = BRAID_RING_VERSION,
					    .kind = BRAID_MSG_GRANT,
					    .value = RING_BYTES},
				    .config = l->config};
	int fds[3] = {l->ring_fd, l->wake.fd, kernel_side_stack_request(l->env->jvms->kernel)};

	l->stack_request_fd = fds[2];
	return send_with(l, &grant, fds, fds[2] >= 0 ? 3 : 2);
}

int link_open(struct link **out, const struct agents_env *env, struct process *process, int fd)
{
	struct link *l = calloc(1, sizeof(*l));
	bool first = process->jvm && !jvm_had_agent(process->jvm);
	int err;

	*out = NULL;
	if (!l)
		return -ENOMEM;
	*l = (struct link){
		.env = env, .process = process, .since_ns = now_ns(), .config = env->jvms->config, .unanswered = 1};
	l->connection = (struct source){.fd = fd, .ready = on_connection, .ctx = l};
	l->wake = (struct source){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .ready = on_wake, .ctx = l};
	l->ring_fd = bpf_map_create(BPF_MAP_TYPE_USER_RINGBUF, "braid_ring", 0, 0, RING_BYTES, NULL);
	l->positions = l->ring_fd < 0 ? NULL : positions_map(l->ring_fd);
	if (l->wake.fd < 0 || !l->positions) {
		err = -errno;
		goto out;
	}
	l->jvm = process->jvm;
	err = first ? 0 : jvm_open(&l->jvm, env->jvms, process);
	if (err)
		goto out;
	kernel_side_configure(env->jvms->kernel, jvm_slot(l->jvm), &l->config);
	err = kernel_side_add_ring(env->jvms->kernel, jvm_slot(l->jvm), l->ring_fd);
	if (!err) {
		*out = l;
		return 0;
	}
	kernel_side_remove_ring(env->jvms->kernel, jvm_slot(l->jvm));
	if (!first)
		jvm_free(l->jvm);
out:
	positions_unmap(l->positions);
	if (l->wake.fd >= 0)
		close(l->wake.fd);
	if (l->ring_fd >= 0)
		close(l->ring_fd);
	free(l);
	return err;
}

int link_watch(struct link *l)
{
	int err = source_watch(l->env->sources, &l->connection);

	/* edge-triggered, since the JVM has a copy of the descriptor */
	return err ?: source_watch_edges(l->env->sources, &l->wake);
}

void link_tick(struct link *l)
{
	if (!l->asleep_ns || l->wake.fd < 0 || now_ns() - l->asleep_ns < WAKE_AGAIN_NS)
		return;
	l->asleep_ns = 0;
	(void)source_watch_edges(l->env->sources, &l->wake); /* if this fails, each tick reads the ring */
}

void link_free(struct link *l)
{
	link_close(l);
	free(l);
}

int link_configure(struct link *l, const struct braid_event_config *config)
{
	struct braid_grant g = {
		.msg = {.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_CONFIGURE},
		.config = *config};
	int stack_request_fd = kernel_side_stack_request(l->env->jvms->kernel), err;

	if (l->connection.fd < 0)
		return -ENOTCONN;
	for (size_t i = 0; i < BRAID_CONFIG_THREADS; i++)
		if (g.config.threads[i].tid)
			g.config.threads[i].tid = (__u32)procfs_ns_tid(l->process->pid, (pid_t)g.config.threads[i].tid);
	if (stack_request_fd == l->stack_request_fd)
		err = link_send(l, &g, sizeof(g));
	else /* the program was loaded meanwhile */
		err = send_with(l, &g, &stack_request_fd, 1);
	if (!err) {
		l->stack_request_fd = stack_request_fd;
		l->config = *config;
		kernel_side_configure(l->env->jvms->kernel, jvm_slot(l->jvm), config);
		l->unanswered++;
		jvm_configure(l->jvm, config->enabled);
	}
	return err;
}

int link_send(struct link *l, const void *message, size_t size)
{
	if (l->connection.fd < 0)
		return -ENOTCONN;
	return send(l->connection.fd, message, size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size ? 0 : -errno;
}

/* An agent takes the last histogram of the heap, and puts classes back that it has rewritten, before it answers. */
uint64_t link_stop_wait_ns(const struct link *l, bool hurried, uint32_t runnable)
{
	uint64_t ns = STOP_WAIT_NS, heap_ns = l->config.heap_max_pause_ns;

	if (hurried)
		return ns;
	ns *= runnable;
	if (l->config.enabled & BRAID_EVENT_TYPE(HEAP))
		ns += heap_ns < HEAP_WAIT_NS ? heap_ns : HEAP_WAIT_NS;
	if (l->config.enabled & l->held & BRAID_EVENT_TYPES_REWRITTEN)
		ns += METHODS_WAIT_NS;
	return ns;
}
