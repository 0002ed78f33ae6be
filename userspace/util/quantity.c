// SPDX-License-Identifier: Apache-2.0
#include "quantity.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ULL
#define WHOLE_MAX 1000000000000ULL

struct unit {
	const char *name;
	uint64_t size;
};

static const struct unit times[] = {
	{"ns", 1},	   {"us", 1000},     {"\u00b5s", 1000}, /* micro sign */
	{"\u03bcs", 1000},					/* Greek mu */
	{"ms", 1000000},   {"s", SECOND_NS}, {"m", 60 * SECOND_NS}, {"h", 3600 * SECOND_NS}, {NULL, 0},
};

static const struct unit sizes[] = {
	{"", 1},	{"B", 1},	  {"k", 1 << 10}, {"K", 1 << 10}, {"KiB", 1 << 10}, {"m", 1 << 20},
	{"M", 1 << 20}, {"MiB", 1 << 20}, {"g", 1 << 30}, {"G", 1 << 30}, {"GiB", 1 << 30}, {NULL, 0},
};

/* 0: unknown unit. */
static uint64_t unit_size(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (strcmp(units->name, name) == 0)
			return units->size;
	return 0;
}

/* ---- reading ---- */

/* `bare` is the unit of a number without one. */
static int parse_time(const char *text, uint64_t bare, uint64_t *ns)
{
	const char *p = text;
	uint64_t whole = 0, part = 0, scale = 1, unit;

	for (; isdigit((unsigned char)*p); p++) {
		whole = whole * 10 + (uint64_t)(*p - '0');
		if (whole > WHOLE_MAX)
			return -EINVAL;
	}
	if (p == text && !(*p == '.' && isdigit((unsigned char)p[1])))
		return -EINVAL;
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p); p++)
			if (scale < SECOND_NS) {
				part = part * 10 + (uint64_t)(*p - '0');
				scale *= 10;
			}
	unit = *p ? unit_size(times, p) : bare;
	if (!*p && !whole && !part)
		unit = 1;
	if (!unit)
		return *p ? -EINVAL : -EDOM;
	if (whole > UINT64_MAX / 2 / unit)
		return -EINVAL;
	/*
	 * unit is at most 3.6e12 and part below 1e9: dividing first avoids overflow in both floating point and integers
	 */
	*ns = whole * unit + (uint64_t)((long double)part * (long double)unit / (long double)scale);
	return 0;
}

int duration_parse_unit(const char *text, uint64_t *ns)
{
	return parse_time(text, 0, ns);
}

int duration_parse(const char *text, uint64_t *ns)
{
	return parse_time(text, SECOND_NS, ns);
}

int size_parse(const char *text, uint64_t *bytes)
{
	uint64_t n, unit;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	unit = unit_size(sizes, end);
	if (errno || !unit || n > UINT64_MAX / unit)
		return -EINVAL;
	*bytes = n * unit;
	return 0;
}

/* ---- writing ---- */

const char *duration_text(char buf[QUANTITY_TEXT], uint64_t ns)
{
	if (ns < 1000)
		snprintf(buf, QUANTITY_TEXT, "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		snprintf(buf, QUANTITY_TEXT, "%.2f \u00b5s", (double)ns / 1e3);
	else if (ns < SECOND_NS)
		snprintf(buf, QUANTITY_TEXT, "%.2f ms", (double)ns / 1e6);
	else
		snprintf(buf, QUANTITY_TEXT, "%.2f s", (double)ns / 1e9);
	return buf;
}

const char *duration_cell(char buf[QUANTITY_TEXT], int width, uint64_t ns)
{
	char text[QUANTITY_TEXT];

	if (strstr(duration_text(text, ns), "\u00b5"))
		width++;
	snprintf(buf, QUANTITY_TEXT, "%*s", width, text);
	return buf;
}

const char *size_text(char buf[QUANTITY_TEXT], uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1024;
	snprintf(buf, QUANTITY_TEXT, unit ? "%.2f %s" : "%.0f %s", value, units[unit]);
	return buf;
}

#define SMALL 0x10000 /* of a negative number */

void number_text(char buf[NUMBER_TEXT], uint64_t value, uint64_t large)
{
	if (value <= UINT32_MAX && -(uint32_t)value < SMALL) /* an int */
		value = (uint64_t)(int32_t)value;
	if (value < large || -value < SMALL)
		snprintf(buf, NUMBER_TEXT, "%" PRId64, (int64_t)value);
	else
		snprintf(buf, NUMBER_TEXT, "0x%" PRIx64, value);
}
