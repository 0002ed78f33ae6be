// SPDX-License-Identifier: Apache-2.0
/* `braid ctl`: sends one request to a running recorder's control socket and prints the answer. */
#include "cli/cli.h"
#include "cli/common.h"
#include "ctl_json.h"

#include "config/event_config.h"
#include "util/json.h"
#include "record/control.h"
#include "util/log.h"
#include "util/quantity.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define ANSWER_WAIT_S 30
#define STOP_WAIT_S 120 /* debuginfod and agents that do not answer may take this long */
#define RECORDERS_MAX 256

static const char doc[] =
	"Changes a recording while it runs, or reports its state. PID is a recorder, which means "
	"everything that it records, or a recorded JVM.\vCommands:\n"
	"  status         print what is recorded and what was lost;\n"
	"                 without PID, for all recorders of this user\n"
	"  stop           end the recording as Ctrl-C does, and wait for its trace;\n"
	"                 without PID, the only recording of this user\n"
	"  enable LIST    start recording these events; LIST is that of `record -e`\n"
	"  disable LIST   stop recording these events\n"
	"  interval LIST  change intervals and thresholds: alloc=1m,lock=1ms\n"
	"  reset          forget the objects, native allocations and JNI references\n"
	"                 that are watched\n"
	"  gc             collect garbage, as System.gc() does\n"
	"  dump           report now what JVMs report at the end: live objects,\n"
	"                 unfreed native memory, JNI references, sums of timed methods,\n"
	"                 names and CPU times of threads; with -e heap, a histogram;\n"
	"                 SIGQUIT does the same\n"
	"\n"
	"enable and disable take thread=TID after LIST for alloc, live, lock and exception. From then on, "
	"these events come only from the threads that are named in this way, until they are enabled "
	"without it.\n"
	"\n"
	"Examples:\n"
	"  braid ctl status\n"
	"  braid ctl stop\n"
	"  braid ctl 4711 enable lock,alloc=256k\n"
	"  braid ctl 4711 enable alloc thread=4720\n"
	"  braid ctl 4711 interval lock=1ms\n"
	"  braid ctl 4711,4712 disable alloc\n"
	"  braid ctl 4711 gc\n"
	"\n"
	"Every change is recorded in the trace. If the JVM cannot record an event, braid ctl prints why and "
	"its exit status is 1. What takes the samples is fixed when a recording starts. `braid ctl "
	"RECORDER disable cpu` pauses it.";

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "Print JSON", 0},
	{"verbose", 'v', NULL, 0, "Print more messages", 0},
	{0},
};

static const struct verb {
	const char *name;
	enum braid_control_verb verb;
	int change; /* enum config_change; -1: takes no list */
} verbs[] = {
	{"status", BRAID_CONTROL_STATUS, -1},
	{"enable", BRAID_CONTROL_ENABLE, CONFIG_ENABLE},
	{"disable", BRAID_CONTROL_DISABLE, CONFIG_DISABLE},
	{"interval", BRAID_CONTROL_INTERVAL, CONFIG_INTERVAL},
	{"reset", BRAID_CONTROL_RESET, -1},
	{"gc", BRAID_CONTROL_GC, -1},
	{"dump", BRAID_CONTROL_DUMP, -1},
	{"stop", BRAID_CONTROL_STOP, -1},
};

/* One run of the command: the request and its answers. */
struct ctl {
	pid_t pids[64];
	int pid_count;
	const struct verb *verb;
	struct braid_control_request request;
	uint32_t named; /* the types in the list */
	bool all;	/* the list is "all" */
	bool as_json;
	struct json json;
	uint32_t recorder; /* that answers */
	char output[BRAID_CONTROL_TEXT_MAX];
	bool failed;
	pid_t stranger; /* a recorder of another version of braid; 0: none */
};

/* ---- the command line ---- */

