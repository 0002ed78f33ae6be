// SPDX-License-Identifier: Apache-2.0
#include "duration.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static int unit_ns(const char *unit, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"", 1000000000}, {"s", 1000000000},  {"ms", 1000000},	{"us", 1000},
		     {"ns", 1},	       {"m", 60000000000}, {"h", 3600000000000}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].name) == 0) {
			*ns = units[i].ns;
			return 0;
		}
	return -EINVAL;
}

int duration_parse(const char *text, uint64_t *ns)
{
	const char *p = text;
	uint64_t whole = 0, part = 0, scale = 1, unit = 0;

	for (; isdigit((unsigned char)*p); p++) {
		whole = whole * 10 + (uint64_t)(*p - '0');
		if (whole > 1000000000000ULL)
			return -EINVAL;
	}
	if (p == text && !(*p == '.' && isdigit((unsigned char)p[1])))
		return -EINVAL;
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p); p++)
			if (scale < 1000000000) {
				part = part * 10 + (uint64_t)(*p - '0');
				scale *= 10;
			}
	if (unit_ns(p, &unit) || whole > UINT64_MAX / 2 / unit)
		return -EINVAL;
	/* unit is at most 3.6e12 and part below 1e9: no overflow in doubles' or integers' way when divided first */
	*ns = whole * unit + (uint64_t)((long double)part * (long double)unit / (long double)scale);
	return 0;
}
