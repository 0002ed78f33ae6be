// SPDX-License-Identifier: Apache-2.0
/*
 * switchable: a library to preload into a recorder. It takes the recorder's programs off the scheduler's and the other
 * tracepoints of the kernel and puts them back, while the recording goes on. So a benchmark compares moments with and
 * without them, which a busy machine disturbs less than whole recordings. The pipes $SWITCHABLE.to and $SWITCHABLE.from
 * have its orders, lines with "on" or "off", and what it has done: the number of programs.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAMS_MAX 64

struct attached {
	struct bpf_link *link;
	int program;
};

static struct attached attached[PROGRAMS_MAX];
static int count;
static bool off;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Noreturn void fail(const char *what)
{
	perror(what);
	_exit(1);
}

/* The link's file is another one then; closing the former one detaches the program. */
static void replace(const struct attached *a, int fd)
{
	if (fd < 0 || dup2(fd, bpf_link__fd(a->link)) < 0)
		fail("switchable");
	close(fd);
}

static void turn(const struct attached *a)
{
	replace(a, off ? open("/dev/null", O_RDONLY | O_CLOEXEC) : bpf_raw_tracepoint_open(NULL, a->program));
}

static FILE *pipe_of(const char *name, const char *end, const char *mode)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s.%s", name, end);
	f = fopen(path, mode);
	if (!f)
		fail(path);
	return f;
}

static void *obey(void *name)
{
	FILE *orders = pipe_of(name, "to", "re"), *done = pipe_of(name, "from", "we");
	char line[16];

	while (fgets(line, sizeof(line), orders)) {
		pthread_mutex_lock(&lock);
		off = strcmp(line, "off\n") == 0;
		for (int i = 0; i < count; i++)
			turn(&attached[i]);
		fprintf(done, "%d\n", count);
		pthread_mutex_unlock(&lock);
		fflush(done);
	}
	return NULL;
}

/* Signals are for the recorder's own threads. */
static void start(void)
{
	pthread_t thread;
	sigset_t all, before;

	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before) || pthread_create(&thread, NULL, obey, getenv("SWITCHABLE")) ||
	    pthread_detach(thread) || pthread_sigmask(SIG_SETMASK, &before, NULL))
		fail("switchable");
}

/* ---- what the recorder calls ---- */

struct bpf_link *bpf_program__attach(const struct bpf_program *program)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct bpf_link *(*next)(const struct bpf_program *);
	struct bpf_link *link;

	*(void **)&next = dlsym(RTLD_NEXT, "bpf_program__attach");
	link = next(program);
	if (!link || !getenv("SWITCHABLE") || bpf_program__expected_attach_type(program) != BPF_TRACE_RAW_TP)
		return link;
	pthread_once(&once, start);
	pthread_mutex_lock(&lock);
	if (count == PROGRAMS_MAX)
		fail("too many programs");
	attached[count++] = (struct attached){link, bpf_program__fd(program)};
	if (off)
		turn(&attached[count - 1]);
	pthread_mutex_unlock(&lock);
	return link;
}

int bpf_link__destroy(struct bpf_link *link)
{
	int (*next)(struct bpf_link *);
	int err;

	*(void **)&next = dlsym(RTLD_NEXT, "bpf_link__destroy");
	pthread_mutex_lock(&lock);
	for (int i = 0; link && i < count; i++)
		if (attached[i].link == link)
			attached[i--] = attached[--count];
	err = next(link);
	pthread_mutex_unlock(&lock);
	return err;
}
