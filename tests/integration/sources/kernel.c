// SPDX-License-Identifier: Apache-2.0
/*
 * Says "ready" and waits for a line. Then it does things in the kernel that its first argument names, and prints what
 * it did and how long it took, so that a test knows what a recording has to contain: `files PATH`, `faults PATH`,
 * `block PATH`, `tcp -`, `sockets COUNT`. `flood KIND COUNT` does one thing as often as it can until there is another
 * line, and says when it has done so COUNT times.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void check(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(2);
}

/* ---- files ---- */

static NOINLINE void write_records(int fd, int count)
{
	static char record[3000];

	for (int i = 0; i < count; i++)
		check(write(fd, record, sizeof(record)) == sizeof(record), "write");
}

static NOINLINE void sync_records(int fd, int count)
{
	for (int i = 0; i < count; i++)
		check(!fdatasync(fd), "fdatasync");
}

static NOINLINE void sleeps(int count)
{
	struct timespec t = {.tv_nsec = 20000000};

	for (int i = 0; i < count; i++)
		nanosleep(&t, NULL);
}

static int files(const char *path)
{
	char text[100];
	struct stat st;
	int ends[2], fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	uint64_t began;

	check(fd >= 0 && !pipe(ends), path);
	began = now();
	write_records(fd, 200);
	sync_records(fd, 3);
	printf("file %llu\n", (unsigned long long)(now() - began));
	for (int i = 0; i < 5; i++)
		check(pread(fd, text, sizeof(text), i * 100) == sizeof(text), "pread");
	for (int i = 0; i < 10; i++) { /* of no file */
		check(write(ends[1], text, 10) == 10, "write");
		check(read(ends[0], text, 10) == 10, "read");
	}
	for (int i = 0; i < 7; i++)
		check(stat("/none/such", &st), "stat");
	sleeps(4);
	return 0;
}

/* ---- page faults ---- */

#define PAGES 300

struct faults {
	long minor, major;
};

static struct faults faults_now(void)
{
	struct rusage usage;

	check(!getrusage(RUSAGE_SELF, &usage), "getrusage");
	return (struct faults){usage.ru_minflt, usage.ru_majflt};
}

