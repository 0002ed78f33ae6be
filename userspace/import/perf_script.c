// SPDX-License-Identifier: Apache-2.0
/*
 * The text of `perf script`, and that of `braid script`: for each event a line with its thread, time and name, an
 * indented line for each frame from the leaf, and an empty line. import.h is the interface.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <braid/event.h>

#include "braid_event.h"

#define KERNEL_FROM (1ULL << 63)
#define LINES_MAX (1U << 20) /* bytes of an event's frames; a trace has fewer */
#define VALUES_MAX 4096	     /* bytes of an event's values */
#define PERIOD_MIN_NS 1000U  /* of a clock: shorter ones are no ns */

#define LOOK_AGAIN UINT32_MAX /* in place of a stack with lines that are no frames: each time they count */

/* The event that is being read. */
struct record {
	bool open;
	bool is_stack; /* of the JVM's event */
	struct trace_sample sample;
	char values[VALUES_MAX];
	VEC(char) lines; /* its frames, as they are in the file */
	uint64_t line;	 /* number of its first one */
};

struct perf {
	struct reader *r;
	struct record record;
	char sampling[READER_TEXT]; /* the event that the recording's samples are of */
	bool has_sampling, announced;
	uint64_t period_ns; /* of these samples, if it is always the same and the event a clock of ns; 1: it is not */
	struct trace_jvm_event event; /* of `braid script`, whose stack may follow; its kind is 0 if there is none */
	uint32_t event_tid;
};

/* ---- the sampling event ---- */

static void set_sampling(struct perf *p, struct trace_str event)
{
	snprintf(p->sampling, sizeof(p->sampling), "%.*s", (int)event.len, event.str);
	p->has_sampling = true;
}

/* The first clock at the beginning of the file, else the first event. Others are kept apart, each by its name. */
static void find_sampling(struct perf *p)
{
	struct trace_str bytes, line;
	struct perf_header h;

	if (input_peek(&p->r->in, &bytes))
		return;
	while (bytes.len) {
		line = str_line(&bytes);
		if (!line.len || *line.str == '#' || *line.str == '\t' || !perf_header_take(&h, line))
			continue;
		if (perf_event_is_clock(h.event)) {
			set_sampling(p, h.event);
			return;
		}
		if (!p->has_sampling && !str_begins(h.event, "braid:"))
			set_sampling(p, h.event);
	}
}

static bool is_clock_of_ns(const struct perf *p)
{
	struct trace_str event = str_of(p->sampling);

	return str_begins(event, "cpu-clock") || str_begins(event, "task-clock");
}

static void note_period(struct perf *p, const struct perf_header *h)
{
	if (!h->has_period || h->period < PERIOD_MIN_NS || (p->period_ns && p->period_ns != h->period))
		p->period_ns = 1;
	else
		p->period_ns = h->period;
}

/* ---- events ---- */

/* Without a pid, which perf prints only if it is asked for it, the process of a thread is not known. */
static uint32_t thread_of(struct perf *p, const struct perf_header *h)
{
	struct import_thread t = {.tid = h->tid, .name = h->comm};
	struct builder *b = &p->r->b;

	if (h->pid) {
		t.process = builder_process(b, h->pid, h->pid == h->tid ? h->comm : (struct trace_str){0});
		/* A process whose first thread was not seen is called as the one that was. */
		if (t.process && !b->process_names.at[t.process - 1])
			builder_process(b, h->pid, h->comm);
	}
	return builder_thread(b, &t);
}

/* A frame of what has no stack, behind the event's name: "ffffffff81 name ([kernel])". Values are no such. */
static bool is_frame(struct trace_str rest, struct perf_frame *f)
{
	return perf_frame_take(f, rest) && f->module.len && f->address > 0xfff;
}

static void take_values(struct record *to, struct trace_str values)
{
	size_t length = values.len < VALUES_MAX ? values.len : VALUES_MAX;

	to->sample.text = (struct trace_str){to->values, (uint32_t)text_clean(to->values, values.str, length)};
}

/* Frames are looked at when all of a stack are there: most stacks were seen before. */
static void add_line(struct perf *p, struct trace_str line)
{
	size_t size = line.len + 1UL;

	if (!p->record.open || p->record.lines.count + size > LINES_MAX)
		return;
	if (VEC_RESERVE(&p->record.lines, size)) {
		builder_fail(&p->r->b, -ENOMEM);
		return;
	}
	memcpy(p->record.lines.at + p->record.lines.count, line.str, line.len);
	p->record.lines.at[p->record.lines.count + line.len] = '\n';
	p->record.lines.count += size;
}

