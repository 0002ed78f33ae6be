// SPDX-License-Identifier: Apache-2.0
/* What the files of this folder share. */
#ifndef BRAID_PAGE_PAGE_H
#define BRAID_PAGE_PAGE_H

#include <analyze/kinds.h>
#include <views/tree.h>
#include <views/views.h>
#include <util/json.h>
#include <wall/wall.h>

#include "html.h"
#include "pack.h"

/*
 * What a page may have of each; it is then some 12 MB at most, beside its stacks. What is beyond is thinned or left
 * out, and the page says so.
 */
#define PAGE_SAMPLES_MAX 400000U  /* samples with their times */
#define PAGE_EVENTS_MAX 60000U	  /* events of each other kind, with their times */
#define PAGE_SEGMENTS_MAX 300000U /* of threads and CPUs, the longest ones */
#define PAGE_BIN_BYTES (3U << 19) /* shares of states in equal parts of the time */
#define PAGE_DETAILS_MAX 60000U	  /* different objects, stacks and wakers of segments */
#define PAGE_LANES_MAX 6000U
#define PAGE_CHAINS_MAX 20000U /* different chains of wakers, the heaviest ones */
#define PAGE_VLANES_MAX 500U   /* of virtual threads */

/* The page's threads, numbered in the order in which its data refer to them. */
struct page {
	const struct analysis *an;
	uint32_t *index; /* per row of the analyzer's threads, and one more for unknown threads: number + 1 */
	VEC(uint32_t) rows;
	uint64_t from_ns, to_ns; /* what the timeline shows, on the trace's clock */
	bool lanes;		 /* it has the lives of threads, not only spans */
	bool sources;		 /* it says where methods are in their sources */
	struct json j;
};

/* ---- page.c ---- */

/* 0 or -ENOMEM; page_free() then. */
int page_init(struct page *p, const struct analysis *an, const struct page_request *request);
void page_free(struct page *p);

/* The number of a row of the analyzer's threads. `row` may be ROW_NONE. */
int page_thread(struct page *p, uint32_t row, uint32_t *number);

/*
 * The labels of a tree in the order of their text: of each, how much it shares with the one before it, and the rest.
 * web/pack.js joins them. 0 or -ENOMEM.
 */
int page_labels(struct json *j, const struct tree *t);

/* Labels and nodes of a tree, as members of an object; fills `place`, the page's number of each node. */
int page_tree(struct json *j, const struct tree *t, uint32_t *place);

/* ---- stacks.c: stacks that are shown one by one ---- */

/* Those that were added, as one tree. A zeroed one is empty. */
struct page_stacks {
	struct profile profile;
	struct tree *tree;
	uint32_t *place;
};

/* A row of the analyzer's nodes; ROW_NONE adds nothing. 0 or -ENOMEM. */
int page_stacks_add(struct page_stacks *s, uint32_t stack);
/* When all are added: a member "stacks" with the tree. 0 or -ENOMEM. */
int page_stacks_write(struct page_stacks *s, struct page *p);
/* The node of a stack that was added, once they are written; 0: ROW_NONE. */
uint32_t page_stacks_place(const struct page_stacks *s, uint32_t stack);
void page_stacks_free(struct page_stacks *s);

/* ---- about.c ---- */
void page_about(struct json *j, const struct views *v, const char *title);

/* ---- timeline.c ---- */
int html_timeline(struct page *p);
/* The lives of threads, and what ran on each CPU. */
int html_lanes(struct page *p, const struct wall *wall);

/* ---- explain.c: why the slowest spans, and the threads with most to explain, took as long as they did ---- */
/* Adds the virtual threads among them to the wall. */
int html_explain(struct page *p, struct wall *wall);

/* ---- wakers.c ---- */
/*
 * A flame graph of what blocked threads and of those who ended that, but for idle ones; none if nothing is known of it.
 */
int page_wakers(struct page *p, const struct wall *wall);

/* ---- times.c: the events of a flame graph by time ---- */

/* What a flame graph is made from: samples, or JVM events of a kind. */
struct page_source {
	uint32_t kind;
	const struct sample *samples;
	size_t count;
};

/* 0 or -ENOMEM. */
int html_times(struct page *p, const struct profile *profile, const struct page_source *from, const struct tree *t,
	       const uint32_t *place);

/* ---- sources.c: name, path and line of the methods whose source is known. 0 or -ENOMEM ---- */
int page_sources(struct json *j, const struct analysis *an, const struct profile *profile);

/* ---- html.c ---- */

/* The page with the data that `data` writes. */
int page_write(FILE *out, int (*data)(FILE *out, const void *of), const void *of);
/* One flame graph. `from` NULL: without times. */
int page_graph(struct page *p, const struct profile *profile, const struct page_source *from, const char *name,
	       const char *unit);
void page_kinds(struct json *j);
/* "events", "ns", "bytes" */
const char *page_unit(enum kind_unit unit);

#endif
