// SPDX-License-Identifier: Apache-2.0
/*
 * Collapsed stacks: a line for each stack, with its frames from the root, ';' between them, a space and a weight. With
 * threads, the first frame is one: "[main tid=4711]". import.h is the interface.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reader.h"

/* Splits a line into stack and weight. */
static bool take_weight(struct trace_str line, struct trace_str *stack, uint64_t *weight)
{
	long space = str_last(line, ' ');
	struct trace_str number = str_part(line, (size_t)(space + 1), line.len);

	*stack = str_part(line, 0, space < 0 ? 0 : (size_t)space);
	return space >= 0 && str_number(&number, weight) && !number.len;
}

/* A frame that is a thread: "[main tid=4711]", "[tid=4711]", "[worker-? virtual]". */
static bool take_thread(struct trace_str frame, struct import_thread *t)
{
	static const char id[] = "tid=", virtual[] = " virtual]";
	struct trace_str inner = str_part(frame, 1, frame.len ? frame.len - 1 : 0), number;
	uint64_t tid = 0;
	long space;

	if (!str_begins(frame, "[") || !str_ends(frame, "]"))
		return false;
	*t = (struct import_thread){0};
	if (str_ends(frame, virtual)) {
		t->name = str_part(frame, 1, frame.len - strlen(virtual));
		return t->name.len > 0;
	}
	space = str_last(inner, ' ');
	number = str_part(inner, (size_t)(space + 1), inner.len);
	if (!str_begins(number, id))
		return false;
	number = str_part(number, strlen(id), number.len);
	t->name = str_part(inner, 0, space < 0 ? 0 : (size_t)space);
	if (!str_number(&number, &tid) || number.len || tid > INT32_MAX)
		return false;
	t->tid = (uint32_t)tid;
	return true;
}

static void push_frame(struct reader *r, struct trace_str text)
{
	if (!text.len || reader_push_known(r, text))
		return;
	frame_text(&r->text, text, IMPORT_NATIVE);
	if (!r->text.none)
		reader_push_new(r, text, &r->text.frame);
}

static uint32_t take_stack(struct reader *r, struct trace_str stack)
{
	uint32_t *known = reader_stack_of(r, stack.str, stack.len);

	if (!known || *known)
		return known ? *known - 1 : 0;
	reader_begin_stack(r);
	while (stack.len) {
		long at = str_last(stack, ';');

		push_frame(r, str_part(stack, (size_t)(at + 1), stack.len));
		stack = str_part(stack, 0, at < 0 ? 0 : (size_t)at);
	}
	*known = builder_stack(&r->b, r->frames.at, r->frames.count) + 1;
	return *known - 1;
}

static bool take_line(struct reader *r, struct trace_str line)
{
	struct trace_sample s = {.cpu = TRACE_NO_CPU};
	struct import_thread t;
	struct trace_str stack, first;
	const char *end;

	if (!take_weight(line, &stack, &s.weight) || !stack.len)
		return false;
	end = memchr(stack.str, ';', stack.len);
	first = str_part(stack, 0, end ? (size_t)(end - stack.str) : stack.len);
	if (take_thread(first, &t)) {
		s.thread = builder_thread(&r->b, &t);
		stack = str_part(stack, first.len + 1UL, stack.len);
	}
	s.node = take_stack(r, stack);
	if (s.weight)
		builder_sample(&r->b, &s);
	return true;
}

int collapsed_read(struct reader *r)
{
	struct trace_str line;
	int got;

	snprintf(r->format, sizeof(r->format), "collapsed stacks");
	while ((got = reader_line(r, &line)) == 1 && !r->b.err)
		if (line.len && *line.str != '#' && !take_line(r, line))
			reader_lose(r, "line", 1, "line %" PRIu64 " is no stack with a number behind it", r->in.line);
	return got < 0 ? got : r->b.err;
}
