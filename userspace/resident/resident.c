// SPDX-License-Identifier: Apache-2.0
#include "resident_state.h"

#include "proc/procfs.h"
#include "util/search.h"
#include "util/utf8.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 20000 /* a path has at most 4096 bytes, of which newlines take four here */

static const char *const owner_names[RESIDENT_OWNERS] = {
	[RESIDENT_UNKNOWN] = "not known",
	[RESIDENT_TRACKED] = "tracked by the JVM",
	[RESIDENT_HEAP] = "Java heap",
	[RESIDENT_CODE_CACHE] = "code cache",
	[RESIDENT_STACK] = "thread stacks",
	[RESIDENT_MALLOC] = "malloc (glibc)",
	[RESIDENT_LIBRARY] = "programs and libraries",
	[RESIDENT_ARCHIVE] = "class data archive",
	[RESIDENT_FILE] = "other files",
	[RESIDENT_SHARED] = "shared memory",
};

const char *resident_owner_name(enum resident_owner owner)
{
	return owner_names[owner];
}

int resident_add_range(struct resident *r, const struct resident_range *range)
{
	if (range->end <= range->start)
		return 0;
	return r->ranges.count < RESIDENT_RANGES_MAX ? VEC_PUSH(&r->ranges, *range) : -EFBIG;
}

/* ---- smaps ---- */

struct reading {
	struct resident *r;
	struct pagemap pagemap;
	uint64_t libjvm, libjvm_end; /* the library's first mapping */
	bool find_only;		     /* only libjvm is looked for */
	bool open;		     /* a mapping's lines are being read */
	struct resident_mapping m;
	char path[LINE_MAX_BYTES];
};

static void add_bytes(void *ctx, uint64_t start, uint64_t end)
{
	*(uint64_t *)ctx += end - start;
}

/* The resident bytes of a part of a mapping; those that are found if not all can be looked at. */
static uint64_t resident_of(struct reading *g, uint64_t start, uint64_t end)
{
	uint64_t bytes = 0;

	pagemap_walk(&g->pagemap, start, end, add_bytes, &bytes);
	return bytes;
}

static int add_part(struct reading *g, struct resident_part *p)
{
	p->swapped = g->m.swapped; /* the first part has all of it */
	g->m.swapped = 0;
	g->m.resident -= p->resident;
	return VEC_PUSH(&g->r->parts, *p);
}

static int add_range(struct reading *g, const struct resident_range *range, uint64_t start, uint64_t end)
{
	struct resident_part p = {.start = start, .end = end, .owner = range->owner, .tid = range->tid};

	p.resident = start == g->m.start && end == g->m.end ? g->m.resident : resident_of(g, start, end);
	if (p.resident > g->m.resident) /* the process went on meanwhile */
		p.resident = g->m.resident;
	snprintf(p.name, sizeof(p.name), "%s", range->name);
	return add_part(g, &p);
}

static int add_rest(struct reading *g)
{
	struct resident_part p = {.start = g->m.start, .end = g->m.end, .resident = g->m.resident};
	const char *slash = strrchr(g->m.path, '/'), *name = slash ? slash + 1 : g->m.path;

	if (!p.resident && !g->m.swapped)
		return 0;
	p.owner = (uint8_t)resident_guess(g->r, &g->m);
	utf8_printable(p.name, sizeof(p.name), name, strlen(name));
	return add_part(g, &p);
}

/* Ranges are in order, and do not overlap. */
static const struct resident_range *range_after(const struct resident *r, uint64_t address)
{
	size_t low = SEARCH(i, 0, r->ranges.count, r->ranges.at[i].end <= address);

	return low < r->ranges.count ? &r->ranges.at[low] : NULL;
}

/*
 * The kernel makes one mapping of neighbours, so a block can be anywhere in it. Addresses cost a process nothing, so
 * how many pages are looked at depends on how many there are in RAM.
 */
static int add_blocks(struct reading *g)
{
	const struct resident_range block = {.owner = RESIDENT_MALLOC};
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), looks = 256 + 16 * (g->m.resident / page), bytes;
	int err = 0;

	if (g->m.path[0] || g->m.shared || g->m.permissions[1] != 'w' ||
	    resident_guess(g->r, &g->m) != RESIDENT_UNKNOWN)
		return 0;
	for (uint64_t at = g->m.start; at < g->m.end && g->m.resident && looks-- && !err; at += bytes ?: page) {
		const struct resident_range *range = range_after(g->r, at);
		uint64_t end = range && range->start < g->m.end ? range->start : g->m.end;

		bytes = 0;
		if (range && range->start <= at)
			bytes = range->end - at;
		else if (pagemap_has(&g->pagemap, at) && (bytes = resident_block(g->r, at, end)))
			err = add_range(g, &block, at, at + bytes);
	}
	return err;
}

