// SPDX-License-Identifier: Apache-2.0
/*
 * Threads off the CPU for every reason, each in a function of its own. For each it prints "off FUNCTION TID FROM TO
 * NS": when the thread was in it, and that time less the thread's CPU time. It does everything three times: on a
 * machine whose kernel does not report every switch, a time may have neither a name nor a stack. A second thread,
 * "helper", ends what waits for somebody. With an argument, only a worker of io_uring waits. It prints "no_faults",
 * "no_32bit", "no_worker" for what the kernel does not have or allow.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WHILE_US 40000
#define APART __attribute__((noinline, noclone))

static int ends[2], futex_word, listening, held, faults, watched;
static int entered; /* how many times a thread has begun to wait, and the one at which the helper acts */
static int awaited;
static pid_t waiter;
static struct sockaddr_in address = {.sin_family = AF_INET};
static char *page;
static int watching; /* whether a socket is watched, from which nobody receives */

static int64_t ns_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void must(int ok)
{
	if (!ok) {
		perror("reasons");
		exit(1);
	}
}

/* ---- what waits ---- */

APART static void sleeps(void)
{
	must(!usleep(WHILE_US));
}

APART static void waits(void)
{
	while (!__atomic_load_n(&futex_word, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

APART static void reads_pipe(void)
{
	char byte;

	must(read(ends[0], &byte, 1) == 1);
}

APART static void polls(void)
{
	struct pollfd fd = {.fd = ends[0], .events = POLLIN};

	must(!poll(&fd, 1, WHILE_US / 1000));
}

APART static void epolls(int ready)
{
	struct epoll_event e[2];

	must(epoll_wait(watched, e, 2, ready ? -1 : WHILE_US / 1000) == ready);
	__asm__ volatile("");
}

APART static void epolls_pipe(void)
{
	epolls(1);
	__asm__ volatile("");
}

APART static void epolls_socket(void)
{
	epolls(1);
	__asm__ volatile("");
}

APART static void epolls_in_vain(void)
{
	epolls(0);
	__asm__ volatile("");
}

APART static int accepts(void)
{
	int fd = accept(listening, NULL, NULL);

	must(fd >= 0);
	return fd;
}

APART static void receives(int fd)
{
	char byte;

	must(recv(fd, &byte, 1, 0) == 1);
}

APART static void receives_unix(int fd)
{
	char byte;

	must(recv(fd, &byte, 1, 0) < 0 && errno == EAGAIN);
}

APART static void locks_file(int fd)
{
	must(!flock(fd, LOCK_EX));
}

APART static void writes_out(int fd)
{
	must(!fsync(fd));
}

APART static void touches(void)
{
	must(*(volatile char *)page == 'x');
}

APART static void waits_for_child(pid_t pid)
{
	must(waitpid(pid, NULL, 0) == pid);
}

APART static void stops(void)
{
	raise(SIGSTOP);
}

/* ---- what ends it ---- */

/* 'R': it runs, or could. */
static char state_of(pid_t thread)
{
	char path[32], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)thread);
	f = fopen(path, "re");
	must(f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1);
	fclose(f);
	return state;
}

/* On a busy machine, a thread comes late to where it waits. */
static void await_wait(int number)
{
	while (__atomic_load_n(&entered, __ATOMIC_SEQ_CST) < number || state_of(waiter) == 'R')
		usleep(1000);
	usleep(WHILE_US);
}

static void *helper(void *act)
{
	prctl(PR_SET_NAME, "helper");
	await_wait(awaited);
	((void (*)(void))act)();
	return NULL;
}

APART static void wakes(void)
{
	__atomic_store_n(&futex_word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &futex_word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

APART static void writes(void)
{
	must(write(ends[1], "x", 1) == 1);
}

APART static void connects(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	must(!connect(fd, (struct sockaddr *)&address, sizeof(address)));
	if (!watching)
		await_wait(awaited + 1); /* to receive */
	must(send(fd, "x", 1, 0) == 1);
	usleep(WHILE_US); /* while its name is read */
	close(fd);
}

APART static void unlocks(void)
{
	must(!flock(held, LOCK_UN));
}

APART static void fills(void)
{
	static char full[4096] __attribute__((aligned(4096))) = "x";
	struct uffdio_copy copy = {.dst = (uintptr_t)page, .src = (uintptr_t)full, .len = sizeof(full)};

	must(!ioctl(faults, UFFDIO_COPY, &copy));
}

/* ---- each of them, measured ---- */

static void begin_wait(void)
{
	__atomic_add_fetch(&entered, 1, __ATOMIC_SEQ_CST);
}

#define OFF(name, call)                                                                                                \
	do {                                                                                                           \
		int64_t from = ns_of(CLOCK_MONOTONIC), cpu = ns_of(CLOCK_THREAD_CPUTIME_ID), used, to;                 \
		begin_wait();                                                                                          \
		call;                                                                                                  \
		used = ns_of(CLOCK_THREAD_CPUTIME_ID) - cpu;                                                           \
		to = ns_of(CLOCK_MONOTONIC);                                                                           \
		printf("off %s %ld %lld %lld %lld\n", name, syscall(SYS_gettid), (long long)from, (long long)to,       \
		       (long long)(to - from - used));                                                                 \
	} while (0)

/* `act` is done when this thread has waited for a while. */
static pthread_t begin(void (*act)(void))
{
	pthread_t t;

	awaited = entered + 1;
	waiter = (pid_t)syscall(SYS_gettid);
	must(!pthread_create(&t, NULL, helper, (void *)act));
	return t;
}

static void end(pthread_t t)
{
	must(!pthread_join(t, NULL));
}

/* Waits for a pipe and a socket, of which one becomes ready. The events have no descriptors. */
static void several(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	pthread_t t;
	char byte;
	int fd;

	watched = epoll_create1(0);
	must(watched >= 0 && !epoll_ctl(watched, EPOLL_CTL_ADD, ends[0], &e) &&
	     !epoll_ctl(watched, EPOLL_CTL_ADD, listening, &e));
	OFF("epolls_in_vain", epolls_in_vain());
	t = begin(writes);
	OFF("epolls_pipe", epolls_pipe());
	end(t);
	must(read(ends[0], &byte, 1) == 1);
	watching = 1;
	t = begin(connects);
	OFF("epolls_socket", epolls_socket());
	fd = accept(listening, NULL, NULL);
	end(t);
	watching = 0;
	close(fd);
	close(watched);
}

static void sockets(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_usec = WHILE_US};
	socklen_t size = sizeof(address);
	pthread_t t;
	int fd;

	listening = socket(AF_INET, SOCK_STREAM, 0);
	address.sin_port = 0;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(!bind(listening, (struct sockaddr *)&address, size) && !listen(listening, 1) &&
	     !getsockname(listening, (struct sockaddr *)&address, &size));
	printf("port 127.0.0.1:%d\n", ntohs(address.sin_port));
	several();
	t = begin(connects);
	OFF("accepts", fd = accepts());
	must(!getpeername(fd, (struct sockaddr *)&address, &size));
	printf("peer 127.0.0.1:%d\n", ntohs(address.sin_port));
	OFF("receives", receives(fd));
	end(t);
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "reasons-%d", getpid());
	must(!bind(fd, (struct sockaddr *)&name,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name.sun_path + 1))));
	must(!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)));
	printf("unix unix:@%s\n", name.sun_path + 1);
	OFF("receives_unix", receives_unix(fd));
	close(fd);
	close(listening);
}

