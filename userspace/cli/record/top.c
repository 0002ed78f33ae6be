// SPDX-License-Identifier: Apache-2.0
/* `braid top`: shows a recording while it is made, on a screen or as pages of text. */
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <top/page.h>
#include <top/recent.h>
#include <top/screen.h>
#include <trace/trace.h>
#include <util/clock.h>
#include <util/log.h>
#include <util/quantity.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "cli/recording.h"
#include "top_recorder.h"

#define WINDOW_NS 5000000000ULL
#define DELAY_NS 1000000000ULL
#define LATE_NS 2000000000ULL /* what the recorder writes is at most this old */
#define MESSAGE_NS 6000000000ULL
#define PAGE_ROWS 10U /* of each view as text */
#define PAGE_COLUMNS 80U

struct top_options {
	struct recording recording;
	const char *file;
	bool batch;
	unsigned count; /* pages; 0: until the end */
	unsigned rows;
	uint64_t delay_ns, window_ns;
};

/* What is shown, and where it comes from. */
struct top {
	const struct top_options *options;
	struct top_recorder recorder;
	struct trace_reader *reader;
	struct recent *recent; /* NULL: of a finished file, all is shown */
	struct shot *shot;
	struct ui ui;
	bool screen;		/* there is to be one, */
	bool begun;		/* and it is there */
	bool ended;		/* no more will come */
	bool damaged;		/* the finished file, whose rest is shown */
	uint64_t last_ns;	/* of the trace, */
	uint64_t last_at_ns;	/* and when that was read */
	uint64_t refresh_ns;	/* when the next page is due */
	uint64_t refreshing_ns; /* what the last one took of a CPU */
	unsigned pages;
};

/* ---- options ---- */

enum { OPT_TOP = 0x600 };

static const struct argp_option options[] = {
	{"batch", 'b', NULL, 0, "Print pages of text; the default without a terminal", 0},
	{"iterations", 'n', "COUNT", 0, "End after this many pages", 0},
	{"delay", 'd', "TIME", 0, "Wait this long between two pages (default 1s)", 0},
	{"window", 'w', "TIME", 0, "Show the last TIME of the recording (default 5s)", 0},
	{"top", OPT_TOP, "N", 0, "Print N rows of each view on a page of text (default 10)", 0},
	{"verbose", 'v', NULL, 0, "Print more messages", 0},
	{0},
};

static const char doc[] =
	"Shows what processes do now: methods, threads, locks, allocations and collections of the last seconds. It records "
	"them, or follows a trace that another braid is writing.\vExamples:\n"
	"  braid top -p 4711\n"
	"  braid top -a -F 49\n"
	"  braid top --preset latency -- java -jar app.jar\n"
	"  braid top braid.trace\n"
	"  braid top -b -n 3 -d 5 -p 4711 >pages.txt\n"
	"\n"
	"Keys: 1 to 5 or Tab choose the view, Enter shows the stacks behind a row, F6 sorts, F4 filters, / searches, Space "
	"pauses, s saves what is kept as a trace, F1 lists all keys, q ends the recording.\n"
	"\n"
	"Without -e and --preset it records cpu, alloc, lock, gc, thread and offcpu=1ms. It keeps at most 80 MiB of the "
	"recording, in memory, and drops the oldest events.";

static uint64_t option_time(struct argp_state *state, const char *name, const char *arg)
{
	uint64_t ns;

	if (duration_parse(arg, &ns) || ns < 100000000 || ns > 3600000000000)
		argp_error(state, "%s: '%s' is not a time from 100ms to 1h", name, arg);
	return ns;
}

/* Behind `--` is a command, else there is the name of a trace. */
static void take_arguments(struct argp_state *state, struct top_options *o)
{
	if (state->quoted && state->next == state->quoted) {
		o->recording.options.command = state->argv + state->next;
		return;
	}
	o->file = state->argv[state->next];
	if (state->next + 1 < state->argc)
		argp_error(state, "unexpected argument '%s'; a command comes behind --", state->argv[state->next + 1]);
}