/* A line of fields is an event of its own, or the stack of it follows. */
static void finish_event(struct perf *p, uint32_t node)
{
	p->event.node = node;
	if (p->event.kind)
		builder_event(&p->r->b, &p->event);
	p->event.kind = 0;
}

static void take_loss(struct perf *p, const struct perf_header *h)
{
	struct trace_loss loss = {.time_ns = h->time_ns};

	if (h->pid)
		loss.process = builder_process(&p->r->b, h->pid, h->comm);
	braid_loss_take(p->r, &loss, h->rest);
}

static void begin_event(struct perf *p, const struct perf_header *h)
{
	uint32_t kind = braid_event_kind(h->event);
	struct trace_jvm_event e = {.time_ns = h->time_ns, .kind = kind, .source = BRAID_SOURCE_COLLECTOR};

	if (str_equals(h->event, BRAID_EVENT_LOSS)) {
		take_loss(p, h);
		return;
	}
	if (!kind) {
		reader_leave(p->r, h->event, 1);
		return;
	}
	e.process = builder_process(&p->r->b, h->pid, (struct trace_str){0});
	if (!braid_event_is_of_process(kind, h))
		e.thread = thread_of(p, h);
	braid_event_take(p->r, &e, h->rest);
	p->event = e;
	p->event_tid = h->tid;
}

/* Whether a header with a weight says again what a line with fields has said before. */
static bool is_of_event(const struct perf *p, const struct perf_header *h)
{
	return p->event.kind && braid_event_kind(h->event) == p->event.kind && h->tid == p->event_tid &&
	       h->time_ns == p->event.time_ns;
}

static void begin_time(struct perf *p, const struct perf_header *h)
{
	if (h->has_time && !p->announced)
		builder_clock(&p->r->b, h->time_ns);
	p->announced = true;
	p->r->timed = p->r->timed || h->has_time;
}

static void begin_record(struct perf *p, const struct perf_header *h)
{
	struct trace_sample *s = &p->record.sample;
	struct builder *b = &p->r->b;
	struct perf_frame alone;
	bool of_braid = str_begins(h->event, BRAID_EVENT_PREFIX);

	begin_time(p, h);
	p->record.is_stack = of_braid && h->has_period && is_of_event(p, h);
	p->record.open = p->record.is_stack;
	p->record.lines.count = 0;
	p->record.line = p->r->in.line;
	if (p->record.is_stack)
		return;
	finish_event(p, 0);
	if (of_braid && !h->has_period) {
		begin_event(p, h);
		return;
	}
	*s = (struct trace_sample){
		.time_ns = h->time_ns, .cpu = h->has_cpu ? h->cpu : TRACE_NO_CPU, .weight = of_braid ? h->period : 1};
	s->thread = thread_of(p, h);
	if (p->has_sampling && str_equals(h->event, p->sampling))
		note_period(p, h);
	else
		s->event = builder_name(b, h->event);
	p->record.open = s->weight > 0;
	if (is_frame(h->rest, &alone))
		add_line(p, h->rest);
	else if (!of_braid)
		take_values(&p->record, h->rest);
}

/* ---- frames ---- */

static enum import_code code_of(const struct perf_frame *f)
{
	struct trace_str m = f->module;

	if (str_begins(m, "[kernel") || str_begins(m, "[guest.kernel") ||
	    (f->address >= KERNEL_FROM && str_begins(m, "[")) || str_ends(m, ".ko"))
		return IMPORT_KERNEL;
	return IMPORT_NATIVE;
}

/* Whether the file says nothing against a method of Java's: it is a map of generated code, or not known. */
static bool can_be_java(struct trace_str module)
{
	return !module.len || str_equals(module, "[unknown]") || str_equals(module, "inlined") ||
	       (str_begins(module, "/tmp/perf-") && str_ends(module, ".map"));
}

static void push_frame(struct perf *p, const struct perf_frame *f)
{
	struct reader *r = p->r;
	enum import_code code = code_of(f);

	if (reader_push_known(r, f->text))
		return;
	frame_text(&r->text, f->name, code);
	if (r->text.none)
		return;
	if (code == IMPORT_NATIVE && r->text.frame.code == IMPORT_COMPILED && !can_be_java(f->module))
		r->text.frame = (struct import_frame){.code = code, .name = f->name, .bci = -1};
	if (r->text.frame.code <= IMPORT_KERNEL && !str_equals(f->module, "[unknown]") &&
	    !str_equals(f->module, "inlined"))
		r->text.frame.module = f->module;
	reader_push_new(r, f->text, &r->text.frame);
}