static void files(void)
{
	int fd = open("reasons.data", O_CREAT | O_RDWR, 0600);
	static char data[1 << 20];
	pthread_t t;

	held = open("reasons.data", O_RDWR);
	must(fd >= 0 && held >= 0 && !flock(held, LOCK_EX));
	t = begin(unlocks);
	OFF("locks_file", locks_file(fd));
	end(t);
	for (int i = 0; i < 8; i++)
		must(write(fd, data, sizeof(data)) == sizeof(data));
	OFF("writes_out", writes_out(fd));
	close(fd);
	close(held);
}

/* Not every kernel has it. */
static void fault(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register where = {.range = {.len = 4096}, .mode = UFFDIO_REGISTER_MODE_MISSING};
	pthread_t t;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	where.range.start = (uintptr_t)page;
	faults = (int)syscall(SYS_userfaultfd, 0);
	if (faults < 0 || ioctl(faults, UFFDIO_API, &api) || ioctl(faults, UFFDIO_REGISTER, &where)) {
		puts("no_faults");
		return;
	}
	t = begin(fills);
	OFF("touches", touches());
	end(t);
}

APART static void children(void)
{
	pid_t pid = fork();

	if (!pid) {
		OFF("stops", stops());
		fflush(stdout);
		_exit(0);
	}
	must(waitpid(pid, NULL, WUNTRACED) == pid);
	usleep(WHILE_US);
	must(!kill(pid, SIGCONT));
	OFF("waits_for_child", waits_for_child(pid));
	pid = fork();
	if (!pid) {
		usleep(WHILE_US);
		_exit(0);
	}
	OFF("waits_for_child", waits_for_child(pid));
}

