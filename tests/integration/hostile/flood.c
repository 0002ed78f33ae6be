/*
 * flood MODE: takes a ring like the agent of a JVM that `braid record --` started, and reports more than any JVM has:
 *
 * numbers: in a pid namespace, each of 1,500 running threads and 1,000 that do not exist; then it burns CPU time
 *
 * codes: three times as many as there is room for
 *
 * names, connections: without end, since their budgets return by the minute
 *
 * asks: stacks of its own threads
 *
 * Those that have reported everything print so. All end when their standard input does.
 */
#include "hostile/client.h"

#include <linux/bpf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 1500
#define INVENTED 1000

static struct grip grip;

static void send_record(struct braid_rec *rec, uint16_t kind, uint32_t tid, size_t size)
{
	*rec = head(kind, size);
	rec->tid = tid;
	put(&grip, rec, size);
}

static void hello(void)
{
	struct braid_rec_hello h = {.version = BRAID_RING_VERSION, .pid = (uint32_t)getpid()};

	send_record(&h.hdr, BRAID_REC_HELLO, 0, sizeof(h));
}

/* ---- numbers ---- */

static void *wait_forever(void *ctx)
{
	*(pid_t *)ctx = (pid_t)syscall(SYS_gettid);
	for (;;)
		pause();
	return NULL;
}

static void end_thread(uint32_t tid)
{
	struct braid_rec_thread_end end = {0};

	send_record(&end.hdr, BRAID_REC_THREAD_END, tid, sizeof(end));
}

static void name_thread(uint32_t tid, const char *name)
{
	struct {
		struct braid_rec_thread thread;
		char name[64];
	} r = {.thread = {.thread_tid = tid, .name_len = (uint16_t)strlen(name)}};

	memcpy(r.name, name, r.thread.name_len);
	send_record(&r.thread.hdr, BRAID_REC_THREAD, tid, sizeof(r.thread) + r.thread.name_len);
}

static void numbers(void)
{
	static volatile pid_t tids[THREADS];
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, &small, wait_forever, (void *)&tids[i]))
			die("thread");
	for (int i = 0; i < THREADS; i++) {
		while (!tids[i])
			usleep(1000);
		end_thread((uint32_t)tids[i]);
	}
	for (uint32_t i = 0; i < INVENTED; i++)
		end_thread(1000000 + i);
	name_thread((uint32_t)getpid(), "known outside");
}

/* ---- more than there is room for ---- */

static void names(void)
{
	struct {
		struct braid_rec_named_event event;
		char name[16];
	} r = {.event = {.event = BRAID_JVM_PHASE, .name_len = sizeof(r.name)}};

	for (uint64_t i = 0;; i++) {
		snprintf(r.name, sizeof(r.name), "%015llu", (unsigned long long)i);
		send_record(&r.event.hdr, BRAID_REC_NAMED_EVENT, 0, sizeof(r));
	}
}

static void codes(void)
{
	struct braid_rec_code_load load;

	for (uint32_t i = 0; i < 400000; i++) {
		load = (struct braid_rec_code_load){.address = 0x700000000000 - i * 64UL, .code_size = 64, .tier = 4};
		send_record(&load.hdr, BRAID_REC_CODE_LOAD, 0, sizeof(load));
	}
}

static void connections(void)
{
	for (;;) {
		struct braid_grant grant;
		int sock = dial();

		(void)!recv(sock, &grant, sizeof(grant), 0);
		close(sock);
	}
}

static void asks(void)
{
	puts("asks");
	fflush(stdout);
	while (access("stopped", F_OK)) /* stops the recorder, so that nothing is read */
		usleep(1000);
	struct braid_stack_request request;
	union bpf_attr run;

	for (int i = 0; i < 100000; i++) {
		request = (struct braid_stack_request){.event = {.kind = BRAID_JVM_ALLOC}};
		memset(&run, 0, sizeof(run));
		run.test.prog_fd = (uint32_t)grip.program;
		run.test.ctx_in = (uint64_t)&request;
		run.test.ctx_size_in = sizeof(request);
		if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &run, sizeof(run)))
			die("demand");
	}
}

/* ---- all ---- */

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{"numbers", numbers}, {"names", names}, {"codes", codes}, {"connections", connections}, {"asks", asks},
};

static void *wait_end(void *ctx)
{
	char byte;

	(void)ctx;
	while (read(0, &byte, 1) > 0)
		;
	exit(0);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 2)
		return 2;
	find_socket(getenv("JAVA_TOOL_OPTIONS"));
	grip = receive(dial());
	hello();
	if (pthread_create(&thread, NULL, wait_end, NULL))
		die("thread");
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name))
			modes[i].run();
	wake(&grip);
	puts("ready");
	fflush(stdout);
	for (;;)
		if (strcmp(argv[1], "numbers"))
			pause();
}
