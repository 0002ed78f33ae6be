// SPDX-License-Identifier: Apache-2.0
#include "spans.h"

#include "contexts.h"
#include "resources.h"
#include "sink/records.h"
#include "util/kept_map.h"
#include "util/utf8.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct spans {
	struct sink *sink;
	struct kernel_side *kernel;
	struct names *names;
	struct resources *resources;
	struct kept_map ids;	    /* by key and process */
	struct kept_map attributes; /* by a hash of key and bytes, and process: those that are in the trace */
	uint32_t last;
};

/* ---- attributes whose keys were not known when they came ---- */

static void keep_late(struct spans *s, struct process *process, const struct late_attribute *a)
{
	if (!account_reserve(&process->account, s->sink, BUDGET_LATE_ATTRIBUTES, 1))
		return;
	if (!VEC_PUSH(&process->late_attributes, *a))
		return;
	account_release(&process->account, BUDGET_LATE_ATTRIBUTES, 1);
	sink_loss(s->sink, process->id, "collector", "attribute", 1);
}

/* Adds those whose keys have been read by now; the others wait on. */
static void add_late(void *ctx, struct process *process)
{
	struct spans *s = ctx;
	size_t left = 0;

	for (size_t i = 0; i < process->late_attributes.count; i++) {
		struct late_attribute a = process->late_attributes.at[i];
		uint32_t key = resources_known_key(process, a.index);

		if (key)
			sink_attribute(s->sink,
				       &(struct trace_attribute){.span = a.span, .key = key, .value = a.value});
		else
			process->late_attributes.at[left++] = a;
	}
	account_release(&process->account, BUDGET_LATE_ATTRIBUTES, process->late_attributes.count - left);
	process->late_attributes.count = left;
}

void spans_forget(struct spans *s, struct process *process)
{
	size_t count = process->late_attributes.count;

	if (count && !process->ended_ns) /* the last time to look */
		(void)resources_key(s->resources, process, process->late_attributes.at[0].index);
	count = process->late_attributes.count;
	if (!count)
		return;
	sink_loss(s->sink, process->id, "collector", "attribute", count);
	account_release(&process->account, BUDGET_LATE_ATTRIBUTES, count);
	process->late_attributes.count = 0;
}

int spans_new(struct spans **out, struct sink *sink, struct kernel_side *kernel, struct names *names,
	      struct resources *resources)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->sink = sink;
	(*out)->kernel = kernel;
	(*out)->names = names;
	(*out)->resources = resources;
	resources_hook(resources, add_late, *out);
	return 0;
}

void spans_free(struct spans *s)
{
	if (!s)
		return;
	kept_map_free(&s->ids);
	kept_map_free(&s->attributes);
	free(s);
}

/* A span not hit since the last renewal is sent again, and gets a new id, when it returns. */
static void renew(struct spans *s)
{
	kept_renew(&s->ids);
	kernel_side_forget_spans(s->kernel);
}

static uint64_t number_of(const uint8_t bytes[8])
{
	uint64_t n;

	memcpy(&n, bytes, sizeof(n));
	return be64toh(n);
}

/* Defines the span, unless it is defined. Its id; 0: there are too many. */
static uint32_t define(struct spans *s, struct process *process, const struct braid_event_span *e)
{
	uint32_t id = kept_find(&s->ids, e->key, process->id);

	if (id || !account_has(&process->account, s->sink, BUDGET_SPANS, 1))
		return id;
	account_spend(&process->account, BUDGET_SPANS, 1);
	if (kept_is_full(&s->ids))
		renew(s);
	if (!kept_put(&s->ids, e->key, process->id, s->last + 1))
		return 0; /* its events are counted */
	sink_span(s->sink, &(struct trace_span){.span = ++s->last,
						.process = process->id,
						.trace_hi = number_of(e->trace),
						.trace_lo = number_of(e->trace + 8),
						.span_id = number_of(e->span)});
	return s->last;
}

/* ---- attributes ---- */

/* Whether these bytes are new of the span. */
static bool attributes_new(struct spans *s, struct process *process, const struct braid_event_span *e, uint32_t span,
			   size_t bytes)
{
	uint64_t hash = XXH3_64bits_withSeed(e + 1, bytes, e->key ^ span);

	if (kept_find(&s->attributes, hash, process->id) || !account_has(&process->account, s->sink, BUDGET_SPANS, 1))
		return false;
	account_spend(&process->account, BUDGET_SPANS, 1);
	if (kept_is_full(&s->attributes))
		kept_renew(&s->attributes);
	return kept_put(&s->attributes, hash, process->id, 1);
}

/* An attribute is the number of its key, its length, and its text. */
static void define_attributes(struct spans *s, struct process *process, uint32_t span, const uint8_t *at,
			      const uint8_t *end)
{
	struct trace_attribute to = {.span = span};
	char text[2 * UINT8_MAX];

	for (; end - at >= 2 && end - at - 2 >= at[1]; at += 2 + at[1]) {
		to.key = resources_key(s->resources, process, at[0]);
		utf8_printable(text, sizeof(text), at + 2, at[1]);
		to.value = names_id(s->names, &process->account, trace_str_of(text));
		if (to.value && to.key)
			sink_attribute(s->sink, &to);
		else if (to.value)
			keep_late(s, process, &(struct late_attribute){span, to.value, at[0]});
		else if (at[1])
			sink_loss(s->sink, process->id, "collector", "attribute", 1);
	}
}

uint32_t spans_seen(struct spans *s, struct process *process, const struct braid_event_span *e)
{
	size_t bytes = e->hdr.size - sizeof(*e);
	const uint8_t *at = (const uint8_t *)(e + 1);
	uint32_t span = define(s, process, e);

	if (!span || !e->attrs_size || !attributes_new(s, process, e, span, bytes))
		return span;
	define_attributes(s, process, span, at, at + bytes);
	if (bytes < e->attrs_size)
		sink_loss(s->sink, process->id, "bpf", "attribute", 1);
	return span;
}

uint32_t spans_of_thread(struct spans *s, struct process *process, uint64_t thread_pointer)
{
	struct {
		struct braid_event_span event;
		uint8_t attributes[BRAID_CONTEXT_ATTRIBUTES];
	} e = {0};
	struct context_of_thread c;

	if (!context_read(process, thread_pointer, &c))
		return 0;
	e.event = (struct braid_event_span){.hdr = {.size = (uint32_t)(sizeof(e.event) + c.attribute_bytes)},
					    .key = braid_context_key(&c.record, (uint32_t)process->pid),
					    .pid = (uint32_t)process->pid,
					    .attrs_size = c.record.attrs_size};
	memcpy(e.event.trace, c.record.trace, sizeof(e.event.trace));
	memcpy(e.event.span, c.record.span, sizeof(e.event.span));
	memcpy(e.attributes, c.attributes, c.attribute_bytes);
	return e.event.key ? spans_seen(s, process, &e.event) : 0;
}

uint32_t spans_id(struct spans *s, const struct process *process, uint64_t key)
{
	uint32_t id = key ? kept_find(&s->ids, key, process->id) : 0;

	if (key && !id)
		sink_loss(s->sink, process->id, "collector", "span", 1);
	return id;
}
