// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The programs of the kernel event `tcp`: a socket belongs to the thread that connects or accepts it, whose stack is
 * taken then. The network's interrupts say when it is connected, and what is sent again.
 */
#ifndef BRAID_TCP_BPF_H
#define BRAID_TCP_BPF_H

#include "kernel_event.bpf.h"

#define TCP_SOCKETS 16384 /* of recorded processes; one that finds no room counts as a lost event */

struct tcp_socket {
	__u64 start_ns; /* 0: it does not connect */
	__u32 pid;
	__u32 tid;
	struct braid_stack_ref ref;
};

/* By the address of the kernel's structure. An entry ends with its connection. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TCP_SOCKETS);
	__type(key, __u64);
	__type(value, struct tcp_socket);
} tcp_sockets SEC(".maps");

static __noinline bool tcp_selected(__u64 port)
{
	struct hit h = {.argument = {port}};

	return hit_find(&h, kernel_events[BRAID_KERNEL_TCP] - 1) && hit_selected(&h);
}

/* Notes a socket of the current thread, unless the filter excludes its peer. */
static __always_inline void tcp_begins(void *ctx, struct sock *sk, bool connects)
{
	__u64 now = bpf_ktime_get_ns(), key = (__u64)sk, id = bpf_get_current_pid_tgid();
	struct tcp_socket s = {.start_ns = connects ? now : 0, .pid = id >> 32, .tid = (__u32)id};

	if (!tcp_selected(__builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport))) ||
	    !kernel_event_due(BRAID_KERNEL_TCP, now))
		return;
	kernel_event_stack(ctx, KERNEL_EVENT_OWN_FRAMES, BRAID_KERNEL_TCP, &s.ref);
	if (bpf_map_update_elem(&tcp_sockets, &key, &s, BPF_ANY))
		jvm_event_lost(s.pid, BRAID_JVM_TCP);
}

/* An event of the socket. `start_ns` 0: without duration, a retransmission. */
static __noinline int tcp_emit(const struct tcp_socket *s, struct sock *sk, __u64 start_ns, int error)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 number = kernel_events[BRAID_KERNEL_TCP] - 1;
	const struct braid_hit *event = bpf_map_lookup_elem(&hits, &number);
	struct object object = {0};
	struct braid_event_kernel *e;

	if (!event || (start_ns && now - start_ns < event->min_ns))
		return 0;
	object_sock(&object, sk);
	e = kernel_event_begin(s->pid, BRAID_KERNEL_TCP, &s->ref);
	if (!e)
		return 0;
	kernel_event_object(e, &object);
	e->jvm.tid = s->tid;
	e->jvm.event.start_ns = start_ns ?: now;
	e->jvm.event.end_ns = now;
	e->jvm.event.flags = (__u32)error;
	e->value[BRAID_TCP_RETRANSMIT] = !start_ns;
	bpf_ringbuf_submit(e, events_wake());
	return 0;
}

#define TCP_FAILED 0xffff /* the kernel does not say why */

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_tcp_state, struct sock *sk, int before, int after)
{
	__u64 key = (__u64)sk;
	struct tcp_socket *s;

	if (sk->sk_protocol != PROTOCOL_TCP)
		return 0;
	if (after == SOCKET_CONNECTS) {
		tcp_begins(ctx, sk, true);
		return 0;
	}
	/* Both ends can connect at once: then the socket answers the other end before it is connected. */
	if (after == SOCKET_ANSWERS ||
	    (before != SOCKET_CONNECTS && before != SOCKET_ANSWERS && after != SOCKET_CLOSED))
		return 0;
	s = bpf_map_lookup_elem(&tcp_sockets, &key);
	if (s && s->start_ns)
		tcp_emit(s, sk, s->start_ns, after == SOCKET_CONNECTED ? 0 : sk->sk_err ?: TCP_FAILED);
	if (s)
		s->start_ns = 0;
	if (after == SOCKET_CLOSED)
		bpf_map_delete_elem(&tcp_sockets, &key);
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(on_tcp_retransmit, struct sock *sk)
{
	__u64 key = (__u64)sk;
	struct tcp_socket *s = bpf_map_lookup_elem(&tcp_sockets, &key);

	return s ? tcp_emit(s, sk, 0, 0) : 0;
}

/* The socket that an accept has returned. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_tcp_accept, struct pt_regs *regs, long result)
{
	struct file *file;
	struct sock *sk;

	if ((regs->orig_ax != NR_ACCEPT && regs->orig_ax != NR_ACCEPT4) || regs->cs != CS_64 || result < 0 ||
	    !kernel_event_wanted(BRAID_KERNEL_TCP))
		return 0;
	file = file_of(bpf_get_current_task_btf(), result);
	if (file_class(file) != BRAID_OFFCPU_SOCKET)
		return 0;
	sk = sock_of(file);
	if (BPF_CORE_READ(sk, sk_protocol) == PROTOCOL_TCP && BPF_CORE_READ(sk, __sk_common.skc_family) != FAMILY_UNIX)
		tcp_begins(NULL, sk, false);
	return 0;
}

#endif
