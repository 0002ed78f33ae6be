// SPDX-License-Identifier: Apache-2.0
/* A lane in equal parts of the time, each with the shares of its states, run-length coded. */
#include <stdlib.h>
#include <string.h>

#include <util/varint.h>

#include "lanes.h"

void bins_init(struct bins *b, unsigned level, uint64_t span_ns)
{
	memset(b, 0, sizeof(*b));
	b->width_ns = span_ns / ((uint64_t)BINS_COARSEST << level) + 1;
}

/* A run: eight times its bins and the number of states of each, then each state with its share. */
static int put_run(struct bins *b)
{
	int err = b->run ? pack_put(&b->packed, b->run * 8 + b->pattern[0]) : 0;

	for (uint32_t i = 1; i < b->length && b->run && !err; i++)
		err = VEC_PUSH(&b->packed.bytes, b->pattern[i]);
	b->run = 0;
	return err;
}

static int put_bins(struct bins *b, const uint8_t *pattern, uint32_t length, uint64_t run)
{
	int err = 0;

	if (!run)
		return 0;
	if (!b->run || b->length != length || memcmp(b->pattern, pattern, length) != 0) {
		err = put_run(b);
		memcpy(b->pattern, pattern, length);
		b->length = length;
	}
	b->run += run;
	return err;
}

static int compare_shares(const void *x, const void *y)
{
	const struct bin_share *p = x, *q = y;

	if (p->ns != q->ns)
		return p->ns > q->ns ? -1 : 1;
	return p->key < q->key ? -1 : p->key > q->key;
}

static uint32_t put_share(uint8_t *to, uint32_t key, uint64_t share)
{
	return (uint32_t)(varint_put(to, (uint64_t)key * BIN_FULL + share - 1) - to);
}

/* A share that is not 0 is never shown as 0. */
static int flush_bin(struct bins *b)
{
	uint8_t pattern[BIN_PATTERN];
	uint32_t shown = b->count < BIN_SHOWN ? b->count : BIN_SHOWN, length = 1;

	if (b->count > 1)
		qsort(b->shares, b->count, sizeof(*b->shares), compare_shares);
	for (uint32_t i = 0; i < shown; i++) {
		uint64_t share = (uint64_t)((double)b->shares[i].ns / (double)b->width_ns * BIN_FULL + 0.5);

		share = share < 1 ? 1 : share > BIN_FULL ? BIN_FULL : share;
		length += put_share(pattern + length, b->shares[i].key, share);
	}
	pattern[0] = (uint8_t)shown;
	b->count = 0;
	b->bin++;
	return put_bins(b, pattern, length, 1);
}

static int skip_to(struct bins *b, uint64_t bin)
{
	static const uint8_t nothing;
	int err = bin > b->bin ? flush_bin(b) : 0;

	if (bin > b->bin && !err) {
		err = put_bins(b, &nothing, 1, bin - b->bin);
		b->bin = bin;
	}
	return err;
}

static void add_share(struct bins *b, uint32_t key, uint64_t ns)
{
	for (uint32_t i = 0; i < b->count; i++)
		if (b->shares[i].key == key || i == BIN_KEYS - 1) {
			b->shares[i].key = b->shares[i].key == key ? key : 0;
			b->shares[i].ns += ns;
			return;
		}
	b->shares[b->count++] = (struct bin_share){key, ns};
}

/* Fills whole bins. */
static int fill_bins(struct bins *b, uint32_t key, uint64_t bins)
{
	uint8_t pattern[BIN_PATTERN] = {1};
	uint32_t length = 1 + put_share(pattern + 1, key, BIN_FULL);
	int err = put_bins(b, pattern, length, bins);

	b->bin += bins;
	return err;
}

int bins_add(struct bins *b, uint32_t key, uint64_t start_ns, uint64_t end_ns)
{
	int err = 0;

	while (start_ns < end_ns && !err) {
		uint64_t bin = start_ns / b->width_ns, inside = start_ns % b->width_ns, ns;

		err = skip_to(b, bin);
		if (!inside && !b->count && end_ns - start_ns >= b->width_ns) {
			ns = (end_ns - start_ns) / b->width_ns;
			err = err ?: fill_bins(b, key, ns);
			start_ns += ns * b->width_ns;
			continue;
		}
		ns = b->width_ns - inside < end_ns - start_ns ? b->width_ns - inside : end_ns - start_ns;
		add_share(b, key, ns);
		start_ns += ns;
	}
	return err;
}

int bins_finish(struct bins *b)
{
	int err = b->count ? flush_bin(b) : 0;

	return err ?: put_run(b);
}
