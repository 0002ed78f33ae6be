// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Programs at probes in the VM's own code (uprobes in libjvm.so): safepoints, compilations, deoptimisations. Each hit
 * costs a trap, 2 to 13 us (docs/overhead.md), so only rare places are probed. Return probes are not used: they are two
 * hits, and leave a trampoline's address on the stacks that other tools walk.
 */
#ifndef BRAID_PROBES_BPF_H
#define BRAID_PROBES_BPF_H

#include "gc.bpf.h"
#include "jvm_event.bpf.h"

#include <bpf/usdt.bpf.h>

struct compiling {
	__u64 start_ns;
	__u64 method;
	__u32 id;
	__u32 flags; /* BRAID_COMPILE_* */
};

/* The current compilation of each compiler thread. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct compiling);
} compiling SEC(".maps");

/*
 * Since Linux 6.13, programs at probes do not run on the thread's stack but on one for each CPU and program. But such a
 * program can be preempted, and the next thread that hits the probe on the same CPU then writes to the same stack: the
 * kernel crashes at the pointers in it. A program with a tail call runs on the thread's stack. This one is never made.
 */
struct no_programs {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
};
struct no_programs no_programs SEC(".maps");
/* Of programs that may have a link to several places: those in one map are to be alike. */
struct no_programs no_multi_programs SEC(".maps");

const volatile bool tail_calls = false;

static __always_inline void probe_on_thread_stack(struct pt_regs *ctx, struct no_programs *of)
{
	if (tail_calls)
		bpf_tail_call(ctx, of, 0);
}

/* ---- safepoints: on the VM thread ---- */

static __always_inline void safepoint_begin(struct braid_probed *p, __u64 operation)
{
	p->operation = operation;
	p->reached_ns = 0;
	p->name[0] = '\0';
	p->begin_ns = bpf_ktime_get_ns();
}

/* The vtable of the operation that is about to be executed identifies its class. */
static __always_inline __u64 safepoint_object(const struct braid_probed *p)
{
	__u64 operation = 0, vtable = 0;

	if (bpf_probe_read_user(&operation, sizeof(operation), (const void *)p->operation_at) || !operation ||
	    bpf_probe_read_user(&vtable, sizeof(vtable), (const void *)operation))
		return 0;
	return vtable;
}

static __always_inline void safepoint_reached(struct braid_probed *p)
{
	if (p->begin_ns && !p->reached_ns)
		p->reached_ns = bpf_ktime_get_ns();
}

static __always_inline void safepoint_emit(struct braid_probed *p, __u64 end_ns)
{
	const struct braid_stack_ref none = {0};
	struct braid_event_jvm_event *e;

	p->safepoints++;
	p->stops = 0;
	e = jvm_event_begin(bpf_get_current_pid_tgid() >> 32, BRAID_JVM_SAFEPOINT, &none);
	if (e) {
		e->source = BRAID_SOURCE_PROBE;
		e->event.start_ns = p->begin_ns;
		e->event.end_ns = end_ns;
		e->event.value = p->reached_ns > p->begin_ns ? p->reached_ns - p->begin_ns : 0;
		e->event.number = p->safepoints;
		if (p->operation >> 32)
			e->event.weight = p->operation;
		else
			e->event.name = (__u32)p->operation;
		__builtin_memcpy(e->text, p->name, sizeof(e->text));
		bpf_ringbuf_submit(e, events_wake());
	}
	p->begin_ns = 0;
}

/* The VM has recorded the safepoint's times, by the same clock. */
static __always_inline void safepoint_timed(struct braid_probed *p)
{
	__u64 end_ns = 0;
	__u32 type = 0;

	if (bpf_probe_read_user(&p->begin_ns, sizeof(p->begin_ns), (const void *)p->begin_at) ||
	    bpf_probe_read_user(&p->reached_ns, sizeof(p->reached_ns), (const void *)p->reached_at) ||
	    bpf_probe_read_user(&end_ns, sizeof(end_ns), (const void *)p->end_at) ||
	    bpf_probe_read_user(&type, sizeof(type), (const void *)p->type_at))
		return;
	p->operation = (__u64)type + 1;
	safepoint_emit(p, end_ns);
}

static __always_inline void safepoint_end(struct braid_probed *p)
{
	if (p->begin_ns) /* 0: it began before the probes were set */
		safepoint_emit(p, bpf_ktime_get_ns());
}

/* ---- compilations: on a compiler thread ---- */

