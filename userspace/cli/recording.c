// SPDX-License-Identifier: Apache-2.0
#include "recording.h"

#include "common.h"

#include "config/kernel_event.h"

#include <braid/agent_options.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_NO_ATTACH = 0x500, OPT_NO_PROPERTIES, OPT_AGENT_OPTS, OPT_MAX_DEPTH, OPT_PRESET, OPT_MAX_PAUSE };

/* The kernel side, or probes in the VM's code, record these. */
#define WITHOUT_AGENT                                                                                                  \
	(BRAID_EVENT_TYPE(WAIT) | BRAID_EVENT_TYPE(OFFCPU) | BRAID_EVENT_TYPE(SAFEPOINT) | BRAID_EVENT_TYPE(JIT))

static const struct argp_option options[] = {
	{"pid", 'p', "PID[,PID...]", 0, "Record these processes, and the processes that they start", 0},
	{"all", 'a', NULL, 0, "Record the whole machine", 0},
	{"frequency", 'F', "HZ", 0, "Take this many samples per second and CPU (default 99)", 0},
	{"event", 'e', "EVENT[,EVENT...]", 0,
	 "Record these events (see below) instead of the default preset; take samples by cpu-clock, hardware counters (cycles, instructions, "
	 "cache-misses, ..., if there is a PMU) or the kernel's (page-faults, context-switches, ...), or at "
	 "tracepoints (CATEGORY:NAME), functions (uprobe:PATH:SYMBOL, uretprobe:PATH:SYMBOL) and USDT probes (usdt:PATH:PROVIDER:NAME, "
	 "hotspot:NAME), each with a /FILTER/, as offcpu can have one, and {FIELD,...}; malloc:PATH:PROVIDER: samples of an allocator's "
	 "own. The option can be repeated",
	 0},
	{"preset", OPT_PRESET, "NAME", 0, "Record the events of cpu (default), latency, memory, startup, wall, or all",
	 0},
	{"count", 'c', "N", 0, "Take one sample in N hits of each tracepoint or probe (default 1)", 0},
	{"no-attach", OPT_NO_ATTACH, NULL, 0, "Do not load the agent into JVMs", 0},
	{"no-properties", OPT_NO_PROPERTIES, NULL, 0, "Do not record the flags and system properties of JVMs", 0},
	{"agent-opts", OPT_AGENT_OPTS, "OPTIONS", 0, "Pass these options to the agent: key=value,...", 0},
	{"max-depth", OPT_MAX_DEPTH, "FRAMES", 0, "Walk at most this many frames, 1 to 16384 (default 16384)", 0},
	{"max-pause", OPT_MAX_PAUSE, "TIME", 0,
	 "Take no histogram of the heap (-e heap) that is expected to stop the JVM for longer (default 1s)", 0},
	{0},
};

/* "all of these but heap, method and dump", from the mask. */
static void print_all(FILE *out)
{
	char text[EVENT_TYPES_TEXT];

	fprintf(out, " all of these but %s",
		event_types_text(((1U << BRAID_EVENT_TYPES) - 1) & ~BRAID_EVENT_TYPES_ALL, text, sizeof(text)));
}

/* From the tables that parse them. */
char *recording_help(int key, const char *text, void *input)
{
	char *all = NULL;
	size_t size;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC || !(out = open_memstream(&all, &size)))
		return (char *)(uintptr_t)text;
	fputs("Events:\n", out);
	for (int i = 0; i < BRAID_EVENT_TYPES; i++)
		fprintf(out, "  %-14s  %s\n", event_type_example(i), event_type_help(i));
	fputs("\nKernel events, each with a /FILTER/:\n", out);
	for (size_t i = 0; kernel_event_example(i); i++)
		fprintf(out, "  %-14s  %s\n", kernel_event_example(i), kernel_event_help(i));
	fputs("\nPresets:\n", out);
	for (size_t i = 0; preset_name(i); i++) {
		fprintf(out, "  %-8s", preset_name(i));
		for (int type = 0; type < BRAID_EVENT_TYPES && preset_types(i) != BRAID_EVENT_TYPES_ALL; type++)
			if (preset_types(i) >> type & 1)
				fprintf(out, " %s", event_type_name(type));
		if (preset_types(i) == BRAID_EVENT_TYPES_ALL)
			print_all(out);
		putc('\n', out);
	}
	fprintf(out, "\n%s", text);
	if (fclose(out) == 0)
		return all;
	free(all);
	return (char *)(uintptr_t)text;
}

/* A number in a range; ends the program for anything else. */
static double option_number(struct argp_state *state, const char *what, const char *text, double low, double high)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= low) || !(value <= high))
		argp_error(state, "%s: '%s' is not a number from %.10g to %.10g", what, text, low, high);
	return value;
}

