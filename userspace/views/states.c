// SPDX-License-Identifier: Apache-2.0
/*
 * What the threads of JVMs do while they run: the part of a Java thread's state that its stack shows, and the work of
 * the JVM's own threads. views.c calls it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "views.h"

#include <analyze/places.h>

static const struct {
	const char *key, *title;
} names[RUN_STATES] = {
	[RUN_JAVA] = {"in_java", "in Java"},	  [RUN_NATIVE] = {"in_native", "in native code"},
	[RUN_VM] = {"in_vm", "in the JVM"},	  [RUN_COMPILER] = {"compiler", "compiling"},
	[RUN_GC] = {"gc", "collecting garbage"},  [RUN_VM_THREAD] = {"vm_thread", "the VM Thread"},
	[RUN_OTHER] = {"other", "other threads"}, [RUN_UNKNOWN] = {"unknown", "not known"},
};

const char *run_state_key(enum run_state state)
{
	return names[state].key;
}

const char *run_state_title(enum run_state state)
{
	return names[state].title;
}

struct mark {
	const char *text;
	enum run_state state;
};

/* Functions that the JVM's own threads begin with, JDK 8 to 27. */
static const struct mark functions[] = {
	{"CompileBroker::compiler_thread_loop", RUN_COMPILER},
	{"ConcurrentGCThread::run", RUN_GC},
	{"ConcurrentMarkSweepThread::run", RUN_GC},
	{"ConcurrentG1RefineThread::run", RUN_GC},
	{"ConcurrentMarkThread::run", RUN_GC},
	{"GCTaskThread::run", RUN_GC},
	{"GangWorker::", RUN_GC},
	{"WorkerThread::run", RUN_GC},
	{"VMThread::run", RUN_VM_THREAD},
};

/* Where the JVM's functions have no names; the kernel may have cut these, see util/comm.h. */
static const struct mark threads[] = {
	{"C1 CompilerThre", RUN_COMPILER},
	{"C1 Comp..", RUN_COMPILER},
	{"C2 CompilerThre", RUN_COMPILER},
	{"C2 Comp..", RUN_COMPILER},
	{"CMS Main Thread", RUN_GC},
	{"Concurrent Mark", RUN_GC},
	{"GC Thread#", RUN_GC},
	{"GC task thread#", RUN_GC},
	{"G1 ", RUN_GC},
	{"Gang worker#", RUN_GC},
	{"Shenand..", RUN_GC},
	{"Shenandoah", RUN_GC},
	{"XDirector", RUN_GC},
	{"XDriver", RUN_GC},
	{"XStat", RUN_GC},
	{"XWorker", RUN_GC},
	{"ZDirector", RUN_GC},
	{"ZDriver", RUN_GC},
	{"ZStat", RUN_GC},
	{"ZWorker", RUN_GC},
	{"VM Thread", RUN_VM_THREAD},
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* RUN_UNKNOWN: none of them. */
static enum run_state marked(const struct mark *marks, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(name, marks[i].text, strlen(marks[i].text)) == 0)
			return marks[i].state;
	return RUN_UNKNOWN;
}

/* What a frame, or a stack, says. */
struct says {
	uint8_t state : 3; /* of a Java thread; RUN_UNKNOWN: nothing */
	uint8_t mark : 3;  /* of the JVM's own thread; RUN_UNKNOWN: nothing */
	uint8_t java : 1;  /* there is a Java frame */
	uint8_t kernel : 1;
};

struct states {
	struct views *v;
	struct says *of_frame; /* per row of a->frames */
	struct says *of_stack; /* per row of a->nodes */
	struct u64map jvms;    /* processes: without an agent, those that have methods */
};

static struct says says_native(const struct analysis *an, const struct frame_row *f, const char *name)
{
	struct says s = {.state = RUN_UNKNOWN, .mark = RUN_UNKNOWN};
	enum frame_owner owner = frame_owner(an, f);

	if (owner == OWNER_VM)
		s = (struct says){.state = RUN_VM, .mark = marked(functions, COUNT(functions), name)};
	else if (owner == OWNER_OTHER)
		s.state = RUN_NATIVE;
	return s;
}

static struct says says_frame(const struct analysis *an, size_t row)
{
	const struct expansion *e = &an->expansions[row];
	const struct xframe *x = e->count ? &an->xframes.at[e->first] : NULL;
	struct says s = {.state = RUN_UNKNOWN, .mark = RUN_UNKNOWN};

