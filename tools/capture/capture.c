// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <analyze/names.h>

#include <argp.h>
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLACK_BELOW 64
#define SLACK_ABOVE 256
#define SLACK_LOST 2048 /* where the walk went wrong */
#define SLACK_CODE 64
#define SNAPSHOT_STACK_MAX (24U << 10) /* deeper stacks are not worth their bytes */
#define LAYOUT_PATIENCE_MS 60000

/* ---- counting ---- */

uint64_t tally_add(struct tally *t, const char *key)
{
	for (size_t i = 0; i < t->count; i++)
		if (strcmp(t->keys[i], key) == 0)
			return ++t->counts[i];
	if (t->count == t->room) {
		size_t room = t->room ? t->room * 2 : 64;
		void *keys = realloc(t->keys, room * sizeof(*t->keys));
		void *counts = keys ? realloc(t->counts, room * sizeof(*t->counts)) : NULL;

		if (keys)
			t->keys = keys;
		if (!counts)
			return 0;
		t->counts = counts;
		t->room = room;
	}
	snprintf(t->keys[t->count], sizeof(*t->keys), "%s", key);
	t->counts[t->count] = 1;
	return t->counts[t->count++];
}

void tally_print(const struct tally *t, const char *title, uint64_t total)
{
	bool printed[4096] = {false};

	printf("%s\n", title);
	for (size_t n = 0; n < t->count && n < 4096; n++) {
		size_t best = t->count;

		for (size_t i = 0; i < t->count && i < 4096; i++)
			if (!printed[i] && (best == t->count || t->counts[i] > t->counts[best]))
				best = i;
		if (best == t->count)
			break;
		printed[best] = true;
		printf("%10" PRIu64 " %7.3f%% %s\n", t->counts[best], 100.0 * (double)t->counts[best] / (double)total,
		       t->keys[best]);
	}
}

void tally_free(struct tally *t)
{
	free(t->keys);
	free(t->counts);
	memset(t, 0, sizeof(*t));
}

/* ---- walking ---- */

static void interpreted_label(struct capture *c, uint64_t frame, const struct host_regs *regs, char *to, size_t size)
{
	const char *native = braid_frame_bci(frame) == BRAID_FRAME_BCI_NONE ? " native" : "";
	uint64_t top = 0;

	target_read(&c->target, regs->sp, &top, sizeof(top));
	if (braid_frame_method(frame) != regs->rbx)
		snprintf(to, size, "interpreted%s", native);
	else if (regs->fp >= regs->sp && regs->fp - regs->sp < 64)
		snprintf(to, size, "interpreted entry%s, %s", native,
			 regs->fp > regs->sp ? "frame in the making" : "frame begun");
	else if (regs->r13 < regs->sp || regs->r13 - regs->sp > 65536)
		snprintf(to, size, "interpreted%s", native);
	else if (top == regs->fp)
		snprintf(to, size, "interpreted entry%s, rbp pushed", native);
	else if (walk_heap(&c->target.layout, top) < BRAID_CODE_HEAPS)
		snprintf(to, size, "interpreted entry%s", native);
	else
		snprintf(to, size, "interpreted entry%s, address popped", native);
}

void capture_leaf_label(struct capture *c, const struct host_walk *w, const struct host_regs *regs, char *to,
			size_t size)
{
	uint64_t frame = w->depth ? w->frame[0] : 0, popped = w->depth > 1 ? w->top_sp[1] - w->top_sp[0] : 0;
	struct target_blob b;
	const char *step = popped == 8 ? " +8" : popped == 16 ? " +16" : popped ? "" : " +0";

	if (braid_frame_kind(frame) == BRAID_FRAME_NATIVE) {
		snprintf(to, size, "native");
		return;
	}
	if (braid_frame_kind(frame) == BRAID_FRAME_INTERPRETED) {
		interpreted_label(c, frame, regs, to, size);
		return;
	}
	target_blob_find(&c->target, braid_frame_addr(frame), &b);
	if (strcmp(b.name, "nmethod") == 0)
		snprintf(to, size, "%s%s", b.tier == 4 ? "C2" : "C1", step);
	else
		snprintf(to, size, "%.40s%s", b.found ? b.name : "no blob", step);
}

