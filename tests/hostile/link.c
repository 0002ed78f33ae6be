// SPDX-License-Identifier: Apache-2.0
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define PAGE 4096U
#define REQUEST_PARTS 5 /* version, "load", library, "true", options: each ends with a zero byte */

static struct sockaddr_un listener = {.sun_family = AF_UNIX};
static int listening = -1;

/* ---- as a JVM that is attached to ---- */

static void ignore(int signal)
{
	(void)signal;
}

/*
 * The collector takes a process for a JVM when it maps executable code of a file with this name; the contents do not
 * matter.
 */
static void map_libjvm(void)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd;
	char page[PAGE], dir[64], path[96];

	snprintf(dir, sizeof(dir), "jvm.%d", (int)getpid());
	snprintf(path, sizeof(path), "%s/libjvm.so", dir);
	if (mkdir(dir, 0700) && errno != EEXIST)
		die(dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (self < 0 || fd < 0 || read(self, page, PAGE) != PAGE || write(fd, page, PAGE) != PAGE)
		die(path);
	if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		die(path);
	close(fd);
	close(self);
}

static void remove_listener(void)
{
	unlink(listener.sun_path);
}

void listen_as_jvm(pid_t host_pid)
{
	const struct sigaction caught = {.sa_handler = ignore, .sa_flags = SA_RESTART};

	/* A JVM that can be attached to catches SIGQUIT. */
	sigaction(SIGQUIT, &caught, NULL);
	sigaction(SIGTERM, &caught, NULL);
	signal(SIGPIPE, SIG_IGN);
	snprintf(listener.sun_path, sizeof(listener.sun_path), "/tmp/.java_pid%d", (int)getpid());
	unlink(listener.sun_path);
	listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listening < 0 || bind(listening, (struct sockaddr *)&listener, sizeof(listener)) || listen(listening, 5))
		die(listener.sun_path);
	atexit(remove_listener);
	map_libjvm();
	printf("ready %d\n", (int)host_pid);
	fflush(stdout);
}

/*
 * Other recorders on the machine find this JVM, too, and are refused. The right one is the parent of the process that
 * attaches; its pid is in the file `recorder` as soon as there is one.
 */
static bool is_ours(pid_t asker)
{
	char path[64], line[256] = "", *at;
	int recorder = 0, parent = -1;
	FILE *f;

	for (int i = 0; !(f = fopen("recorder", "re")) && i < 500; i++)
		usleep(10000);

	if (f) {
		recorder = fgets(line, sizeof(line), f) ? atoi(line) : 0;
		fclose(f);
	}
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)asker);
	f = fopen(path, "re");
	if (f) {
		at = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
		if (!at || sscanf(at, ") %*c %d", &parent) != 1)
			parent = -1;
		fclose(f);
	}
	return recorder == parent;
}

static int take_request(char *request, size_t size, struct ucred *who)
{
	socklen_t length = sizeof(*who);
	size_t n = 0, parts = 0;
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	ssize_t got;

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, who, &length))
		die("accept");
	memset(request, 0, size);
	while (parts < REQUEST_PARTS && n < size - 1 && (got = read(fd, request + n, size - 1 - n)) > 0) {
		for (ssize_t i = 0; i < got; i++)
			parts += !request[n + (size_t)i];
		n += (size_t)got;
	}
	return fd;
}

void answer_attach(enum attach_answer how, struct grip *g)
{
	static const char loaded[] = "0\nreturn code: 0\n";
	char request[4096], *options = request;
	struct ucred who;
	int fd = take_request(request, sizeof(request), &who), sock = -1;

	while (getpid() != 1 && !is_ours(who.pid)) {
		(void)!write(fd, "100\n", 4);
		close(fd);
		fd = take_request(request, sizeof(request), &who);
	}
	if (how == STOP_THE_ASKER && kill(who.pid, SIGSTOP))
		die("stop");
	if (how == STOP_THE_ASKER || how == ANSWER_NEVER)
		return;
	for (int i = 1; i < REQUEST_PARTS; i++)
		options += strlen(options) + 1;
	find_socket(options);
	if (how == ANSWER_AND_CONNECT)
		sock = dial();
	if (write(fd, loaded, sizeof(loaded) - 1) < 0)
		die("answer");
	close(fd);
	remove_listener();
	if (sock >= 0)
		*g = receive(sock);
}

/* ---- as an agent ---- */

void put_strings(struct grip *g, const void *record, size_t size, const char *const *strings, int count)
{
	uint8_t whole[BRAID_REC_MAX];

	memcpy(whole, record, size);
	for (int i = 0; i < count; i++) {
		memcpy(whole + size, strings[i], strlen(strings[i]));
		size += strlen(strings[i]);
	}
	((struct braid_rec *)(void *)whole)->size = (uint32_t)size;
	put(g, whole, size);
}

void put_hello(struct grip *g)
{
	const char *strings[] = {"17.0.1", "OpenJDK 64-Bit Server VM", "17.0.1", "Hostile"};
	const struct braid_rec_hello hello = {.hdr = head(BRAID_REC_HELLO, 0),
					      .version = BRAID_RING_VERSION,
					      .pid = (uint32_t)getpid(),
					      .start = BRAID_START_ATTACH,
					      .header_size = sizeof(struct braid_rec),
					      .vm_version_len = (uint16_t)strlen(strings[0]),
					      .vm_name_len = (uint16_t)strlen(strings[1]),
					      .java_version_len = (uint16_t)strlen(strings[2]),
					      .command_len = (uint16_t)strlen(strings[3])};

	put_strings(g, &hello, sizeof(hello), strings, 4);
}
