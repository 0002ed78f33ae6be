// SPDX-License-Identifier: Apache-2.0
/* Traces that the commands read, and what they analyze of them. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <analyze/hits.h>
#include <analyze/kinds.h>
#include <analyze/spans.h>
#include <util/log.h>
#include <util/quantity.h>
#include <views/span_bounds.h>
#include <views/span_calls.h>
#include <views/span_functions.h>
#include <views/span_pairs.h>

#include "common.h"

bool common_open(struct trace_reader **reader, const char *path)
{
	const char *why = NULL;
	int err = trace_reader_open(reader, path, &why);

	if (!err)
		return true;
	if (err == -EMEDIUMTYPE)
		log_error(
			"%s is not a braid trace (%s); `braid record` records one, and `braid import` makes one of another tool's file",
			path, why ? why : "unknown format");
	else if (err == -EPROTONOSUPPORT)
		log_error("%s cannot be read (%s); use the braid that recorded it", path, why ? why : "newer format");
	else if (err == -ENOENT && strcmp(path, DEFAULT_TRACE) == 0)
		log_error("no " DEFAULT_TRACE " in this directory; `braid record` writes one, or name another FILE");
	else
		log_error("cannot read %s: %s", path, strerror(-err));
	return false;
}

/*
 * What of the samples is kept: sums by stack, sums by stack and thread, those that the window has, or these when the
 * times of all others count.
 */
enum keep { KEEP_STACKS, KEEP_SUMS, KEEP_NEEDED, KEEP_SEEN };

/* What is read of a trace. */
struct part {
	enum keep keep;
	const struct filter *filter; /* of the window, or NULL */
	common_near_fn near;	     /* not NULL: the window is about the filter's beginning */
	common_record_fn fn;
	void *ctx;
};

/* A span that is not wholly in the window has other samples, which say when it was. */
static bool near_suffices(const struct part *p, const struct analyzer *a)
{
	return !p->near || !a->spans.count;
}

/*
 * The window on the trace's clock, as far as what has been read says it. A time of day is on a day that only the
 * recording's end decides.
 */
static bool early_window(const struct analyzer *a, const struct part *p, struct window *w)
{
	const struct filter *f = p->filter;
	bool of_day = (f->has_from && f->from.kind == MOMENT_OF_DAY) || (f->has_to && f->to.kind == MOMENT_OF_DAY);
	int err;

	if (!filter_has_window(f) || of_day || !a->clock_first_ns || !near_suffices(p, a))
		return false;
	err = analysis_window(w, a, f);
	if (p->near) {
		uint64_t at_ns = window_begin_ns(w), near_ns = p->near(a);

		w->from_ns = at_ns > near_ns ? at_ns - near_ns : 0;
		w->to_ns = add_saturating(at_ns, add_saturating(near_ns, 1));
	}
	return !err || err == -ERANGE;
}

/*
 * Feeds everything. With a filter, only the samples in its window are kept: it is known at the first sample, since the
 * clock comes first. *same: it is the same at the end.
 */
static int feed_all(struct loaded *l, const struct part *p, bool *same)
{
	uint64_t left_from_ns, left_to_ns;
	struct window at_first = {0}, at_end = {0};
	bool sampled = false, bounded = false;
	struct trace_rec rec;
	int err;

	while ((err = trace_reader_next(l->reader, &rec)) == 1) {
		if (p->filter && !sampled && rec.kind == TRACE_SAMPLE) {
			sampled = true;
			bounded = early_window(l->analyzer, p, &at_first);
			if (bounded)
				analyzer_keep_between(l->analyzer, at_first.from_ns, at_first.to_ns);
			if (bounded && p->keep == KEEP_NEEDED)
				trace_reader_samples_between(l->reader, at_first.from_ns, at_first.to_ns);
		}
		if (p->fn)
			p->fn(p->ctx, &rec, l->analyzer);
		err = analyzer_feed(l->analyzer, &rec);
		if (err)
			return err;
	}
	trace_reader_left_out(l->reader, &left_from_ns, &left_to_ns);
	analyzer_see_time(l->analyzer, left_from_ns);
	analyzer_see_time(l->analyzer, left_to_ns);
	*same = !bounded || (early_window(l->analyzer, p, &at_end) && at_end.from_ns == at_first.from_ns &&
			     at_end.to_ns == at_first.to_ns);
	return !err && *same && bounded && p->keep == KEEP_NEEDED ? analyzer_forget_stacks(l->analyzer) : err;
}

