// SPDX-License-Identifier: Apache-2.0
#include "names.h"
#include "records.h"

#include <util/pair_map.h>

#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>

/* The map is renewed at this count, three quarters of a power of two; the map before it is kept as well. */
#define NAMES_KEPT ((3U << 16) - 1)

struct names {
	struct sink *sink;
	struct pair_map ids;	/* by 128 bits of hash: a collision is not expected before 2^60 names */
	struct pair_map former; /* the map before the last renewal: its names are still known */
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
	pair_map_free(&n->ids);
	pair_map_free(&n->former);
	free(n);
}

/* A name not seen since the last renewal gets a new id when it returns, which costs one record. */
static void renew(struct names *n)
{
	pair_map_free(&n->former);
	n->former = n->ids;
	n->ids = (struct pair_map){0};
}

static const struct pair_entry *find(struct names *n, XXH128_hash_t hash)
{
	const struct pair_entry *e = pair_find(&n->ids, hash.low64, hash.high64);

	if (!e) {
		e = pair_find(&n->former, hash.low64, hash.high64);
		if (e)
			(void)pair_put(&n->ids, hash.low64, hash.high64, e->value);
	}
	return e;
}

uint32_t names_id(struct names *n, struct account *by, struct trace_str text)
{
	const struct pair_entry *e;
	XXH128_hash_t hash;

	if (!text.len)
		return 0;
	hash = XXH3_128bits(text.str, text.len);
	if (n->ids.count >= NAMES_KEPT)
		renew(n);
	e = find(n, hash);
	if (e)
		return e->value;
	if (by && !account_has(by, n->sink, BUDGET_NAMES, 1))
		return 0;
	if (by)
		account_spend(by, BUDGET_NAMES, 1);
	e = pair_put(&n->ids, hash.low64, hash.high64, n->last + 1);
	if (!e) {
		sink_loss(n->sink, by ? by->process : 0, "collector", "name", 1);
		return 0;
	}
	sink_name(n->sink, ++n->last, text);
	return n->last;
}
