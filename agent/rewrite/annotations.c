// SPDX-License-Identifier: Apache-2.0
/* The types of annotations. Their values are only skipped. */
#include "annotations.h"

#define NESTED_MAX 16 /* arrays and annotations inside one another */

static void annotation_skip(struct reader *r, unsigned depth);

static void value_skip(struct reader *r, unsigned depth)
{
	uint32_t tag = read_u1(r), count;

	if (depth == NESTED_MAX) {
		r->bad = true;
		return;
	}
	switch (tag) {
	case 'e': /* type and name of a constant */
		read_bytes(r, 4);
		break;
	case '@':
		read_bytes(r, 2);
		annotation_skip(r, depth + 1);
		break;
	case '[':
		for (count = read_u2(r); count && !r->bad; count--)
			value_skip(r, depth + 1);
		break;
	default:
		read_bytes(r, 2);
	}
}

/* What follows an annotation's type: pairs of names and values. */
static void annotation_skip(struct reader *r, unsigned depth)
{
	for (uint32_t count = read_u2(r); count && !r->bad; count--) {
		read_bytes(r, 2);
		value_skip(r, depth);
	}
}

void annotations_read(const struct pool *p, struct reader content, struct rewrite_annotations *to)
{
	for (uint32_t count = read_u2(&content); count && !content.bad && to->count < REWRITE_ANNOTATIONS; count--) {
		struct text type = pool_text(p, read_u2(&content));

		annotation_skip(&content, 0);
		if (!content.bad && type.size)
			to->at[to->count++] = type;
	}
}

bool annotations_are(struct text attribute)
{
	return text_equal(attribute, TEXT("RuntimeVisibleAnnotations")) ||
	       text_equal(attribute, TEXT("RuntimeInvisibleAnnotations"));
}
