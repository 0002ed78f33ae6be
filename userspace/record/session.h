// SPDX-License-Identifier: Apache-2.0
/*
 * A recording in progress: what the parts of the collector share. One thread, one epoll loop; the kernel side, the
 * agents' sockets and the side-band of perf events are its sources, the trace writer is its sink.
 */
#ifndef BRAID_COLLECT_SESSION_H
#define BRAID_COLLECT_SESSION_H

#include "trace/trace.h"

#include <braid/choices.h>
#include <braid/event.h>

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct record_options {
	int frequency_hz;
	double duration_s; /* 0: until interrupted, or the command or the last target ends */
	const char *output;
	const char *event; /* "cpu-clock", "cycles", or a tracepoint: "CATEGORY:NAME"; "": nothing ticks */
	uint64_t period;   /* a tracepoint's hits for one sample */
	const char *agent_options;
	bool system_wide;
	bool attach;
	bool quiet;
	bool lines; /* of native code */
	struct braid_choices choices;
	uint32_t max_depth;
	const pid_t *pids;
	int pid_count;
	char **command; /* NULL-terminated, or NULL */
	/* Sees every record; may be NULL. */
	trace_tap_fn tap;
	void *tap_ctx;
};

struct kernel_side;
struct modules;
struct processes;
struct stacks;
struct sideband;
struct agents;
struct vthreads;
struct names;
struct control;
struct probes;
struct jvm;
struct process;
struct thread;

/* An epoll source: `ready` is called when `fd` is. */
struct source {
	int fd;
	void (*ready)(struct source *src);
	void *ctx;
};

struct session {
	const struct record_options *options;
	struct trace_writer *writer;
	int epoll_fd;
	int error;     /* first negative errno that ends the recording */
	bool finished; /* the loop is to end */
	struct kernel_side *kernel;
	struct modules *modules;
	struct processes *processes;
	struct stacks *stacks;
	struct sideband *sideband;
	struct agents *agents;
	struct vthreads *vthreads;
	struct names *names;
	struct probes *probes;	      /* NULL: none were chosen */
	struct control *control;      /* NULL: nobody can change the recording */
	struct braid_choices choices; /* of JVMs to come, and whether samples are taken */
	uint32_t last_method;	      /* trace-wide dense ids given out so far */
	uint32_t last_code;
	uint64_t stopped_ns;  /* when the recording ended; what begins later is none of its; 0: it goes on */
	uint64_t sideband_ns; /* all that happened before was read */
	uint64_t samples;
	uint64_t late; /* of them: walked late */
	uint64_t complete;
	uint64_t lost;
};

uint64_t now_ns(void); /* CLOCK_MONOTONIC */

/* Writes one record; the first failure ends the recording and is told to the user once. */
void session_emit(struct session *s, const struct trace_rec *rec);
void session_notice(struct session *s, uint32_t process, uint32_t severity, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void session_loss(struct session *s, uint32_t process, const char *hop, const char *kind, uint64_t count);
void session_stat(struct session *s, uint32_t process, const char *key, uint64_t value);

/* Reads the samples that wait, and what the side-band tells of their processes. */
void session_read_samples(struct session *s);

int session_watch(struct session *s, struct source *src);
void session_unwatch(struct session *s, struct source *src);

/* The text as a record's string; valid UTF-8 whatever it was. Good for one record: made of few static buffers. */
struct trace_str trace_str_of(const char *text);

/* Records as told; *status is the command's exit status, if one was run. 0 or a negative errno that was already
 * explained. */
int session_record(const struct record_options *o, int *status);

#endif
