// SPDX-License-Identifier: Apache-2.0
/*
 * HotSpot's text (VM_PrintThreads, javaVFrame::print_lock_info_on): a line for each thread, which begins with its name
 * in quotes and has its OS thread's id, then lines that are indented by a tab: a frame ("at"), and below it its
 * monitors.
 */
#include "owned.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <util/compare.h>
#include <util/search.h>

#define NUMBER_MAX 20 /* digits */

/* A piece of the text, which is not terminated. */
struct piece {
	const char *at;
	size_t size;
};

struct parse {
	struct owned *to;
	struct owned_lock at; /* the thread and the frame that the text has come to */
	bool thread, frame;
	uint64_t waits_on; /* an object that the thread has let go of in Object.wait() */
};

static bool skip(struct piece *p, const char *what)
{
	size_t size = strlen(what);

	if (p->size < size || memcmp(p->at, what, size) != 0)
		return false;
	p->at += size;
	p->size -= size;
	return true;
}

/* Decimal, or hexadecimal after "0x". */
static uint64_t number(struct piece p)
{
	char text[NUMBER_MAX + 1] = "";

	if (p.size)
		memcpy(text, p.at, p.size < NUMBER_MAX ? p.size : NUMBER_MAX);
	return strtoull(text, NULL, skip(&p, "0x") ? 16 : 10);
}

/* What precedes the last `c`, or everything. */
static struct piece before_last(struct piece p, char c)
{
	const char *last = p.size ? memrchr(p.at, c, p.size) : NULL;

	return last ? (struct piece){p.at, (size_t)(last - p.at)} : p;
}

/* What follows the last `what`; size 0: nothing does. A thread's name may have it, too. */
static struct piece after_last(struct piece p, const char *what)
{
	size_t size = strlen(what);

	for (size_t i = p.size; i-- > 0;)
		if (p.size - i > size && memcmp(p.at + i, what, size) == 0)
			return (struct piece){p.at + i + size, p.size - i - size};
	return (struct piece){0};
}

static void begin_thread(struct parse *p, struct piece line)
{
	struct piece id = after_last(line, " nid=");

	*p = (struct parse){.to = p->to, .thread = id.size};
	p->at.ns_tid = (uint32_t)number(id);
	p->to->threads += p->thread;
}

static int begin_frame(struct parse *p, struct piece method)
{
	method = before_last(method, '(');
	p->at.depth += p->frame;
	p->frame = true;
	p->at.method = strpool_add(&p->to->names, method.at, method.size);
	return p->at.method == STRPOOL_FAILED ? -ENOMEM : 0;
}

/* "<0x000000069eca3da0> (a demo.Queue)" */
static int add_lock(struct parse *p, struct piece what)
{
	struct owned_lock lock = p->at;
	struct piece class = after_last(what, " (a ");

	lock.order = p->to->locks.count;
	lock.object = skip(&what, "<") ? number(what) : 0;
	if (!p->frame || (lock.object && lock.object == p->waits_on))
		return 0;
	class = before_last(class, ')');
	lock.class_name = strpool_add(&p->to->names, class.at ? class.at : "", class.size);
	if (lock.class_name == STRPOOL_FAILED)
		return -ENOMEM;
	return VEC_PUSH(&p->to->locks, lock);
}

static int take_line(struct parse *p, struct piece line)
{
	if (line.size && *line.at == '"') {
		begin_thread(p, line);
		return 0;
	}
	if (!line.size || !p->thread) {
		p->thread = p->thread && line.size;
		return 0;
	}
	if (skip(&line, "\tat "))
		return begin_frame(p, line);
	if (skip(&line, "\t- locked "))
		return add_lock(p, line);
	if (skip(&line, "\t- waiting on <"))
		p->waits_on = number(line);
	else if (skip(&line, "   Mounted virtual thread #"))
		*p = (struct parse){
			.to = p->to, .at = {.ns_tid = p->at.ns_tid, .vthread = number(line)}, .thread = true};
	return 0;
}

static int compare(const void *x, const void *y)
{
	const struct owned_lock *p = x, *q = y;
	int c = compare_u64(p->ns_tid, q->ns_tid);

	c = c ? c : compare_u64(p->vthread, q->vthread);
	c = c ? c : compare_u64(p->depth, q->depth);
	return c ? c : compare_u64(p->order, q->order);
}

int owned_parse(struct owned *to, const char *text, size_t size)
{
	struct parse p = {.to = to};
	int err = 0;

	for (size_t at = 0; at < size && !err;) {
		const char *end = memchr(text + at, '\n', size - at);
		struct piece line = {text + at, end ? (size_t)(end - text) - at : size - at};

		at += line.size + 1;
		err = take_line(&p, line);
	}
	VEC_SORT(&to->locks, compare);
	return err;
}

void owned_free(struct owned *o)
{
	free(o->locks.at);
	strpool_free(&o->names);
}

size_t owned_of(const struct owned *o, uint32_t ns_tid, uint64_t vthread, const struct owned_lock **first)
{
	const struct owned_lock key = {.ns_tid = ns_tid, .vthread = vthread}, *at = o->locks.at;
	size_t low = SEARCH(i, 0, o->locks.count, compare(&at[i], &key) < 0), end = low;

	while (end < o->locks.count && at[end].ns_tid == ns_tid && at[end].vthread == vthread)
		end++;
	*first = at + low;
	return end - low;
}
