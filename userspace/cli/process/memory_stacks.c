// SPDX-License-Identifier: Apache-2.0
#include "memory_stacks.h"

#include "memory_sums.h"
#include "analyze/places.h"
#include "analyze/state.h"
#include "report/events.h"
#include "util/compare.h"
#include "util/log.h"
#include "util/pair_map.h"
#include "util/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAULTS_MAX (1U << 21) /* pages, 8 GiB of them */
#define NEAR (2ULL << 20)     /* a huge page, or what a fault in a file brings with it, is not larger, and is aligned */
#define SITES 10U
#define STACKS 5U

/* ---- the recording ---- */

/* A page that went and came again is the last fault's. */
static void keep(struct memory_stacks *s, const struct trace_jvm_event *e)
{
	uint64_t address = e->number & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	uint32_t known = u64map_get(&s->fault_of, address), *at;
	struct page_fault f = {.address = address, .node = e->node};

	if (known) {
		s->faults.at[known - 1] = f;
		return;
	}
	if (s->faults.count >= FAULTS_MAX) {
		s->left_out++;
		return;
	}
	at = u64map_put(&s->fault_of, address);
	s->err = !at || VEC_PUSH(&s->faults, f) ? -ENOMEM : 0;
	if (!s->err)
		*at = (uint32_t)s->faults.count;
}

static void take(void *ctx, const struct trace_rec *rec)
{
	struct memory_stacks *s = ctx;

	if (rec->kind == TRACE_PROCESS && rec->process.pid == (uint32_t)s->snapshot.pid)
		s->process = rec->process.process;
	if (s->err)
		return;
	if (rec->kind != TRACE_JVM_EVENT || rec->jvm_event.kind != BRAID_JVM_FAULT)
		s->err = snapshot_feed(&s->snapshot, rec) ? 0 : -ENOMEM;
	else if (rec->jvm_event.process == s->process)
		keep(s, &rec->jvm_event);
}

/* ---- whose pages they are ---- */

static int by_address(const void *x, const void *y)
{
	return compare_u64(((const struct page_fault *)x)->address, ((const struct page_fault *)y)->address);
}

static int by_start(const void *x, const void *y)
{
	return compare_u64((*(const struct resident_part *const *)x)->start,
			   (*(const struct resident_part *const *)y)->start);
}

/*
 * The fault that brought a page of a part: its own; else the last one before it that is near, or the next one. *next is
 * the first fault that is not before the page, or goes there.
 */
static struct page_fault *fault_of(struct memory_stacks *s, const struct resident_part *p, uint64_t page, size_t *next)
{
	struct page_fault *f;

	while (*next < s->faults.count && s->faults.at[*next].address < page)
		++*next;
	f = *next < s->faults.count ? &s->faults.at[*next] : NULL;
	if (f && f->address == page)
		return f;
	if (*next && s->faults.at[*next - 1].address >= p->start &&
	    s->faults.at[*next - 1].address / NEAR == page / NEAR)
		return &s->faults.at[*next - 1];
	return f && f->address < p->end && f->address / NEAR == page / NEAR ? f : NULL;
}

static int sum_up(struct page_sums *to, const struct page_sum *one)
{
	uint64_t key = one->key;
	uint32_t *at;

	for (const char *c = one->owner; *c; c++)
		key = pair_hash(key, (unsigned char)*c);
	at = u64map_put(&to->of, key);
	if (!at || (!*at && VEC_PUSH(&to->all, (struct page_sum){one->owner, one->key, one->stack, 0})))
		return -ENOMEM;
	*at = *at ?: (uint32_t)to->all.count;
	to->all.at[*at - 1].bytes += one->bytes;
	return 0;
}

static int add_pages(struct memory_stacks *s, const struct page_sum *one)
{
	const struct analysis *an = s->snapshot.live.analysis;
	uint32_t site = one->stack == ROW_NONE ? ROW_NONE : wait_site(an, one->stack);
	struct page_sum by_site = *one;

	s->bytes += one->bytes;
	s->named += one->stack == ROW_NONE ? 0 : one->bytes;
	if (site != ROW_NONE)
		by_site.key = an->syms.at[an->xframes.at[site].sym].name;
	return sum_up(&s->stacks, one) ?: sum_up(&s->sites, &by_site);
}

