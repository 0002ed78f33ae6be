// SPDX-License-Identifier: Apache-2.0
/* Recordings with the lives of threads, for tests of where their time went. */
#ifndef BRAID_TESTS_WALL_FIXTURE_H
#define BRAID_TESTS_WALL_FIXTURE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include <wall/view.h>
#include <report/wall.h>

#include "events_fixture.h"
#include "run.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define CLASS(c) .flags = BRAID_OFFCPU_##c << BRAID_OFFCPU_CLASS_SHIFT
#define LIFE(t, from, to, running, ...)                                                                                \
	JVM(AT(from), .kind = BRAID_JVM_THREAD_TIME, .thread = t, .duration_ns = ((to) - (from)) * MS,                 \
	    .value = (running)*MS, __VA_ARGS__)
#define OFF(t, from, to, on, ...)                                                                                      \
	JVM(AT(from), .kind = BRAID_JVM_OFFCPU, .thread = t, .node = on, .duration_ns = ((to) - (from)) * MS,          \
	    __VA_ARGS__)
#define COUNTED(t, ns, ...)                                                                                            \
	JVM(AT(190), .kind = BRAID_JVM_COUNTED, .thread = t, .value = 1, .weight = ns, .number = BRAID_JVM_OFFCPU,     \
	    __VA_ARGS__)

enum { AT_SAFEPOINT = 40, IN_VM, IN_LIBRARY, OF_VM, IN_POOL, PATH = 20 };

static const struct trace_scope pool_scope[] = {{24, 1}};

/* Stacks of a Java thread in the VM, at a safepoint, in a library, and of a pool's worker. */
static const struct trace_rec vm[] = {
	NAME(PATH, "10.0.0.1:80"),
	REC(TRACE_MODULE, module, 4, TRACE_MODULE_ELF, S("/jdk/lib/server/libjvm.so"), S("ef")),
	REC(TRACE_MODULE, module, 5, TRACE_MODULE_ELF, S("/opt/libown.so"), S("01")),
	REC(TRACE_METHOD, method, 24, 1, 9, S("java.util.concurrent.ThreadPoolExecutor"), S("getTask"), S("()V"),
	    S("")),
	REC(TRACE_SYMBOL, symbol, 40, 4, 0x1000, 64, S("_ZN20SafepointSynchronize5blockEP10JavaThread")),
	REC(TRACE_SYMBOL, symbol, 41, 4, 0x2000, 64, S("Runtime1_move")),
	REC(TRACE_SYMBOL, symbol, 42, 5, 0x1000, 64, S("own_wait")),
	REC(TRACE_FRAME, frame, 40, BRAID_FRAME_NATIVE, 1, 0, 0x1010, 4, 40, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 41, BRAID_FRAME_NATIVE, 1, 0, 0x2010, 4, 41, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 42, BRAID_FRAME_NATIVE, 1, 0, 0x1010, 5, 42, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 43, BRAID_FRAME_INTERPRETED, 1, 0, 0x930, 0, 0, 0, 1, pool_scope),
	REC(TRACE_NODE, node, AT_SAFEPOINT, 3, 40),
	REC(TRACE_NODE, node, IN_VM, 3, 41),
	REC(TRACE_NODE, node, IN_LIBRARY, 3, 42),
	REC(TRACE_NODE, node, OF_VM, 0, 41),
	REC(TRACE_NODE, node, IN_POOL, 3, 43),
};

struct walled {
	struct run r;
	struct wall *w;
};

static inline struct walled wall_of(const struct trace_rec *recs, size_t count, const struct filter *filter)
{
	struct walled x = {.r = run_begin(filter)};

	run_feed(&x.r, more, COUNT(more));
	run_feed(&x.r, vm, COUNT(vm));
	run_feed(&x.r, recs, count);
	run_analyze(&x.r, filter);
	ck_assert_int_eq(wall_new(&x.w, x.r.an), 0);
	return x;
}

static inline void wall_end(struct walled *x)
{
	wall_free(x->w);
	run_free(&x->r);
}

/* Of the fixture's thread with this id. */
static inline const struct wall_thread *thread(const struct walled *x, uint32_t id)
{
	return &x->w->threads.at[table_find(&x->r.a->threads, id)];
}

static const struct trace_rec life[] = {
	LIFE(1, 0, 200, 100, .weight = 25 * MS),
	OFF(1, 40, 70, PARKED, CLASS(FUTEX), .value = 5 * MS),
	OFF(1, 71, 81, SLEEPING, CLASS(FUTEX)),
	OFF(1, 90, 100, ON_INLINE, CLASS(RUNNABLE), .value = 10 * MS),
	OFF(1, 110, 120, ON_INLINE, CLASS(SOCKET), .name = PATH),
	OFF(1, 130, 135, PARKED, CLASS(FAULT)),
	OFF(1, 140, 150, IN_POOL, CLASS(FUTEX)),
	COUNTED(1, 15 * MS, CLASS(FUTEX)),
	COUNTED(1, 5 * MS, CLASS(RUNNABLE)),
};

static inline char *report(const struct walled *x, bool idle, bool json)
{
	struct wall_view *v;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(wall_view_new(&v, x->w, idle), 0);
	(json ? wall_json : wall_text)(out, v, 10);
	wall_view_free(v);
	fclose(out);
	return text;
}

/* ---- what no recorder would write ---- */

static inline uint64_t odd_time(void)
{
	switch (lrand48() % 12) {
	case 0:
		return UINT64_MAX - (uint64_t)lrand48() % 3;
	case 1:
		return (uint64_t)lrand48() % 3;
	default:
		return BASE_NS + (uint64_t)lrand48() % (300 * MS);
	}
}

static inline uint64_t odd_length(void)
{
	return lrand48() % 10 ? (uint64_t)lrand48() % (40 * MS) : lrand48() % 2 ? UINT64_MAX : 0;
}

static inline struct trace_rec odd_row(void)
{
	static const uint32_t kinds[] = {BRAID_JVM_OFFCPU,   BRAID_JVM_OFFCPU,	  BRAID_JVM_OFFCPU,
					 BRAID_JVM_LOCK,     BRAID_JVM_WAIT,	  BRAID_JVM_COUNTED,
					 BRAID_JVM_GC_PAUSE, BRAID_JVM_SAFEPOINT, BRAID_JVM_THREAD_TIME};

	return (struct trace_rec){
		.kind = TRACE_JVM_EVENT,
		.jvm_event = {.time_ns = odd_time(),
			      .kind = kinds[(size_t)lrand48() % COUNT(kinds)],
			      .process = 1 + (uint32_t)lrand48() % 3,
			      .thread = (uint32_t)lrand48() % 5,
			      .duration_ns = odd_length(),
			      .node = (uint32_t)lrand48() % 50,
			      .name = (uint32_t)lrand48() % 30,
			      .value = odd_length(),
			      .weight = lrand48() % 2 ? odd_length() : (uint64_t)(lrand48() % 2) << 32 | lrand48() % 2,
			      .number = lrand48() % 2 ? BRAID_JVM_OFFCPU : odd_length(),
			      .flags = (uint32_t)lrand48() << 16 | ((uint32_t)lrand48() & 0xffff),
			      .other = (uint32_t)lrand48() % 5,
			      .other_node = (uint32_t)lrand48() % 50,
			      .source = (uint32_t)lrand48() % 4,
			      .text = S("\033]0;x\a")}};
}

#endif
