// SPDX-License-Identifier: Apache-2.0
/* Prints records as lines of text, for `braid script --raw`. The schema determines the fields. */
#include "codec.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The letter of a byte's short escape, if it has one. */
static int escape_letter(unsigned char c)
{
	switch (c) {
	case '\n':
		return 'n';
	case '\r':
		return 'r';
	case '\t':
		return 't';
	case '"':
	case '\\':
		return c;
	default:
		return 0;
	}
}

static void print_str(FILE *out, struct trace_str s)
{
	fputc('"', out);
	for (uint32_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.str[i];
		int letter = escape_letter(c);

		if (letter)
			fprintf(out, "\\%c", letter);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\x%02x", c);
		else if (c == 0xc2 && i + 1 < s.len && ((unsigned char)s.str[i + 1] & 0xe0) == 0x80)
			/* U+0080 to U+009F: control characters in UTF-8 */
			fprintf(out, "\\xc2\\x%02x", (unsigned char)s.str[++i]);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void print_pairs(FILE *out, const struct trace_field *f, const struct trace_rec *rec)
{
	const uint32_t(*pairs)[2];
	uint32_t count;

	memcpy(&pairs, (const char *)rec + f->offset, sizeof(pairs));
	memcpy(&count, (const char *)rec + f->count_offset, sizeof(count));
	fputc('[', out);
	for (uint32_t i = 0; i < count; i++) {
		fprintf(out, i ? ",%" PRIu32 ":" : "%" PRIu32 ":", pairs[i][0]);
		if (f->type == TRACE_TYPE_US)
			fprintf(out, "%" PRId32, (int32_t)pairs[i][1]);
		else
			fprintf(out, "%" PRIu32, pairs[i][1]);
	}
	fputc(']', out);
}

static void print_number(FILE *out, const struct trace_field *f, const struct trace_rec *rec)
{
	uint64_t wide = 0;
	uint32_t narrow;

	if (f->size == sizeof(wide)) {
		memcpy(&wide, (const char *)rec + f->offset, sizeof(wide));
	} else {
		memcpy(&narrow, (const char *)rec + f->offset, sizeof(narrow));
		wide = narrow;
	}
	fprintf(out, f->hex ? "0x%" PRIx64 : "%" PRIu64, wide);
}

/* The field behind `last` in the record's struct; NULL: there is none. */
static const struct trace_field *field_behind(const struct trace_layout *l, const struct trace_field *last)
{
	const struct trace_field *next = NULL;

	for (unsigned i = 0; i < l->count; i++) {
		const struct trace_field *f = &l->fields[i];

		if ((!last || f->offset > last->offset) && (!next || f->offset < next->offset))
			next = f;
	}
	return next;
}

int trace_rec_print(FILE *out, const struct trace_rec *rec)
{
	const struct trace_layout *l = trace_layout(rec->kind);

	if (!l)
		return -EINVAL;
	fputs(l->name, out);
	for (const struct trace_field *f = NULL; (f = field_behind(l, f));) {
		struct trace_str s;

		fprintf(out, " %s=", f->name);
		if (f->type == TRACE_TYPE_STR) {
			memcpy(&s, (const char *)rec + f->offset, sizeof(s));
			print_str(out, s);
		} else if (f->type >= TRACE_TYPE_US) {
			print_pairs(out, f, rec);
		} else {
			print_number(out, f, rec);
		}
	}
	fputc('\n', out);
	return ferror(out) ? -EIO : 0;
}