static int add_mapping(struct reading *g)
{
	const struct resident_range *end = g->r->ranges.at + g->r->ranges.count;
	const struct resident_range *range = range_after(g->r, g->m.start);
	int err = 0;

	g->r->total += g->m.resident;
	g->r->swapped += g->m.swapped;
	g->r->mappings++;
	if (range && range->owner == RESIDENT_STACK && range->start < g->m.end)
		return add_range(g, range, g->m.start, g->m.end);
	for (; range && range < end && range->start < g->m.end && !err; range++)
		err = add_range(g, range, range->start > g->m.start ? range->start : g->m.start,
				range->end < g->m.end ? range->end : g->m.end);
	return err ?: add_blocks(g) ?: add_rest(g);
}

static int finish_mapping(struct reading *g)
{
	bool was = g->open;

	g->open = false;
	return !was ? 0 : g->r->mappings >= RESIDENT_MAPPINGS_MAX ? -EFBIG : g->find_only ? 0 : add_mapping(g);
}

static void find_libjvm(struct reading *g)
{
	const char *slash = strrchr(g->m.path, '/');

	if (g->libjvm || g->m.offset || !slash || strncmp(slash, "/libjvm.so", strlen("/libjvm.so")) != 0)
		return;
	g->libjvm = g->m.start;
	g->libjvm_end = g->m.end;
}

/* "7f00-7f10 rw-p 00000000 08:01 123   /path", or "Rss:   12 kB". */
static int read_line(struct reading *g, const char *line)
{
	struct resident_mapping m = {.path = g->path};
	uint64_t kib;
	int at = 0, err;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &m.start, &m.end, m.permissions,
		   &m.offset, &at) == 4 &&
	    at && m.end > m.start) {
		err = finish_mapping(g);
		g->m = m;
		g->m.shared = m.permissions[3] == 's';
		snprintf(g->path, sizeof(g->path), "%.*s", (int)strcspn(line + at, "\n"), line + at);
		find_libjvm(g);
		g->open = true;
		return err;
	}
	if (g->open && sscanf(line, "Rss: %" SCNu64, &kib) == 1)
		g->m.resident = kib << 10;
	else if (g->open && sscanf(line, "Swap: %" SCNu64, &kib) == 1)
		g->m.swapped = kib << 10;
	return 0;
}

static int read_all(struct reading *g, const char *name)
{
	char path[64], line[LINE_MAX_BYTES];
	FILE *f;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)g->r->pid, name);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && fgets(line, sizeof(line), f))
		err = read_line(g, line);
	if (!err)
		err = ferror(f) ? -EIO : finish_mapping(g);
	fclose(f);
	return err;
}

/* ---- all ---- */

static int compare_ranges(const void *x, const void *y)
{
	const struct resident_range *p = x, *q = y;

	return p->start != q->start ? (p->start > q->start) - (p->start < q->start)
				    : (q->end > p->end) - (q->end < p->end);
}

/* What overlaps is the earlier one's, so a range in another one is part of it. */
static void order_ranges(struct resident *r)
{
	uint64_t until = 0;
	size_t kept = 0;

	VEC_SORT(&r->ranges, compare_ranges);
	for (size_t i = 0; i < r->ranges.count; i++) {
		struct resident_range range = r->ranges.at[i];

		if (range.start < until)
			range.start = until;
		if (range.end <= range.start)
			continue;
		until = range.end;
		r->ranges.at[kept++] = range;
	}
	r->ranges.count = kept;
}

int resident_read(struct resident *r, pid_t pid)
{
	struct reading g = {.r = r, .pagemap.fd = -1, .find_only = true};
	int err;

	r->pid = pid;
	r->turns = RESIDENT_TURNS;
	procfs_exe(pid, r->exe, sizeof(r->exe));
	err = read_all(&g, "maps");
	err = err ?: resident_find_ranges(r, g.libjvm, g.libjvm_end);
	if (err)
		return err;
	order_ranges(r);
	g.find_only = false;
	err = pagemap_open(&g.pagemap, pid);
	err = err ?: read_all(&g, "smaps");
	pagemap_close(&g.pagemap);
	return !err && !r->mappings ? -ESRCH : err;
}

void resident_free(struct resident *r)
{
	free(r->parts.at);
	free(r->ranges.at);
	*r = (struct resident){0};
}
