// SPDX-License-Identifier: Apache-2.0
#include "diff.h"
#include "slices.h"
#include "units.h"

#include <util/compare.h>
#include <util/search.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define REPLICATES 999
#define ROWS_MAX 4096	 /* the heaviest methods; bounds the time, which no file must make as long as it likes */
#define STACK_MAX 512	 /* innermost methods of a stack's name */
#define SHARE_MIN 0.0002 /* of both totals, of a method that has a row */
#define SEED 0x9e3779b97f4a7c15ULL

struct weighted {
	double value, weight;
};

/* A method, or a stack, in both recordings. */
struct pair {
	struct diff_row row;
	const struct method_slices *of[DIFF_SIDES]; /* NULL: it does not appear there */
	double heavier;				    /* share, of the recording in which it is larger */
	double score;				    /* difference by its standard error */
	uint64_t key;				    /* a hash of its name, see slices_key() */
	size_t at;				    /* in the slices of the side that was read first */
	int side;				    /* that side */
	uint32_t name;				    /* in the pool */
};

struct comparison {
	struct slices side[DIFF_SIDES];
	const struct diff_options *options;
	struct diff *diff;
	VEC(struct pair) pairs;
	struct u64map pair_of;	   /* key to an index + 1 */
	struct weighted *ratios;   /* room for one of each pair */
	double factor[DIFF_SIDES]; /* of shares, see factors() */
	double spread[DIFF_SIDES]; /* the standard errors of the factors */
};

static const struct method_slices nothing;

static int compare_doubles(const void *x, const void *y)
{
	const double *p = x, *q = y;

	return (*p > *q) - (*p < *q);
}

/* ---- methods of both ---- */

static const float *shares_of(const struct comparison *c, const struct method_slices *m)
{
	return c->options->total ? m->total : m->self;
}

static double share_of(const struct comparison *c, const struct method_slices *m)
{
	return c->options->total ? m->total_sum : m->self_sum;
}

/* The method, or the innermost one of the stack. */
static const struct tree_label *label_of(const struct slices *s, size_t i)
{
	return &s->tree->labels.at[s->stacks.at ? s->tree->nodes.at[s->stacks.at[i]].label : i];
}

static struct pair *pair_of(struct comparison *c, int side, size_t i)
{
	const struct slices *s = &c->side[side];
	struct pair fresh = {.row = {.domain = (enum stack_domain)label_of(s, i)->domain},
			     .of = {&nothing, &nothing},
			     .key = slices_key(s, i),
			     .side = side,
			     .at = i};
	uint32_t *at = u64map_put(&c->pair_of, fresh.key);

	if (!at)
		return NULL;
	if (!*at) {
		if (VEC_PUSH(&c->pairs, fresh)) {
			*at = UINT32_MAX; /* no one reads it: the caller gives up */
			return NULL;
		}
		*at = (uint32_t)c->pairs.count;
	}
	return &c->pairs.at[*at - 1];
}

/* Pseudo frames are no methods, but parts of stacks. */
static int join(struct comparison *c, int side)
{
	const struct slices *s = &c->side[side];

	for (size_t i = 0; i < slices_count(s); i++) {
		struct pair *p;

		if ((!c->options->stacks && label_of(s, i)->domain == DOMAIN_INCOMPLETE) ||
		    share_of(c, &s->methods[i]) <= 0)
			continue;
		p = pair_of(c, side, i);
		if (!p)
			return -ENOMEM;
		p->of[side] = &s->methods[i];
		p->heavier = fmax(p->heavier, share_of(c, &s->methods[i]));
	}
	return 0;
}

static int compare_heavier(const void *x, const void *y)
{
	const struct pair *p = x, *q = y;

	if (p->heavier != q->heavier)
		return p->heavier > q->heavier ? -1 : 1;
	return compare_u64(p->key, q->key);
}

static void keep_heaviest(struct comparison *c)
{
	size_t n = 0;

	c->diff->methods = c->pairs.count;
	VEC_SORT(&c->pairs, compare_heavier);
	while (n < c->pairs.count && n < ROWS_MAX && c->pairs.at[n].heavier >= SHARE_MIN)
		n++;
	c->pairs.count = n;
}

