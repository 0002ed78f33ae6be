// SPDX-License-Identifier: Apache-2.0
/*
 * Threads in calls that do not end, each in a function of its own. Prints the ports of their peers and "ready", ends
 * the poll at a line, whose thread then prints "went_on", and ends with its input.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int to_receive, to_poll, pipe_ends[2], peer;

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	exit(1);
}

/* A connection of which the other end, `peer`, does not write. Prints its port. */
static int connect_to_self(const char *name)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);

	check(bind(server, (void *)&at, size) || listen(server, 1) || getsockname(server, (void *)&at, &size),
	      "listen");
	check(connect(client, (void *)&at, size), "connect");
	peer = accept(server, NULL, NULL);
	check(peer < 0, "accept");
	printf("%s %d\n", name, ntohs(at.sin_port));
	return client;
}

static void *receives(void *unused)
{
	char c;

	check(recv(to_receive, &c, 1, 0) <= 0, "recv");
	return unused;
}

static void *polls(void *unused)
{
	struct pollfd p = {.fd = to_poll, .events = POLLIN};

	check(poll(&p, 1, -1) <= 0, "poll");
	puts("went_on");
	fflush(stdout);
	return unused;
}

static void *reads(void *unused)
{
	char c;

	check(read(pipe_ends[0], &c, 1) <= 0, "read");
	return unused;
}

int main(void)
{
	void *(*const all[])(void *) = {receives, polls, reads};
	pthread_t t;

	to_receive = connect_to_self("receive");
	to_poll = connect_to_self("poll");
	check(pipe(pipe_ends), "pipe");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check(pthread_create(&t, NULL, all[i], NULL), "pthread_create");
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		check(write(peer, "", 1) != 1, "write");
	_exit(0);
}