/* The new pages of a part. *run is the first that may have some. */
static int divide(struct memory_stacks *s, const struct resident_part *p, size_t *run, size_t *next)
{
	struct page_sum none = {.owner = memory_owner_name(p), .stack = ROW_NONE};
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	while (*run < s->fresh.all.count && s->fresh.all.at[*run].end <= p->start)
		++*run;
	for (size_t i = *run; i < s->fresh.all.count && s->fresh.all.at[i].start < p->end; i++) {
		const struct page_run *r = &s->fresh.all.at[i];
		uint64_t end = r->end < p->end ? r->end : p->end;

		for (uint64_t at = r->start > p->start ? r->start : p->start; at < end; at += page) {
			struct page_fault *f = fault_of(s, p, at, next);

			if (f) {
				f->bytes += page;
				f->owner = none.owner;
				s->near += f->address == at ? 0 : page;
			} else {
				none.bytes += page;
			}
		}
	}
	return none.bytes ? add_pages(s, &none) : 0;
}

static int divide_all(struct memory_stacks *s, const struct resident *r)
{
	VEC(const struct resident_part *) parts = {0};
	size_t run = 0, next = 0;
	int err = 0;

	u64map_free(&s->fault_of); /* the faults change their places */
	VEC_SORT(&s->faults, by_address);
	for (size_t i = 0; i < r->parts.count && !err; i++)
		err = r->parts.at[i].resident ? VEC_PUSH(&parts, &r->parts.at[i]) : 0;
	VEC_SORT(&parts, by_start);
	for (size_t i = 0; i < parts.count && !err; i++)
		err = divide(s, parts.at[i], &run, &next);
	free(parts.at);
	return err;
}

/* ---- their stacks ---- */

/* Of the functions only: lines, and how a method is executed, make no other stack. */
static void hash_frame(void *ctx, const struct analysis *an, const struct xframe *x)
{
	uint64_t *hash = ctx;

	*hash = pair_hash(*hash, an->syms.at[x->sym].name);
}

static int by_bytes(const void *x, const void *y)
{
	const struct page_sum *a = x, *b = y;

	return compare_u64(b->bytes, a->bytes) ?: strcmp(a->owner, b->owner) ?: compare_u64(a->stack, b->stack);
}

static int find_stacks(struct memory_stacks *s)
{
	static const struct filter everything; /* the analysis keeps it */
	const struct analysis *an;
	int err = 0;

	if (!common_analyze(&s->snapshot.live, &everything))
		return -ECANCELED;
	an = s->snapshot.live.analysis;
	for (size_t i = 0; i < s->faults.count && !err; i++) {
		const struct page_fault *f = &s->faults.at[i];
		struct page_sum one = {.owner = f->owner,
				       .stack = f->node ? table_row_of(&an->a->nodes, f->node) : ROW_NONE,
				       .bytes = f->bytes};

		if (f->bytes && one.stack != ROW_NONE)
			analysis_each_frame(an, one.stack, hash_frame, &one.key);
		err = f->bytes ? add_pages(s, &one) : 0;
	}
	VEC_SORT(&s->sites.all, by_bytes);
	VEC_SORT(&s->stacks.all, by_bytes);
	return err;
}

/* ---- all ---- */

static int edge(void *ctx, bool begins)
{
	struct memory_stacks *s = ctx;
	const struct resident *r = s->read(s->ctx, begins);
	struct page_runs after = {0};
	int err;

	if (!r)
		return -ECANCELED;
	s->after = begins ? NULL : r;
	err = page_runs_read(begins ? &s->before : &after, r);
	if (!err && !begins)
		err = page_runs_new(&s->fresh, &s->before, &after);
	page_runs_free(&after);
	if (err)
		log_error("cannot read which pages process %d has in memory: %s", (int)r->pid,
			  err == -EFBIG ? "too many pages, or addresses without pages before Linux 6.7"
					: strerror(-err));
	return err;
}