/* Writes the names of a stack's methods, the outermost first. */
static void write_stack(FILE *out, const struct slices *s, uint32_t node)
{
	uint32_t parents[STACK_MAX], n = 0;

	for (; node && n < STACK_MAX; node = s->tree->nodes.at[node].parent)
		parents[n++] = node;
	if (node)
		fputs("...;", out);
	while (n--)
		fprintf(out, "%s%s", s->tree->labels.at[s->tree->nodes.at[parents[n]].label].text, n ? ";" : "");
}

static int name(struct comparison *c, struct pair *p)
{
	const struct slices *s = &c->side[p->side];
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	uint32_t id;

	if (!c->options->stacks) {
		id = strpool_add(&c->diff->names, label_of(s, p->at)->text, strlen(label_of(s, p->at)->text));
	} else {
		out = open_memstream(&text, &size);
		if (!out)
			return -ENOMEM;
		write_stack(out, s, s->stacks.at[p->at]);
		id = fclose(out) ? STRPOOL_FAILED : strpool_add(&c->diff->names, text, size);
		free(text);
	}
	p->name = id;
	return id == STRPOOL_FAILED ? -ENOMEM : 0;
}

/* The pool may move while names are added. */
static int name_all(struct comparison *c)
{
	int err = 0;

	for (size_t i = 0; i < c->pairs.count && !err; i++)
		err = name(c, &c->pairs.at[i]);
	for (size_t i = 0; i < c->pairs.count && !err; i++)
		c->pairs.at[i].row.name = strpool_get(&c->diff->names, c->pairs.at[i].name);
	return err;
}

/* ---- shares, and how much slices make them vary ---- */

/* How often each slice counts: once, or as drawn with replacement. */
struct draw {
	double times[DIFF_SIDES][SLICES];
};

static double sum_of(const float shares[SLICES], const double times[SLICES])
{
	double sum = 0;

	for (unsigned i = 0; i < SLICES; i++)
		sum += times[i] * (double)shares[i];
	return sum;
}

/* ---- what shares are multiplied by ---- */

static int compare_weighted(const void *x, const void *y)
{
	return compare_doubles(&((const struct weighted *)x)->value, &((const struct weighted *)y)->value);
}

/*
 * The factor with which the median method, by its share, has the same share after as before. Methods count by
 * themselves: main() has the same share in most programs, whatever has changed.
 */
static double median_factor(const struct comparison *c, const struct draw *draw)
{
	double all = 0, below = 0;
	size_t n = 0;

	for (size_t i = 0; i < c->pairs.count; i++) {
		const struct pair *p = &c->pairs.at[i];
		double before = sum_of(p->of[DIFF_BEFORE]->self, draw->times[DIFF_BEFORE]),
		       after = sum_of(p->of[DIFF_AFTER]->self, draw->times[DIFF_AFTER]);

		if (before <= 0 || after <= 0)
			continue;
		c->ratios[n] = (struct weighted){before / after, fmin(before, after)};
		all += c->ratios[n++].weight;
	}
	if (!n)
		return 1;
	qsort(c->ratios, n, sizeof(*c->ratios), compare_weighted);
	for (size_t i = 0; i < n; i++) {
		below += c->ratios[i].weight;
		if (below >= all / 2)
			return c->ratios[i].value;
	}
	return c->ratios[n - 1].value;
}

/* xorshift64*: the same traces yield the same report, so the seed is fixed. */
static double at_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double)(*state * 0x2545f4914f6cdd1dULL >> 11) / (double)(1ULL << 53);
}

/* Nearly normal, with variance 1: the sum of twelve. */
static double normal(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += at_random(state);
	return sum;
}

static void draw_slices(struct draw *d, uint64_t *state)
{
	*d = (struct draw){0};
	for (int side = 0; side < DIFF_SIDES; side++)
		for (unsigned i = 0; i < SLICES; i++)
			d->times[side][(unsigned)(at_random(state) * SLICES)]++;
}

/* Amounts are shares of the total, which varies as a Poisson sum does. */
static void factors(const struct comparison *c, const struct draw *draw, uint64_t *state, double factor[DIFF_SIDES])
{
	factor[DIFF_BEFORE] = 1;
	if (c->options->normalise)
		factor[DIFF_AFTER] = median_factor(c, draw);
	for (int side = 0; side < DIFF_SIDES && !c->options->normalise; side++)
		factor[side] = c->side[side].weight + (state ? sqrt(c->side[side].squares) * normal(state) : 0);
}

