// SPDX-License-Identifier: Apache-2.0
/*
 * The report for people: the summary, and then the sections that have something to say, those first that findings are
 * about, each cut to a screen. `braid report` calls it unless --full is given.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <diagnose/diagnose.h>
#include <util/style.h>

#include "dump.h"
#include "events.h"
#include "info.h"

#define LINES 20   /* of a section */
#define ROWS_TOP 8 /* of a table among others in a section */
#define WHOLE 95.0 /* %: with fewer whole stacks, what is wrong with the others matters */
#define NATIVE 5.0 /* %: with fewer samples in native methods, their table is left out */

typedef void (*section_fn)(FILE *out, const struct views *v, unsigned top);

#define SECTION_RULES 16

/* A section, with the rules whose findings it shows. */
struct section {
	section_fn print; /* NULL: of the events of one kind */
	uint32_t kind;
	enum rule_id rules[SECTION_RULES];
	bool only_found; /* it is too detailed for people unless a finding is about it */
};

static void of_dumps(FILE *out, const struct views *v, unsigned top)
{
	(void)top;
	text_dumps(out, v);
}

static void of_refs(FILE *out, const struct views *v, unsigned top)
{
	(void)top;
	text_refs(out, v);
}

static void of_quality(FILE *out, const struct views *v, unsigned top)
{
	const struct quality *q = &v->an->samples.quality;

	(void)top;
	if (q->total && percent(q->by_cause[CAUSE_COMPLETE], q->total) < WHOLE)
		text_quality(out, v);
}

static void of_natives(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	uint64_t self = 0, calls = 0;

	for (size_t i = 0; i < e->natives.count; i++) {
		self = add_saturating(self, e->natives.at[i].self);
		calls = add_saturating(calls, e->natives.at[i].calls);
	}
	if (calls || percent(self, v->an->samples.quality.total) >= NATIVE)
		text_natives(out, v, top);
}

static void of_threads(FILE *out, const struct views *v, unsigned top)
{
	if (v->threads.count)
		text_threads(out, v, top);
}

static void of_methods(FILE *out, const struct views *v, unsigned top)
{
	if (v->methods.count)
		text_methods(out, v, top == ROWS_TOP ? 2 * top : top);
}

static void of_lines(FILE *out, const struct views *v, unsigned top)
{
	if (v->lines.count)
		text_lines(out, v, top);
}

static void of_gc(FILE *out, const struct views *v, unsigned top)
{
	if (v->gc.count)
		text_gc(out, v, top);
}

static void of_sites(FILE *out, const struct views *v, unsigned top)
{
	if (v->events->live_bytes)
		text_sites(out, v, top);
}

static const struct section sections[] = {
	{of_methods, 0, {RULE_HOT, RULE_INTERPRETED, RULE_SPIN}, false},
	{of_lines, 0, {RULE_HOT}, false},
	{NULL, BRAID_JVM_LOCK, {RULE_LOCK, RULE_DEADLOCK}, false},
	{NULL,
	 BRAID_JVM_OFFCPU,
	 {RULE_POOL, RULE_ONE_THREAD, RULE_POLLING, RULE_LOG, RULE_SYNC, RULE_DISK, RULE_DNS, RULE_FAULTS, RULE_PINNED,
	  RULE_STARVED, RULE_SWITCHES, RULE_THROTTLED, RULE_REFERENCES},
	 false},
	{of_gc, 0, {RULE_GC_EXPLICIT, RULE_GC_LONG, RULE_GC_PRESSURE, RULE_LEAK, RULE_GC_LOCKER}, false},
	{text_held, 0, {RULE_GC_LOCKER}, false},
	{NULL, BRAID_JVM_ALLOC, {RULE_GC_PRESSURE}, false},
	{text_leaks, 0, {RULE_LEAK}, false},
	{of_sites, 0, {RULE_LEAK}, false},
	{text_histograms, 0, {RULE_LEAK, RULE_REFERENCES}, false},
	{NULL, BRAID_JVM_RESOURCE, {RULE_EXHAUSTED}, false},
	{NULL, BRAID_JVM_EXCEPTION, {RULE_EXCEPTIONS}, false},
	{NULL, BRAID_JVM_DEOPT, {RULE_DEOPT}, false},
	{text_compiles, 0, {RULE_CODE_CACHE, RULE_DEOPT, RULE_INTERPRETED}, true},
	{NULL, BRAID_JVM_SAFEPOINT, {RULE_SAFEPOINT}, true},
	{NULL, BRAID_JVM_SAFEPOINT_STOP, {RULE_SAFEPOINT}, true},
	{text_classes, 0, {RULE_CLASSES}, true},
	{text_hits, 0, {RULE_NONE}, false},
	{NULL, BRAID_JVM_SYSCALL, {RULE_NONE}, false},
	{NULL, BRAID_JVM_FAULT, {RULE_FAULTS, RULE_SWAP}, false},
	{NULL, BRAID_JVM_BLOCK, {RULE_DISK, RULE_SYNC}, false},
	{NULL, BRAID_JVM_TCP, {RULE_NONE}, false},
	{NULL, BRAID_JVM_WAIT, {RULE_NONE}, false},
	{text_timed, 0, {RULE_NONE}, false},
	{text_writes, 0, {RULE_NONE}, false},
	{of_natives, 0, {RULE_NONE}, false},
	{NULL, BRAID_JVM_MALLOC, {RULE_NONE}, false},
	{NULL, BRAID_JVM_UNFREED, {RULE_NONE}, false},
	{of_refs, 0, {RULE_NONE}, false},
	{NULL, BRAID_JVM_VTHREAD_START, {RULE_NONE}, false},
	{of_threads, 0, {RULE_NONE}, false},
	{text_lives, 0, {RULE_THREADS}, true},
	{of_dumps, 0, {RULE_DEADLOCK}, false},
	{of_quality, 0, {RULE_NONE}, false},
};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* The severity of the worst finding that a section shows. */
static unsigned severity_of(const struct section *s, const struct diagnosis *d)
{
	unsigned worst = 0;

	for (size_t i = 0; d && i < d->findings.count; i++) {
		const struct finding *f = &d->findings.at[i];

		for (size_t k = 0; k < SECTION_RULES && s->rules[k]; k++)
			if (f->rule == &diagnose_rules[s->rules[k]] && f->severity > worst)
				worst = f->severity;
	}
	return worst;
}