static void add_pids(struct argp_state *state, struct record_options *o, char *list)
{
	char *save = NULL;

	for (char *one = strtok_r(list, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		pid_t *pids = realloc((void *)o->pids, ((size_t)o->pid_count + 1) * sizeof(*pids));

		if (!pids)
			argp_failure(state, 1, ENOMEM, "-p");
		pids[o->pid_count++] = common_id(state, "process", one);
		o->pids = pids;
	}
}

/* "unknown option 'x'; the options are spill=BYTES and verbose" */
static void refuse_agent_option(struct argp_state *state, const char *what, const char *word, size_t length)
{
	char known[128] = "";
	size_t used = 0;

	for (int i = 0; i < BRAID_AGENT_OF_USERS && used < sizeof(known); i++) {
		const struct braid_agent_option *o = &braid_agent_options[i];

		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s%s%s",
					 !i				? ""
					 : i + 1 < BRAID_AGENT_OF_USERS ? ", "
									: " and ",
					 o->name, o->value ? "=" : "", o->value ? o->value : "");
	}
	argp_error(state, "--agent-opts: %s '%.*s'; the options are %s", what, (int)length, word, known);
}

/* The agent itself could only complain in each JVM. */
static void check_agent_options(struct argp_state *state, const char *text)
{
	for (size_t length; *text; text += length, text += *text == ',') {
		struct braid_agent_word w;

		length = strcspn(text, ",");
		w = braid_agent_word_parse(text, length);
		if (length && w.id >= BRAID_AGENT_OF_USERS)
			refuse_agent_option(state, "unknown option", text, length);
		if (length && !w.usable)
			refuse_agent_option(state, "unusable value in", text, length);
	}
}

/* Whether hits can be samples. */
static bool counts_hits(const struct record_options *o)
{
	for (uint32_t i = 0; i < o->probe_count; i++)
		if (probe_type_samples(o->probes[i].type))
			return true;
	return false;
}

void recording_complete(struct recording *r, struct argp_state *state)
{
	struct record_options *o = &r->options;

	if (!o->system_wide && !o->pid_count && !o->command)
		argp_error(state, "no target; name one with -p PID, -a, or a command after --");
	if ((o->command != NULL) + o->system_wide + (o->pid_count > 0) > 1)
		argp_error(state, "-p, -a and a command cannot be combined");
	selection_complete(&r->selection);
	options_select(o, &r->selection);
	if (r->period_given && !counts_hits(o))
		argp_error(state, "-c is for tracepoints and probes; use -F for the frequency of a clock");
	if (r->frequency_given && !o->clock && counts_hits(o))
		argp_error(state, "-F is for clocks; use -c for the number of hits per sample, or add -e cpu");
	if (r->frequency_given && !o->clock)
		argp_error(state, "-F needs samples by a clock; add -e cpu");
	if (!o->attach && !*o->event && !o->probe_count && !(o->config.enabled & WITHOUT_AGENT))
		argp_error(state, "--no-attach without samples would record nothing; add -e cpu");
}

/* Parses which events are recorded, and how often. */
static error_t parse_events(struct recording *r, int key, char *arg, struct argp_state *state)
{
	struct record_options *o = &r->options;
	char why[SELECTION_WHY];

	switch (key) {
	case 'F':
		o->frequency_hz = (int)option_number(state, "-F", arg, 1, 100000);
		r->frequency_given = true;
		return 0;
	case 'c':
		o->period = (uint64_t)option_number(state, "-c", arg, 1, 1e15);
		r->period_given = true;
		return 0;
	case 'e':
		if (selection_add(&r->selection, arg, why))
			argp_error(state, "-e: %s", why);
		return 0;
	case OPT_PRESET:
		if (selection_preset(&r->selection, arg, why))
			argp_error(state, "--preset: %s", why);
		return 0;
	case OPT_MAX_PAUSE:
		r->selection.config.heap_max_pause_ns = common_pause(state, arg);
		return 0;
	case OPT_MAX_DEPTH:
		o->max_depth = (uint32_t)option_number(state, "--max-depth", arg, 1, BRAID_MAX_DEPTH);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	struct recording *r = state->input;
	struct record_options *o = &r->options;

	switch (key) {
	case 'p':
		add_pids(state, o, arg);
		return 0;
	case 'a':
		o->system_wide = true;
		return 0;
	case OPT_NO_ATTACH:
		o->attach = false;
		return 0;
	case OPT_NO_PROPERTIES:
		o->properties = false;
		return 0;
	case OPT_AGENT_OPTS:
		check_agent_options(state, arg);
		o->agent_options = arg;
		return 0;
	default:
		return parse_events(r, key, arg, state);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct recording *r = state->input;
	error_t err = parse_key(key, arg, state);

	r->given = r->given || !err;
	return err;
}

const struct argp recording_argp = {.options = options, .parser = parse};

void recording_init(struct recording *r)
{
	r->options = options_default(DEFAULT_TRACE);
	r->options.properties = true;
	selection_init(&r->selection);
}

void recording_free(struct recording *r)
{
	free((void *)r->options.pids);
}
