// SPDX-License-Identifier: Apache-2.0
/* `braid memory`: whose memory the resident set of a process is, now, or by how much it grows. */
#include "cli/cli.h"
#include "cli/common.h"
#include "memory_growth.h"

#include "util/json.h"
#include "resident/resident.h"
#include "util/log.h"
#include "util/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define TOP 10U

enum { OPT_ASK = 0x100, OPT_WATCH, OPT_STACKS, OPT_NO_ATTACH };

static const char doc[] =
	"Shows whose memory the resident set of a process is: the Java heap, the code cache, stacks of threads, malloc, "
	"libraries, files, and what cannot be recognised from outside.\vThe parts add up to what the kernel says in "
	"/proc/PID/smaps. Nothing is loaded into the process, but for --stacks, and nothing is stopped. What is anonymous and not known is "
	"metaspace and other memory that a JVM maps for itself; a JVM that runs with -XX:NativeMemoryTracking=detail names it.\n"
	"\n"
	"Examples:\n"
	"  braid memory 4711\n"
	"  braid memory 4711 --json\n"
	"  braid memory 4711 --watch 60s --ask\n"
	"  braid memory 4711 --watch 60s --stacks\n"
	"  jcmd 4711 VM.native_memory detail | braid memory --nmt - 4711\n"
	"\n"
	"`braid record -e malloc` shows which code has allocated native memory and not freed it.";

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "Print JSON", 0},
	{"nmt", 'n', "FILE", 0,
	 "Name parts as this answer of `jcmd PID VM.native_memory detail` does; - is standard input", 0},
	{"ask", OPT_ASK, NULL, 0, "Have the JVM itself name parts; it must run with -XX:NativeMemoryTracking=detail",
	 0},
	{"watch", OPT_WATCH, "TIME", 0, "Print by how much each part grows in TIME, or until Ctrl-C", 0},
	{"stacks", OPT_STACKS, NULL, 0,
	 "With --watch: record page faults, and print which stacks touched the pages that are new", 0},
	{"no-attach", OPT_NO_ATTACH, NULL, 0, "With --stacks: do not load the agent into the JVM", 0},
	{"verbose", 'v', NULL, 0, "Print more messages", 0},
	{0},
};

struct memory_command {
	const char *tracking;
	struct memory_watch watch;
};

