// SPDX-License-Identifier: Apache-2.0
#include "resources.h"

#include "process_context.h"
#include "hotspot/hotspot.h"
#include "proc/procfs.h"
#include "sink/records.h"
#include "util/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A process is looked at 100 ms after it was seen, then after ever longer times. A context that was found is looked at
 * each second: that is one read of its header. */
#define LOOK_MIN_NS 100000000ULL
#define LOOK_MAX_NS 64000000000ULL
#define LOOK_AGAIN_NS 1000000000ULL
/* One payload in this time is read because a key is wanted, and as many at once: a program adds keys as it starts. */
#define READ_NS 10000000ULL
#define READS_AT_ONCE 8
#define LOOKS 16	    /* at a tick */
#define ATTRIBUTES 64	    /* of a process; the others are counted */
#define TEXT_MAX 512	    /* bytes of a name or value; longer ones are cut */
#define TICK_NS 50000000ULL /* between two looks at which processes are due */
/*
 * Looking for the context takes as long as a process has mappings: a 64th of its time, and a tenth of a tick for all.
 */
#define SCAN_PART 64
#define SCANS_NS (TICK_NS / 10)

/* Of a process; made when it is first looked at. */
struct process_resource {
	uint64_t header; /* address; 0: not found */
	uint64_t published_ns;
	uint64_t look_ns, wait_ns;
	uint64_t scan_ns; /* when the mapping was last looked for */
	uint64_t scan_took_ns;
	uint64_t paid_ns; /* until when its time for payloads is used */
	bool refused;	  /* what it publishes, and that was counted */
	uint32_t keys[256];
};

struct resources {
	struct sink *sink;
	struct names *names;
	void (*read)(void *ctx, struct process *process); /* or NULL */
	void *ctx;
	uint64_t tick_ns;
	unsigned looks;	   /* left in this tick */
	uint64_t scans_ns; /* that its scans have taken */
	uint64_t now;
	uint8_t payload[PROCESS_CONTEXT_MAX];
	/* of the process whose payload is being read */
	struct process *process;
	unsigned attributes;
};

int resources_new(struct resources **out, struct sink *sink, struct names *names)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->sink = sink;
	(*out)->names = names;
	return 0;
}

void resources_free(struct resources *r)
{
	free(r);
}

/* ---- what it says ---- */

static uint32_t name_of(struct resources *r, struct context_text t)
{
	char text[TEXT_MAX];

	utf8_printable(text, sizeof(text), t.at, t.bytes);
	return names_id(r->names, &r->process->account, trace_str_of(text));
}

static void on_attribute(void *ctx, struct context_text key, struct context_text value)
{
	struct resources *r = ctx;
	struct trace_resource to = {.process = r->process->id};

	if (r->attributes++ >= ATTRIBUTES)
		return;
	to.key = name_of(r, key);
	to.value = name_of(r, value);
	if (to.key && to.value)
		sink_resource(r->sink, &to);
}

static void on_key(void *ctx, unsigned index, struct context_text name)
{
	struct resources *r = ctx;

	r->process->resource->keys[index] = name_of(r, name);
}

/* ---- reading ---- */

static void on_mapping(void *ctx, const struct mapping_fact *fact)
{
	uint64_t *address = ctx;

	if (!*address)
		*address = fact->start;
}

/* Where a mapping has the context's name: of its file, given by the process, or both. */
static uint64_t find_header(const struct process *process)
{
	static const char *const prefixes[] = {"[anon_shmem:" BRAID_PROCESS_CONTEXT, "[anon:" BRAID_PROCESS_CONTEXT,
					       "/memfd:" BRAID_PROCESS_CONTEXT, NULL};
	uint64_t address = 0;

	(void)procfs_named_mappings(process->pid, prefixes, on_mapping, &address);
	return address;
}

static bool may_scan(const struct resources *r, const struct process_resource *p)
{
	uint64_t pause_ns = SCAN_PART * p->scan_took_ns;

	return r->scans_ns < SCANS_NS && now_ns() >= p->scan_ns + (pause_ns > LOOK_MIN_NS ? pause_ns : LOOK_MIN_NS);
}

static void scan(struct resources *r, const struct process *process)
{
	struct process_resource *p = process->resource;

	p->scan_ns = now_ns();
	p->header = find_header(process);
	p->scan_took_ns = now_ns() - p->scan_ns;
	r->scans_ns += p->scan_took_ns;
}