	switch (x ? kind_domain((enum stack_kind)an->syms.at[x->sym].kind) : DOMAIN_INCOMPLETE) {
	case DOMAIN_JAVA:
		s.java = true;
		s.state = RUN_JAVA;
		return s;
	case DOMAIN_NATIVE:
		return says_native(an, table_row(&an->a->frames, row), analysis_sym_name(an, x->sym));
	case DOMAIN_KERNEL:
		s.kernel = true;
		return s;
	default:
		return s;
	}
}

/* A library that the JVM calls works for the JVM. The mark nearest to the root counts. */
static void say_stack(struct states *s, uint32_t row)
{
	const struct stack *at = &s->v->an->stacks[row];
	struct says all = {.state = RUN_NATIVE, .mark = RUN_UNKNOWN}, own = {.state = RUN_UNKNOWN, .mark = RUN_UNKNOWN};

	if (at->parent != ROW_NONE)
		all = s->of_stack[at->parent];
	if (at->frame != ROW_NONE)
		own = s->of_frame[at->frame];
	if (own.state != RUN_UNKNOWN && !(own.state == RUN_NATIVE && all.state == RUN_VM))
		all.state = own.state;
	if (all.mark == RUN_UNKNOWN)
		all.mark = own.mark;
	all.java |= own.java;
	all.kernel = own.kernel;
	s->of_stack[row] = all;
}

static enum run_state state_of(const struct states *s, const struct stack_sum *sum)
{
	const struct analysis *an = s->v->an;
	const struct thread_row *t = table_row(&an->a->threads, sum->thread);
	const struct says *says = sum->stack == ROW_NONE ? NULL : &s->of_stack[sum->stack];
	enum run_state state;

	if (t->virtual || (t->flags & TRACE_THREAD_JAVA) || (says && says->java))
		return says ? (enum run_state)says->state : RUN_UNKNOWN;
	state = says ? (enum run_state)says->mark : RUN_UNKNOWN;
	if (state == RUN_UNKNOWN)
		state = marked(threads, COUNT(threads), analysis_thread_name(an, sum->thread));
	return state == RUN_UNKNOWN ? RUN_OTHER : state;
}

static void add(struct states *s, const struct stack_sum *sum)
{
	const struct analyzer *a = s->v->an->a;
	const struct thread_row *t = sum->thread == ROW_NONE ? NULL : table_row(&a->threads, sum->thread);
	struct state_view *to;

	if (!t || !u64map_get(&s->jvms, t->process))
		return;
	to = &s->v->states[state_of(s, sum)];
	to->samples = add_saturating(to->samples, sum->weight);
	if (sum->stack != ROW_NONE && s->of_stack[sum->stack].kernel)
		to->kernel = add_saturating(to->kernel, sum->weight);
}

static int find_jvms(struct states *s)
{
	const struct analyzer *a = s->v->an->a;
	int err = 0;

	for (size_t i = 0; i < a->jvms.count && err >= 0; i++)
		err = u64map_add(&s->jvms, a->jvms.ids[i]);
	for (size_t i = 0; i < a->methods.count && err >= 0; i++)
		err = u64map_add(&s->jvms, ((const struct method_row *)table_row(&a->methods, i))->process);
	return err < 0 ? err : 0;
}

static void add_all(struct states *s)
{
	const struct analysis *an = s->v->an;
	struct stack_sums_cursor c;
	const struct stack_sum *sum;

	for (size_t i = 0; i < an->a->frames.count; i++)
		s->of_frame[i] = says_frame(an, i);
	for (size_t i = 0; i < an->a->nodes.count; i++)
		say_stack(s, an->order[i]);
	for (stack_sums_begin(&c, &an->samples.sums); (sum = stack_sums_next(&c));)
		add(s, sum);
}

int views_states(struct views *v)
{
	const struct analyzer *a = v->an->a;
	struct states s = {.v = v,
			   .of_frame = calloc(a->frames.count + 1, sizeof(*s.of_frame)),
			   .of_stack = calloc(a->nodes.count + 1, sizeof(*s.of_stack))};
	int err = s.of_frame && s.of_stack ? find_jvms(&s) : -ENOMEM;

	if (!err)
		add_all(&s);
	u64map_free(&s.jvms);
	free(s.of_frame);
	free(s.of_stack);
	return err;
}
