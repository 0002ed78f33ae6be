// SPDX-License-Identifier: Apache-2.0
/* The compiled code of one process as the lines of /tmp/perf-PID.map: START SIZE name, in hexadecimal digits. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <util/log.h>
#include <util/utf8.h>

#include "export.h"
#include "stack_table.h"

#define PIDS_SHOWN 8

struct ranges {
	const struct code_row **at;
	size_t count;
};

static bool has_range(const struct code_row *c)
{
	return c->size && c->size <= UINT64_MAX - c->address;
}

static const struct process_row *process_of(const struct analysis *an, const struct code_row *c)
{
	const struct process_row *p = table_get(&an->a->processes, c->process);

	return p && has_range(c) && analysis_selects_process(an, p) ? p : NULL;
}

static void refuse(const uint32_t *pids, size_t count)
{
	char text[PIDS_SHOWN * 12 + 8] = "";
	size_t n = 0;

	for (size_t i = 0; i < count && i < PIDS_SHOWN; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u", i ? ", " : "", pids[i]);
	log_error("a perf map is of one process, and the trace has code of several: %s%s; select one by -p PID", text,
		  count > PIDS_SHOWN ? ", ..." : "");
}

int perf_map_process(const struct analysis *an, uint32_t *process)
{
	uint32_t pids[PIDS_SHOWN + 1];
	const struct process_row *last = NULL;
	size_t count = 0;

	*process = 0;
	for (size_t i = 0; i < an->a->codes.count && count <= PIDS_SHOWN; i++) {
		const struct code_row *c = table_row(&an->a->codes, i);
		const struct process_row *p = process_of(an, c);
		size_t k = 0;

		if (!p)
			continue;
		while (k < count && pids[k] != p->pid)
			k++;
		if (k == count)
			pids[count++] = p->pid;
		/* Images of one pid may have the same start; their ids ascend. */
		if (!last || p->start_ns > last->start_ns || (p->start_ns == last->start_ns && c->process > *process)) {
			last = p;
			*process = c->process;
		}
	}
	if (count < 2)
		return 0;
	refuse(pids, count);
	return -EINVAL;
}

/* Rows of one table: their order is that of their records. */
static int compare_ranges(const void *x, const void *y)
{
	const struct code_row *p = *(const struct code_row *const *)x, *q = *(const struct code_row *const *)y;

	if (p->address != q->address)
		return p->address < q->address ? -1 : 1;
	if (p->load_ns != q->load_ns)
		return p->load_ns < q->load_ns ? -1 : 1;
	return p < q ? -1 : p > q;
}

/* What is kept is disjoint, so that only its last range can overlap the next one. */
static void keep_newest(struct ranges *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct code_row *c = r->at[i];
		bool wins = true;

		while (kept && wins && r->at[kept - 1]->address + r->at[kept - 1]->size > c->address) {
			wins = c->load_ns >= r->at[kept - 1]->load_ns;
			kept -= wins;
		}
		if (wins)
			r->at[kept++] = c;
	}
	r->count = kept;
}

static int put_code(FILE *out, struct analysis *an, const struct code_row *c, bool annotate)
{
	enum stack_kind kind;
	const char *name = analysis_code_name(an, c, &kind);
	char text[FRAME_NAME_MAX];

	if (!name)
		return -ENOMEM;
	utf8_from_modified(text, sizeof(text), name, strlen(name));
	fprintf(out, "%" PRIx64 " %" PRIx64 " %s%s\n", c->address, c->size, text, annotate ? kind_suffix(kind) : "");
	return 0;
}

int perf_map_write(FILE *out, struct analysis *an, uint32_t process, bool annotate)
{
	struct ranges r = {.at = calloc(an->a->codes.count + 1, sizeof(struct code_row *))};
	int err = r.at ? 0 : -ENOMEM;

	for (size_t i = 0; i < an->a->codes.count && !err; i++) {
		const struct code_row *c = table_row(&an->a->codes, i);

		if (c->process == process && has_range(c))
			r.at[r.count++] = c;
	}
	if (!err) {
		qsort(r.at, r.count, sizeof(struct code_row *), compare_ranges);
		keep_newest(&r);
	}
	for (size_t i = 0; i < r.count && !err; i++)
		err = put_code(out, an, r.at[i], annotate);
	free(r.at);
	return err;
}
