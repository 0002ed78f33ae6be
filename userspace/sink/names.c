// SPDX-License-Identifier: Apache-2.0
#include "names.h"
#include "records.h"

#include <util/kept_map.h>

#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>

struct names {
	struct sink *sink;
	struct kept_map ids; /* by 128 bits of hash: a collision is not expected before 2^60 names */
	uint32_t last;
};

int names_new(struct names **out, struct sink *sink)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->sink = sink;
	return 0;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	kept_map_free(&n->ids);
	free(n);
}

uint32_t names_id(struct names *n, struct account *by, struct trace_str text)
{
	XXH128_hash_t hash;
	uint32_t id;

	if (!text.len)
		return 0;
	hash = XXH3_128bits(text.str, text.len);
	if (kept_is_full(&n->ids))
		kept_renew(&n->ids); /* a name not seen until the next renewal gets a new id, which costs one record */
	id = kept_find(&n->ids, hash.low64, hash.high64);
	if (id)
		return id;
	if (by && !account_has(by, n->sink, BUDGET_NAMES, 1))
		return 0;
	if (by)
		account_spend(by, BUDGET_NAMES, 1);
	if (!kept_put(&n->ids, hash.low64, hash.high64, n->last + 1)) {
		sink_loss(n->sink, by ? by->process : 0, "collector", "name", 1);
		return 0;
	}
	sink_name(n->sink, ++n->last, text);
	return n->last;
}
