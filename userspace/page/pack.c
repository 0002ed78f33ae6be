// SPDX-License-Identifier: Apache-2.0
#include "pack.h"

#include <stdlib.h>
#include <string.h>

#include <util/varint.h>

int pack_put(struct pack *p, uint64_t number)
{
	if (VEC_RESERVE(&p->bytes, VARINT_MAX_BYTES))
		return -ENOMEM;
	p->bytes.count = (size_t)(varint_put(p->bytes.at + p->bytes.count, number) - p->bytes.at);
	return 0;
}

int pack_json(struct json *j, const char *key, const uint8_t *bytes, size_t count)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = malloc((count + 2) / 3 * 4 + 1), *to = text;

	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < count; i += 3) {
		uint32_t b = count - i > 1 ? bytes[i + 1] : 0, c = count - i > 2 ? bytes[i + 2] : 0;
		uint32_t bits = (uint32_t)bytes[i] << 16 | b << 8 | c;

		*to++ = digits[bits >> 18];
		*to++ = digits[bits >> 12 & 63];
		*to++ = count - i > 1 ? digits[bits >> 6 & 63] : '=';
		*to++ = count - i > 2 ? digits[bits & 63] : '=';
	}
	*to = 0;
	json_string(j, key, text);
	free(text);
	return 0;
}

void pack_free(struct pack *p)
{
	free(p->bytes.at);
	memset(p, 0, sizeof(*p));
}