static void add_pids(struct argp_state *state, struct ctl *c, char *list)
{
	char *save = NULL;

	for (char *one = strtok_r(list, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		pid_t pid = common_id(state, "process", one);

		if (c->pid_count == sizeof(c->pids) / sizeof(c->pids[0]))
			argp_error(state, "too many processes at once");
		c->pids[c->pid_count++] = pid;
	}
}

static void add_list(struct argp_state *state, struct ctl *c, const char *list)
{
	char copy[sizeof(c->request.list)], why[SELECTION_WHY];
	struct event_selection defaults;

	if (!c->verb || c->verb->change < 0)
		argp_error(state, "unexpected argument '%s'", list);
	if (*c->request.list || strlen(list) >= sizeof(copy))
		argp_error(state, "unexpected argument '%.60s'; separate events with commas", list);
	strcpy(c->request.list, list);
	strcpy(copy, list);
	selection_init(&defaults);
	if (event_config_change(&defaults.config, c->verb->change, copy, &c->named, why))
		argp_error(state, "%s: %s", c->verb->name, why);
	c->all = strcmp(list, "all") == 0;
}

static void add_thread(struct argp_state *state, struct ctl *c, const char *tid)
{
	if (!c->verb || (c->verb->change != CONFIG_ENABLE && c->verb->change != CONFIG_DISABLE))
		argp_error(state, "only enable and disable take thread=TID");
	if (c->request.thread)
		argp_error(state, "unexpected argument 'thread=%.60s'; name one thread at a time", tid);
	c->request.thread = (uint32_t)common_id(state, "thread", tid);
}

static void add_verb(struct argp_state *state, struct ctl *c, const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, name) == 0)
			c->verb = &verbs[i];
	if (!c->verb)
		argp_error(state,
			   "unknown command '%s'; use status, enable, disable, interval, reset, gc, dump or stop",
			   name);
}