void capture_walk(struct capture *c, const struct host_regs *regs)
{
	char label[CAPTURE_LABEL];

	c->walk.ops = &target_ops;
	c->walk.ctx = &c->target;
	host_walk_run(&c->walk, regs, c->target.has_layout ? &c->target.layout : NULL);
	c->walks++;
	c->frames += c->walk.depth;
	tally_add(&c->ends, cause_name(c->walk.w.end));
	c->regs = *regs;
	capture_leaf_label(c, &c->walk, regs, label, sizeof(label));
	tally_add(&c->leaves, label);
}

/* ---- keeping ---- */

static void keep_bytes(struct capture *c, struct snapshot *s, uint64_t from, uint64_t to)
{
	uint8_t bytes[8];

	for (from &= ~7ULL; from < to; from += 8)
		if (!target_read(&c->target, from, bytes, sizeof(bytes)))
			snapshot_put(s, from, bytes, sizeof(bytes));
}

/* Adds memory that the walk did not read, for a later walker that may read more. */
static void keep_slack(struct capture *c, struct snapshot *s)
{
	const struct host_walk *w = &c->scratch;
	uint64_t end = w->top_sp[w->depth - 1] + (w->w.end ? SLACK_LOST : SLACK_ABOVE);
	struct target_blob b;

	if (end - s->regs.sp > SNAPSHOT_STACK_MAX)
		end = s->regs.sp + SNAPSHOT_STACK_MAX;
	keep_bytes(c, s, s->regs.sp - SLACK_BELOW, end);
	for (uint32_t i = 0; i < w->depth; i++) {
		uint64_t pc = braid_frame_addr(w->frame[i]), around = i ? 16 : SLACK_CODE;

		if (braid_frame_kind(w->frame[i]) != BRAID_FRAME_CODE_CACHE)
			continue;
		target_blob_find(&c->target, i ? pc - 1 : pc, &b);
		if (!b.found)
			continue;
		keep_bytes(c, s, b.address, b.address + WALK_HEADER_BYTES);
		keep_bytes(c, s, pc - around, pc + around);
		if (i == 0)
			keep_bytes(c, s, b.code, b.code + SLACK_CODE);
	}
}

static void keep_frames(struct capture *c, struct snapshot *s)
{
	for (uint32_t i = 0; i < c->scratch.depth; i++) {
		struct snapshot_frame *f = SNAPSHOT_GROW(s, frame);

		if (!f)
			return;
		f->frame = c->scratch.frame[i];
		target_frame_name(&c->target, f->frame, f->name, sizeof(f->name));
	}
}

/* "jdk17-interpreted-entry.snap" */
static void snapshot_name(const struct snapshot *s, char *to, size_t size)
{
	/* 25.482-b09 is Java 8's VM; later VMs are named after the release. */
	bool eight = strncmp(s->jdk, "25.", 3) == 0 && strstr(s->jdk, "-b");
	int n = snprintf(to, size, "jdk%d-", eight ? 8 : atoi(s->jdk));

	for (const char *k = s->kind; *k && (size_t)n + 6 < size; k++) {
		if (isalnum((unsigned char)*k) || *k == '+')
			to[n++] = (char)tolower((unsigned char)*k);
		else if (to[n - 1] != '-')
			to[n++] = '-';
	}
	while (to[n - 1] == '-')
		n--;
	snprintf(to + n, size - (size_t)n, ".snap");
}

static int snapshot_write(struct capture *c, const struct snapshot *s)
{
	char path[4096], name[160];
	FILE *f;
	int err;

	snapshot_name(s, name, sizeof(name));
	mkdir(c->o.snapshots, 0755);
	snprintf(path, sizeof(path), "%.3900s/%s", c->o.snapshots, name);
	f = fopen(path, "w");
	if (!f) {
		fprintf(stderr, "capture: cannot write %s: %s\n", path, strerror(errno));
		return -errno;
	}
	err = snapshot_save(s, f);
	return fclose(f) ? -EIO : err;
}

