// SPDX-License-Identifier: Apache-2.0
/* See publish.h. A record that finds no room in the ring spills into a list, which the helper flushes in order. */
#include "publish.h"

#include "helper.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Flushing releases the mutex after this many records, for the handlers that wait for it. */
#define FLUSH_BATCH 64
#define NOTICE_MAX 512

struct spilled {
	struct spilled *next;
	size_t size;
	_Alignas(struct braid_rec) uint8_t record[];
};

static struct {
	struct ring *ring;
	const struct link *link;

	/* `waiting` is read without the mutex; it falls to 0 only after the last record is in the ring. */
	_Atomic uint32_t waiting;
	_Atomic uint32_t recoveries;
	pthread_mutex_t mutex;
	struct spilled *first;
	struct spilled **last;
	uint64_t bytes;
	uint64_t max_bytes;
} out = {.mutex = PTHREAD_MUTEX_INITIALIZER, .last = &out.first};

uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

uint32_t self_tid(void)
{
	static __thread uint32_t tid;

	if (!tid)
		tid = (uint32_t)syscall(SYS_gettid);
	return tid;
}

void record_init(struct braid_rec *hdr, uint16_t kind, uint16_t flags)
{
	*hdr = (struct braid_rec){.kind = kind, .flags = flags, .tid = self_tid(), .time_ns = clock_ns()};
}

static void spill_clear(bool count)
{
	pthread_mutex_lock(&out.mutex);
	while (out.first) {
		struct spilled *s = out.first;

		if (count)
			publish_lost(((const struct braid_rec *)(const void *)s->record)->kind, 1);
		out.first = s->next;
		free(s);
	}
	out.last = &out.first;
	out.bytes = 0;
	atomic_store(&out.waiting, 0);
	pthread_mutex_unlock(&out.mutex);
}

void publish_start(struct ring *ring, const struct link *link, uint64_t spill_max_bytes)
{
	spill_clear(false); /* a connection whose handlers never returned may have left records */
	out.ring = ring;
	out.link = link;
	out.max_bytes = spill_max_bytes;
}

void publish_end(void)
{
	spill_clear(false);
	out.ring = NULL;
	out.link = NULL;
}

/* Returns the record's size, or 0 when it exceeds BRAID_REC_MAX. */
static size_t record_close(const struct iovec *parts, int count)
{
	struct braid_rec *hdr = parts[0].iov_base;
	size_t size = 0;

	for (int i = 0; i < count; i++)
		size += parts[i].iov_len;
	if (size > BRAID_REC_MAX)
		return 0;
	hdr->size = (uint32_t)size;
	return size;
}

static bool into_ring(const struct iovec *parts, int count)
{
	bool wake;
	bool ok = ring_publish(out.ring, parts, count, &wake);

	if (wake)
		link_wake(out.link);
	return ok;
}

bool publish_direct(const struct iovec *parts, int count)
{
	return record_close(parts, count) && into_ring(parts, count);
}

bool publish_event(const struct iovec *parts, int count)
{
	if (publish_direct(parts, count))
		return true;
	publish_lost(((const struct braid_rec *)parts[0].iov_base)->kind, 1);
	return false;
}

void publish_lost(uint32_t kind, uint32_t count)
{
	if (out.ring)
		ring_lost_add(out.ring, kind, count);
}

static bool spill(const struct iovec *parts, int count, size_t size)
{
	struct spilled *s = malloc(sizeof(*s) + size);
	uint8_t *to;
	bool fits = false;

	if (!s)
		return false;
	s->next = NULL;
	s->size = size;
	to = s->record;
	for (int i = 0; i < count; i++) {
		if (parts[i].iov_len)
			memcpy(to, parts[i].iov_base, parts[i].iov_len);
		to += parts[i].iov_len;
	}

	pthread_mutex_lock(&out.mutex);
	if (out.bytes + sizeof(*s) + size <= out.max_bytes) {
		fits = true;
		*out.last = s;
		out.last = &s->next;
		out.bytes += sizeof(*s) + size;
		atomic_fetch_add(&out.waiting, 1);
	}
	pthread_mutex_unlock(&out.mutex);
	if (fits)
		helper_kick();
	else
		free(s);
	return fits;
}