static bool read_trace(struct loaded *l, const char *path, struct part part)
{
	bool same = false;
	int err = 0;

	memset(l, 0, sizeof(*l));
	l->path = path;
	if (!common_open(&l->reader, path))
		return false;
	if (part.filter && part.filter->has_length) /* samples outside of the window say how long a span lasts, too */
		part.filter = NULL;
	for (; !same && !err; part.filter = NULL) {
		trace_reader_rewind(l->reader);
		analyzer_free(l->analyzer);
		err = analyzer_new(&l->analyzer);
		if (!err && part.keep == KEEP_STACKS)
			analyzer_sum_stacks(l->analyzer);
		else if (!err && part.keep != KEEP_SUMS)
			analyzer_keep_samples(l->analyzer);
		err = err ?: feed_all(l, &part, &same);
	}
	if (err) {
		log_error("cannot read %s: %s", path, strerror(-err));
		common_unload(l);
		return false;
	}
	l->source.damage = trace_reader_damage(l->reader);
	l->source.bytes = trace_reader_bytes(l->reader);
	return true;
}

bool common_read(struct loaded *l, const char *path, const struct filter *filter, common_record_fn fn, void *ctx)
{
	bool sums = !filter || !filter_needs_samples(filter);

	return read_trace(l, path,
			  (struct part){.keep = sums ? KEEP_SUMS : KEEP_NEEDED,
					.filter = sums || fn ? NULL : filter,
					.fn = fn,
					.ctx = ctx});
}

bool common_report_state(const char *path, const struct report_source *source, bool ended, uint64_t ignored)
{
	const struct trace_damage *d = source->damage;
	const char *end = ended ? "" : "; the end of the recording is missing";

	if (!trace_is_damaged(d) && !ignored) {
		if (!ended)
			log_warning("%s: the recording did not end in order (its recorder was killed, or the disk was "
				    "full); its last part may be missing",
				    path);
		return false;
	}
	if (d->skipped_bytes)
		log_warning("%s is damaged: %" PRIu64 " of its %" PRIu64 " bytes cannot be read%s", path,
			    d->skipped_bytes, source->bytes, end);
	else
		log_warning("%s is damaged: %" PRIu64 " blocks are missing and %" PRIu64 " records cannot be read%s",
			    path, d->missing_blocks, d->bad_records + ignored, end);
	return true;
}

int common_status(const struct loaded *l, bool ok)
{
	if (!ok)
		return EXIT_FAILURE;
	return source_is_damaged(&l->source, l->analyzer) ? EXIT_DAMAGED : EXIT_SUCCESS;
}

bool common_has_times(const struct loaded *l, const char *what)
{
	if (analyzer_has_times(l->analyzer))
		return true;
	log_error("%s has no times, which %s needs: it was imported from %s", l->path, what,
		  analyzer_info(l->analyzer, IMPORT_FACT_FORMAT));
	return false;
}

bool common_check_window(const struct loaded *l, const struct filter *filter)
{
	struct window w;
	char began[MOMENT_TEXT], lasted[QUANTITY_TEXT];

	if (filter_has_window(filter) && !common_has_times(l, "a part by --from and --to"))
		return false;
	switch (analysis_window(&w, l->analyzer, filter)) {
	case 0:
		return true;
	case -ENODATA:
		log_error("%s has no time of day; give --from and --to as seconds since its start", l->path);
		return false;
	case -EDOM:
		log_error("--from must be before --to");
		return false;
	default:
		log_error("--from and --to are outside of the recording: %s begins %s and lasts %s", l->path,
			  w.start_realtime_ns ? moment_date(began, w.start_realtime_ns, 0) : "at 0",
			  duration_text(lasted, w.end_ns - w.start_ns));
		return false;
	}
}