static int snapshot_take(struct capture *c, const char *kind)
{
	struct snapshot s = {.regs = c->regs, .has_layout = c->target.has_layout, .layout = c->target.layout};
	int err;

	snprintf(s.jdk, sizeof(s.jdk), "%s", c->target.version[0] ? c->target.version : "none");
	snprintf(s.kind, sizeof(s.kind), "%.79s", kind);
	c->scratch.ops = &target_ops;
	c->scratch.ctx = &c->target;
	c->target.recording = &s;
	s.end = host_walk_run(&c->scratch, &c->regs, s.has_layout ? &s.layout : NULL);
	c->target.recording = NULL;
	keep_slack(c, &s);
	keep_frames(c, &s);
	snprintf(s.title, sizeof(s.title), "%.60s, %s", s.frame_count ? s.frames[0].name : "nothing",
		 cause_name(s.end));
	err = snapshot_write(c, &s);
	snapshot_free(&s);
	return err;
}

/* Whether the frame at i, an interpreted native method's, calls native code. */
static bool in_native_method(const struct host_walk *w, uint32_t i)
{
	return braid_frame_kind(w->frame[i]) == BRAID_FRAME_INTERPRETED &&
	       braid_frame_bci(w->frame[i]) == BRAID_FRAME_BCI_NONE &&
	       braid_frame_kind(w->frame[i - 1]) == BRAID_FRAME_NATIVE;
}

/* Stubs above a stack's leaf make it another kind of stack. */
static void stub_label(struct capture *c, char *to, size_t size)
{
	const struct host_walk *w = &c->walk;
	struct target_blob b;
	size_t n = strlen(to);

	for (uint32_t i = 1; i < w->depth && n + 1 < size; i++) {
		if (in_native_method(w, i) && !strstr(to, " native method")) {
			snprintf(to + n, size - n, " < native method");
			n = strlen(to);
		}
		if (braid_frame_kind(w->frame[i]) != BRAID_FRAME_CODE_CACHE)
			continue;
		target_blob_find(&c->target, braid_frame_addr(w->frame[i]) - 1, &b);
		if (b.found && strcmp(b.name, "nmethod") && strncmp(b.name, "StubRoutines", 12) &&
		    !strstr(to, b.name)) {
			snprintf(to + n, size - n, " < %s", b.name);
			n = strlen(to);
		}
	}
}

int capture_keep(struct capture *c)
{
	uint64_t size = c->walk.depth ? c->walk.top_sp[c->walk.depth - 1] - c->regs.sp : 0;
	char label[CAPTURE_LABEL];
	size_t i = 0;

	if (!c->o.snapshots || !c->walk.depth || size > SNAPSHOT_STACK_MAX)
		return 0;
	capture_leaf_label(c, &c->walk, &c->regs, label, sizeof(label));
	if (c->walk.w.end)
		snprintf(label + strlen(label), sizeof(label) - strlen(label), " %s", cause_name(c->walk.w.end));
	stub_label(c, label, sizeof(label));
	while (i < c->kept_count && strcmp(c->kept[i].label, label))
		i++;
	if (i == CAPTURE_KINDS || (i < c->kept_count && c->kept[i].size <= size + size / 8))
		return 0;
	if (i == c->kept_count)
		c->kept_count++;
	c->kept[i].size = size;
	snprintf(c->kept[i].label, sizeof(c->kept[i].label), "%s", label);
	return snapshot_take(c, label);
}

static int capture_samples(struct capture *c)
{
	struct host_regs regs;
	unsigned int idle = 0;

	for (unsigned int i = 0; i < c->o.samples && idle < 200;) {
		pid_t tid;

		usleep(c->o.interval_us / 2 + (unsigned int)random() % (c->o.interval_us + 1));
		tid = thread_choose(c->target.pid, c->o.thread, false);
		if (!tid) {
			idle++;
			continue;
		}
		idle = 0;
		if (thread_stop(tid, &regs))
			continue;
		i++;
		target_moment(&c->target);
		capture_walk(c, &regs);
		capture_keep(c);
		thread_go(tid, false);
	}
	return 0;
}

/* ---- the command ---- */

static pid_t launch(const struct capture_options *o, const char *layout_path)
{
	char options[8192];
	const char *given = getenv("JAVA_TOOL_OPTIONS");
	pid_t pid;

	snprintf(options, sizeof(options), "-agentpath:%s=%s %s", o->agent, layout_path, given ? given : "");
	pid = fork();
	if (pid)
		return pid;
	setenv("JAVA_TOOL_OPTIONS", options, 1);
	execvp(o->command[0], o->command);
	fprintf(stderr, "capture: cannot run %s: %s\n", o->command[0], strerror(errno));
	_exit(127);
}