static void *map(int fd)
{
	int protection = fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ;
	void *at =
		mmap(NULL, (size_t)PAGES * 4096, protection, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	check(at != MAP_FAILED, "mmap");
	(void)madvise(at, (size_t)PAGES * 4096, fd < 0 ? MADV_NOHUGEPAGE : MADV_RANDOM);
	return at;
}

static NOINLINE void touch_anonymous(volatile char *pages, struct faults *before, struct faults *after)
{
	*before = faults_now();
	for (size_t i = 0; i < PAGES; i++)
		pages[i * 4096] = 1;
	*after = faults_now();
}

static NOINLINE void touch_file(const volatile char *pages, struct faults *before, struct faults *after)
{
	*before = faults_now();
	for (size_t i = 0; i < PAGES; i++)
		(void)pages[i * 4096];
	*after = faults_now();
}

/* The file comes in the place of what the last fault was in. */
static NOINLINE void touch_other(int fd)
{
	volatile char *pages = map(-1);

	pages[0] = 1;
	check(mmap((void *)pages, (size_t)PAGES * 4096, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == pages, "mmap");
	for (size_t i = 0; i < PAGES; i++)
		(void)pages[i * 4096];
}

static int faults(const char *path)
{
	static char page[4096];
	struct faults before, after;
	void *anonymous = map(-1);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (size_t i = 0; i < PAGES; i++)
		check(write(fd, page, sizeof(page)) == sizeof(page), path);
	check(!fsync(fd) && !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), path);
	touch_anonymous(anonymous, &before, &after);
	printf("anonymous %ld %ld\n", after.minor - before.minor, after.major - before.major);
	touch_file(map(fd), &before, &after);
	printf("mapped %ld %ld\n", after.minor - before.minor, after.major - before.major);
	touch_other(fd);
	return 0;
}

/* ---- block I/O ---- */

#define BLOCK_BYTES 65536

static NOINLINE void read_blocks(int fd, void *buffer, int count)
{
	for (int i = 0; i < count; i++)
		check(pread(fd, buffer, BLOCK_BYTES, (off_t)i * BLOCK_BYTES) == BLOCK_BYTES, "pread");
}

static NOINLINE void write_blocks(int fd, const void *buffer, int count)
{
	for (int i = 0; i < count; i++)
		check(pwrite(fd, buffer, BLOCK_BYTES, (off_t)i * BLOCK_BYTES) == BLOCK_BYTES, "pwrite");
}

static int block(const char *path)
{
	void *buffer = aligned_alloc(4096, BLOCK_BYTES);
	int fd = open(path, O_RDWR | O_DIRECT);
	uint64_t began;

	check(fd >= 0 && buffer, path);
	began = now();
	read_blocks(fd, buffer, 20);
	printf("reads %llu\n", (unsigned long long)(now() - began));
	write_blocks(fd, buffer, 10);
	return 0;
}

/* ---- TCP ---- */

static int listens(int backlog, struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t length = sizeof(*at);

	*at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	check(fd >= 0 && !bind(fd, (struct sockaddr *)at, sizeof(*at)) && !listen(fd, backlog) &&
		      !getsockname(fd, (struct sockaddr *)at, &length),
	      "listen");
	return fd;
}

static NOINLINE int connect_to(const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	check(fd >= 0, "socket");
	return connect(fd, (const struct sockaddr *)to, sizeof(*to)) ? -errno : fd;
}

/* The queue has room for one: the second one's first packets get no answer until the first one is accepted. */
static NOINLINE void connect_slowly(void)
{
	struct sockaddr_in to;
	int fd = listens(0, &to);
	uint64_t began;

	check(connect_to(&to) >= 0, "connect");
	if (!fork()) {
		usleep(300000);
		_exit(accept(fd, NULL, NULL) < 0);
	}
	began = now();
	check(connect_to(&to) >= 0, "connect");
	printf("slow %d %llu\n", ntohs(to.sin_port), (unsigned long long)(now() - began));
	wait(NULL);
}

/* A socket that connects to its own port: both ends connect at once. */
NOINLINE static void connect_to_itself(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(to);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	check(fd >= 0 && !bind(fd, (struct sockaddr *)&to, size) && !getsockname(fd, (struct sockaddr *)&to, &size),
	      "bind");
	check(!connect(fd, (struct sockaddr *)&to, size), "connect");
	printf("itself 127.0.0.1:%d\n", ntohs(to.sin_port));
	close(fd);
}

static int tcp(void)
{
	struct sockaddr_in to;
	int fd = listens(16, &to);

	for (int i = 0; i < 5; i++)
		check(connect_to(&to) >= 0, "connect");
	printf("peer 127.0.0.1:%d\n", ntohs(to.sin_port));
	close(fd);
	printf("refused 127.0.0.1:%d %d\n", ntohs(to.sin_port), -connect_to(&to));
	connect_slowly();
	connect_to_itself();
	return 0;
}

/* Makes connections to itself and keeps both ends. */
static int sockets(int count)
{
	struct sockaddr_in to;
	int fd = listens(16, &to);

	for (int i = 0; i < count; i++)
		check(connect_to(&to) >= 0 && accept(fd, NULL, NULL) >= 0, "connect");
	return 0;
}

/* ---- floods ---- */

#define FLOOD_AT ((void *)0x100000000000)

static void flood_syscall(void)
{
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
}

static void flood_fault(void)
{
	volatile char *pages = FLOOD_AT;

	for (size_t i = 0; i < 100; i++)
		pages[i * 4096] = 1;
	check(!madvise(FLOOD_AT, 100 * 4096, MADV_DONTNEED), "madvise");
}

/* To a port where nobody listens: the loopback device refuses at once. */
static void flood_tcp(void)
{
	const struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	for (int i = 0; i < 100; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		check(fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) && errno == ECONNREFUSED &&
			      !close(fd),
		      "connect");
	}
}

/* Of the file "flood.data", around the cache. */
static void flood_block(void)
{
	static char buffer[4096] __attribute__((aligned(4096)));
	int fd = open("flood.data", O_RDONLY | O_DIRECT);

	for (int i = 0; i < 100; i++)
		check(pread(fd, buffer, sizeof(buffer), (off_t)i * (off_t)sizeof(buffer)) == sizeof(buffer), "pread");
	close(fd);
}

static void (*flood_of(const char *kind))(void)
{
	return !strcmp(kind, "fault")	? flood_fault
	       : !strcmp(kind, "tcp")	? flood_tcp
	       : !strcmp(kind, "block") ? flood_block
					: flood_syscall;
}

/* It is a flood from the given number on. */
static int flood(const char *kind, long enough)
{
	void (*fn)(void) = flood_of(kind);
	struct pollfd in = {.fd = 0, .events = POLLIN};
	long count = 0;

	check(mmap(FLOOD_AT, 100 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		   0) == FLOOD_AT,
	      "mmap");
	(void)madvise(FLOOD_AT, 100 * 4096, MADV_NOHUGEPAGE);
	while (count < enough || poll(&in, 1, 0) <= 0) {
		fn();
		count += 100;
		if (count == enough) {
			puts("flooding");
			fflush(stdout);
		}
	}
	printf("count %ld\n", count);
	return 0;
}

int main(int argc, char **argv)
{
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		return 2;
	if (argc == 3 && strcmp(argv[1], "files") == 0)
		return files(argv[2]);
	if (argc == 3 && strcmp(argv[1], "faults") == 0)
		return faults(argv[2]);
	if (argc == 3 && strcmp(argv[1], "block") == 0)
		return block(argv[2]);
	if (argc == 3 && strcmp(argv[1], "tcp") == 0)
		return tcp();
	if (argc == 3 && strcmp(argv[1], "sockets") == 0)
		return sockets(atoi(argv[2]));
	if (argc == 4 && strcmp(argv[1], "flood") == 0)
		return flood(argv[2], atol(argv[3]));
	return 1;
}
