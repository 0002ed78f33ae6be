// SPDX-License-Identifier: Apache-2.0
/* `braid replay`: feeds a trace to the analyzer again, at its original pace if requested. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/common.h"

struct replay_options {
	struct common common;
	const char *file;
	double speed; /* 0: as fast as it can be read */
};

enum { OPT_SPEED = 0x200 };

static const struct argp_option options[] = {
	{"speed", OPT_SPEED, "N|max", 0, "Replay N times as fast as it was recorded; max (the default) does not wait",
	 0},
	{0},
};

static const char doc[] = "Sends a recorded stream through the analyzer as if it were being recorded. Prints what "
			  "`braid report --full` prints, byte for byte.\vExamples:\n"
			  "  braid replay braid.trace\n"
			  "  braid replay --speed 1 braid.trace\n"
			  "  braid replay --speed 10 braid.trace";

static error_t replay_parse(int key, char *arg, struct argp_state *state)
{
	struct replay_options *o = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->common;
		return 0;
	case OPT_SPEED:
		if (strcmp(arg, "max") == 0) {
			o->speed = 0;
			return 0;
		}
		o->speed = strtod(arg, &end);
		if (*end || end == arg || !isfinite(o->speed) || o->speed < 1e-3 || o->speed > 1e6)
			argp_error(state, "--speed: '%s' is not a speed; use max or a number from 0.001 to 1000000",
				   arg);
		return 0;
	default:
		return common_file_arg(key, arg, state, &o->file);
	}
}

struct pace {
	double speed;
	bool progress;
	uint64_t first_ns; /* of the trace, 0 before the first event */
	uint64_t latest_ns;
	uint64_t due_ns; /* when the latest event is due in the replay */
	uint64_t shown_ns;
};

/* A time that lies must not stop the replay, so a longer gap between two events takes as long as this one. */
#define GAP_MAX_NS 60000000000

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void sleep_until(uint64_t at_ns)
{
	struct timespec ts = {.tv_sec = (time_t)(at_ns / 1000000000), .tv_nsec = (long)(at_ns % 1000000000)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static void show_progress(struct pace *p, const struct analyzer *a)
{
	uint64_t now;

	if (!p->progress)
		return;
	now = now_ns();
	if (now - p->shown_ns < 200000000)
		return;
	p->shown_ns = now;
	fprintf(stderr, "\rreplay: %.1f s, %" PRIu64 " samples, %" PRIu64 " lost\033[K",
		(double)(p->latest_ns - p->first_ns) / 1e9, analyzer_samples(a), analyzer_lost(a));
	fflush(stderr);
}

static void keep_pace(void *ctx, const struct trace_rec *rec, const struct analyzer *a)
{
	struct pace *p = ctx;
	uint64_t time_ns = event_time_ns(rec), gap_ns;

	if (time_ns == 0)
		return;
	if (p->first_ns == 0)
		p->first_ns = p->latest_ns = time_ns;
	show_progress(p, a);
	/* Events are only nearly in order: an older event does not wait. */
	if (time_ns <= p->latest_ns)
		return;
	gap_ns = time_ns - p->latest_ns;
	p->latest_ns = time_ns;
	if (p->speed == 0)
		return;
	p->due_ns += (uint64_t)((double)(gap_ns < GAP_MAX_NS ? gap_ns : GAP_MAX_NS) / p->speed);
	sleep_until(p->due_ns);
}

int cmd_replay(int argc, char **argv)
{
	static const struct argp_child children[] = {{&common_argp, 0, 0, 0}, {0}};
	static const struct argp argp = {options, replay_parse, "[FILE]", doc, children, 0, 0};
	struct replay_options o = {0};
	struct pace pace = {.progress = isatty(STDERR_FILENO), .due_ns = now_ns()};
	struct loaded l;
	int status = EXIT_FAILURE;
	bool ok;

	if (common_parse(&argp, argc, argv, &o))
		return EXIT_FAILURE;
	pace.speed = o.speed;
	ok = common_read(&l, o.file, &o.common.filter, keep_pace, &pace);
	if (pace.shown_ns)
		fputs("\r\033[K", stderr);
	if (ok && (ok = common_analyze(&l, &o.common.filter))) {
		report_text(stdout, l.views, &l.source, common_top(&o.common, REPORT_TOP));
		status = common_status(&l, common_output_close(stdout, NULL, 0));
		common_unload(&l);
	}
	filter_free(&o.common.filter);
	return status;
}
