// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * What a system call waits for: its class, and the file, pipe or socket behind its file descriptor. Reads structures of
 * the kernel without locks, so what it finds may be out of date. offcpu.bpf.h calls it.
 */
#ifndef BRAID_FILES_BPF_H
#define BRAID_FILES_BPF_H

#include "kernel_read.bpf.h"
#include "maps.bpf.h"

#define CALL_CLASS 0x1f
#define CALL_FD 0x40   /* its first argument is a file descriptor */
#define CALL_FILE 0xc0 /* and the file's type is the class */

/* Not constant: clang would move it to a section without BTF. */
const volatile __u8 calls[NR_KNOWN] = {
	[NR_FUTEX] = BRAID_OFFCPU_FUTEX,
	[NR_FUTEX_WAIT] = BRAID_OFFCPU_FUTEX,
	[NR_FUTEX_WAITV] = BRAID_OFFCPU_FUTEX,
	[NR_NANOSLEEP] = BRAID_OFFCPU_SLEEP,
	[NR_CLOCK_NANOSLEEP] = BRAID_OFFCPU_SLEEP,
	[NR_POLL] = BRAID_OFFCPU_POLL,
	[NR_SELECT] = BRAID_OFFCPU_POLL,
	[NR_PSELECT6] = BRAID_OFFCPU_POLL,
	[NR_PPOLL] = BRAID_OFFCPU_POLL,
	[NR_EPOLL_WAIT] = BRAID_OFFCPU_POLL,
	[NR_EPOLL_PWAIT] = BRAID_OFFCPU_POLL,
	[NR_EPOLL_PWAIT2] = BRAID_OFFCPU_POLL,
	[NR_WAIT4] = BRAID_OFFCPU_CHILD,
	[NR_WAITID] = BRAID_OFFCPU_CHILD,
	[NR_CONNECT] = BRAID_OFFCPU_SOCKET | CALL_FD,
	[NR_ACCEPT] = BRAID_OFFCPU_SOCKET | CALL_FD,
	[NR_ACCEPT4] = BRAID_OFFCPU_SOCKET | CALL_FD,
	[NR_SENDTO] = BRAID_OFFCPU_SOCKET | CALL_FD,
	[NR_RECVFROM] = BRAID_OFFCPU_SOCKET | CALL_FD,
	[NR_SENDMSG] = BRAID_OFFCPU_SOCKET | CALL_FD,
	[NR_RECVMSG] = BRAID_OFFCPU_SOCKET | CALL_FD,
	[NR_SENDMMSG] = BRAID_OFFCPU_SOCKET | CALL_FD,
	[NR_RECVMMSG] = BRAID_OFFCPU_SOCKET | CALL_FD,
	[NR_SHUTDOWN] = BRAID_OFFCPU_SOCKET | CALL_FD,
	[NR_READ] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_WRITE] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_CLOSE] = BRAID_OFFCPU_FILE,
	[NR_IOCTL] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_PREAD64] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_PWRITE64] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_READV] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_WRITEV] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_SENDFILE] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_FCNTL] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_FLOCK] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_FSYNC] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_FDATASYNC] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_FTRUNCATE] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_GETDENTS] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_GETDENTS64] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_SPLICE] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_SYNC_FILE_RANGE] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_FALLOCATE] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_PREADV] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_PWRITEV] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_SYNCFS] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_PREADV2] = BRAID_OFFCPU_FILE | CALL_FILE,
	[NR_PWRITEV2] = BRAID_OFFCPU_FILE | CALL_FILE,
};

/* What is known of a system call, by its number; BRAID_OFFCPU_SYSCALL is none. */
static __always_inline __u32 call_about(__u32 call)
{
	__u32 about = call < NR_KNOWN ? calls[call] : 0;

	return about ?: BRAID_OFFCPU_CALL;
}

/* The open file of a thread; NULL: none. */
static __always_inline struct file *file_of(struct task_struct *task, __u64 fd)
{
	struct files_struct *files = TASK_POINTER(task, files);
	struct fdtable *table = files ? files->fdt : NULL;
	struct file *file = NULL;

	if (!table || (__u32)fd >= table->max_fds)
		return NULL;
	if (kernel_casts) /* any structure that begins with a pointer */
		return (struct file *)CAST(list_head, table->fd + (__u32)fd)->next;
	bpf_probe_read_kernel(&file, sizeof(file), table->fd + (__u32)fd);
	return file;
}

