// SPDX-License-Identifier: Apache-2.0
/*
 * `braid heap`: a short recording of one JVM with one histogram of its heap, which it prints; or a heap dump, see
 * heap_file.h.
 */
#include "cli/cli.h"
#include "heap_dump.h"
#include "heap_file.h"
#include "heap_roots.h"
#include "snapshot.h"

#include "attach/attach.h"
#include "proc/fork_time.h"
#include "report/events.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_NS 60000000000ULL /* for the agent to connect and to begin */
#define WATCH_MAX_NS 3600000000000ULL

enum { OPT_ALL = 0x100, OPT_LIVE, OPT_MAX_PAUSE, OPT_FORCE, OPT_DUMP, OPT_WATCH, OPT_BY };

static const char doc[] =
	"Prints how many objects of each class a JVM's heap has, and how many bytes they take without what they refer "
	"to, by class and class loader; or, of a heap dump, what holds what.\vThe process is copied, as by fork(), and what is reachable is counted in "
	"the copy: the JVM stands still while the kernel makes it, 20 to 40 ms for each GiB, longer on a busy machine. How long is printed before, as expected, and "
	"afterwards, as measured. If that exceeds --max-pause, nothing is counted and the exit status is 1.\n"
	"\n"
	"With ZGC, with --all and with --live the JVM counts itself, and stands still for all of it: up to 5 s for each "
	"GB of small objects.\n"
	"\n"
	"Examples:\n"
	"  braid heap 4711\n"
	"  braid heap 4711 -n 10\n"
	"  braid heap 4711 --all --max-pause 5s\n"
	"  braid heap 4711 --json -o before.trace\n"
	"  braid heap 4711 --by root\n"
	"  braid heap 4711 --dump orders.hprof.zst\n"
	"  braid heap 4711 --dump orders.hprof.zst --watch 60s\n"
	"  braid heap app.hprof\n"
	"  braid heap app.hprof --path 0xf8900000\n"
	"\n"
	"With --dump, all reachable objects go to a file in the format HPROF, from such a copy.\n"
	"\n"
	"`braid record -e heap=60s` takes a histogram every minute, and `braid report` shows what has grown. Of a heap "
	"dump, of braid or another program, are printed leak suspects, what objects and classes retain, and the tree of "
	"dominators.";

static const struct argp_option options[] = {
	{"rows", 'n', "N", 0, "Print the N largest classes (default 30; at most 1000 are known one by one)", 0},
	{"all", OPT_ALL, NULL, 0, "Have the JVM count, also objects that are not reachable and wait to be collected",
	 0},
	{"live", OPT_LIVE, NULL, 0, "Have the JVM count what a collection of garbage leaves, as System.gc() makes one",
	 0},
	{"max-pause", OPT_MAX_PAUSE, "TIME", 0,
	 "Count nothing if the JVM is expected to stand still for longer (default 1s)", 0},
	{"force", OPT_FORCE, NULL, 0, "Count or copy however long it takes", 0},
	{"dump", OPT_DUMP, "FILE", 0,
	 "Write all objects to FILE, as HPROF; .gz and .zst compress it; - is standard output", 0},
	{"by", OPT_BY, "root", 0,
	 "Count by what holds the objects, not by class: threads with their stacks, classes with their static fields, and other roots",
	 0},
	{"watch", OPT_WATCH, "TIME", 0,
	 "With --dump: sample allocations for TIME before, at most 1h; the file has the stack that allocated each of the sampled objects that are still there",
	 0},
	{0},
};

struct heap_command {
	struct snapshot snapshot;
	struct heap_file file;
	const char *option; /* the last one that needs a process; NULL: none was given */
	unsigned rows;
	bool force;
	bool by_root;
	bool by_vm;	   /* the JVM counts, without a copy */
	uint64_t until_ns; /* for the JVM to answer */
	const char *dump;  /* the file for a heap dump, instead of a histogram */
	uint64_t watch_ns;
	atomic_bool done; /* the JVM has reported */
};

static void check_options(const struct heap_command *c, struct argp_state *state)
{
	const char *option = c->option ? c->option : strcmp(c->snapshot.record.output, "/dev/null") ? "output" : NULL;

	if (c->file.path && option)
		argp_error(state, "--%s is for a running JVM, not for a heap dump", option);
	if (c->by_root && !c->file.path && (c->by_vm || c->dump || (option && !strcmp(option, "output"))))
		argp_error(state,
			   "--by root counts in a copy, now: it does not go with --all, --live, --dump or --output");
	if (c->by_root + c->file.one + (c->file.class_name != NULL) > 1)
		argp_error(state, "--by root, --path and --class are different questions");
	if (c->watch_ns && !c->dump)
		argp_error(state, "--watch is for a heap dump, which --dump FILE writes");
	if (!c->file.path && c->file.option)
		argp_error(state, "--%s is for a heap dump; `braid heap PID --dump FILE` writes one", c->file.option);
}