static void find_factors(struct comparison *c)
{
	double factor[DIFF_SIDES], square[DIFF_SIDES] = {0};
	uint64_t state = SEED;
	struct draw draw;

	for (int side = 0; side < DIFF_SIDES; side++)
		for (unsigned i = 0; i < SLICES; i++)
			draw.times[side][i] = 1;
	factors(c, &draw, NULL, c->factor);
	for (int i = 0; i < REPLICATES; i++) {
		draw_slices(&draw, &state);
		factors(c, &draw, &state, factor);
		for (int side = 0; side < DIFF_SIDES; side++)
			square[side] += (factor[side] - c->factor[side]) * (factor[side] - c->factor[side]);
	}
	for (int side = 0; side < DIFF_SIDES; side++)
		c->spread[side] = sqrt(square[side] / REPLICATES);
}

static void measure(struct comparison *c)
{
	for (size_t i = 0; i < c->pairs.count; i++) {
		struct pair *p = &c->pairs.at[i];
		double sum = 0;

		for (int side = 0; side < DIFF_SIDES; side++) {
			double share = share_of(c, p->of[side]), f = c->factor[side], spread = c->spread[side];

			p->row.amount[side] = f * share;
			sum += f * f * slices_variance(shares_of(c, p->of[side]), NULL, share) +
			       share * share * spread * spread;
		}
		p->row.error = sqrt(sum);
		p->score = sum > 0 ? fabs(p->row.amount[DIFF_AFTER] - p->row.amount[DIFF_BEFORE]) / p->row.error : 0;
	}
}

/* ---- the bootstrap ---- */

/*
 * The part that the drawn slices' own error has in what a drawn difference is divided by. A method that has many
 * samples by chance has a large error, too, both in a recording and in slices that are drawn. If these were divided by
 * the recording's error, methods of one or two samples, drawn six times, would be the largest in most draws, and nearly
 * nothing would be above them. With nothing but its own error, a method of which no sample is drawn would be. Of 12,000
 * simulated pairs without a difference, 113 showed something with this part, 10 with none.
 */
#define OWN_ERROR (2.0 / 3)

/* The largest score of any method among slices drawn with replacement, where no real difference is left. */
static double largest_by_chance(const struct comparison *c, uint64_t *state)
{
	double factor[DIFF_SIDES], largest = 0;
	struct draw draw;

	draw_slices(&draw, state);
	factors(c, &draw, state, factor);
	for (size_t i = 0; i < c->pairs.count; i++) {
		const struct pair *p = &c->pairs.at[i];
		double now[DIFF_SIDES], square = (1 - OWN_ERROR) * p->row.error * p->row.error;

		if (p->score <= 0)
			continue;
		for (int side = 0; side < DIFF_SIDES; side++) {
			const float *shares = shares_of(c, p->of[side]);
			double share = sum_of(shares, draw.times[side]), f = factor[side], spread = c->spread[side];

			now[side] = f * share - p->row.amount[side];
			square += OWN_ERROR * (f * f * slices_variance(shares, draw.times[side], share) +
					       share * share * spread * spread);
		}
		largest = fmax(largest, fabs(now[DIFF_AFTER] - now[DIFF_BEFORE]) / sqrt(square));
	}
	return largest;
}

static void judge(struct comparison *c)
{
	double by_chance[REPLICATES];
	uint64_t state = SEED;

	for (int i = 0; i < REPLICATES; i++)
		by_chance[i] = largest_by_chance(c, &state);
	qsort(by_chance, REPLICATES, sizeof(by_chance[0]), compare_doubles);
	for (size_t i = 0; i < c->pairs.count; i++) {
		int below = 0;

		while (below < REPLICATES && by_chance[below] < c->pairs.at[i].score)
			below++;
		c->pairs.at[i].row.chance = (double)(REPLICATES - below + 1) / (REPLICATES + 1);
	}
}

/* ---- units ---- */

#define UNITS_ROWS 256 /* rows that are looked at so, the heaviest; bounds the time */