static __always_inline __u32 inode_class(struct inode *inode)
{
	switch (READ(inode, inode, i_mode) & FILE_TYPE) {
	case FILE_SOCKET:
		return BRAID_OFFCPU_SOCKET;
	case FILE_FIFO:
		return BRAID_OFFCPU_PIPE;
	default:
		return BRAID_OFFCPU_FILE;
	}
}

static __always_inline __u32 file_class(struct file *file)
{
	return file ? inode_class(READ(file, file, f_inode)) : BRAID_OFFCPU_FILE;
}

/* The classes of file_class(). */
static __always_inline bool file_class_is(__u32 class)
{
	return class >= BRAID_OFFCPU_SOCKET && class <= BRAID_OFFCPU_FILE;
}

static __noinline int call_file_class(struct task_struct *task, __u64 fd)
{
	return (int)file_class(file_of(task, fd));
}

/* ---- its name ---- */

#define PATH_PARTS 8

struct object {
	__u64 number;		       /* inode */
	__u32 kind;		       /* enum braid_object */
	__u32 class;		       /* enum braid_offcpu_class; 0: no file */
	char text[2 * BRAID_TEXT_MAX]; /* a component is read as a whole, also at the end of the first half */
};

static __always_inline void object_path(struct object *o, struct dentry *entry)
{
	struct dentry *parent = BPF_CORE_READ(entry, d_parent);
	const unsigned char *name;
	__u32 used = 0;
	long n;

	o->kind = parent == entry ? BRAID_OBJECT_NAME : BRAID_OBJECT_PATH_CUT;
	for (int i = 0; i < PATH_PARTS; i++) {
		name = BPF_CORE_READ(entry, d_name.name);
		asm volatile("" : "+r"(used)); /* the next line is for the verifier */
		if (used >= BRAID_TEXT_MAX)
			return;
		n = bpf_probe_read_kernel_str(o->text + used, BRAID_TEXT_MAX, name);
		if (n <= 1 || n > BRAID_TEXT_MAX)
			return;
		used += (__u32)n;
		entry = parent;
		parent = BPF_CORE_READ(entry, d_parent);
		if (parent == entry) {
			if (o->kind == BRAID_OBJECT_PATH_CUT && used <= BRAID_TEXT_MAX)
				o->kind = BRAID_OBJECT_PATH;
			return;
		}
	}
}

static __always_inline void object_unix(struct object *o, struct unix_sock *s)
{
	struct unix_address *address;
	struct unix_sock *peer;
	int length;

	if (!bpf_core_type_exists(struct unix_sock))
		return;
	address = BPF_CORE_READ(s, addr);
	if (!address) {
		peer = (struct unix_sock *)BPF_CORE_READ(s, peer);
		address = BPF_CORE_READ(peer, addr);
	}
	length = address ? BPF_CORE_READ(address, len) - 2 : 0; /* without the family */
	if (length <= 0)
		return;
	if (length > BRAID_TEXT_MAX - 1)
		length = BRAID_TEXT_MAX - 1;
	if (!bpf_probe_read_kernel(o->text, length & (BRAID_TEXT_MAX - 1), address->name[0].sun_path))
		o->kind = BRAID_OBJECT_UNIX;
}

static __always_inline void object_sock(struct object *o, struct sock *sock)
{
	struct braid_address *to = (struct braid_address *)o->text;
	bool listens = READ(sock, sock, __sk_common.skc_state) == SOCKET_LISTENS;
	__u16 port = listens ? __builtin_bswap16(READ(sock, sock, __sk_common.skc_num))
			     : READ(sock, sock, __sk_common.skc_dport);

	switch (READ(sock, sock, __sk_common.skc_family)) {
	case FAMILY_UNIX:
		object_unix(o, (struct unix_sock *)sock);
		return;
	case FAMILY_INET:
		o->kind = BRAID_OBJECT_INET;
		if (listens)
			BPF_CORE_READ_INTO((__u32 *)to->address, sock, __sk_common.skc_rcv_saddr);
		else
			BPF_CORE_READ_INTO((__u32 *)to->address, sock, __sk_common.skc_daddr);
		break;
	case FAMILY_INET6:
		o->kind = BRAID_OBJECT_INET6;
		if (!bpf_core_field_exists(sock->__sk_common.skc_v6_daddr))
			return;
		if (listens)
			BPF_CORE_READ_INTO((struct in6_addr *)to->address, sock, __sk_common.skc_v6_rcv_saddr);
		else
			BPF_CORE_READ_INTO((struct in6_addr *)to->address, sock, __sk_common.skc_v6_daddr);
		break;
	default:
		return;
	}
	__builtin_memcpy(to->port, &port, sizeof(port));
}

