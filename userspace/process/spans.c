// SPDX-License-Identifier: Apache-2.0
#include "spans.h"

#include "sink/records.h"
#include "util/kept_map.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct spans {
	struct sink *sink;
	struct kernel_side *kernel;
	struct kept_map ids; /* by key and process */
	uint32_t last;
};

int spans_new(struct spans **out, struct sink *sink, struct kernel_side *kernel)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->sink = sink;
	(*out)->kernel = kernel;
	return 0;
}

void spans_free(struct spans *s)
{
	if (!s)
		return;
	kept_map_free(&s->ids);
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

void spans_seen(struct spans *s, struct process *process, const struct braid_event_span *e)
{
	if (kept_find(&s->ids, e->key, process->id) || !account_has(&process->account, s->sink, BUDGET_SPANS, 1))
		return;
	account_spend(&process->account, BUDGET_SPANS, 1);
	if (kept_is_full(&s->ids))
		renew(s);
	if (!kept_put(&s->ids, e->key, process->id, s->last + 1))
		return; /* its events are counted */
	sink_span(s->sink, &(struct trace_span){.span = ++s->last,
						.process = process->id,
						.trace_hi = number_of(e->trace),
						.trace_lo = number_of(e->trace + 8),
						.span_id = number_of(e->span)});
}

uint32_t spans_id(struct spans *s, const struct process *process, uint64_t key)
{
	uint32_t id = key ? kept_find(&s->ids, key, process->id) : 0;

	if (key && !id)
		sink_loss(s->sink, process->id, "collector", "span", 1);
	return id;
}