static __always_inline void compile_begin(const struct braid_probed *p, __u64 task)
{
	struct compiling c = {.start_ns = bpf_ktime_get_ns()};
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), level = 0;
	__s32 osr_bci = -1;

	if (task && (p->flags & BRAID_PROBED_TASK) &&
	    !bpf_probe_read_user(&c.id, sizeof(c.id), (const void *)(task + p->task_id)) &&
	    !bpf_probe_read_user(&c.method, sizeof(c.method), (const void *)(task + p->task_method)) &&
	    !bpf_probe_read_user(&osr_bci, sizeof(osr_bci), (const void *)(task + p->task_osr_bci)) &&
	    !bpf_probe_read_user(&level, 1, (const void *)(task + p->task_level)))
		c.flags = (level & BRAID_COMPILE_LEVEL) | (osr_bci != -1 ? BRAID_COMPILE_OSR : 0);
	bpf_map_update_elem(&compiling, &tid, &c, BPF_ANY);
}

/* Copies a name, cut to `room`; the rest stays zero. */
static __always_inline void probe_name(char *to, __u32 room, const void *from, __u32 length)
{
	if (length > room - 1)
		length = room - 1;
	barrier_var(length);
	if (length < room)
		(void)bpf_probe_read_user(to, length, from);
}

struct compile_names {
	const void *class_name, *method;
	__u32 class_length, method_length;
};

static __always_inline void compile_end(struct braid_probed *p, bool success, const struct compile_names *n)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct compiling *c = bpf_map_lookup_elem(&compiling, &tid);
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	const struct braid_stack_ref none = {0};
	struct braid_event_compile *e;

	if (!c || !c->start_ns)
		return;
	e = jvm_event_begin_sized(tgid, BRAID_JVM_COMPILE, &none, sizeof(*e));
	if (!e)
		return;
	__builtin_memset(e->class_name, 0, sizeof(e->class_name));
	e->jvm.source = BRAID_SOURCE_PROBE;
	e->jvm.event.start_ns = c->start_ns;
	e->jvm.event.end_ns = e->jvm.hdr.time_ns;
	e->jvm.event.number = c->id;
	e->jvm.event.weight = c->method;
	e->jvm.event.flags = c->flags | (success ? 0 : BRAID_COMPILE_FAILED);
	if (n) {
		probe_name(e->class_name, sizeof(e->class_name), n->class_name, n->class_length);
		probe_name(e->jvm.text, sizeof(e->jvm.text), n->method, n->method_length);
	}
	bpf_ringbuf_submit(e, events_wake());
	c->start_ns = 0;
}

/* ---- events with stacks: threads that stop, or leave compiled code ---- */

/* True if one more may be emitted. The count changes concurrently, so a few more may be. */
static __always_inline bool stop_due(struct braid_probed *p)
{
	if (__sync_fetch_and_add(&p->stops, 1) < BRAID_PROBE_STOPS_MAX)
		return true;
	__sync_fetch_and_add(&p->stops_counted, 1);
	return false;
}

static __always_inline bool deopt_due(struct braid_probed *p)
{
	__u64 second = bpf_ktime_get_ns() / 1000000000;

	if (p->deopt_second != second) {
		p->deopt_second = second;
		p->deopts = 0;
	}
	if (__sync_fetch_and_add(&p->deopts, 1) < BRAID_PROBE_DEOPTS_MAX)
		return true;
	__sync_fetch_and_add(&p->deopts_counted, 1);
	return false;
}

/* When the current safepoint began; 0: all threads have stopped, and this one returns from native code. */
static __always_inline __u64 stop_since(const struct braid_probed *p)
{
	__u64 begin_ns = p->begin_ns, reached_ns = p->reached_ns;

	if (p->begin_at && (bpf_probe_read_user(&begin_ns, sizeof(begin_ns), (const void *)p->begin_at) ||
			    bpf_probe_read_user(&reached_ns, sizeof(reached_ns), (const void *)p->reached_at)))
		return 0;
	return reached_ns < begin_ns ? begin_ns : 0;
}