/* Each row that is looked at gives chance one more try (Bonferroni). */
static int judge_units(struct comparison *c)
{
	struct units u;
	size_t tries = 0;
	int err;

	if (c->options->stacks || c->options->total)
		return 0;
	for (size_t i = 0; i < c->pairs.count && tries < UNITS_ROWS; i++)
		tries += c->pairs.at[i].row.chance <= DIFF_LEVEL;
	err = units_begin(&u, c->side, c->factor, c->spread);
	for (size_t i = 0, rows = 0; i < c->pairs.count && !err; i++) {
		struct pair *p = &c->pairs.at[i];
		double chance;

		if (p->row.chance > DIFF_LEVEL || rows++ >= UNITS_ROWS)
			continue;
		err = units_chance(&u, p->key, &chance);
		p->row.chance = fmax(p->row.chance, err ? 1 : fmin((double)tries * chance, 1));
	}
	units_end(&u);
	return err;
}

/* ---- the result ---- */

static int compare_rows(const void *x, const void *y)
{
	const struct diff_row *p = x, *q = y;
	double a = fabs(p->amount[DIFF_AFTER] - p->amount[DIFF_BEFORE]),
	       b = fabs(q->amount[DIFF_AFTER] - q->amount[DIFF_BEFORE]);

	if ((p->chance <= DIFF_LEVEL) != (q->chance <= DIFF_LEVEL))
		return p->chance <= DIFF_LEVEL ? -1 : 1;
	if (a != b)
		return a > b ? -1 : 1;
	return strcmp(p->name, q->name) ?: (int)p->domain - (int)q->domain;
}

/* Shares are those of the recording, with what is not compared. */
static void share_of_all(const struct comparison *c)
{
	double compared[DIFF_SIDES];
	struct diff *d = c->diff;

	for (int side = 0; side < DIFF_SIDES; side++)
		compared[side] = d->total[side] > d->interrupts[side] ? 1 - d->interrupts[side] / d->total[side] : 1;
	d->factor *= compared[DIFF_BEFORE] / compared[DIFF_AFTER];
	for (size_t i = 0; i < d->rows.count && c->options->normalise; i++) {
		struct diff_row *row = &d->rows.at[i];

		row->error *= compared[DIFF_BEFORE];
		for (int side = 0; side < DIFF_SIDES; side++)
			row->amount[side] *= compared[DIFF_BEFORE];
	}
}

static int compare_sides(struct comparison *c)
{
	int err = 0;

	for (int side = 0; side < DIFF_SIDES && !err; side++)
		err = join(c, side);
	if (err)
		return err;
	keep_heaviest(c);
	c->ratios = calloc(c->pairs.count + 1, sizeof(*c->ratios));
	err = c->ratios ? name_all(c) : -ENOMEM;
	if (err)
		return err;
	find_factors(c);
	measure(c);
	judge(c);
	err = judge_units(c);
	for (size_t i = 0; i < c->pairs.count && !err; i++) {
		err = VEC_PUSH(&c->diff->rows, c->pairs.at[i].row);
		c->diff->significant += c->pairs.at[i].row.chance <= DIFF_LEVEL;
	}
	VEC_SORT(&c->diff->rows, compare_rows);
	c->diff->factor = c->factor[DIFF_BEFORE] > 0 ? c->factor[DIFF_AFTER] / c->factor[DIFF_BEFORE] : 1;
	share_of_all(c);
	return err;
}

int diff_new(struct diff **out, const struct analysis *const an[DIFF_SIDES], const double scale[DIFF_SIDES],
	     const struct diff_options *options)
{
	struct comparison c = {.options = options, .diff = calloc(1, sizeof(*c.diff))};
	int err = c.diff ? 0 : -ENOMEM;

	for (int side = 0; side < DIFF_SIDES && !err; side++) {
		err = slices_new(&c.side[side], an[side], options, scale[side]);
		c.diff->interrupts[side] = c.side[side].interrupts;
		c.diff->total[side] = c.side[side].weight + c.side[side].interrupts;
	}
	err = err ?: compare_sides(&c);
	for (int side = 0; side < DIFF_SIDES; side++)
		slices_free(&c.side[side]);
	free(c.pairs.at);
	free(c.ratios);
	u64map_free(&c.pair_of);
	if (err) {
		diff_free(c.diff);
		c.diff = NULL;
	}
	*out = c.diff;
	return err;
}

void diff_free(struct diff *d)
{
	if (!d)
		return;
	strpool_free(&d->names);
	free(d->rows.at);
	free(d);
}
