/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves 8 connections of its own, one after the other: accepts it, reads a byte, sleeps 5 ms, for the fifth 60 ms, and
 * writes one byte back.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS 8

static struct sockaddr_in address;

static void *ask(void *arg)
{
	char byte = 1;

	pthread_setname_np(pthread_self(), "asker");
	for (int i = 0; i < CONNECTIONS; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) || send(fd, &byte, 1, 0) != 1 ||
		    recv(fd, &byte, 1, 0) != 1)
			abort();
		close(fd);
	}
	return arg;
}

int main(void)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(address);
	pthread_t asker;

	address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &size) || pthread_create(&asker, NULL, ask, NULL))
		return 1;
	for (int i = 1; i <= CONNECTIONS; i++) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		char byte;

		if (read(fd, &byte, 1) != 1)
			return 1;
		usleep(i == 5 ? 60000 : 5000);
		if (write(fd, &byte, 1) != 1)
			return 1;
		close(fd);
	}
	pthread_join(asker, NULL);
	return 0;
}