static error_t memory_parse(int key, char *arg, struct argp_state *state)
{
	struct memory_command *c = state->input;

	switch (key) {
	case 'j':
		c->watch.as_json = true;
		return 0;
	case 'n':
		c->tracking = arg;
		return 0;
	case OPT_ASK:
		c->watch.ask = true;
		return 0;
	case OPT_WATCH:
		c->watch.watch_ns = common_length(state, "--watch", arg);
		return 0;
	case OPT_STACKS:
		c->watch.stacks = true;
		return 0;
	case OPT_NO_ATTACH:
		c->watch.attach = false;
		return 0;
	case 'v':
		log_verbosity++;
		return 0;
	case ARGP_KEY_END:
		if (c->watch.stacks && !c->watch.watch_ns)
			argp_error(state, "--stacks is for --watch: it shows whose pages come meanwhile");
		if (!c->watch.attach && !c->watch.stacks)
			argp_error(state, "--no-attach is for --stacks: nothing is loaded into the process otherwise");
		if (c->tracking && (c->watch.ask || c->watch.watch_ns))
			argp_error(state, "--nmt is one answer of the JVM: use --ask with --watch, and not both");
		return common_pid_arg(key, arg, state, &c->watch.pid);
	case ARGP_KEY_ARG:
		return common_pid_arg(key, arg, state, &c->watch.pid);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- text ---- */

static void print_parts(const struct resident *r, enum resident_owner owner, const char *title)
{
	char size[QUANTITY_TEXT], whole[QUANTITY_TEXT];
	unsigned shown = 0;

	for (size_t i = 0; i < r->parts.count && shown < TOP; i++) {
		const struct resident_part *p = &r->parts.at[i];

		if (p->owner != owner || !p->resident)
			continue;
		if (!shown++)
			printf("\n%s\n", title);
		printf("  %11s of %11s  %012" PRIx64 "-%012" PRIx64 "  ", size_text(size, p->resident),
		       size_text(whole, p->end - p->start), p->start, p->end);
		if (p->tid)
			printf("thread %u ", p->tid);
		printf("%s\n", p->name);
	}
}

static void print_text(const struct resident *r, const struct memory_sums *s)
{
	char size[QUANTITY_TEXT], whole[QUANTITY_TEXT], swapped[QUANTITY_TEXT];

	printf("Resident set of process %d: %s in %u mappings", (int)r->pid, size_text(size, r->total), r->mappings);
	if (r->swapped)
		printf(", and %s in swap space", size_text(swapped, r->swapped));
	printf("\n  %11s  %7s  %11s  %8s  owner\n", "resident", "share", "of", "parts");
	for (size_t i = 0; i < s->all.count; i++) {
		const struct memory_sum *one = &s->all.at[i];

		printf("  %11s  %6.2f%%  %11s  %8" PRIu64 "  %s", size_text(size, one->resident),
		       percent(one->resident, r->total), size_text(whole, one->size), one->parts, one->name);
		if (one->swapped)
			printf(" (%s more in swap space)", size_text(swapped, one->swapped));
		putchar('\n');
	}
	print_parts(r, RESIDENT_UNKNOWN, "Largest parts that are not known");
	print_parts(r, RESIDENT_STACK, "Largest stacks");
}

/* ---- JSON ---- */

static void print_json(const struct resident *r, const struct memory_sums *s)
{
	struct json j = {.out = stdout};

	json_open(&j, NULL, '{');
	json_number(&j, "pid", (uint64_t)r->pid);
	json_number(&j, "resident", r->total);
	json_number(&j, "swapped", r->swapped);
	json_number(&j, "mappings", r->mappings);
	json_open(&j, "owners", '[');
	for (size_t i = 0; i < s->all.count; i++) {
		json_open(&j, NULL, '{');
		json_string(&j, "owner", s->all.at[i].name);
		json_number(&j, "resident", s->all.at[i].resident);
		json_number(&j, "swapped", s->all.at[i].swapped);
		json_number(&j, "size", s->all.at[i].size);
		json_number(&j, "parts", s->all.at[i].parts);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_open(&j, "parts", '[');
	for (size_t i = 0; i < r->parts.count; i++) {
		const struct resident_part *p = &r->parts.at[i];

		json_open(&j, NULL, '{');
		json_string(&j, "owner", memory_owner_name(p));
		json_number(&j, "start", p->start);
		json_number(&j, "end", p->end);
		json_number(&j, "resident", p->resident);
		json_number(&j, "swapped", p->swapped);
		json_number_if(&j, p->tid, "tid", p->tid);
		json_string(&j, "name", p->name);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	putchar('\n');
}

/* ---- the command ---- */

static int read_tracking(struct resident *r, const char *path)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	int err = f ? resident_add_tracking(r, f) : -errno;

	if (f && f != stdin)
		fclose(f);
	if (err == -EINVAL)
		log_error("%s has no ranges of memory: the JVM must run with -XX:NativeMemoryTracking=detail, and the "
			  "command is `jcmd PID VM.native_memory detail`",
			  path);
	else if (err)
		log_error("cannot read %s: %s", path, strerror(-err));
	return err;
}

static bool print_now(const struct memory_command *c)
{
	struct memory_sums s = {0};
	struct resident r = {0};
	bool ok = false;

	if ((c->tracking && read_tracking(&r, c->tracking)) || !memory_read(&r, &s, c->watch.pid, c->watch.ask))
		goto out;
	(c->watch.as_json ? print_json : print_text)(&r, &s);
	ok = common_output_close(stdout, NULL, 0);
out:
	memory_sums_free(&s);
	resident_free(&r);
	return ok;
}

int cmd_memory(int argc, char **argv)
{
	static const struct argp argp = {.options = options, .parser = memory_parse, .args_doc = "PID", .doc = doc};
	struct memory_command c = {.watch.attach = true};
	bool ok;

	if (common_parse(&argp, argc, argv, &c))
		return EXIT_USAGE;
	ok = c.watch.watch_ns ? memory_growth_print(&c.watch) : print_now(&c);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