/* In 32-bit code this call has the number that close() has elsewhere. `low`: a page below 4 GiB. */
APART static void reads_32bit(uint8_t *low)
{
	const uint32_t at = (uint32_t)(uintptr_t)low, saved = at + 0x800, stack = at + 0x700, entry = at + 0x100;
	const uint32_t back = at + 26, target = at + 0x810;
	uint8_t enter[] = {
		0x53,				       /* push %rbx */
		0x48, 0x89, 0x24, 0x25, 0, 0, 0, 0,    /* mov %rsp, saved */
		0x89, 0xfb,			       /* mov %edi, %ebx */
		0x89, 0xf1,			       /* mov %esi, %ecx */
		0xbc, 0,    0,	  0,	0,	       /* mov $stack, %esp */
		0xff, 0x2c, 0x25, 0,	0, 0, 0, 0x90, /* ljmp *target; nop */
		0x48, 0x8b, 0x24, 0x25, 0, 0, 0, 0,    /* back: mov saved, %rsp */
		0x5b, 0xc3,			       /* pop %rbx; ret */
	};
	/* mov $3, %eax; int $0x80; ljmp back */
	uint8_t call32[] = {0xb8, 3, 0, 0, 0, 0xcd, 0x80, 0xea, 0, 0, 0, 0, 0x33, 0};
	const uint16_t cs32 = 0x23;

	memcpy(enter + 5, &saved, 4);
	memcpy(enter + 14, &stack, 4);
	memcpy(enter + 21, &target, 4);
	memcpy(enter + 30, &saved, 4);
	memcpy(call32 + 8, &back, 4);
	memcpy(low, enter, sizeof(enter));
	memcpy(low + 0x100, call32, sizeof(call32));
	memcpy(low + 0x810, &entry, 4);
	memcpy(low + 0x814, &cs32, 2);
	must(((int (*)(int, void *, int))(uintptr_t)low)(ends[0], low + 0x900, 1) == 1);
}

/* In a child, which a kernel without 32-bit programs ends. */
static void code_32bit(void)
{
	uint8_t *low =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	pid_t pid;
	int status;

	must(low != MAP_FAILED);
	pid = fork();
	if (!pid) {
		OFF("reads_32bit", reads_32bit(low));
		fflush(stdout);
		_exit(0);
	}
	while (state_of(pid) == 'R')
		usleep(1000);
	usleep(WHILE_US);
	writes();
	must(waitpid(pid, &status, 0) == pid);
	if (status) {
		must(read(ends[0], low, 1) == 1);
		puts("no_32bit");
	}
	munmap(low, 4096);
}

/* A ring of one entry; or -1. */
static int ring_new(uint8_t **queue, struct io_uring_sqe **sqe, uint32_t *tail)
{
	struct io_uring_params p = {0};
	int ring = (int)syscall(SYS_io_uring_setup, 1, &p);

	if (ring < 0 || !(p.features & IORING_FEAT_SINGLE_MMAP))
		return -1;
	*queue = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		      IORING_OFF_SQ_RING);
	*sqe = mmap(NULL, sizeof(**sqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring, (off_t)IORING_OFF_SQES);
	must(*queue != MAP_FAILED && *sqe != MAP_FAILED);
	*(uint32_t *)(*queue + p.sq_off.array) = 0;
	*tail = p.sq_off.tail;
	return ring;
}

/* Has a request done by a worker, a thread of this process that only works in the kernel. */
static void worker(const struct io_uring_sqe *request, void (*meanwhile)(void))
{
	struct io_uring_sqe *sqe;
	uint8_t *queue;
	uint32_t tail;
	int ring = ring_new(&queue, &sqe, &tail);
	pthread_t t;

	if (ring < 0) {
		puts("no_worker");
		return;
	}
	*sqe = *request;
	sqe->flags = IOSQE_ASYNC;
	__atomic_store_n((uint32_t *)(queue + tail), 1, __ATOMIC_RELEASE);
	t = begin(meanwhile);
	begin_wait();
	must(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
	end(t);
	close(ring);
}

/* The worker waits for work, until there is something to read. */
static void worker_reads(void)
{
	char byte;

	worker(
		&(struct io_uring_sqe){
			.opcode = IORING_OP_READ, .fd = ends[0], .addr = (uintptr_t)&byte, .len = 1, .off = UINT64_MAX},
		writes);
}

#define FIFO "reasons.fifo"

/* The other end is opened, and stays open. */
static void opens_fifo(void)
{
	must(open(FIFO, O_WRONLY | O_CLOEXEC) >= 0);
}

/* It waits in its work until somebody opens the other end. */
static void worker_opens(void)
{
	unlink(FIFO);
	must(!mkfifo(FIFO, 0600));
	worker(&(struct io_uring_sqe){.opcode = IORING_OP_OPENAT,
				      .fd = AT_FDCWD,
				      .addr = (uintptr_t)FIFO,
				      .open_flags = O_RDONLY | O_CLOEXEC},
	       opens_fifo);
}

static void all(void)
{
	pthread_t t;

	futex_word = 0;
	OFF("sleeps", sleeps());
	t = begin(wakes);
	OFF("waits", waits());
	end(t);
	must(!pipe(ends));
	OFF("polls", polls());
	t = begin(writes);
	OFF("reads_pipe", reads_pipe());
	end(t);
	code_32bit();
	worker_reads();
	worker_opens();
	sockets();
	files();
	fault();
	children();
}

int main(int argc, char **argv)
{
	(void)argv;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < 3 && argc == 1; i++)
		all();
	if (argc == 1)
		return 0;
	must(!pipe(ends));
	worker_reads();
	worker_opens();
	return 0;
}
