// SPDX-License-Identifier: Apache-2.0
#include "parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <util/clock.h>
#include <util/log.h>

#define SECOND_NS 1000000000ULL
#define WANTED_NS (10 * SECOND_NS) /* who looks asks more often */
#define KEPT_NS (60 * SECOND_NS)   /* without being looked at */
#define QUIET_NS (3 * SECOND_NS)   /* a recording writes more often */
#define PAUSE_NS SECOND_NS	   /* after making, at least */
#define PAUSE_TIMES 9		   /* as long as making took */

/* ---- data ---- */

static struct shared_data *shared_data_of(int fd)
{
	struct shared_data *d = calloc(1, sizeof(*d));
	struct stat st;
	void *at;

	if (!d || fstat(fd, &st) || st.st_size <= 0)
		goto failed;
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		goto failed;
	*d = (struct shared_data){.refs = 1, .at = at, .bytes = (size_t)st.st_size};
	return d;
failed:
	free(d);
	return NULL;
}

struct shared_data *shared_data_hold(struct shared_data *d)
{
	d->refs++;
	return d;
}

void shared_data_release(struct shared_data *d)
{
	if (!d || --d->refs)
		return;
	munmap((void *)(uintptr_t)d->at, d->bytes);
	free(d);
}

/* ---- the trace ---- */

/* A lock says whether somebody writes; it is asked for only when nothing has come for a while. */
static void look_at_trace(struct parts *p, uint64_t now)
{
	struct stat st;

	if (fstat(p->options->trace_fd, &st))
		return;
	if ((uint64_t)st.st_size != p->bytes) {
		p->bytes = (uint64_t)st.st_size;
		p->grown_ns = now;
	} else if (!p->over && now - p->grown_ns > QUIET_NS) {
		p->over = !trace_reader_grows(p->options->reader);
	}
}

/* ---- making ---- */

uint64_t parts_last_ns(const struct parts *p, unsigned part)
{
	uint64_t last_ns = part_seconds[part] * SECOND_NS, most_ns = p->options->window_ns;

	if (!most_ns && p->bytes > WHOLE_BYTES)
		most_ns = WINDOW_NS;
	return most_ns && (!last_ns || most_ns < last_ns) ? most_ns : last_ns;
}

static void drop(struct part *part)
{
	shared_data_release(part->data);
	*part = (struct part){0};
}

static void take(struct parts *p, uint64_t now)
{
	struct part *part = &p->list[p->making];
	struct maker_result result;
	int fd;

	if (!maker_ended(&p->maker, &fd, &result))
		return;
	p->pause_until_ns = now + result.cpu_ns * PAUSE_TIMES;
	if (p->pause_until_ns < now + PAUSE_NS)
		p->pause_until_ns = now + PAUSE_NS;
	part->err = result.err;
	if (!result.err) {
		struct shared_data *data = shared_data_of(fd);

		close(fd);
		part->err = data ? 0 : -ENOMEM;
		if (data) {
			shared_data_release(part->data);
			part->data = data;
			part->facts = result.facts;
			part->generation = p->generation;
			p->end_ns = result.facts.end_ns;
			p->over = p->over || result.facts.ended;
		}
	}
	log_debug("the page's data: %s; %" PRIu64 " ms, %" PRIu64 " MiB, %zu bytes",
		  part->err ? strerror(-part->err) : "made", result.cpu_ns / 1000000, result.memory_bytes >> 20,
		  part->data ? part->data->bytes : 0);
}

static void make(struct parts *p, unsigned number)
{
	struct part *part = &p->list[number];
	const struct data_request request = {.reader = p->options->reader,
					     .title = p->options->title,
					     .source_link = p->options->source_link,
					     .last_ns = parts_last_ns(p, number),
					     .known_end_ns = p->end_ns,
					     .live = {.generation = ++p->generation, .growing = !p->over}};

	p->making = number;
	part->trace_bytes = p->bytes;
	part->growing = !p->over;
	part->err = maker_start(&p->maker, &request);
}

static bool is_due(const struct parts *p, const struct part *part, uint64_t now)
{
	if (!part->wanted || now - part->wanted_ns > WANTED_NS)
		return false;
	if (!part->data && !part->err)
		return true;
	return (part->trace_bytes != p->bytes || part->growing != !p->over) && now >= p->pause_until_ns;
}

void parts_tick(struct parts *p)
{
	uint64_t now = now_ns();

	take(p, now);
	look_at_trace(p, now);
	if (p->maker.pid)
		return;
	for (unsigned i = 1; i < PARTS; i++) /* the whole is always kept */
		if (p->list[i].wanted && now - p->list[i].wanted_ns > KEPT_NS)
			drop(&p->list[i]);
	for (unsigned i = 1; i <= PARTS && !p->maker.pid; i++) {
		unsigned number = (p->making + i) % PARTS; /* in turn */

		if (is_due(p, &p->list[number], now))
			make(p, number);
	}
}

void parts_want(struct parts *p, unsigned part)
{
	p->list[part].wanted = true;
	p->list[part].wanted_ns = now_ns();
}

int parts_open(struct parts *p, const struct parts_options *options)
{
	*p = (struct parts){.options = options, .grown_ns = now_ns(), .over = !trace_reader_grows(options->reader)};
	return maker_open(&p->maker);
}

void parts_close(struct parts *p)
{
	maker_close(&p->maker);
	for (unsigned i = 0; i < PARTS; i++)
		drop(&p->list[i]);
}
