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