static bool has_process(const struct analyzer *a, uint32_t pid)
{
	for (size_t i = 0; i < a->processes.count; i++) {
		const struct process_row *p = table_row(&a->processes, i);

		if (p->defined && p->pid == pid)
			return true;
	}
	return false;
}

static bool has_thread(const struct analyzer *a, uint32_t tid)
{
	for (size_t i = 0; i < a->threads.count; i++) {
		const struct thread_row *t = table_row(&a->threads, i);

		if (t->defined && t->tid == tid)
			return true;
	}
	return has_process(a, tid);
}

static bool has_span(const struct analyzer *a, const struct filter *filter)
{
	for (size_t i = 0; i < a->spans.count; i++)
		if (spans_selected(a, filter, table_row(&a->spans, i)))
			return true;
	return false;
}

/*
 * A process or thread that the filter names must be in the trace: an empty report would look like one that did nothing.
 */
static bool check_filter(const struct loaded *l, const struct filter *filter)
{
	if (!filter)
		return true;
	for (size_t i = 0; i < filter->pids.count; i++)
		if (!has_process(l->analyzer, filter->pids.at[i])) {
			log_error("%s has no process %u; `braid info %s` lists its processes", l->path,
				  filter->pids.at[i], l->path);
			return false;
		}
	for (size_t i = 0; i < filter->tids.count; i++)
		if (!has_thread(l->analyzer, filter->tids.at[i])) {
			log_error("%s has no thread %u; `braid report --full %s` lists its threads", l->path,
				  filter->tids.at[i], l->path);
			return false;
		}
	if (filter_has_span(filter) && !has_span(l->analyzer, filter)) {
		log_error("%s has none of these spans; `braid report --by span %s` lists its spans", l->path, l->path);
		return false;
	}
	return common_check_window(l, filter);
}

/* An event that spans are to be made of, and what there is instead. */
static void say_missing(const struct loaded *l, const char *event)
{
	char list[512];

	span_bounds_list(l->analyzer, list, sizeof(list));
	log_error("%s has no samples of the event '%s'; record it with -e; it has %s%s", l->path, event,
		  *list ? "those of " : "none of any event or system call", list);
}

static bool define_functions(const struct loaded *l, const char *function)
{
	uint64_t spans;
	int err = span_functions_define(l->analyzer, function, &spans);

	if (err == -ENOENT)
		say_missing(l, function);
	else if (err == -ENODATA)
		log_error("%s has returns of '%s' that do not say when the calls began; record them with "
			  "-e 'uretprobe:PATH:SYMBOL{elapsed}', or the calls, too, with -e uprobe:PATH:SYMBOL",
			  l->path, function);
	else if (err == -ENOTUNIQ)
		log_error("%s has more than one function '%s'; write its path, too", l->path, function);
	else if (err)
		log_error("cannot read %s: %s", l->path, strerror(-err));
	else if (!spans)
		log_error("%s has no return of '%s' whose call was recorded", l->path, function);
	return !err && spans;
}

static bool define_pairs(const struct loaded *l, const char *pair)
{
	struct span_pairs pairs;
	int err = span_pairs_define(l->analyzer, pair, &pairs);

	if (err == -ENOENT)
		say_missing(l, pairs.missing);
	else if (err == -ENOTUNIQ)
		log_error("%s has more than one event '%s'; write its whole name", l->path, pairs.missing);
	else if (err == -EINVAL)
		log_error("--span %s: an event's name is missing; write FROM..TO", pair);
	else if (err)
		log_error("cannot read %s: %s", l->path, strerror(-err));
	if (!err && pairs.unfinished)
		log_warning("%s: %" PRIu64 " hit%s of '%.*s' without a hit of '%s' after %s: no spans", l->path,
			    pairs.unfinished, pairs.unfinished == 1 ? "" : "s", (int)strcspn(pair, "."), pair,
			    pairs.missing, pairs.unfinished == 1 ? "it" : "them");
	if (!err && !pairs.spans)
		log_error("%s has no hit of the first event of %s that the second one follows", l->path, pair);
	return !err && pairs.spans;
}