static error_t heap_parse(int key, char *arg, struct argp_state *state)
{
	struct heap_command *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->snapshot;
		state->child_inputs[1] = &c->file;
		return 0;
	case ARGP_KEY_ARG:
		if (arg[strspn(arg, "0123456789")] == '\0' || c->file.path)
			return ARGP_ERR_UNKNOWN;
		c->file.path = arg;
		c->snapshot.pid = -1; /* the argument that the snapshot's parser expects is there */
		return 0;
	case ARGP_KEY_END:
		check_options(c, state);
		return ARGP_ERR_UNKNOWN;
	case 'n':
		c->rows = common_number(state, "rows", "rows", arg);
		return 0;
	case OPT_ALL:
		c->option = "all";
		c->by_vm = true;
		return 0;
	case OPT_LIVE:
		c->option = "live";
		c->by_vm = true;
		c->snapshot.selection.config.heap_live = 1;
		return 0;
	case OPT_MAX_PAUSE:
		c->option = "max-pause";
		c->snapshot.selection.config.heap_max_pause_ns = common_pause(state, arg);
		return 0;
	case OPT_DUMP:
		c->option = "dump";
		c->dump = arg;
		return 0;
	case OPT_BY:
		if (strcmp(arg, "root"))
			argp_error(state, "--by: '%s' is not known; --by root", arg);
		c->by_root = c->file.by_root = true;
		return 0;
	case OPT_WATCH:
		c->option = "watch";
		if (duration_parse(arg, &c->watch_ns) || !c->watch_ns || c->watch_ns > WATCH_MAX_NS)
			argp_error(state, "--watch: '%s' is not a time of at most 1h, such as 30s", arg);
		return 0;
	case OPT_FORCE:
		c->option = "force";
		c->force = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The agent reports this right before it begins. */
static void print_estimate(const struct trace_jvm_event *e)
{
	char size[QUANTITY_TEXT], time[QUANTITY_TEXT];

	if (e->flags & BRAID_HEAP_COPIED) {
		heap_copy_print(e);
		return;
	}
	fprintf(stderr, "braid: %s of heap in use: the JVM is expected to stand still for %s%s\n",
		size_text(size, e->value), e->flags & BRAID_HEAP_AT_MOST ? "up to " : "",
		duration_text(time, e->weight));
}

static void take(void *ctx, const struct trace_rec *rec)
{
	struct heap_command *c = ctx;
	const struct trace_jvm_event *e = &rec->jvm_event;

	/* Statistics come every five seconds. */
	if (!snapshot_feed(&c->snapshot, rec) || now_ns() > c->until_ns)
		c->done = true;
	if (rec->kind != TRACE_JVM_EVENT)
		return;
	if (e->kind == BRAID_JVM_HEAP_ESTIMATE && !(e->flags & BRAID_HEAP_REFUSED))
		print_estimate(e);
	if (e->kind == BRAID_JVM_HEAP_COPY) /* braid counts, for as long as that takes */
		c->until_ns = UINT64_MAX;
	if (e->kind == BRAID_JVM_HEAP || (e->kind == BRAID_JVM_HEAP_ESTIMATE && e->flags & BRAID_HEAP_REFUSED))
		c->done = true;
}

/* Reports why there is no histogram. */
static bool fail(const struct heap_command *c, const struct heap_histogram *h)
{
	char time[QUANTITY_TEXT], most[QUANTITY_TEXT];

	duration_text(most, c->snapshot.selection.config.heap_max_pause_ns);
	if (h && h->flags & BRAID_HEAP_REFUSED)
		log_error(
			"process %d: its heap is not counted: that is expected to take %s%s, and --max-pause allows %s; "
			"allow more, or use --force",
			(int)c->snapshot.pid, h->flags & BRAID_HEAP_AT_MOST ? "up to " : "",
			duration_text(time, h->expected_ns), most);
	else if (h && h->flags & BRAID_HEAP_ABORTED)
		log_error("process %d: counting was given up after %s, because --max-pause allows %s; allow more, or "
			  "use --force",
			  (int)c->snapshot.pid, duration_text(time, h->pause_ns), most);
	else
		log_error("process %d: its heap could not be counted%s", (int)c->snapshot.pid,
			  h && h->flags & BRAID_HEAP_COPIED ? "; --all has the JVM count it" : "");
	return false;
}

static void print_text(const struct heap_command *c, const struct heap_view *v)
{
	char size[QUANTITY_TEXT], time[QUANTITY_TEXT];

	printf("process %d: %" PRIu64 "%s object%s, %s; it stood still for %s\n", (int)c->snapshot.pid,
	       v->last->objects, v->last->flags & BRAID_HEAP_COPIED ? " reachable" : "", plural(v->last->objects),
	       size_text(size, v->last->bytes), duration_text(time, v->last->pause_ns));
	heap_text(stdout, v, c->rows);
}

static bool print_histogram(struct heap_command *c)
{
	struct json json = {.out = stdout};
	const struct views *views = c->snapshot.live.views;
	const struct heap_view *v = views->heap.jvms.count ? &views->heap.jvms.at[0] : NULL;

	if (!v || !v->last) /* warnings have said why, if the recording knows */
		return fail(c, v && v->histograms.count ? &v->histograms.at[v->histograms.count - 1] : NULL);
	if (c->snapshot.as_json) {
		heap_json(&json, views, v, c->rows);
		putchar('\n');
	} else {
		print_text(c, v);
	}
	return common_output_close(stdout, NULL, 0);
}

static bool is_jvm(pid_t pid)
{
	struct jvm_process jvm;
	int is = jvm_process_read(pid, &jvm);

	if (is == 1 && jvm.attachable)
		return true;
	if (is == -ESRCH)
		log_error("no process %d", (int)pid);
	else if (is < 0)
		log_error("cannot read process %d: %s; run braid as root", (int)pid, strerror(-is));
	else if (is == 0)
		log_error("process %d is not a JVM; `braid list` shows the JVMs", (int)pid);
	else
		log_error("process %d: its heap cannot be read: %s", (int)pid, jvm.why);
	return false;
}

/* Without memory for a copy, the JVM counts. */
static enum braid_heap_copy copy_for(const struct heap_command *c)
{
	char need_text[QUANTITY_TEXT], room_text[QUANTITY_TEXT];
	uint64_t need, room;

	if (c->by_vm || c->dump || c->by_root) /* these have their own way */
		return BRAID_HEAP_COPY_NONE;
	if (heap_copy_has_room(c->snapshot.pid, &need, &room))
		return BRAID_HEAP_COPY_COUNT;
	log_warning("a copy of process %d needs %s of memory, and %s is free for it: the JVM counts its objects itself",
		    (int)c->snapshot.pid, size_text(need_text, need), size_text(room_text, room));
	return BRAID_HEAP_COPY_NONE;
}

static void configure(struct heap_command *c)
{
	struct braid_event_config *config = &c->snapshot.selection.config;

	config->heap_copy = (uint16_t)copy_for(c);
	if (c->dump || c->by_root || config->heap_copy != BRAID_HEAP_COPY_NONE)
		config->heap_page_ps = fork_page_ps();
	config->enabled = BRAID_EVENT_TYPE(HEAP);
	config->heap_interval_ns = 0;
	if (c->force)
		config->heap_max_pause_ns = HEAP_ANY_PAUSE_NS;
	c->until_ns = now_ns() + ANSWER_NS + config->heap_max_pause_ns;
	c->snapshot.record.done = &c->done;
	c->snapshot.record.tap = take;
	c->snapshot.record.tap_ctx = c;
}

int cmd_heap(int argc, char **argv)
{
	static const struct argp_child children[] = {{.argp = &snapshot_argp}, {.argp = &heap_file_argp}, {0}};
	static const struct argp argp = {
		.options = options, .parser = heap_parse, .args_doc = "PID\nFILE", .doc = doc, .children = children};
	struct heap_command c = {.rows = REPORT_TOP, .file = {.levels = 5, .percent = 10, .memory = 256ULL << 20}};
	bool ok;

	argp_err_exit_status = EXIT_USAGE;
	snapshot_init(&c.snapshot, "histogram");
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &c))
		return EXIT_FAILURE;
	if (c.file.path) {
		ok = heap_file_print(&c.file, c.rows, c.snapshot.as_json);
		snapshot_free(&c.snapshot);
		return ok ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	ok = is_jvm(c.snapshot.pid);
	if (ok)
		configure(&c);
	if (ok && c.dump)
		ok = heap_dump(&c.snapshot, c.dump, c.watch_ns);
	else if (ok && c.by_root)
		ok = heap_roots(&c.snapshot, c.rows);
	else
		ok = ok && snapshot_run(&c.snapshot) && print_histogram(&c);
	snapshot_free(&c.snapshot);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
