// SPDX-License-Identifier: Apache-2.0
/* Columns of numbers for the page: varints, as base64 in its JSON. page/pack.js reads them. */
#ifndef BRAID_PAGE_PACK_H
#define BRAID_PAGE_PACK_H

#include <stdint.h>

#include <util/json.h>
#include <util/vec.h>

struct pack {
	VEC(uint8_t) bytes;
};

/* 0 or -ENOMEM. */
int pack_put(struct pack *p, uint64_t number);
/* Writes it as a string. 0 or -ENOMEM. */
int pack_json(struct json *j, const char *key, const uint8_t *bytes, size_t count);
void pack_free(struct pack *p);

#endif
