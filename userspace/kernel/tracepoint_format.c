// SPDX-License-Identifier: Apache-2.0
#include "tracepoint_format.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TYPE_BYTES 96
#define NAME_BYTES 64

/* One line such as "field:char comm[16];	offset:8;	size:16;	signed:0;" */
struct field {
	char type[TYPE_BYTES]; /* with the brackets of an array behind it */
	char name[NAME_BYTES];
	unsigned int offset, size;
	int is_signed;
};

/* Separates "const char * filename" and "char comm[16]" into type and name. */
static bool split(struct field *f, const char *text, size_t length)
{
	const char *bracket = memchr(text, '[', length);
	size_t end = bracket ? (size_t)(bracket - text) : length, start;

	/* the brackets of "__data_loc char[] name" belong to the type */
	if (bracket && memchr(bracket, ' ', length - end)) {
		bracket = NULL;
		end = length;
	}
	for (start = end; start > 0 && (isalnum((unsigned char)text[start - 1]) || text[start - 1] == '_'); start--)
		;
	if (start == end || end - start >= NAME_BYTES || start + (length - end) >= TYPE_BYTES)
		return false;
	memcpy(f->name, text + start, end - start);
	f->name[end - start] = '\0';
	memcpy(f->type, text, start);
	memcpy(f->type + start, text + end, length - end);
	f->type[start + (length - end)] = '\0';
	return true;
}

/* Reads the next field at or after *at. Fields that all records have are left out. False: there is none. */
static bool next_field(const char **at, struct field *f)
{
	const char *line, *end;

	while ((line = strstr(*at, "field:"))) {
		line += strlen("field:");
		end = strchr(line, ';');
		if (!end)
			return false;
		*at = end;
		if (split(f, line, (size_t)(end - line)) &&
		    sscanf(end, "; offset:%u; size:%u; signed:%d;", &f->offset, &f->size, &f->is_signed) == 3 &&
		    strncmp(f->name, "common_", 7) != 0)
			return true;
	}
	return false;
}

static int describe_text(const struct field *f, bool syscall, struct braid_hit_term *to)
{
	if (strncmp(f->type, "__data_loc ", 11) == 0)
		to->operand = BRAID_HIT_DYNAMIC;
	else if (strchr(f->type, '[') && f->size <= UINT8_MAX)
		to->operand = BRAID_HIT_STRING;
	else if (syscall && strchr(f->type, '*') && f->size == sizeof(uint64_t))
		to->operand = BRAID_HIT_USER;
	else
		return -EDOM;
	to->size = (uint8_t)f->size;
	return 0;
}

static int describe(const struct field *f, bool syscall, struct braid_hit_term *to)
{
	bool pointer = strchr(f->type, '*'), array = strchr(f->type, '['), text = strstr(f->type, "char");

	if (f->offset > UINT16_MAX)
		return -EDOM;
	to->offset = (uint16_t)f->offset;
	if (text && (array || (pointer && syscall)))
		return describe_text(f, syscall, to);
	if (array || strstr(f->type, "__rel_loc") ||
	    (f->size != 1 && f->size != 2 && f->size != 4 && f->size != sizeof(uint64_t)))
		return -EDOM;
	to->operand = BRAID_HIT_NUMBER;
	to->size = (uint8_t)f->size;
	if (f->is_signed)
		to->flags |= BRAID_HIT_SIGNED;
	if (pointer || strstr(f->name, "flags") || (syscall && strncmp(f->type, "unsigned long", 13) == 0))
		to->flags |= BRAID_HIT_HEX;
	if (syscall && strncmp(f->type, "int ", 4) == 0) { /* the upper half of the register is whatever it was */
		to->size = sizeof(uint32_t);
		to->flags |= BRAID_HIT_SIGNED;
	}
	return 0;
}

int tracepoint_field(const char *format, bool syscall, const char *name, struct braid_hit_term *to)
{
	struct field f;

	while (next_field(&format, &f))
		if (strcmp(f.name, name) == 0)
			return describe(&f, syscall, to);
	return -ENOENT;
}

void tracepoint_each(const char *format, bool syscall,
		     bool (*fn)(void *ctx, const char *name, const struct braid_hit_term *field), void *ctx)
{
	bool more = true;
	struct field f;

	while (more && next_field(&format, &f)) {
		struct braid_hit_term field = {0};

		if (!describe(&f, syscall, &field))
			more = fn(ctx, f.name, &field);
	}
}

void tracepoint_fields(const char *format, char *to, size_t size)
{
	struct field f;
	size_t used = 0;

	*to = '\0';
	while (used < size && next_field(&format, &f))
		used += (size_t)snprintf(to + used, size - used, "%s%s", used ? ", " : "", f.name);
}