/* 0: `h` and the payload belong together. -EAGAIN: it is being changed. -E2BIG: it is too large. */
static int read_whole(struct resources *r, const struct process *process, struct braid_process_context *h)
{
	struct braid_process_context again;
	pid_t pid = process->pid;
	uint64_t at = process->resource->header;

	if (hotspot_read_process(&pid, at, h, sizeof(*h)) || !process_context_is(h))
		return -ENOENT;
	if (!h->published_ns)
		return -EAGAIN;
	if (h->published_ns == process->resource->published_ns)
		return -EALREADY;
	if (h->payload_bytes > sizeof(r->payload))
		return -E2BIG;
	if (hotspot_read_process(&pid, h->payload, r->payload, h->payload_bytes) ||
	    hotspot_read_process(&pid, at, &again, sizeof(again)))
		return -ENOENT;
	return memcmp(&again, h, sizeof(again)) == 0 ? 0 : -EAGAIN;
}

static void refuse(struct resources *r, struct process *process)
{
	if (!process->resource->refused)
		sink_loss(r->sink, process->id, "collector", "process_context", 1);
	process->resource->refused = true;
}

static void read_context(struct resources *r, struct process *process)
{
	const struct process_context_reader reader = {.attribute = on_attribute, .key = on_key, .ctx = r};
	struct process_resource *p = process->resource;
	struct braid_process_context h;
	uint64_t now = now_ns();
	int err;

	if (!p->header && may_scan(r, p))
		scan(r, process);
	if (!p->header)
		return;
	err = read_whole(r, process, &h);
	if (err == -ENOENT) {
		p->header = p->published_ns = 0;
	} else if (!err || err == -E2BIG) {
		p->published_ns = h.published_ns;
		p->paid_ns = (p->paid_ns > now ? p->paid_ns : now) + READ_NS;
		r->process = process;
		r->attributes = 0;
		if (err || process_context_parse(r->payload, h.payload_bytes, &reader))
			refuse(r, process);
		if (r->attributes > ATTRIBUTES)
			sink_loss(r->sink, process->id, "collector", "resource", r->attributes - ATTRIBUTES);
		if (r->read)
			r->read(r->ctx, process);
	}
}

static bool has_state(struct process *process)
{
	if (!process->resource)
		process->resource = calloc(1, sizeof(*process->resource));
	return process->resource;
}

/* ---- when ---- */

static void look(void *ctx, struct process *process)
{
	struct resources *r = ctx;
	struct process_resource *p;

	if (process->ended_ns || !r->looks || !has_state(process))
		return;
	p = process->resource;
	if (!p->look_ns)
		p->look_ns = r->now + LOOK_MIN_NS;
	if (r->now < p->look_ns || (!p->header && !may_scan(r, p)))
		return;
	r->looks--;
	read_context(r, process);
	p->wait_ns = p->wait_ns ? 2 * p->wait_ns : LOOK_MIN_NS;
	if (p->header)
		p->wait_ns = LOOK_AGAIN_NS;
	else if (p->wait_ns > LOOK_MAX_NS)
		p->wait_ns = LOOK_MAX_NS;
	p->look_ns = r->now + p->wait_ns;
}

void resources_tick(struct resources *r, struct processes *p)
{
	r->now = now_ns();
	if (r->now < r->tick_ns)
		return;
	r->tick_ns = r->now + TICK_NS;
	r->looks = LOOKS;
	r->scans_ns = 0;
	processes_each(p, look, r);
}

/* Whether to look again because a key is wanted. That costs a read of the header, unless there is more to do. */
static bool may_look(const struct resources *r, const struct process_resource *p)
{
	return p->header ? now_ns() + (READS_AT_ONCE - 1) * READ_NS >= p->paid_ns : may_scan(r, p);
}

void resources_hook(struct resources *r, void (*read)(void *ctx, struct process *process), void *ctx)
{
	r->read = read;
	r->ctx = ctx;
}

uint32_t resources_known_key(const struct process *process, uint8_t index)
{
	return process->resource ? process->resource->keys[index] : 0;
}

uint32_t resources_key(struct resources *r, struct process *process, uint8_t index)
{
	if (!has_state(process))
		return 0;
	if (!process->resource->keys[index] && !process->ended_ns && may_look(r, process->resource))
		read_context(r, process);
	if (!process->resource->keys[index]) /* soon again */
		process->resource->wait_ns = process->resource->look_ns = 0;
	return process->resource->keys[index];
}