bool publish_definition(const struct iovec *parts, int count)
{
	size_t size = record_close(parts, count);

	/* While a record waits, all others queue behind it: a record must not overtake the definitions that it uses. */
	if (size && !atomic_load(&out.waiting) && into_ring(parts, count))
		return true;
	if (size && spill(parts, count, size))
		return true;
	publish_lost(((const struct braid_rec *)parts[0].iov_base)->kind, 1);
	return false;
}

bool publish_flush(void)
{
	bool room = true;

	while (room && atomic_load(&out.waiting)) {
		pthread_mutex_lock(&out.mutex);
		for (int i = 0; i < FLUSH_BATCH && out.first; i++) {
			struct spilled *s = out.first;

			/* An eighth of the ring stays free for events, which cannot wait. */
			room = ring_free_bytes(out.ring) >= out.ring->size / 8 &&
			       into_ring(&PART(s->record, s->size), 1);
			if (!room)
				break;
			out.first = s->next;
			if (!out.first)
				out.last = &out.first;
			out.bytes -= sizeof(*s) + s->size;
			free(s);
			if (atomic_fetch_sub(&out.waiting, 1) == 1)
				atomic_fetch_add(&out.recoveries, 1);
		}
		pthread_mutex_unlock(&out.mutex);
	}
	return room;
}

uint32_t publish_recoveries(void)
{
	return atomic_load(&out.recoveries);
}

void publish_abandon(void)
{
	spill_clear(true);
}

bool publish_losses(void)
{
	struct braid_rec_loss r = {.count = 0};
	struct braid_loss lost[BRAID_REC_KINDS];

	for (uint32_t kind = 0; kind < BRAID_REC_KINDS; kind++) {
		uint32_t n = ring_lost_take(out.ring, kind);

		if (n)
			lost[r.count++] = (struct braid_loss){.kind = kind, .lost = n};
	}
	if (!r.count)
		return true;
	record_init(&r.hdr, BRAID_REC_LOSS, 0);
	if (publish_direct((struct iovec[]){PART(&r, sizeof(r)), PART(lost, r.count * sizeof(lost[0]))}, 2))
		return true;
	for (uint32_t i = 0; i < r.count; i++)
		publish_lost(lost[i].kind, lost[i].lost);
	return false;
}

void publish_notice(enum braid_severity severity, const char *fmt, ...)
{
	struct braid_rec_notice r = {.severity = (uint16_t)severity};
	char text[NOTICE_MAX];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (n < 0)
		return;
	if (n >= (int)sizeof(text))
		n = (int)sizeof(text) - 1;
	agent_log("%s", text);
	if (!out.ring)
		return;
	record_init(&r.hdr, BRAID_REC_NOTICE, 0);
	r.text_len = (uint16_t)n;
	publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(text, (size_t)n)}, 2);
}

uint16_t string_cut(const char *s, uint16_t *flags)
{
	size_t length = s ? strlen(s) : 0;

	if (length <= BRAID_STR_MAX)
		return (uint16_t)length;
	*flags |= BRAID_REC_TRUNCATED;
	return BRAID_STR_MAX;
}

bool publish_wait(uint32_t *turns, uint32_t limit_ms)
{
	const struct timespec step = {.tv_nsec = 1000000};

	if (++*turns > limit_ms || link_is_closed(&agent.link))
		return false;
	link_wake(&agent.link);
	nanosleep(&step, NULL);
	return true;
}

void publish_let_read(uint32_t limit_ms)
{
	uint64_t until = ring_produced(agent.ring);
	uint32_t turns = 0;

	while ((int64_t)(until - ring_consumed(agent.ring)) > 0 && publish_wait(&turns, limit_ms))
		;
}
