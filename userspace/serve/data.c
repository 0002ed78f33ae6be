// SPDX-License-Identifier: Apache-2.0
#include "data.h"

#include <errno.h>

#include <analyze/analysis.h>

/* The time of the last event that is there. 0 or a negative errno. */
static int find_end(struct trace_reader *reader, uint64_t *end_ns)
{
	struct trace_rec rec;
	int got;

	while ((got = trace_reader_next(reader, &rec)) == 1)
		if (event_time_ns(&rec) > *end_ns)
			*end_ns = event_time_ns(&rec);
	trace_reader_rewind(reader);
	return got;
}

/* Samples that are too old now are left out: a recording only becomes longer. */
static int leave_out(struct analyzer *a, const struct data_request *r)
{
	uint64_t end_ns = r->known_end_ns;
	int err = end_ns ? 0 : find_end(r->reader, &end_ns);

	if (!err && end_ns > r->last_ns)
		analyzer_keep_between(a, end_ns - r->last_ns, UINT64_MAX);
	return err;
}

static int feed(struct analyzer *a, const struct data_request *r)
{
	struct trace_rec rec;
	int err = r->last_ns ? leave_out(a, r) : 0, got = 0;

	while (!err && (got = trace_reader_next(r->reader, &rec)) == 1)
		err = analyzer_feed(a, &rec);
	return err ?: got;
}

static int write_page(FILE *out, const struct data_request *r, const struct analysis *an)
{
	const struct page_request request = {.titles = {r->title}, .source_link = r->source_link, .live = &r->live};
	struct views *v = NULL;
	int err = views_new(&v, an);

	err = err ?: loss_views_add_damage(&v->losses, an->a, trace_reader_damage(r->reader));
	err = err ?: report_page_data(out, v, &request);
	views_free(v);
	return err;
}

/* The recording as far as it is known. 0 or a negative errno. */
static int find_facts(const struct analyzer *a, uint64_t last_ns, struct data_facts *facts)
{
	static const struct filter everything;
	struct window w;
	int err = analysis_window(&w, a, &everything);

	if (err)
		return err;
	*facts = (struct data_facts){.duration_ns = w.end_ns - w.start_ns, .end_ns = w.end_ns, .ended = a->ended};
	if (facts->duration_ns > last_ns)
		facts->last_ns = last_ns;
	return 0;
}

int data_write(FILE *out, const struct data_request *r, struct data_facts *facts)
{
	struct filter filter = {0};
	struct analyzer *a = NULL;
	struct analysis *an = NULL;
	int err = analyzer_new(&a);

	if (!err) {
		analyzer_keep_samples(a);
		err = feed(a, r) ?: find_facts(a, r->last_ns, facts);
	}
	if (!err) {
		filter.has_from = facts->last_ns > 0;
		filter.from = (struct moment){MOMENT_SINCE_START, facts->duration_ns - facts->last_ns};
		err = analysis_new(&an, a, &filter) ?: write_page(out, r, an);
	}
	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	analysis_free(an);
	analyzer_free(a);
	filter_free(&filter);
	return err;
}
