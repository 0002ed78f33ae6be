// SPDX-License-Identifier: Apache-2.0
/* Histograms of the heap, in reports and for `braid heap`. report.c and the command call it. */
#include <inttypes.h>
#include <string.h>

#include <braid/jvm_event.h>

#include "events.h"

#define GROWTH_TEXT (QUANTITY_TEXT + 2)

/* Why a histogram has no rows; NULL: it has. */
static const char *why_not(const struct heap_histogram *h)
{
	if (h->flags & BRAID_HEAP_REFUSED)
		return "not taken: it was expected to take longer than --max-pause allows";
	if (h->flags & BRAID_HEAP_ABORTED)
		return "given up: it took longer than --max-pause allows";
	if (h->flags & BRAID_HEAP_FAILED)
		return "the JVM refused it";
	return h->ended ? NULL : "not ended";
}

/* ---- text ---- */

static const char *growth_text(char buf[GROWTH_TEXT], const struct heap_row *r)
{
	char size[QUANTITY_TEXT];
	bool less = r->bytes < r->first_bytes;

	if (!r->compared)
		return "-";
	size_text(size, less ? r->first_bytes - r->bytes : r->bytes - r->first_bytes);
	snprintf(buf, GROWTH_TEXT, "%s%s", less ? "-" : r->bytes > r->first_bytes ? "+" : "", size);
	return buf;
}

static const char *objects_text(char buf[GROWTH_TEXT], const struct heap_row *r)
{
	if (!r->compared)
		return "-";
	snprintf(buf, GROWTH_TEXT, "%+" PRId64, (int64_t)(r->objects - r->first_objects));
	return buf;
}

static void text_row(FILE *out, const struct heap_row *r, bool growth)
{
	char size[QUANTITY_TEXT], more[GROWTH_TEXT], objects[GROWTH_TEXT];

	fprintf(out, "    %11s  %11" PRIu64, size_text(size, r->bytes), r->objects);
	if (growth)
		fprintf(out, "  %12s  %11s", growth_text(more, r), objects_text(objects, r));
	fprintf(out, "  %s", r->class);
	if (*r->loader)
		fprintf(out, " (%s)", r->loader);
	putc('\n', out);
}

static void text_rows(FILE *out, const struct heap_row *rows, size_t count, bool growth, unsigned top)
{
	fprintf(out, "    %11s  %11s", "bytes", "objects");
	if (growth)
		fprintf(out, "  %12s  %11s", "growth", "objects");
	fputs("  class (loader)\n", out);
	for (size_t i = 0; i < count && i < top; i++)
		text_row(out, &rows[i], growth);
	text_more(out, 4, count, top);
}

void heap_text(FILE *out, const struct heap_view *h, unsigned top)
{
	struct heap_row total = {.class = "total", .loader = ""};

	total.bytes = h->last->bytes;
	total.objects = h->last->objects;
	total.first_bytes = h->first->bytes;
	total.first_objects = h->first->objects;
	total.compared = h->first != h->last;
	text_rows(out, h->rows.at, h->rows.count, total.compared, top);
	text_row(out, &total, total.compared);
}

static void text_list(FILE *out, const struct views *v, const struct heap_view *h)
{
	char pause[QUANTITY_TEXT], expected[QUANTITY_TEXT], size[QUANTITY_TEXT];

	fprintf(out, "    %11s  %10s  %12s  %11s  %11s\n", "at", "pause", "expected", "bytes", "objects");
	for (size_t i = 0; i < h->histograms.count; i++) {
		const struct heap_histogram *g = &h->histograms.at[i];

		fprintf(out, "    %9.3f s", (double)analysis_since(v->an, g->at_ns) / 1e9);
		fprintf(out, "  %10s", g->pause_ns ? duration_cell(pause, 10, g->pause_ns) : "-");
		fprintf(out, "  %2s%10s", g->flags & BRAID_HEAP_AT_MOST ? "<=" : "",
			g->expected_ns ? duration_cell(expected, 10, g->expected_ns) : "-");
		if (why_not(g))
			fprintf(out, "  %s\n", why_not(g));
		else
			fprintf(out, "  %11s  %11" PRIu64 "%s\n", size_text(size, g->bytes), g->objects,
				g->flags & BRAID_HEAP_LIVE     ? "  after a collection"
				: g->flags & BRAID_HEAP_COPIED ? "  reachable, in a copy"
							       : "");
	}
}

void text_histograms(FILE *out, const struct views *v, unsigned top)
{
	for (size_t i = 0; i < v->heap.jvms.count; i++) {
		const struct heap_view *h = &v->heap.jvms.at[i];

		fprintf(out, "\nHeap of pid %u\n", h->pid);
		text_list(out, v, h);
		if (!h->last)
			continue;
		fputs(h->first == h->last ? "  Its classes\n"
					  : "  Its classes at last, and their growth since the first\n",
		      out);
		heap_text(out, h, top);
		if (!h->grown.count)
			continue;
		fputs("  What has grown most\n", out);
		text_rows(out, h->grown.at, h->grown.count, true, top);
	}
}

/* ---- JSON ---- */

static void json_growth(struct json *j, const struct heap_row *r)
{
	json_number_if(j, r->compared, "first_bytes", r->first_bytes);
	json_number_if(j, r->compared, "first_objects", r->first_objects);
}

static void json_rows(struct json *j, const char *key, const struct heap_row *rows, size_t count, unsigned top)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < count && i < top; i++) {
		json_open(j, NULL, '{');
		json_string(j, "class", rows[i].class);
		json_string(j, "loader", rows[i].loader);
		if (rows[i].classes)
			json_number(j, "classes", rows[i].classes);
		json_number(j, "bytes", rows[i].bytes);
		json_number(j, "objects", rows[i].objects);
		json_growth(j, &rows[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_histogram(struct json *j, const struct views *v, const struct heap_histogram *h)
{
	bool complete = heap_histogram_complete(h);

	json_open(j, NULL, '{');
	json_number(j, "number", h->number);
	json_seconds(j, "at_s", analysis_since(v->an, h->at_ns));
	json_seconds_if(j, h->ended, "pause_s", h->pause_ns);
	json_seconds_if(j, h->expected_ns, "expected_s", h->expected_ns);
	if (h->expected_ns)
		json_bool(j, "expected_at_most", h->flags & BRAID_HEAP_AT_MOST);
	json_number_if(j, h->used, "used_bytes", h->used);
	json_number_if(j, complete, "bytes", h->bytes);
	json_number_if(j, complete, "objects", h->objects);
	json_bool(j, "live", h->flags & BRAID_HEAP_LIVE);
	json_bool(j, "copied", h->flags & BRAID_HEAP_COPIED);
	if (why_not(h))
		json_string(j, "why_not", why_not(h));
	json_close(j, '}');
}

void heap_json(struct json *j, const struct views *v, const struct heap_view *h, unsigned top)
{
	json_open(j, NULL, '{');
	json_number(j, "pid", h->pid);
	json_open(j, "histograms", '[');
	for (size_t i = 0; i < h->histograms.count; i++)
		json_histogram(j, v, &h->histograms.at[i]);
	json_close(j, ']');
	json_rows(j, "classes", h->rows.at, h->rows.count, top);
	json_rows(j, "grown", h->grown.at, h->grown.count, top);
	json_close(j, '}');
}

void json_histograms(struct json *j, const struct views *v, unsigned top)
{
	json_open(j, "heaps", '[');
	for (size_t i = 0; i < v->heap.jvms.count; i++)
		heap_json(j, v, &v->heap.jvms.at[i], top);
	json_close(j, ']');
}
