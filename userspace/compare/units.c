// SPDX-License-Identifier: Apache-2.0
#include "units.h"

#include <util/search.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Such a part of a method's change, if the others in its units changed the other way by as much, came from them. */
#define MOVED_PART 0.5

typedef VEC(uint64_t) key_vec;

static const struct method_slices nothing;

int units_begin(struct units *u, const struct slices *side, const double *factor, const double *spread)
{
	*u = (struct units){.side = side, .factor = factor, .spread = spread};
	for (int i = 0; i < DIFF_SIDES; i++) {
		const struct slices *s = &side[i];

		u->in[i] = calloc(slices_count(s) + 1, sizeof(bool));
		for (size_t k = 0; k < slices_count(s); k++) {
			uint32_t *at = u64map_put(&u->label_of[i], slices_key(s, k));

			if (!at || !u->in[i])
				return -ENOMEM;
			*at = (uint32_t)k + 1;
		}
	}
	return 0;
}

static const struct method_slices *slices_of(const struct units *u, int side, uint64_t key)
{
	uint32_t label = u64map_get(&u->label_of[side], key);

	return label ? &u->side[side].methods[label - 1] : &nothing;
}

/* Adds the unit with that root, of both sides, unless it has been. */
static int add_unit(struct units *u, uint64_t root)
{
	uint32_t *seen = u64map_put(&u->seen, root);

	if (!seen || *seen)
		return seen ? 0 : -ENOMEM;
	*seen = 1;
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct method_slices *m = slices_of(u, side, root);

		if (m != &nothing)
			u->in[side][m - u->side[side].methods] = true;
		for (unsigned i = 0; i < SLICES; i++)
			u->share[side][i] += m->unit[i];
		u->sum[side] += m->unit_sum;
	}
	return 0;
}

static int add_units(struct units *u, uint64_t method)
{
	int err = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct slices *s = &u->side[side];
		uint32_t label = u64map_get(&u->label_of[side], method);
		size_t first;

		if (!label--)
			continue;
		first = SEARCH(i, 0, s->units.count, s->units.at[i] >> 32 < label);
		for (size_t i = first; i < s->units.count && s->units.at[i] >> 32 == label && !err; i++)
			err = add_unit(u, slices_key(s, (uint32_t)s->units.at[i]));
	}
	return err;
}

/* The methods that are innermost in the units that have been added. */
static int find_others(const struct units *u, key_vec *others)
{
	int err = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct slices *s = &u->side[side];

		for (size_t i = 0; i < s->units.count && !err; i++)
			if (u->in[side][(uint32_t)s->units.at[i]])
				err = VEC_PUSH(others, slices_key(s, (size_t)(s->units.at[i] >> 32)));
	}
	return err;
}

static int find_units(struct units *u, uint64_t method, key_vec *others)
{
	int err;

	u64map_free(&u->seen);
	memset(u->share, 0, sizeof(u->share));
	memset(u->sum, 0, sizeof(u->sum));
	for (int side = 0; side < DIFF_SIDES; side++)
		memset(u->in[side], 0, slices_count(&u->side[side]) * sizeof(bool));
	err = add_units(u, method) ?: find_others(u, others);
	for (size_t i = 0; i < others->count && !err; i++)
		err = add_units(u, others->at[i]);
	return err;
}

static double change_of(const struct units *u, uint64_t key)
{
	return u->factor[DIFF_AFTER] * slices_of(u, DIFF_AFTER, key)->self_sum -
	       u->factor[DIFF_BEFORE] * slices_of(u, DIFF_BEFORE, key)->self_sum;
}

/* Whether other methods in the units have lost what this one has gained, or the other way round. */
static int find_moved(struct units *u, uint64_t method, const key_vec *others, bool *moved)
{
	double change = change_of(u, method), opposite = 0;

	u64map_free(&u->counted);
	for (size_t i = 0; i < others->count; i++) {
		uint32_t *counted = u64map_put(&u->counted, others->at[i]);
		double theirs = change_of(u, others->at[i]);

		if (!counted)
			return -ENOMEM;
		if (!*counted && theirs * change < 0)
			opposite += fabs(theirs);
		*counted = 1;
	}
	*moved = opposite >= MOVED_PART * fabs(change);
	return 0;
}

/* How often chance makes the units differ as much as they do. */
static double chance_of(const struct units *u)
{
	double squares = 0, difference = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		double share = u->sum[side], f = u->factor[side], spread = u->spread[side];

		difference += side == DIFF_AFTER ? f * share : -f * share;
		squares += f * f * slices_variance(u->share[side], NULL, share) + share * share * spread * spread;
	}
	return squares > 0 ? erfc(fabs(difference) / sqrt(2 * squares)) : 1;
}

int units_chance(struct units *u, uint64_t method, double *chance)
{
	key_vec others = {0};
	bool moved = false;
	int err = find_units(u, method, &others) ?: find_moved(u, method, &others, &moved);

	*chance = moved ? 1 : chance_of(u);
	free(others.at);
	return err;
}

void units_end(struct units *u)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		u64map_free(&u->label_of[side]);
		free(u->in[side]);
	}
	u64map_free(&u->seen);
	u64map_free(&u->counted);
}