bool memory_stacks_record(struct memory_stacks *s, pid_t pid, uint64_t watch_ns, bool attach)
{
	static char faults[] = "fault=0";
	char why[SELECTION_WHY];
	int err;

	snapshot_init(&s->snapshot, "page faults");
	s->snapshot.pid = pid;
	s->snapshot.record.attach = attach;
	s->snapshot.record.duration_ns = watch_ns;
	s->snapshot.record.tap = take;
	s->snapshot.record.edge = edge;
	s->snapshot.record.tap_ctx = s;
	if (selection_add(&s->snapshot.selection, faults, why)) {
		log_error("%s", why);
		return false;
	}
	selection_complete(&s->snapshot.selection);
	if (!snapshot_record(&s->snapshot) || !s->after)
		return false;
	err = s->err ?: divide_all(s, s->after);
	err = err ?: find_stacks(s);
	if (err && err != -ECANCELED)
		log_error("not enough memory for the page faults");
	return !err;
}

/* ---- output ---- */

static const char *site_name(const struct memory_stacks *s, const struct page_sum *p)
{
	const struct analysis *an = s->snapshot.live.analysis;

	return p->stack == ROW_NONE ? "[no stack was recorded]" : events_site_name(an, wait_site(an, p->stack));
}

static void print_sums(const struct memory_stacks *s, const struct page_sums *sums, unsigned top, bool stacks)
{
	char size[QUANTITY_TEXT];

	if (sums->all.count)
		printf("  %12s  %7s  %-24s  %s\n", "size", "share", "owner", stacks ? "stack" : "site");
	for (size_t i = 0; i < sums->all.count && i < top; i++) {
		const struct page_sum *p = &sums->all.at[i];

		printf("  %12s  %6.2f%%  %-24s  %s\n", size_text(size, p->bytes), percent(p->bytes, s->bytes), p->owner,
		       site_name(s, p));
		if (stacks && p->stack != ROW_NONE)
			text_stack(stdout, s->snapshot.live.views, p->stack);
	}
	text_more(stdout, 4, sums->all.count, top);
}

void memory_stacks_text(const struct memory_stacks *s)
{
	const struct loaded *l = &s->snapshot.live;
	char size[QUANTITY_TEXT];

	printf("\nNew pages: %s, of which %.2f%% have the stack that touched them first", size_text(size, s->bytes),
	       percent(s->named, s->bytes));
	if (s->near)
		printf(" (%.2f%% that of a page near them)", percent(s->near, s->bytes));
	putchar('\n');
	print_sums(s, &s->sites, SITES, false);
	print_sums(s, &s->stacks, STACKS, true);
	if (l->analyzer->lost || s->left_out)
		printf("  %" PRIu64 " events were lost, and page faults at %" PRIu64
		       " more pages were not kept: what they "
		       "brought is counted for faults near them, or has no stack\n",
		       l->analyzer->lost, s->left_out);
}

void memory_stacks_json(const struct memory_stacks *s, struct json *j)
{
	const struct loaded *l = &s->snapshot.live;

	json_open(j, "pages", '{');
	json_number(j, "new", s->bytes);
	json_number(j, "with_stack", s->named);
	json_number(j, "by_near_page", s->near);
	json_number(j, "lost", l->analyzer->lost + s->left_out);
	json_open(j, "stacks", '[');
	for (size_t i = 0; i < s->stacks.all.count; i++) {
		const struct page_sum *p = &s->stacks.all.at[i];

		json_open(j, NULL, '{');
		json_string(j, "owner", p->owner);
		json_number(j, "bytes", p->bytes);
		if (p->stack != ROW_NONE) {
			json_string(j, "site", site_name(s, p));
			json_stack(j, l->views, p->stack);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

void memory_stacks_free(struct memory_stacks *s)
{
	page_runs_free(&s->before);
	page_runs_free(&s->fresh);
	u64map_free(&s->fault_of);
	u64map_free(&s->sites.of);
	u64map_free(&s->stacks.of);
	free(s->faults.at);
	free(s->sites.all.at);
	free(s->stacks.all.at);
	snapshot_free(&s->snapshot);
}
