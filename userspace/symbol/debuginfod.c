// SPDX-License-Identifier: Apache-2.0
/*
 * Gets debug files from debuginfod servers through elfutils' client, when that is installed. The client keeps the cache
 * and queries only the servers in the user's DEBUGINFOD_URLS (elfutils, debuginfod/debuginfod.h).
 */
#include "symbol.h"

#include "util/log.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int (*progress_fn)(void *client, long done, long all);

struct library {
	void *handle;
	void *(*begin)(void);
	void (*end)(void *client);
	int (*find_debuginfo)(void *client, const unsigned char *build_id, int length, char **path);
	void (*set_progressfn)(void *client, progress_fn fn);
};

static uint64_t deadline_ns; /* of the only current request; the client's callback has no argument */

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static int give_up(void *client, long done, long all)
{
	(void)client;
	(void)done;
	(void)all;
	return clock_ns() > deadline_ns;
}

bool debuginfod_configured(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[strspn(urls, " ")];
}

static int load(struct library *l)
{
	l->handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!l->handle)
		return -ENOENT;
	*(void **)&l->begin = dlsym(l->handle, "debuginfod_begin");
	*(void **)&l->end = dlsym(l->handle, "debuginfod_end");
	*(void **)&l->find_debuginfo = dlsym(l->handle, "debuginfod_find_debuginfo");
	*(void **)&l->set_progressfn = dlsym(l->handle, "debuginfod_set_progressfn");
	return l->begin && l->end && l->find_debuginfo && l->set_progressfn ? 0 : -ENOENT;
}

static int debuginfod_fetch(const struct library *l, const char *build_id)
{
	void *client = l->begin();
	char *path = NULL;
	int fd;

	if (!client)
		return -ENOMEM;
	l->set_progressfn(client, give_up);
	/* The length 0 means that the build-id is text. */
	fd = l->find_debuginfo(client, (const unsigned char *)build_id, 0, &path);
	log_debug("debuginfod: debug file of %s: %s", build_id, fd < 0 ? strerror(-fd) : path ? path : "found");
	free(path);
	l->end(client);
	return fd;
}

/* The library stays loaded: unloading it, and curl with it, is not worth the risk. */
int debuginfod_find(const char *build_id, uint64_t limit_ns)
{
	static struct library library;
	static int loaded = 1;

	if (!debuginfod_configured() || !build_id[0])
		return -ENOENT;
	if (loaded == 1)
		loaded = load(&library);
	if (loaded)
		return loaded;
	deadline_ns = clock_ns() + limit_ns;
	return debuginfod_fetch(&library, build_id);
}
