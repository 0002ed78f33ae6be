// SPDX-License-Identifier: Apache-2.0
#include "recorder.h"

#include "fake_jvmti.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define HEADER_BYTES 8U
#define BUSY (1U << 31)
#define WAIT_MS 20000 /* for expected messages; a passing test never waits to the end */

jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved);

/* Maps the data twice in a row, as the agent does. */
static void ring_map(struct recorder *r)
{
	size_t positions = 2 * r->page, size = RECORDER_RING_BYTES;

	r->map = mmap(NULL, positions + 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(r->map, MAP_FAILED);
	ck_assert_ptr_ne(mmap(r->map, positions + size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, r->ring, 0),
			 MAP_FAILED);
	ck_assert_ptr_ne(
		mmap(r->map + positions + size, size, PROT_READ, MAP_SHARED | MAP_FIXED, r->ring, (off_t)positions),
		MAP_FAILED);
}

void recorder_open(struct recorder *r)
{
	static int count;
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	*r = (struct recorder){.fd = -1, .page = (size_t)sysconf(_SC_PAGESIZE)};
	snprintf(r->path, sizeof(r->path), "/tmp/braid-test-agent.%d.%d", (int)getpid(), ++count);
	memcpy(a.sun_path, r->path, sizeof(r->path));
	unlink(r->path); /* left by a test that failed in an earlier process with this number */
	r->listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(r->listening, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(r->listening, 4), 0);
	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->ring = memfd_create("ring", MFD_CLOEXEC);
	ck_assert_int_eq(ftruncate(r->ring, (off_t)(2 * r->page + RECORDER_RING_BYTES)), 0);
	ring_map(r);
}

void recorder_leave(struct recorder *r)
{
	close(r->fd);
	r->fd = -1;
}

void recorder_close(struct recorder *r)
{
	if (r->fd >= 0)
		close(r->fd);
	close(r->listening);
	close(r->wake);
	close(r->ring);
	munmap(r->map, 2 * r->page + 2 * RECORDER_RING_BYTES);
	unlink(r->path);
}

bool recorder_has_visitor(const struct recorder *r, int ms)
{
	struct pollfd p = {.fd = r->listening, .events = POLLIN};

	return poll(&p, 1, ms) > 0;
}

static struct braid_grant message(uint32_t kind, uint64_t value, const struct braid_event_config *c)
{
	return (struct braid_grant){
		.msg = {.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = kind, .value = value},
		.config = *c,
	};
}

void recorder_grant(struct recorder *r, const struct braid_event_config *config)
{
	struct braid_grant grant = message(BRAID_MSG_GRANT, RECORDER_RING_BYTES, config);
	struct iovec part = {.iov_base = &grant, .iov_len = sizeof(grant)};
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	struct msghdr h = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	ck_assert(recorder_has_visitor(r, WAIT_MS));
	r->fd = accept4(r->listening, NULL, NULL, SOCK_CLOEXEC);
	ck_assert_int_ge(r->fd, 0);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(c), (int[]){r->ring, r->wake}, 2 * sizeof(int));
	ck_assert_int_eq(sendmsg(r->fd, &h, MSG_NOSIGNAL), sizeof(grant));
}

bool recorder_hears(const struct recorder *r, uint32_t kind, uint64_t *value)
{
	struct pollfd p = {.fd = r->fd, .events = POLLIN};
	struct braid_msg m;

	do {
		ck_assert_msg(poll(&p, 1, WAIT_MS) > 0, "the agent sends no message");
		if (recv(r->fd, &m, sizeof(m), 0) != sizeof(m))
			return false;
	} while (m.kind != kind);
	if (value)
		*value = m.value;
	return true;
}

uint32_t recorder_choose(const struct recorder *r, const struct braid_event_config *c)
{
	struct braid_grant g = message(BRAID_MSG_CONFIGURE, 0, c);
	uint64_t answer = 0;

	ck_assert_int_eq(send(r->fd, &g, sizeof(g), MSG_NOSIGNAL), sizeof(g));
	ck_assert(recorder_hears(r, BRAID_MSG_CONFIGURED, &answer));
	return (uint32_t)answer;
}

void recorder_command(const struct recorder *r, enum braid_command command)
{
	struct braid_msg m = {
		.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_COMMAND, .value = command};

	ck_assert_int_eq(send(r->fd, &m, sizeof(m), MSG_NOSIGNAL), sizeof(m));
}

void recorder_stop(const struct recorder *r)
{
	struct braid_msg m = {.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_STOP};

	ck_assert_int_eq(send(r->fd, &m, sizeof(m), MSG_NOSIGNAL), sizeof(m));
	ck_assert(recorder_hears(r, BRAID_MSG_STOPPED, NULL));
	ck_assert(!recorder_hears(r, 0, NULL));
}

/* ---- reading ---- */

const struct braid_rec *recorder_read(struct recorder *r)
{
	_Atomic uint64_t *consumed = (void *)r->map, *produced = (void *)(r->map + r->page);
	const uint8_t *record = r->map + 2 * r->page + r->consumed % RECORDER_RING_BYTES;
	uint32_t size;

	/* The record read before is free only now: the test may have used it until here. */
	atomic_store(consumed, r->consumed);
	if (r->consumed == atomic_load(produced))
		return NULL;
	size = atomic_load((const _Atomic uint32_t *)(const void *)record);
	if (size & BUSY)
		return NULL; /* another thread is still writing it */
	r->consumed += (HEADER_BYTES + (uint64_t)size + 7) & ~7ULL;
	return (const void *)(record + HEADER_BYTES);
}

const void *recorder_find(struct recorder *r, uint16_t kind)
{
	const struct braid_rec *rec;

	while ((rec = recorder_read(r)))
		if (rec->kind == kind)
			return rec;
	return NULL;
}

uint32_t recorder_count(struct recorder *r, uint16_t kind)
{
	uint32_t count = 0;

	while (recorder_find(r, kind))
		count++;
	return count;
}

void recorder_skip(struct recorder *r)
{
	while (recorder_read(r))
		;
}

uint32_t recorder_notices(struct recorder *r, const char *words)
{
	const struct braid_rec_notice *n;
	uint32_t count = 0;

	while ((n = recorder_find(r, BRAID_REC_NOTICE)))
		count += memmem(n + 1, n->text_len, words, strlen(words)) != NULL;
	return count;
}

/* ---- loading ---- */

static void *load_run(void *arg)
{
	struct load *l = arg;
	jint (*entry)(JavaVM *, char *, void *) = l->start == BRAID_START_ONLOAD ? Agent_OnLoad : Agent_OnAttach;

	ck_assert_int_eq(entry(&fake_vm, l->options, NULL), JNI_OK);
	return NULL;
}

void load_begin(struct load *l, enum braid_start start, const struct recorder *r)
{
	l->start = start;
	snprintf(l->options, sizeof(l->options), "sock=%s,wait_ms=20000", r->path);
	ck_assert_int_eq(pthread_create(&l->thread, NULL, load_run, l), 0);
}

void load_end(struct load *l)
{
	pthread_join(l->thread, NULL);
}

void recorder_let_in(struct recorder *r, enum braid_start start, const struct braid_event_config *c)
{
	struct load l;

	load_begin(&l, start, r);
	recorder_grant(r, c);
	load_end(&l);
}

void recorder_begin(struct recorder *r, const struct braid_event_config *c)
{
	fake_jvm_start();
	recorder_open(r);
	recorder_let_in(r, BRAID_START_ONLOAD, c);
	fake.phase = JVMTI_PHASE_LIVE;
	recorder_skip(r);
}
