// SPDX-License-Identifier: Apache-2.0
#include "lines_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Limits for files of root and the recording user, and for those of others. */
#define TRUSTED_BYTES (2048UL << 20)
#define STRANGE_BYTES (512UL << 20)
#define TRUSTED_SECONDS 20U
#define STRANGE_SECONDS 5U
#define ANSWER_NS 20000000000ULL
#define TEXT_MAX 4096U /* of a name or a file, with its zero byte */
#define FIRST_FD 3

/* The child's first message. */
enum { REFUSED, NO_LINES, OPENED };

/* For each place its line and two strings. */
struct answer {
	uint32_t count, size;
	char bytes[LINES_DEPTH_MAX * (sizeof(int32_t) + 2 * TEXT_MAX)];
};

struct lines_reader {
	pid_t child;
	int fd;
	bool opened; /* the child has answered that the module has lines */
	bool closed; /* no more answers come */
	struct answer answer;
};

/* ---- the child ---- */

static bool send_all(int fd, const void *from, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = send(fd, (const char *)from + done, size - done, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static void text_add(struct answer *a, const char *text)
{
	size_t length = strnlen(text, TEXT_MAX - 1);

	memcpy(a->bytes + a->size, text, length);
	a->bytes[a->size + length] = '\0';
	a->size += (uint32_t)length + 1;
}

static void answer_all(struct lines *l, int fd, struct answer *a)
{
	struct line_place places[LINES_DEPTH_MAX];
	uint64_t address;

	while (recv(fd, &address, sizeof(address), MSG_WAITALL) == sizeof(address)) {
		a->count = (uint32_t)lines_find(l, address, places);
		a->size = 0;
		for (uint32_t i = 0; i < a->count; i++) {
			int32_t line = places[i].line;

			memcpy(a->bytes + a->size, &line, sizeof(line));
			a->size += sizeof(line);
			text_add(a, places[i].name);
			text_add(a, places[i].file);
		}
		if (!send_all(fd, a, offsetof(struct answer, bytes) + a->size))
			return;
	}
}

static void limit(int what, rlim_t value)
{
	struct rlimit l = {value, value};

	setrlimit(what, &l);
}

/* The limits count from what the recorder's process has already. */
static void limits_set(bool strange)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_DATA, pages * (rlim_t)sysconf(_SC_PAGESIZE) + (strange ? STRANGE_BYTES : TRUSTED_BYTES));
	limit(RLIMIT_CPU, strange ? STRANGE_SECONDS : TRUSTED_SECONDS);
}

/*
 * The descriptors to keep become FIRST_FD and the following. Standard output and error go nowhere: libdw prints there.
 */
static void descriptors_keep(int keep[3])
{
	int nowhere = open("/dev/null", O_RDWR), next = FIRST_FD;

	for (int i = 0; i < 3; i++)
		keep[i] = keep[i] < 0 ? -1 : fcntl(keep[i], F_DUPFD, 100);
	if (nowhere < 0 || dup2(nowhere, 0) < 0 || dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0)
		_exit(1);
	for (int i = 0; i < 3; i++)
		if (keep[i] >= 0)
			keep[i] = dup2(keep[i], next++);
	if (syscall(SYS_close_range, (long)next, (long)~0U, 0L) < 0)
		_exit(1);
}

static void child_main(const struct module *module, int fd)
{
	int keep[3] = {fd, module->fd, module->debug_fd};
	struct answer *a = calloc(1, sizeof(*a));
	uint32_t state = OPENED;
	struct lines *l = NULL;
	char root[64];
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "braid-lines");
	descriptors_keep(keep);
	limits_set(module->foreign);
	snprintf(root, sizeof(root), "/proc/%d/root", module->seen_in);
	if (access(root, F_OK))
		root[0] = '\0';
	err = !a	    ? -ENOMEM
	      : keep[2] < 0 ? lines_open(&l, keep[1], root, module->path)
			    : lines_open_with(&l, keep[1], keep[2]);
	if (err)
		state = err == -ENODATA ? NO_LINES : REFUSED;
	if (send_all(keep[0], &state, sizeof(state)) && !err)
		answer_all(l, keep[0], a);
	_exit(0);
}

/* ---- the recorder ---- */

static bool receive(const struct lines_reader *r, void *to, size_t size)
{
	uint64_t until = now_ns() + ANSWER_NS;
	struct pollfd p = {.fd = r->fd, .events = POLLIN};

	for (size_t done = 0; done < size;) {
		ssize_t n = recv(r->fd, (char *)to + done, size - done, MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN) || now_ns() > until)
			return false;
		if (n < 0)
			(void)poll(&p, 1, 100);
		else
			done += (size_t)n;
	}
	return true;
}

/* The next string of an answer; NULL when none ends within it. */
static const char *text_next(const struct answer *a, size_t *at)
{
	const char *text = a->bytes + *at, *end = memchr(text, '\0', a->size - *at);

	if (end)
		*at = (size_t)(end - a->bytes) + 1;
	return end ? text : NULL;
}

/* The child has read an untrusted file, so its answer is checked like one. */
static bool answer_take(const struct answer *a, struct line_place to[LINES_DEPTH_MAX])
{
	size_t at = 0;

	for (uint32_t i = 0; i < a->count; i++) {
		int32_t line;

		if (a->size - at < sizeof(line))
			return false;
		memcpy(&line, a->bytes + at, sizeof(line));
		at += sizeof(line);
		to[i].line = line;
		if (!(to[i].name = text_next(a, &at)) || !(to[i].file = text_next(a, &at)))
			return false;
	}
	return true;
}

static bool answer_receive(struct lines_reader *r, struct line_place to[LINES_DEPTH_MAX])
{
	struct answer *a = &r->answer;

	return receive(r, a, offsetof(struct answer, bytes)) && a->count <= LINES_DEPTH_MAX &&
	       a->size <= sizeof(a->bytes) && receive(r, a->bytes, a->size) && answer_take(a, to);
}

size_t lines_reader_find(struct lines_reader *r, uint64_t address, struct line_place to[LINES_DEPTH_MAX],
			 bool *given_up)
{
	uint32_t state = REFUSED;

	*given_up = false;
	if (r->closed)
		return 0;
	if (!r->opened) {
		if (!receive(r, &state, sizeof(state)))
			state = REFUSED;
		r->opened = state == OPENED;
		r->closed = !r->opened;
		*given_up = r->closed && state != NO_LINES;
		if (r->closed)
			return 0;
	}
	if (send_all(r->fd, &address, sizeof(address)) && answer_receive(r, to))
		return r->answer.count;
	*given_up = r->closed = true;
	return 0;
}

void lines_reader_end(struct lines_reader *r)
{
	if (!r)
		return;
	close(r->fd);
	kill(r->child, SIGKILL);
	waitpid(r->child, NULL, 0);
	free(r);
}

struct lines_reader *lines_reader_start(const struct module *module)
{
	struct lines_reader *r = calloc(1, sizeof(*r));
	int fds[2];

	if (!r || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		free(r);
		return NULL;
	}
	r->fd = fds[0];
	r->child = fork();
	if (r->child == 0)
		child_main(module, fds[1]);
	close(fds[1]);
	if (r->child > 0)
		return r;
	close(r->fd);
	free(r);
	return NULL;
}
