// SPDX-License-Identifier: Apache-2.0
#include "dictionary.h"

#include <string.h>

bool dictionary_fits(const struct braid_block *head)
{
	return head->version == BRAID_TRACE_DICTIONARIES && head->kind == BRAID_BLOCK_DEFS && !head->dictionary &&
	       head->raw_bytes && head->raw_bytes <= BRAID_BLOCK_DICTIONARY_MAX;
}

int dictionary_keep(struct trace_dictionary *d, const struct braid_block *head, const uint8_t *raw)
{
	d->block = d->raw.count = 0;
	if (VEC_RESERVE(&d->raw, head->raw_bytes))
		return -ENOMEM;
	memcpy(d->raw.at, raw, head->raw_bytes);
	d->raw.count = head->raw_bytes;
	d->block = head->checksum;
	return 0;
}

void dictionary_free(struct trace_dictionary *d)
{
	free(d->raw.at);
	*d = (struct trace_dictionary){0};
}
