// SPDX-License-Identifier: Apache-2.0
/* See named_event.h. */
#include "named_event.h"

#include "handlers.h"

void named_event_publish(struct braid_rec_named_event *r, const char *name, const char *detail, const char *text)
{
	record_init(&r->hdr, BRAID_REC_NAMED_EVENT, 0);
	r->name_len = string_cut(name, &r->hdr.flags);
	r->detail_len = string_cut(detail, &r->hdr.flags);
	r->text_len = string_cut(text, &r->hdr.flags);
	publish_definition((struct iovec[]){PART(r, sizeof(*r)), PART(name, r->name_len), PART(detail, r->detail_len),
					    PART(text, r->text_len)},
			   4);
}

/* When a second ends, concurrent callers may exceed `max`: it is a budget, not a measure. */
bool rate_take(struct rate *r, uint32_t max)
{
	uint64_t now = clock_ns() / 1000000000, last = atomic_load_explicit(&r->second, memory_order_relaxed);

	if (!max)
		return true;
	if (now != last && atomic_compare_exchange_strong(&r->second, &last, now))
		atomic_store_explicit(&r->taken, 0, memory_order_relaxed);
	return atomic_fetch_add_explicit(&r->taken, 1, memory_order_relaxed) < max;
}
