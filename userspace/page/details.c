// SPDX-License-Identifier: Apache-2.0
/* What is known of a segment: what the thread waited for, where, and who woke it, where. */
#include <stdlib.h>
#include <string.h>

#include <util/syscalls.h>

#include "lanes.h"

static int text_of(struct details *d, const char *text, uint32_t *number)
{
	*number = strpool_add(&d->texts, text, strlen(text));
	return *number == STRPOOL_FAILED ? -ENOMEM : 0;
}

/* "": none, or one without a name here. */
static const char *call_of(const struct jvm_event_row *r)
{
	unsigned arguments;
	const char *name = r->kind == BRAID_JVM_OFFCPU && BRAID_OFFCPU_CLASS(r->flags) != BRAID_OFFCPU_RUNNABLE &&
					   (r->flags & BRAID_OFFCPU_SYSCALL) != BRAID_OFFCPU_SYSCALL
				   ? syscall_name(r->flags & BRAID_OFFCPU_SYSCALL, &arguments)
				   : NULL;

	return name ? name : "";
}

static int fill(struct details *d, const struct wall_segment *s, struct detail *to)
{
	const struct analyzer *a = d->page->an->a;
	uint32_t other = wall_waker(d->wall, s->row);
	char end[WALL_END_TEXT];
	uint32_t waker = other == ROW_NONE ? ROW_NONE : d->wall->threads.at[d->wall->leader[other]].thread;
	int err =
		text_of(d, strpool_get(&a->strings, s->object), &to->object) ?: text_of(d, call_of(s->row), &to->call);

	to->stack = s->stack;
	to->waker_stack = table_row_of(&a->nodes, s->row->other_node);
	if (waker == ROW_NONE) {
		wall_end_text(end, d->wall, s->row);
		return err ?: text_of(d, end, &to->ended_by);
	}
	err = err ?: page_thread(d->page, waker, &to->waker);
	to->waker++;
	return err;
}

/* A number for each combination that was not met before: one step for each further part. */
static int find(struct details *d, const struct detail *detail, uint32_t *number)
{
	uint32_t parts[DETAIL_STEPS] = {detail->stack, detail->waker, detail->waker_stack, detail->ended_by,
					detail->call};
	uint32_t id = detail->object;

	for (unsigned i = 0; i < DETAIL_STEPS; i++) {
		uint32_t *at = u64map_put(&d->steps[i], (uint64_t)id << 32 | parts[i]);

		if (!at)
			return -ENOMEM;
		if (!*at)
			*at = ++d->known[i];
		id = *at;
	}
	*number = id;
	return 0;
}

int details_of(struct details *d, const struct wall_segment *s, uint32_t *number)
{
	struct detail detail = {0};
	int err;

	*number = 0;
	if (!s->row)
		return 0;
	if (d->list.count >= PAGE_DETAILS_MAX) {
		d->left_out++;
		return 0;
	}
	err = fill(d, s, &detail) ?: find(d, &detail, number);
	return err ?: *number > d->list.count ? VEC_PUSH(&d->list, detail) : 0;
}

/* ---- writing ---- */

static int collect_stacks(struct details *d)
{
	int err = 0;

	for (size_t i = 0; i < d->list.count && !err; i++)
		err = page_stacks_add(&d->stacks, d->list.at[i].stack)
			      ?: page_stacks_add(&d->stacks, d->list.at[i].waker_stack);
	return err;
}

/* Object, node, waker's thread + 1, waker's node, what else ended it, system call; texts by number. */
static int write_list(struct details *d)
{
	struct pack pack = {0};
	int err = 0;

	for (size_t i = 0; i < d->list.count && !err; i++) {
		const struct detail *one = &d->list.at[i];

		err = pack_put(&pack, one->object) ?: pack_put(&pack, page_stacks_place(&d->stacks, one->stack))
						   ?: pack_put(&pack, one->waker);
		err = err ?: pack_put(&pack, page_stacks_place(&d->stacks, one->waker_stack))
			  ?: pack_put(&pack, one->ended_by) ?: pack_put(&pack, one->call);
	}
	err = err ?: pack_json(&d->page->j, "details", pack.bytes.at, pack.bytes.count);
	pack_free(&pack);
	return err;
}

static void write_texts(struct details *d)
{
	json_open(&d->page->j, "texts", '[');
	for (uint32_t i = 0; i <= d->texts.strings.count; i++) /* 0: the empty text */
		json_string(&d->page->j, NULL, strpool_get(&d->texts, i));
	json_close(&d->page->j, ']');
}

int details_write(struct details *d)
{
	int err = collect_stacks(d) ?: page_stacks_write(&d->stacks, d->page);

	err = err ?: write_list(d);
	write_texts(d);
	json_number(&d->page->j, "details_left_out", d->left_out);
	return err;
}

void details_free(struct details *d)
{
	for (unsigned i = 0; i < DETAIL_STEPS; i++)
		u64map_free(&d->steps[i]);
	page_stacks_free(&d->stacks);
	strpool_free(&d->texts);
	free(d->list.at);
}