static int wait_for_layout(struct capture *c, const char *path)
{
	for (int ms = 0; ms < LAYOUT_PATIENCE_MS; ms += 10) {
		if (target_read_layout(&c->target, path) == 0)
			return 0;
		if (waitpid(c->target.pid, NULL, WNOHANG) == c->target.pid)
			break;
		usleep(10000);
	}
	fprintf(stderr, "capture: the program did not become a JVM with a layout\n");
	return -ESRCH;
}

static void report(struct capture *c)
{
	uint64_t total = c->walks ? c->walks : 1;

	printf("%s: %" PRIu64 " walks, %.1f frames each, layout flags %x\n", c->target.version, c->walks,
	       (double)c->frames / (double)total, c->target.layout.flags);
	tally_print(&c->ends, "ends:", total);
	tally_print(&c->leaves, "leaves:", total);
	if (c->o.steps)
		tally_print(&c->anomalies, "steps that do not follow from the one before:", total);
	if (c->o.summary)
		printf("summary %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", c->walks, c->wrong, c->incomplete,
		       c->target.version);
}

static int run(struct capture *c)
{
	char layout_path[64];
	int err, status;

	snprintf(layout_path, sizeof(layout_path), "/tmp/braid-capture-%d.layout", getpid());
	unlink(layout_path);
	err = target_open(&c->target, launch(&c->o, layout_path));
	if (!err)
		err = wait_for_layout(c, layout_path);
	unlink(layout_path);
	if (!err) {
		usleep(c->o.warmup_ms * 1000);
		err = c->o.steps ? capture_steps(c) : capture_samples(c);
		report(c);
	}
	kill(c->target.pid, SIGKILL);
	if (waitpid(c->target.pid, &status, 0) == c->target.pid &&
	    (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL))
		printf("the program ended by itself: status %#x\n", status);
	target_close(&c->target);
	return err;
}

static const struct argp_option options[] = {
	{"agent", 'a', "FILE", 0, "The layout agent (liblayout.so)", 0},
	{"out", 'o', "DIR", 0, "Write snapshots there", 0},
	{"thread", 't', "NAME", 0, "Only threads whose name begins so", 0},
	{"samples", 'n', "N", 0, "Walks at random moments (default 1000)", 0},
	{"interval", 'i', "US", 0, "Microseconds between two samples or rounds (default 2000)", 0},
	{"steps", 's', "N", 0, "Walk at each of N instructions in a row", 0},
	{"rounds", 'r', "N", 0, "So often (default 10)", 0},
	{"warmup", 'w', "MS", 0, "Wait so long before (default 1000)", 0},
	{"examples", 'e', "N", 0, "Show N of each kind of anomaly (default 1)", 0},
	{"summary", 'S', NULL, 0, "Print a last line for programs: summary WALKS WRONG INCOMPLETE VERSION", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct capture_options *o = state->input;
	unsigned int *number = key == 'n'   ? &o->samples
			       : key == 'i' ? &o->interval_us
			       : key == 's' ? &o->steps
			       : key == 'r' ? &o->rounds
			       : key == 'w' ? &o->warmup_ms
			       : key == 'e' ? &o->examples
					    : NULL;
	char *stop;

	if (number) {
		*number = (unsigned int)strtoul(arg, &stop, 10);
		if (*stop)
			argp_error(state, "not a number: %s", arg);
	} else if (key == 'S') {
		o->summary = true;
	} else if (key == 'a') {
		o->agent = arg;
	} else if (key == 'o') {
		o->snapshots = arg;
	} else if (key == 't') {
		o->thread = arg;
	} else if (key == ARGP_KEY_ARGS) {
		o->command = state->argv + state->next;
	} else if (key == ARGP_KEY_NO_ARGS) {
		argp_error(state, "a command that starts a JVM is needed");
	} else {
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {.options = options,
					 .parser = parse,
					 .args_doc = "COMMAND [ARG...]",
					 .doc = "Starts a JVM and walks its threads' stacks from outside."};
	static struct capture c = {.o = {.agent = "build/liblayout.so",
					 .samples = 1000,
					 .interval_us = 2000,
					 .rounds = 10,
					 .warmup_ms = 1000,
					 .examples = 1}};
	int err;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &c.o);
	err = run(&c);
	tally_free(&c.ends);
	tally_free(&c.leaves);
	tally_free(&c.anomalies);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