SEC("uprobe")
int on_probe_stack(struct pt_regs *ctx)
{
	__u32 probe = (__u32)bpf_get_attach_cookie(ctx), tgid = bpf_get_current_pid_tgid() >> 32;
	__u32 kind = probe == BRAID_PROBE_SAFEPOINT_STOP ? BRAID_JVM_SAFEPOINT_STOP : BRAID_JVM_DEOPT;
	struct braid_probed *p = probed_here();
	__u64 now = bpf_ktime_get_ns(), since_ns, number;
	struct braid_stack_ref ref = {0};
	struct braid_event_jvm_event *e;
	struct sample *s;

	probe_on_thread_stack(ctx, &no_multi_programs);
	if (!p)
		return 0;
	/* Read before the walk, so that they belong to this safepoint. */
	since_ns = kind == BRAID_JVM_DEOPT ? 0 : stop_since(p);
	number = p->safepoints + 1;
	if (!(kind == BRAID_JVM_DEOPT ? deopt_due(p) : stop_due(p)) || !jvm_event_room(tgid, kind))
		return 0;
	s = stack_begin(bpf_map_lookup_elem(&processes, &tgid));
	if (s)
		(void)stack_take(s->w.slot, stack_entry_regs(bpf_get_current_task_btf(), &s->w), &ref);
	e = jvm_event_begin(tgid, kind, &ref);
	if (!e)
		return 0;
	e->source = BRAID_SOURCE_PROBE;
	e->event.start_ns = e->event.end_ns = now;
	if (kind == BRAID_JVM_SAFEPOINT_STOP) {
		e->event.value = since_ns && now > since_ns ? now - since_ns : 0;
		e->event.number = number;
	} else {
		e->event.name = probe;
		e->event.detail = (__u32)ctx->si;
		e->event.weight = ref.java;
	}
	bpf_ringbuf_submit(e, events_wake());
	return 0;
}

/* ---- programs ---- */

SEC("uprobe")
int on_probe(struct pt_regs *ctx)
{
	__u32 probe = (__u32)bpf_get_attach_cookie(ctx);
	struct braid_probed *p = probed_here();

	probe_on_thread_stack(ctx, &no_multi_programs);
	if (!p)
		return 0;
	switch (probe) {
	case BRAID_PROBE_SAFEPOINT_TIMED:
		safepoint_timed(p);
		break;
	case BRAID_PROBE_SAFEPOINT_OBJECT:
		safepoint_begin(p, safepoint_object(p));
		break;
	case BRAID_PROBE_SAFEPOINT_REACHED:
		safepoint_reached(p);
		break;
	case BRAID_PROBE_SAFEPOINT_END:
		safepoint_end(p);
		break;
	case BRAID_PROBE_COMPILE_TASK:
		compile_begin(p, ctx->di);
		break;
	case BRAID_PROBE_COMPILE_POST:
		compile_end(p, ctx->dx & 0xff, NULL);
		break;
	default:
		gc_probe(ctx, probe);
		break;
	}
	return 0;
}

static __always_inline void usdt_operation(struct pt_regs *ctx, struct braid_probed *p)
{
	long name = 0, length = 0;

	if (!p->begin_ns || p->reached_ns || bpf_usdt_arg(ctx, 0, &name) || bpf_usdt_arg(ctx, 1, &length))
		return;
	safepoint_reached(p);
	__builtin_memset(p->name, 0, sizeof(p->name));
	probe_name(p->name, sizeof(p->name), (const void *)name, (__u32)length);
}

/* Compiler, its length; class, its length; method, its length; signature, its length; success. */
static __always_inline void usdt_compile_end(struct pt_regs *ctx, struct braid_probed *p)
{
	long class_name = 0, class_length = 0, method = 0, method_length = 0, success = 0;
	struct compile_names n;

	(void)bpf_usdt_arg(ctx, 2, &class_name);
	(void)bpf_usdt_arg(ctx, 3, &class_length);
	(void)bpf_usdt_arg(ctx, 4, &method);
	(void)bpf_usdt_arg(ctx, 5, &method_length);
	(void)bpf_usdt_arg(ctx, 8, &success);
	n = (struct compile_names){.class_name = (const void *)class_name,
				   .method = (const void *)method,
				   .class_length = (__u32)class_length,
				   .method_length = (__u32)method_length};
	compile_end(p, success & 0xff, &n);
}

SEC("usdt")
int on_usdt(struct pt_regs *ctx)
{
	struct braid_probed *p = probed_here();

	probe_on_thread_stack(ctx, &no_programs);
	if (!p)
		return 0;
	switch (bpf_usdt_cookie(ctx)) {
	case BRAID_PROBE_SAFEPOINT_BEGIN:
		safepoint_begin(p, 0);
		break;
	case BRAID_PROBE_SAFEPOINT_NAME:
		usdt_operation(ctx, p);
		break;
	case BRAID_PROBE_SAFEPOINT_END:
		safepoint_end(p);
		break;
	case BRAID_PROBE_COMPILE_BEGIN:
		compile_begin(p, 0);
		break;
	case BRAID_PROBE_COMPILE_END:
		usdt_compile_end(ctx, p);
		break;
	}
	return 0;
}

#endif