static void complete(struct argp_state *state, struct top_options *o)
{
	static char events[] = "cpu,alloc,lock,gc,thread,offcpu=1ms";
	struct recording *r = &o->recording;
	char why[SELECTION_WHY];

	if (o->file && r->given)
		argp_error(state, "%s is recorded already: -p, -a, -e and the like are for a recording of its own",
			   o->file);
	if (o->file)
		return;
	if (!r->selection.kinds && !r->selection.probe_count && selection_add(&r->selection, events, why))
		argp_error(state, "%s", why);
	recording_complete(r, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->recording;
		return 0;
	case 'b':
		o->batch = true;
		return 0;
	case 'n':
		o->count = common_number(state, "iterations", "pages", arg);
		return 0;
	case 'd':
		o->delay_ns = option_time(state, "-d", arg);
		return 0;
	case 'w':
		o->window_ns = option_time(state, "-w", arg);
		return 0;
	case OPT_TOP:
		o->rows = common_number(state, "top", "rows", arg);
		return 0;
	case 'v':
		log_verbosity++;
		return 0;
	case ARGP_KEY_ARGS:
		take_arguments(state, o);
		return 0;
	case ARGP_KEY_END:
		complete(state, o);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- what comes ---- */

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

/* No more will come. The next page, which has all of it, is due. */
static void note_end(struct top *t)
{
	t->ended = true;
	t->ui.state = "ended";
	t->refresh_ns = 0;
	top_recorder_wait(&t->recorder);
}

/* Reads what is there. 0 or a negative errno. */
static int take(struct top *t)
{
	bool grows = trace_reader_grows(t->reader);
	struct trace_rec rec;
	int got, err = 0;

	while (!err && (got = trace_reader_next(t->reader, &rec)) != 0)
		err = got < 0 ? got : recent_take(t->recent, &rec);
	if (recent_last_ns(t->recent) > t->last_ns) {
		t->last_ns = recent_last_ns(t->recent);
		t->last_at_ns = now_ns();
	}
	if (!grows)
		note_end(t);
	return err;
}

/* Time goes on where nothing happens. */
static uint64_t end_of_window(const struct top *t)
{
	uint64_t quiet_ns = now_ns() - t->last_at_ns;

	return t->last_ns + (t->ended || quiet_ns < LATE_NS ? 0 : quiet_ns - LATE_NS);
}

/* 0 or -ENOMEM. */
static int look(struct top *t)
{
	uint64_t begun = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), first_ns = recent_first_ns(t->recent),
		 to_ns = end_of_window(t), from_ns = first_ns;
	struct analyzer *a = NULL;
	struct shot *s = NULL;
	int err;

	if (!t->last_ns)
		return 0;
	if (!t->ui.whole && to_ns > t->ui.window_ns && to_ns - t->ui.window_ns > first_ns)
		from_ns = to_ns - t->ui.window_ns;
	err = recent_window(t->recent, from_ns, to_ns, &a);
	err = err ?: shot_new(&s, a);
	if (err)
		return err;
	t->ui.age_ns = to_ns - first_ns;
	t->ui.cut = recent_is_cut(t->recent);
	err = ui_show(&t->ui, s);
	shot_free(t->shot);
	t->shot = s;
	t->refreshing_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
	return err;
}

/* ---- a finished file ---- */

static int load(struct top *t)
{
	struct report_source source = {.damage = trace_reader_damage(t->reader)};
	struct analyzer *a;
	struct trace_rec rec;
	int got = 0, err = analyzer_new(&a);

	while (!err && (got = trace_reader_next(t->reader, &rec)) != 0)
		err = got < 0 ? got : analyzer_feed(a, &rec);
	if (err) {
		analyzer_free(a);
		return err;
	}
	source.bytes = trace_reader_bytes(t->reader);
	t->damaged = common_report_state(t->options->file, &source, a->ended, a->ignored);
	t->ui.whole = t->ended = true;
	t->ui.age_ns = analyzer_duration_ns(a);
	return shot_new(&t->shot, a) ?: ui_show(&t->ui, t->shot);
}

static int open_file(struct top *t)
{
	int err;

	if (!common_open(&t->reader, t->options->file))
		return -EIO;
	if (!trace_reader_grows(t->reader)) {
		t->ui.state = "finished";
		err = load(t);
	} else {
		t->ui.state = "following";
		trace_reader_follow(t->reader);
		err = recent_new(&t->recent) ?: take(t);
	}
	if (err)
		log_error("cannot read %s: %s", t->options->file, strerror(-err));
	return err;
}

static int open_recording(struct top *t)
{
	int err = top_recorder_start(&t->recorder, &t->options->recording.options, t->screen);

	t->ui.state = "recording";
	err = err ?: trace_reader_follow_stream(&t->reader, t->recorder.trace);
	err = err ?: recent_new(&t->recent);
	if (err)
		log_error("cannot start the recording: %s", strerror(-err));
	return err;
}

/* ---- pages of text ---- */

static unsigned page_columns(void)
{
	const char *text = getenv("COLUMNS");
	unsigned long columns = text ? strtoul(text, NULL, 10) : 0;

	return columns >= 20 && columns <= 1000 ? (unsigned)columns : PAGE_COLUMNS;
}

static int print(struct top *t)
{
	int err = page_print(stdout, &t->ui, page_columns(), t->options->rows);

	if (!err && (fputc('\n', stdout) == EOF || fflush(stdout)))
		err = -EPIPE;
	return err;
}

/* ---- the screen ---- */

/* A recording that cannot start has none: its first records make one. */
static int begin_screen(struct top *t)
{
	if (t->begun || !t->screen || (t->recent && !recent_bytes(t->recent)))
		return 0;
	t->begun = true;
	return screen_begin();
}

static int draw(struct top *t)
{
	unsigned rows, columns;
	struct canvas c;
	int err;

	screen_size(&rows, &columns);
	err = canvas_init(&c, rows, columns);
	if (err)
		return err;
	if (t->ui.message_until_ns && now_ns() > t->ui.message_until_ns)
		t->ui.message[0] = 0;
	page_draw(&c, &t->ui);
	screen_show(&c);
	canvas_free(&c);
	return 0;
}

/* Writes what is kept into a file of this directory. */
static void save(struct top *t)
{
	char name[64], where[PATH_MAX];
	struct trace_writer *w = NULL;
	time_t now = time(NULL);
	struct tm day;
	int err, closed;

	if (!t->recent) {
		ui_say(&t->ui, 0, "%s is a trace already", t->options->file);
		return;
	}
	localtime_r(&now, &day);
	strftime(name, sizeof(name), "braid-top-%Y%m%d-%H%M%S.trace", &day);
	err = trace_writer_open(&w, name);
	err = err ?: recent_save(t->recent, w);
	closed = trace_writer_close(w);
	err = err ?: closed;
	if (err)
		ui_say(&t->ui, 0, "cannot write %s: %s", name, trace_writer_why(err));
	else
		ui_say(&t->ui, 0, "saved as %s", realpath(name, where) ?: name);
}

/* Handles the keys that were pressed. 0 or -ENOMEM; *quit: that was one of them. */
static int take_keys(struct top *t, bool *quit)
{
	enum ui_request request;
	uint32_t key;
	int err = 0;

	while (!err && (key = screen_key()) != 0) {
		uint64_t window_ns = t->ui.window_ns;
		bool whole = t->ui.whole;

		if (key == SCREEN_RESIZED)
			continue;
		err = ui_key(&t->ui, key, &request);
		*quit = *quit || request == UI_QUIT;
		if (request == UI_SAVE)
			save(t);
		if (t->ui.whole != whole || t->ui.window_ns != window_ns)
			t->refresh_ns = 0;
	}
	return err;
}

/* ---- the loop ---- */

/* Waits for a key, for the recorder, or until the next page is due. */
static void wait_for_more(const struct top *t)
{
	struct pollfd fds[] = {
		{.fd = t->begun ? STDIN_FILENO : -1, .events = POLLIN},
		{.fd = t->ended ? -1 : t->recorder.trace, .events = POLLIN},
		{.fd = t->recorder.messages, .events = POLLIN},
	};
	uint64_t now = now_ns();
	int ms = now < t->refresh_ns ? (int)((t->refresh_ns - now) / 1000000) + 1 : 0;

	(void)poll(fds, sizeof(fds) / sizeof(fds[0]), ms);
}

/* A page is made as often as asked, but takes no more than a tenth of the time. */
static int refresh(struct top *t)
{
	uint64_t now = now_ns(), least_ns = 10 * t->refreshing_ns;
	int err = 0;

	if (now < t->refresh_ns)
		return 0;
	t->refresh_ns = now + (t->options->delay_ns > least_ns ? t->options->delay_ns : least_ns);
	if (t->recent && !t->ui.paused)
		err = look(t);
	if (err || !t->shot)
		return err;
	t->pages++;
	return t->screen ? 0 : print(t);
}

static bool is_over(const struct top *t)
{
	bool nothing = t->recent && !t->last_ns;

	if (interrupted || (t->options->count && t->pages >= t->options->count))
		return true;
	if (!t->ended)
		return false;
	return t->screen ? nothing && t->recorder.status : nothing || t->pages;
}

static int run(struct top *t)
{
	bool quit = false;
	int err = 0;

	t->refresh_ns = now_ns() + (t->recent ? t->options->delay_ns : 0);
	while (!err && !quit && !is_over(t)) {
		const char *message;

		err = begin_screen(t);
		if (t->begun)
			err = err ?: draw(t);
		wait_for_more(t);
		if (t->recent && !t->ended)
			err = err ?: take(t);
		message = top_recorder_message(&t->recorder);
		if (message)
			ui_say(&t->ui, now_ns() + MESSAGE_NS, "%s", message);
		if (t->begun)
			err = err ?: take_keys(t, &quit);
		err = err ?: refresh(t);
	}
	return err;
}

/* Ends the recording and reads its rest, so that its writer does not wait. */
static void end_recording(struct top *t)
{
	struct pollfd fd = {.fd = t->recorder.trace, .events = POLLIN};
	struct trace_rec rec;

	top_recorder_stop(&t->recorder);
	while (t->recorder.pid && t->reader && trace_reader_grows(t->reader)) {
		if (poll(&fd, 1, -1) < 0 && errno != EINTR)
			break;
		while (trace_reader_next(t->reader, &rec) == 1)
			;
		(void)top_recorder_message(&t->recorder);
	}
	top_recorder_wait(&t->recorder);
}

static int top(struct top *t)
{
	int err = t->options->file ? open_file(t) : open_recording(t);

	if (err)
		return err;
	err = run(t);
	screen_end();
	if (err == -ENOTTY)
		log_error("the terminal's type is not known; set TERM, or use --batch");
	else if (err)
		log_error("%s", err == -EPIPE ? "cannot write to standard output" : strerror(-err));
	return err;
}

int cmd_top(int argc, char **argv)
{
	static const struct argp_child children[] = {{&recording_argp, 0, "What to record:", 1}, {0}};
	static const struct argp argp = {
		options, parse, "[-p PID[,PID...] | -a | -- COMMAND... | FILE]", doc, children, recording_help, 0};
	struct top_options o = {.delay_ns = DELAY_NS, .window_ns = WINDOW_NS, .rows = PAGE_ROWS};
	struct top t = {.options = &o, .recorder = {.trace = -1, .messages = -1}};
	int err;

	argp_err_exit_status = EXIT_USAGE;
	recording_init(&o.recording);
	err = argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (err)
		return EXIT_FAILURE;
	t.screen = !o.batch && screen_possible();
	if (!t.screen)
		setlocale(LC_CTYPE, "C.UTF-8");
	ui_init(&t.ui, o.window_ns);
	top_recorder_signals(on_signal);
	signal(SIGPIPE, SIG_IGN);
	err = top(&t);
	end_recording(&t);
	top_recorder_print(&t.recorder);
	shot_free(t.shot);
	ui_free(&t.ui);
	recent_free(t.recent);
	trace_reader_close(t.reader);
	recording_free(&o.recording);
	return err ? EXIT_FAILURE : t.damaged ? EXIT_DAMAGED : t.recorder.status;
}