static error_t ctl_parse(int key, char *arg, struct argp_state *state)
{
	struct ctl *c = state->input;

	switch (key) {
	case 'j':
		c->as_json = true;
		return 0;
	case 'v':
		log_verbosity++;
		return 0;
	case ARGP_KEY_ARG:
		if (!c->verb && !c->pid_count && isdigit((unsigned char)*arg))
			add_pids(state, c, arg);
		else if (!c->verb)
			add_verb(state, c, arg);
		else if (strncmp(arg, "thread=", 7) == 0)
			add_thread(state, c, arg + 7);
		else
			add_list(state, c, arg);
		return 0;
	case ARGP_KEY_END:
		if (!c->verb)
			argp_error(state, "no command; try `braid ctl PID status`");
		if (c->verb->change >= 0 && !*c->request.list)
			argp_error(state, "%s needs a list of events; try `braid ctl PID %s alloc%s`", c->verb->name,
				   c->verb->name, c->verb->change == CONFIG_INTERVAL ? "=1m" : "");
		if (!c->pid_count && c->verb->verb != BRAID_CONTROL_STATUS && c->verb->verb != BRAID_CONTROL_STOP)
			argp_error(state, "no process id; `braid ctl status` lists the recorders and JVMs");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- talking to a recorder ---- */

/* A socket connected to the recorder `pid`; -ENOENT and -ECONNREFUSED: no such recorder. */
static int reach(const char *directory, pid_t pid, int wait_s)
{
	const struct timeval wait = {.tv_sec = wait_s};
	struct sockaddr_un address;
	int fd, err = control_address(&address, directory, pid);
	pid_t says;

	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* For both directions: a stopped recorder (Ctrl-Z) must not block this program. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		err = -errno;
		close(fd);
		return err;
	}
	if (control_trusts(fd, &says) && says == pid)
		return fd;
	close(fd);
	return -EPERM;
}

static const char *why_refused(enum braid_event_type type)
{
	switch (type) {
	case BRAID_EVENT_TYPE_ALLOC:
	case BRAID_EVENT_TYPE_LIVE:
		return "it needs JDK 11 or later, and no other tool may sample allocations in the JVM";
	case BRAID_EVENT_TYPE_VTHREAD:
		return "it needs JDK 21 or later";
	case BRAID_EVENT_TYPE_EXCEPTION:
		return "the agent must be loaded when the JVM starts: `braid record -e exception -- COMMAND`";
	default:
		return "the JVM refuses it";
	}
}

static void report_refused(struct ctl *c, const struct braid_control_jvm *j)
{
	for (int i = 0; i < BRAID_EVENT_TYPES; i++)
		if (j->refused & c->named & 1U << i) {
			log_error("process %u: %s cannot be recorded: %s", j->pid, event_type_name(i), why_refused(i));
			c->failed = true;
		}
}

static const char *agent_text(const struct braid_control_jvm *j)
{
	if (j->agent == BRAID_CONTROL_NO_AGENT)
		return "no agent";
	if (j->agent == BRAID_CONTROL_GONE)
		return "gone";
	return j->silent ? "no answer yet" : "connected";
}

static void show_recording(struct ctl *c, const struct braid_control_recording *r)
{
	char list[EVENT_CONFIG_TEXT], size[QUANTITY_TEXT];

	c->recorder = r->pid;
	snprintf(c->output, sizeof(c->output), "%.*s", (int)sizeof(r->output), r->output);
	if (c->as_json) {
		json_open(&c->json, NULL, '{');
		json_number(&c->json, "recorder", r->pid);
		json_string(&c->json, "output", r->output);
		json_string(&c->json, "event", r->event);
		json_seconds(&c->json, "duration_s", r->duration_ns);
		json_number(&c->json, "samples", r->samples);
		json_number(&c->json, "stacks", r->stacks);
		json_number(&c->json, "lost", r->lost);
		json_number(&c->json, "bytes", r->bytes);
		ctl_json_types(&c->json, "choices", r->config.enabled);
		ctl_json_figures(&c->json, &r->config);
		json_open(&c->json, "jvms", '[');
	} else if (c->verb->verb == BRAID_CONTROL_STATUS) {
		event_config_text(&r->config, list, sizeof(list));
		printf("recorder %u: %s, %.1f s, %llu sample%s, %llu stack%s, %s, ", r->pid, r->output,
		       (double)r->duration_ns / 1e9, (unsigned long long)r->samples, plural(r->samples),
		       (unsigned long long)r->stacks, plural(r->stacks), size_text(size, r->bytes));
		printf(r->lost ? "%llu lost\n" : "nothing lost\n", (unsigned long long)r->lost);
		printf("  events    %s\n", list);
		if (*r->event)
			printf("  sampling  %s\n", r->event);
	}
}

static void show_jvm(struct ctl *c, const struct braid_control_jvm *j)
{
	char list[EVENT_CONFIG_TEXT];
	struct braid_event_config had = j->config;

	if (c->as_json) {
		json_open(&c->json, NULL, '{');
		json_number(&c->json, "pid", j->pid);
		json_string(&c->json, "name", j->name);
		json_string(&c->json, "agent", agent_text(j));
		ctl_json_types(&c->json, "choices", j->config.enabled);
		ctl_json_types(&c->json, "refused", j->refused);
		ctl_json_figures(&c->json, &j->config);
		ctl_json_methods(&c->json, &j->config);
		ctl_json_fields(&c->json, &j->config);
		ctl_json_threads(&c->json, &j->config);
		json_close(&c->json, '}');
		return;
	}
	had.enabled &= ~j->refused;
	event_config_text(&had, list, sizeof(list));
	if (c->verb->verb == BRAID_CONTROL_STATUS)
		printf("  JVM %u (%s), %s%s%s\n", j->pid, j->name, agent_text(j), *list ? ": " : "", list);
	else if (c->verb->change >= 0 && j->agent == BRAID_CONTROL_CONNECTED)
		printf("process %u: %s%s\n", j->pid, *list ? list : "nothing", j->silent ? " (not answered yet)" : "");
	if (c->verb->verb == BRAID_CONTROL_STATUS && j->refused) {
		had.enabled = j->refused;
		event_config_text(&had, list, sizeof(list));
		printf("    refused: %s\n", list);
	}
}

/*
 * Handles one message of an answer. 1: more follow, 0: it was the last, -ENOENT: the recorder does not record the
 * process.
 */
static int receive_message(struct ctl *c, const void *message, size_t size)
{
	const struct braid_control_header *h = message;

	if (size < sizeof(*h) || h->magic != BRAID_CONTROL_MAGIC || h->version != BRAID_CONTROL_VERSION)
		return -EPROTO;
	if (h->kind == BRAID_CONTROL_RECORDING && size == sizeof(struct braid_control_recording)) {
		show_recording(c, message);
	} else if (h->kind == BRAID_CONTROL_JVM && size == sizeof(struct braid_control_jvm)) {
		show_jvm(c, message);
		if (c->verb->change == CONFIG_ENABLE && !c->all)
			report_refused(c, message);
	} else if (h->kind == BRAID_CONTROL_ERROR && size == sizeof(struct braid_control_error)) {
		log_error("%s", ((const struct braid_control_error *)message)->text);
		c->failed = true;
	} else if (h->kind == BRAID_CONTROL_NOTE && size == sizeof(struct braid_control_error)) {
		log_warning("%s", ((const struct braid_control_error *)message)->text);
	} else if (h->kind == BRAID_CONTROL_END && size == sizeof(struct braid_control_end)) {
		const struct braid_control_end *e = message;

		if (c->verb->verb == BRAID_CONTROL_STOP && !e->failed && !e->unknown && !c->as_json)
			printf("recorder %u has ended: %s is complete\n", c->recorder, c->output);
		return e->unknown ? -ENOENT : 0;
	} else {
		return -EPROTO;
	}
	return 1;
}

/* Sends a request and receives its answer. 0, -ENOENT: not recorded there, or the error of the exchange. */
static int exchange(struct ctl *c, int fd, pid_t pid)
{
	union {
		struct braid_control_header header;
		struct braid_control_recording recording;
		struct braid_control_jvm jvm;
		struct braid_control_error error;
		struct braid_control_end end;
		char room[sizeof(struct braid_control_jvm) + sizeof(struct braid_control_recording)];
	} m;
	bool recording = false;
	ssize_t n;
	int more;

	c->request.pid = (uint32_t)pid;
	if (send(fd, &c->request, sizeof(c->request), MSG_NOSIGNAL) != sizeof(c->request))
		return -errno;
	do {
		n = recv(fd, &m, sizeof(m), 0);
		if (n <= 0) {
			more = n ? -errno : -ECONNRESET;
			break;
		}
		memset((char *)&m + n, 0, sizeof(m) - (size_t)n); /* terminates its last text, whatever was received */
		recording |= m.header.kind == BRAID_CONTROL_RECORDING;
		more = receive_message(c, &m, (size_t)n);
	} while (more > 0);
	if (c->as_json && recording) {
		json_close(&c->json, ']');
		json_close(&c->json, '}');
	}
	return more;
}

/* ---- all recorders ---- */

static int compare_pids(const void *a, const void *b)
{
	return *(const pid_t *)a - *(const pid_t *)b;
}

/* The recorders' pids in the directory, in ascending order. */
static int list_recorders(const char *directory, pid_t *pids)
{
	DIR *d = opendir(directory);
	struct dirent *e;
	int count = 0;

	if (!d)
		return errno == ENOENT ? 0 : -errno;
	while (count < RECORDERS_MAX && (e = readdir(d))) {
		char *end;
		long pid = strtol(e->d_name, &end, 10);

		if (pid > 0 && strcmp(end, ".sock") == 0)
			pids[count++] = (pid_t)pid;
	}
	closedir(d);
	qsort(pids, (size_t)count, sizeof(*pids), compare_pids);
	return count;
}

static int wait_s(const struct ctl *c)
{
	return c->verb->verb == BRAID_CONTROL_STOP ? STOP_WAIT_S : ANSWER_WAIT_S;
}

static void report_failure(struct ctl *c, pid_t recorder, int err)
{
	c->failed = true;
	if (err == -EPERM)
		log_error("recorder %d: another process, or another user's, listens on its socket", (int)recorder);
	else if (err == -EAGAIN || err == -EWOULDBLOCK)
		log_error("recorder %d did not answer for %d seconds; it may be stopped", (int)recorder, wait_s(c));
	else if (err == -ECONNRESET || err == -EPIPE)
		log_error("recorder %d closed the connection without an answer: its recording has ended, or it has too "
			  "many clients",
			  (int)recorder);
	else
		log_error("cannot talk to recorder %d: %s", (int)recorder, strerror(-err));
}

/* Sends the request to the recorder `at`. True when it records `pid` (0: for the recorder itself). */
static bool consult(struct ctl *c, const char *directory, pid_t at, pid_t pid)
{
	int fd = reach(directory, at, wait_s(c)), err = fd;

	if (fd >= 0) {
		err = exchange(c, fd, pid);
		close(fd);
	}
	if (err == -ENOENT || err == -ECONNREFUSED) /* the socket of a killed recorder */
		return false;
	if (pid && (err == -ECONNRESET || err == -EPIPE)) /* it is ending: it need not record the process */
		return false;
	if (err == -EPROTO && (pid || !c->pid_count)) { /* nor need it, or all were asked */
		c->stranger = at;
		return false;
	}
	if (err)
		report_failure(c, at, err);
	return !err || !pid;
}

static void control_pid(struct ctl *c, const char *directory, const pid_t *recorders, int count, pid_t pid)
{
	bool found = false, failed = c->failed;
	char hint[128];

	for (int i = 0; i < count && !found; i++)
		if (recorders[i] == pid)
			found = consult(c, directory, pid, 0);
	for (int i = 0, whole = !found; i < count && whole; i++)
		found |= consult(c, directory, recorders[i], pid);
	if (found || c->failed != failed)
		return;
	c->failed = true;
	snprintf(hint, sizeof(hint), "`braid ctl status` lists the recorded processes");
	if (c->stranger)
		snprintf(hint, sizeof(hint), "recorder %d belongs to another version of braid, whose `ctl` can ask it",
			 (int)c->stranger);
	log_error("process %d is not being recorded by %s; %s", (int)pid,
		  geteuid() ? "this user (root controls root's recordings)" : "root", hint);
}

static void control_all(struct ctl *c, const char *directory, const pid_t *recorders, int count)
{
	bool any = false;

	for (int i = 0; i < count; i++)
		any |= consult(c, directory, recorders[i], 0);
	if (c->stranger)
		log_warning("recorder %d belongs to another version of braid, whose `ctl` shows it", (int)c->stranger);
	if (!any && !c->as_json)
		log_warning("%s records nothing at the moment", geteuid() ? "this user" : "root");
}

/* The only recording needs no pid. */
static void stop_one(struct ctl *c, const char *directory, const pid_t *recorders, int count)
{
	pid_t one = 0;
	int fd;

	for (int i = 0; i < count; i++) {
		fd = reach(directory, recorders[i], ANSWER_WAIT_S);
		if (fd < 0)
			continue;
		close(fd);
		if (one) {
			log_error(
				"several recordings run, for example %d and %d; `braid ctl PID stop` ends one of them",
				(int)one, (int)recorders[i]);
			c->failed = true;
			return;
		}
		one = recorders[i];
	}
	if (one && consult(c, directory, one, 0))
		return;
	log_error("%s records nothing at the moment", geteuid() ? "this user" : "root");
	c->failed = true;
}

static int ctl_run(struct ctl *c)
{
	char directory[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	pid_t recorders[RECORDERS_MAX];
	int count = control_directory(directory, sizeof(directory));

	if (count == -ENOENT) {
		log_error("XDG_RUNTIME_DIR is not set; without it, recorders of this user cannot be controlled");
		return EXIT_FAILURE;
	}
	count = count ?: list_recorders(directory, recorders);
	if (count < 0) {
		log_error("%s: %s", directory, strerror(-count));
		return EXIT_FAILURE;
	}
	if (c->as_json)
		json_open(&c->json, NULL, '[');
	if (!c->pid_count && c->verb->verb == BRAID_CONTROL_STOP)
		stop_one(c, directory, recorders, count);
	else if (!c->pid_count)
		control_all(c, directory, recorders, count);
	for (int i = 0; i < c->pid_count; i++)
		control_pid(c, directory, recorders, count, c->pids[i]);
	if (c->as_json) {
		json_close(&c->json, ']');
		putchar('\n');
	}
	return c->failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int cmd_ctl(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = ctl_parse, .args_doc = "[PID[,PID...]] COMMAND [LIST]", .doc = doc};
	struct ctl c = {.json.out = stdout};

	common_parse(&argp, argc, argv, &c);
	c.request.magic = BRAID_CONTROL_MAGIC;
	c.request.version = BRAID_CONTROL_VERSION;
	c.request.verb = (uint16_t)c.verb->verb;
	return ctl_run(&c);
}