/* "  main.c:12", which perf prints below a frame with -F +srcline. */
static bool is_source_line(struct trace_str line)
{
	long colon = str_last(line, ':');

	return colon > 0 && str_begins(line, "  ") && (size_t)colon + 1 < line.len &&
	       isdigit((unsigned char)line.str[colon + 1]);
}

/* The frames of the event that is open. False: there is something else among them. */
static bool take_frames(struct perf *p)
{
	struct trace_str rest = {p->record.lines.at, (uint32_t)p->record.lines.count};
	struct perf_frame f;
	bool good = true;

	reader_begin_stack(p->r);
	while (rest.len) {
		struct trace_str line = str_line(&rest);

		if (perf_frame_take(&f, line)) {
			push_frame(p, &f);
		} else if (!is_source_line(line)) {
			good = false;
			reader_lose(p->r, "line", 1, "the event at line %" PRIu64 " has a line that is no frame",
				    p->record.line);
		}
	}
	return good;
}

/* The class of an event, which its fields have, too, is printed as if it were the innermost frame. */
static void drop_class(struct record *record)
{
	struct trace_str rest = {record->lines.at, (uint32_t)record->lines.count};
	struct perf_frame f;

	if (!record->is_stack || !perf_frame_take(&f, str_line(&rest)) || !str_equals(f.module, "[class]"))
		return;
	memmove(record->lines.at, rest.str, rest.len);
	record->lines.count = rest.len;
}

static uint32_t take_stack(struct perf *p)
{
	struct reader *r = p->r;
	uint32_t *known, node = 0;

	drop_class(&p->record);
	known = reader_stack_of(r, p->record.lines.at, p->record.lines.count);
	if (known && *known && *known != LOOK_AGAIN) {
		node = *known - 1;
	} else if (known) {
		bool good = take_frames(p);

		node = builder_stack(&r->b, r->frames.at, r->frames.count);
		*known = good ? node + 1 : LOOK_AGAIN;
	}
	return node;
}

static void finish_record(struct perf *p)
{
	uint32_t node;

	if (!p->record.open)
		return;
	p->record.open = false;
	node = take_stack(p);
	if (p->record.is_stack) {
		finish_event(p, node);
		return;
	}
	p->record.sample.node = node;
	builder_sample(&p->r->b, &p->record.sample);
}

/* ---- facts ---- */

/* "# hostname : web1", as `perf script --header` prints. */
static void take_comment(struct perf *p, struct trace_str line)
{
	static const struct {
		const char *name, *key;
	} facts[] = {{"hostname", "host.name"},
		     {"os release", "host.kernel"},
		     {"arch", "host.machine"},
		     {"nrcpus online", "host.cpus"},
		     {"cmdline", "record.command"}};
	struct trace_str s = str_part(line, 2, line.len), value;
	const char *colon = memmem(s.str, s.len, " : ", 3);

	if (!colon)
		return;
	value = str_part(s, (size_t)(colon - s.str) + 3, s.len);
	s = str_part(s, 0, (size_t)(colon - s.str));
	if (str_equals(s, "perf version"))
		snprintf(p->r->made_by, sizeof(p->r->made_by), "perf %.*s", (int)value.len, value.str);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (str_equals(s, facts[i].name))
			builder_info(&p->r->b, facts[i].key, value);
}

static void put_facts(struct perf *p)
{
	if (p->has_sampling)
		builder_info(&p->r->b, "record.event", str_of(p->sampling));
	if (p->period_ns >= PERIOD_MIN_NS && is_clock_of_ns(p))
		builder_frequency(&p->r->b, p->period_ns);
}

/* ---- lines ---- */

static void take_line(struct perf *p, struct trace_str line)
{
	struct perf_header h;
	bool indented = *line.str == ' ' || *line.str == '\t';

	if (*line.str == '#') {
		finish_record(p);
		take_comment(p, line);
	} else if (*line.str != '\t' && perf_header_take(&h, line)) {
		finish_record(p);
		begin_record(p, &h);
	} else if (indented) {
		add_line(p, line);
	} else {
		reader_lose(p->r, "line", 1, "line %" PRIu64 " is neither an event nor a frame", p->r->in.line);
	}
}

int perf_script_read(struct reader *r)
{
	struct perf p = {.r = r};
	struct trace_str line;
	int got;

	snprintf(r->format, sizeof(r->format), "perf script");
	r->clock = "perf's";
	find_sampling(&p);
	while ((got = reader_line(r, &line)) == 1 && !r->b.err) {
		if (line.len)
			take_line(&p, line);
		else
			finish_record(&p);
	}
	finish_record(&p);
	finish_event(&p, 0);
	free(p.record.lines.at);
	if (r->b.begun)
		put_facts(&p);
	reader_say_left(r);
	return got < 0 ? got : r->b.err;
}