static bool define_calls(const struct loaded *l, const char *pattern)
{
	uint64_t spans = 0;
	int err = span_calls_define(l->analyzer, pattern, &spans);

	if (err)
		log_error("cannot read %s: %s", l->path, strerror(-err));
	else if (!spans)
		log_error("%s has no calls of a method '%s'; record them with -e "
			  "'method=CLASS.METHOD>TIME', and `braid report` lists those that it has",
			  l->path, pattern);
	return !err && spans;
}

bool common_make_spans(struct loaded *l, const struct filter *f)
{
	bool ok = (!f->pair || define_pairs(l, f->pair)) && (!f->calls || define_calls(l, f->calls)) &&
		  (!f->function || define_functions(l, f->function));

	if (ok && f->has_length && spans_measure(l->analyzer)) {
		log_error("cannot read %s: %s", l->path, strerror(ENOMEM));
		ok = false;
	}
	if (!ok)
		common_unload(l);
	return ok;
}

bool common_make_analysis(struct loaded *l, const struct filter *filter)
{
	int err;

	if (filter && !common_make_spans(l, filter))
		return false;
	if (!check_filter(l, filter)) {
		common_unload(l);
		return false;
	}
	err = analysis_new(&l->analysis, l->analyzer, filter);
	if (err) {
		log_error("cannot analyze %s: %s", l->path, strerror(-err));
		common_unload(l);
		return false;
	}
	if (l->source.damage)
		common_report_state(l->path, &l->source, l->analyzer->ended, l->analyzer->ignored);
	return true;
}

bool common_make_views(struct loaded *l)
{
	int err = views_new(&l->views, l->analysis);

	if (!err && l->source.damage)
		err = loss_views_add_damage(&l->views->losses, l->analyzer, l->source.damage);
	if (!err)
		return true;
	log_error("cannot analyze %s: %s", l->path, strerror(-err));
	common_unload(l);
	return false;
}

bool common_analyze(struct loaded *l, const struct filter *filter)
{
	return common_make_analysis(l, filter) && common_make_views(l);
}

bool common_has_event(const struct loaded *l, const char *event, bool one)
{
	const struct hit_event *h;
	char all[1024] = "cpu";
	size_t used = 3;
	int err = hits_by_name(l->analyzer, event, &h);

	if (err == -ENOTUNIQ && one) {
		log_error("--event: '%s' means two events of %s; write more of the name", event, l->path);
		return false;
	}
	if (err != -ENOENT || strchr(event, ':') || hits_profile(l->analysis, event))
		return true;
	for (uint32_t k = 0; k < BRAID_JVM_EVENTS && used < sizeof(all); k++)
		if (kind_of(k))
			used += (size_t)snprintf(all + used, sizeof(all) - used, ", %s", jvm_event_name(k));
	log_error("--event: '%s' is neither a kind of events nor an event of %s; use one of: %s", event, l->path, all);
	return false;
}

bool common_load(struct loaded *l, const char *path, const struct filter *filter)
{
	return common_read(l, path, filter, NULL, NULL) && common_analyze(l, filter);
}

bool common_load_analysis(struct loaded *l, const char *path, const struct filter *filter)
{
	return common_read(l, path, filter, NULL, NULL) && common_make_analysis(l, filter);
}

bool common_load_stacks(struct loaded *l, const char *path, const struct filter *filter)
{
	if (filter_needs_samples(filter) || filter_has_thread(filter))
		return common_load_analysis(l, path, filter);
	return read_trace(l, path, (struct part){.keep = KEEP_STACKS}) && common_make_analysis(l, filter);
}

bool common_load_samples(struct loaded *l, const char *path, const struct filter *filter)
{
	return read_trace(l, path, (struct part){.keep = KEEP_SEEN, .filter = filter}) &&
	       common_make_analysis(l, filter);
}

bool common_load_near(struct loaded *l, const char *path, const struct filter *moment, common_near_fn near,
		      const struct filter *filter)
{
	return read_trace(l, path, (struct part){.keep = KEEP_NEEDED, .filter = moment, .near = near}) &&
	       common_make_analysis(l, filter);
}

void common_unload(struct loaded *l)
{
	views_free(l->views);
	analysis_free(l->analysis);
	analyzer_free(l->analyzer);
	trace_reader_close(l->reader);
	memset(l, 0, sizeof(*l));
}
