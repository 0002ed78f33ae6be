// SPDX-License-Identifier: Apache-2.0
#include "reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include <analyze/state.h>
#include <util/compare.h>
#include <util/quantity.h>

#define LEFT_SHOWN 8
#define LEFT_NAMES 4096

void reader_lose(struct reader *r, const char *kind, uint64_t count, const char *fmt, ...)
{
	size_t i = 0;
	va_list ap;

	while (i < r->loss_count && strcmp(r->losses[i].kind, kind) != 0)
		i++;
	if (i == READER_LOSSES)
		return;
	if (i == r->loss_count) {
		r->loss_count++;
		r->losses[i] = (struct reader_loss){.kind = kind};
		va_start(ap, fmt);
		vsnprintf(r->losses[i].first, sizeof(r->losses[i].first), fmt, ap);
		va_end(ap);
	}
	r->losses[i].count = add_saturating(r->losses[i].count, count);
}

void reader_leave(struct reader *r, struct trace_str name, uint64_t count)
{
	uint32_t id = count ? strpool_add(&r->left_names, name.str, name.len) : 0;
	size_t k = 0;

	if (!id || id == STRPOOL_FAILED)
		return;
	while (k < r->left.count && r->left.at[k].name != id)
		k++;
	if (k == LEFT_NAMES)
		return;
	if (k == r->left.count && VEC_PUSH(&r->left, ((struct reader_left){.name = id})))
		return;
	r->left.at[k].count = add_saturating(r->left.at[k].count, count);
}

static int compare_left(const void *x, const void *y)
{
	const struct reader_left *p = x, *q = y;

	return compare_u64(q->count, p->count);
}

void reader_say_left(struct reader *r)
{
	size_t size = sizeof(r->left_out), used = 0;
	char *to = r->left_out;
	uint64_t all = 0;

	VEC_SORT(&r->left, compare_left);
	for (size_t i = 0; i < r->left.count; i++)
		all = add_saturating(all, r->left.at[i].count);
	if (all)
		used = (size_t)snprintf(to, size, "%" PRIu64 " event%s of %zu other type%s", all, plural(all),
					r->left.count, plural(r->left.count));
	for (size_t i = 0; i < r->left.count && i < LEFT_SHOWN && used < size; i++)
		used += (size_t)snprintf(to + used, size - used, "%s%.60s (%" PRIu64 ")", i ? ", " : ": ",
					 strpool_get(&r->left_names, r->left.at[i].name), r->left.at[i].count);
	if (r->left.count > LEFT_SHOWN && used < size)
		snprintf(to + used, size - used, ", ...");
}

int reader_line(struct reader *r, struct trace_str *line)
{
	int got;

	while ((got = input_line(&r->in, line)) == 1 && r->in.cut)
		reader_lose(r, "line", 1, "line %" PRIu64 " is longer than %u bytes", r->in.line, INPUT_LINE_MAX);
	return got;
}

void reader_begin_stack(struct reader *r)
{
	r->frames.count = 0;
}

bool reader_is_full(const struct reader *r)
{
	return r->frames.count >= STACK_DEPTH_MAX;
}

void reader_push(struct reader *r, uint32_t frame)
{
	if (frame && !reader_is_full(r) && VEC_PUSH(&r->frames, frame))
		builder_fail(&r->b, -ENOMEM);
}

bool reader_push_known(struct reader *r, struct trace_str text)
{
	const uint32_t *known = builder_frame_of_text(&r->b, text);

	if (!known || !*known)
		return false;
	reader_push(r, *known);
	return true;
}

void reader_push_new(struct reader *r, struct trace_str text, const struct import_frame *f)
{
	uint32_t frame = builder_frame(&r->b, f), *known = builder_frame_of_text(&r->b, text);

	if (known)
		*known = frame;
	reader_push(r, frame);
}

uint32_t *reader_stack_of(struct reader *r, const void *text, size_t size)
{
	uint32_t *at;

	if (!r->seed && getrandom(&r->seed, sizeof(r->seed), 0) != sizeof(r->seed))
		r->seed = 1;
	at = r->b.err ? NULL : u64map_put(&r->stacks_of, XXH3_64bits_withSeed(text, size, r->seed));
	if (!at)
		builder_fail(&r->b, -ENOMEM);
	return at;
}