static __always_inline struct sock *sock_of(struct file *file)
{
	struct socket *socket = READ(file, file, private_data);

	return READ(socket, socket, sk);
}

/* Describes an open file; `o` is zeroed. */
static __always_inline void object_of_file(struct object *o, struct file *file)
{
	struct inode *inode;

	if (!file)
		return;
	inode = READ(file, file, f_inode);
	o->number = READ(inode, inode, i_ino);
	o->class = inode_class(inode);
	switch (o->class) {
	case BRAID_OFFCPU_SOCKET:
		object_sock(o, sock_of(file));
		break;
	case BRAID_OFFCPU_PIPE:
		o->kind = BRAID_OBJECT_PIPE;
		break;
	default:
		object_path(o, BPF_CORE_READ(file, f_path.dentry));
	}
}

static __always_inline bool call_polls_one(struct pt_regs *entry)
{
	return (entry->orig_ax == NR_POLL || entry->orig_ax == NR_PPOLL) && entry->cs == CS_64 && entry->si == 1;
}

/*
 * The descriptor that the current thread polls, plus 1, if it is the only one: a read of a Java socket is such a poll.
 * Which of several has ended it is seen when the call has ended, which is too late.
 */
static __always_inline __u32 call_polled(struct pt_regs *entry)
{
	__s32 fd;

	if (!call_polls_one(entry) || bpf_probe_read_user(&fd, sizeof(fd), (const void *)entry->di) || fd < 0)
		return 0;
	return (__u32)fd + 1;
}

static __always_inline bool call_is_epoll(__u32 call)
{
	return call == NR_EPOLL_WAIT || call == NR_EPOLL_PWAIT || call == NR_EPOLL_PWAIT2;
}

/*
 * The descriptor, plus 1, whose event wakes a thread out of its epoll. The list of what is ready was empty when the
 * thread fell asleep, and ep_poll_callback() puts an item at its end before it wakes a waiter. 0: the list is empty, as
 * at a timeout, or that file is not what the thread's table has there. Any task may call it for `task`.
 */
static __noinline int call_ready(struct task_struct *task)
{
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(task);
	struct file *watching, *file;
	struct eventpoll *ep;
	struct epitem *item;
	__u64 first, last;
	__s32 fd;

	if (!bpf_core_type_exists(struct eventpoll) || !bpf_core_type_exists(struct epitem))
		return 0;
	watching = file_of(task, entry->di);
	ep = watching ? BPF_CORE_READ(watching, private_data) : NULL;
	first = (__u64)ep + bpf_core_field_offset(struct eventpoll, rdllist);
	last = ep ? (__u64)BPF_CORE_READ(ep, rdllist.prev) : 0;
	if (!last || last == first)
		return 0;
	item = (struct epitem *)(last - bpf_core_field_offset(struct epitem, rdllink));
	file = BPF_CORE_READ(item, ffd.file);
	fd = BPF_CORE_READ(item, ffd.fd);
	return fd >= 0 && file && file_of(task, fd) == file ? fd + 1 : 0;
}

/*
 * Describes what the thread's system call `call`, which has not ended, waited for; `o` is zeroed. `polled`:
 * call_polled() when it began.
 */
static __always_inline void object_of_call(struct object *o, struct task_struct *task, __u32 call, __u32 polled)
{
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(task);

	if (call == BRAID_OFFCPU_SYSCALL || !(polled || call_about(call) & CALL_FD) || entry->orig_ax != call)
		return;
	object_of_file(o, file_of(task, polled ? polled - 1 : entry->di));
}

#endif