static bool is_shown(const struct section *s, const struct report_source *source)
{
	return s->print == of_lines ? source->lines : !s->only_found || severity_of(s, source->diagnosis);
}

/* ---- one section ---- */

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

/* A blank line, the title, and as many lines as fit on a screen. */
static void print_cut(FILE *out, const char *text, bool whole)
{
	size_t all = count_lines(text), shown = 0;

	for (const char *end; *text && (whole || shown <= LINES || all == LINES + 2); text = end + 1, shown++) {
		end = strchr(text, '\n');
		if (!end || (end == text && !whole && shown > LINES - 4 && all > LINES))
			break; /* not a title without its table */
		if (shown == 1)
			fputs(style(STYLE_HEAD), out);
		fwrite(text, 1, (size_t)(end - text), out);
		if (shown == 1)
			fputs(style(STYLE_PLAIN), out);
		putc('\n', out);
	}
	if (shown < all)
		fprintf(out, "  %s... %zu more lines: --full%s\n", style(STYLE_FAINT), all - shown, style(STYLE_PLAIN));
}

static int print_section(FILE *out, const struct section *s, const struct views *v, const struct report_source *source,
			 unsigned top)
{
	unsigned rows = top == REPORT_TOP ? ROWS_TOP : top;
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	bool failed;

	if (!memory)
		return -ENOMEM;
	if (s->print == of_dumps && source->diagnosis) /* which has listed them */
		text_known_dumps(memory, v, &source->diagnosis->dumps);
	else if (s->print)
		s->print(memory, v, rows);
	else
		text_kind(memory, v, s->kind, rows);
	failed = ferror(memory);
	failed = fclose(memory) || failed;
	if (!failed)
		print_cut(out, text, top != REPORT_TOP);
	free(text);
	return failed ? -ENOMEM : 0;
}

/* ---- all of them ---- */

static void warnings(FILE *out, const struct views *v)
{
	size_t count = 0;

	for (size_t i = 0; i < v->notices.count; i++)
		count += v->notices.at[i].severity != BRAID_NOTICE_INFO;
	if (count)
		fprintf(out, "\n%s%zu warning%s of the recording; --full prints %s%s\n", style(STYLE_WARN), count,
			plural(count), count == 1 ? "it" : "them", style(STYLE_PLAIN));
}

int report_short(FILE *out, const struct views *v, const struct report_source *source, unsigned top)
{
	bool printed[SECTIONS] = {false};
	int err = 0;

	report_summary(out, v, source);
	for (size_t n = 0; n < SECTIONS && !err; n++) {
		size_t next = SECTIONS;

		for (size_t i = 0; i < SECTIONS; i++)
			if (!printed[i] &&
			    (next == SECTIONS || severity_of(&sections[i], source->diagnosis) >
							 severity_of(&sections[next], source->diagnosis)))
				next = i;
		printed[next] = true;
		if (is_shown(&sections[next], source))
			err = print_section(out, &sections[next], v, source, top);
	}
	text_other_events(out, v, source);
	warnings(out, v);
	if (source_is_damaged(source, v->an->a))
		text_file(out, v, source);
	return err;
}
