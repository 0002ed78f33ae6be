// SPDX-License-Identifier: Apache-2.0
/* Makes a sorted table from candidates, and searches it. */
#include "set.h"
#include "util/pages.h"
#include "util/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_PARENT UINT32_MAX
#define COUNT_MAX (4UL << 20)
/*
 * Functions nest two or three deep (cold parts, assembler). The limit keeps a forged file from turning a search into a
 * scan.
 */
#define NESTING_MAX 64
#define ALIASES_MAX 64

/* A symbol without its address, kept small: kernels have 120,000 of them, libjvm.so 60,000. */
struct span {
	uint32_t length; /* bytes that it covers, truncated to fit */
	uint32_t name;	 /* in `names` */
	uint32_t parent; /* the nearest earlier symbol that extends beyond this one's start */
	uint32_t size;	 /* as in the table; 0: none */
};

struct symbols {
	uint64_t *addresses;
	struct span *spans;
	size_t count;
	char *names;
	size_t bytes;
	bool stripped;
};

int set_take_names(struct symbol_set *set, char *names)
{
	int err = VEC_PUSH(&set->blobs, names);

	if (err)
		free(names);
	return err;
}

char *set_blob(struct symbol_set *set, size_t size)
{
	char *blob = malloc(size);

	return blob && !set_take_names(set, blob) ? blob : NULL;
}

int set_reserve(struct symbol_set *set, size_t count)
{
	if (set->list.room || !count)
		return 0;
	set->list.at = pages_alloc(count * sizeof(*set->list.at));
	set->list.room = set->list.at ? count : 0;
	return set->list.at ? 0 : -ENOMEM;
}

int set_add(struct symbol_set *set, const struct symbol_candidate *candidate)
{
	return set->list.count == COUNT_MAX ? -EFBIG : VEC_PUSH(&set->list, *candidate);
}

void set_clear(struct symbol_set *set)
{
	for (size_t i = 0; i < set->blobs.count; i++)
		free(set->blobs.at[i]);
	free(set->blobs.at);
	free(set->list.at);
	memset(set, 0, sizeof(*set));
}

/* ---- choosing ---- */

static int by_address(const void *a, const void *b)
{
	const struct symbol_candidate *x = a, *y = b;

	return x->address != y->address ? (x->address < y->address ? -1 : 1) : 0;
}

/* "name@VERSION" is an older version of name, "name@@VERSION" the one that programs are linked with today. */
static bool is_old_version(const char *name)
{
	const char *at = strchr(name, '@');

	return at && at[1] != '@';
}

/*
 * Orders names of one address: the name that people use comes first. The last two criteria only make the choice
 * deterministic.
 */
static int by_preference(const struct symbol_candidate *a, const struct symbol_candidate *b)
{
	bool a_versioned = is_old_version(a->name), b_versioned = is_old_version(b->name);
	bool a_vdso = !strncmp(a->name, "__vdso_", 7), b_vdso = !strncmp(b->name, "__vdso_", 7);
	size_t a_underscores = strspn(a->name, "_"), b_underscores = strspn(b->name, "_");

	if ((a->binding == SYMBOL_LOCAL) != (b->binding == SYMBOL_LOCAL))
		return a->binding < b->binding ? -1 : 1;
	if (a_vdso != b_vdso) /* the other names are those of libc, which calls it */
		return a_vdso ? -1 : 1;
	if (a_versioned != b_versioned)
		return a_versioned ? 1 : -1;
	if (a_underscores != b_underscores)
		return a_underscores < b_underscores ? -1 : 1;
	if (a->binding != b->binding)
		return a->binding < b->binding ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return strcmp(a->name, b->name);
}

/*
 * Selects one of the candidates list[first, end), all at one address. Only a name without a size takes its aliases'
 * size.
 */
static struct symbol_candidate choose(const struct symbol_candidate *list, size_t first, size_t end)
{
	struct symbol_candidate best = list[first];
	uint64_t limit = best.limit;
	uint32_t size = best.size;

	for (size_t i = first + 1; i < end; i++) {
		if (by_preference(&list[i], &best) < 0)
			best = list[i];
		if (list[i].size > size)
			size = list[i].size;
		if (list[i].limit > limit)
			limit = list[i].limit;
	}
	if (!best.size)
		best.size = size;
	best.limit = limit;
	return best;
}

/* "name@@VERSION" is the default version of name. */
static size_t length_without_version(const struct symbol_candidate *c)
{
	const char *at = memchr(c->name, '@', c->length);

	return at && at != c->name && at[1] == '@' ? (size_t)(at - c->name) : c->length;
}

/* The bytes that a symbol covers. Without a size it extends to the next symbol, or to its section's end. */
static uint64_t length_of(const struct symbol_candidate *c, uint64_t next)
{
	uint64_t end = c->limit < next ? c->limit : next;

	if (c->size)
		return c->size;
	return end > c->address ? end - c->address : 0;
}

uint32_t symbol_size(uint64_t bytes)
{
	return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static bool reaches(const struct symbols *s, uint32_t i, uint64_t address)
{
	return address - s->addresses[i] < s->spans[i].length;
}

/* The name's offset in `names`, which has room for all. */
static uint32_t name_add(struct symbols *s, size_t *used, const struct symbol_candidate *c)
{
	size_t length = length_without_version(c), at = *used;

	memcpy(s->names + at, c->name, length);
	s->names[at + length] = '\0';
	*used += length + 1;
	return (uint32_t)at;
}

/*
 * *parent is the nearest symbol that extended beyond the previous one; what ended before that has ended for this one,
 * too.
 */
static void append(struct symbols *s, size_t *names_used, const struct symbol_candidate *c, uint64_t next,
		   uint32_t *parent)
{
	while (*parent != NO_PARENT && !reaches(s, *parent, c->address))
		*parent = s->spans[*parent].parent;
	/* A label inside a function is no function. */
	if (!c->size && *parent != NO_PARENT && s->spans[*parent].size)
		return;
	s->addresses[s->count] = c->address;
	s->spans[s->count++] = (struct span){.length = symbol_size(length_of(c, next)),
					     .name = name_add(s, names_used, c),
					     .parent = *parent,
					     .size = c->size};
	*parent = (uint32_t)s->count - 1;
}

/* Merges the sorted candidates with those behind them, which are few and sorted, too. */
static int merge(struct symbol_set *set)
{
	size_t left = set->sorted, right = set->list.count - left, bytes = right * sizeof(*set->list.at);
	struct symbol_candidate *at = set->list.at, *tail = malloc(bytes);

	if (!tail)
		return -ENOMEM;
	memcpy(tail, at + left, bytes);
	while (right) {
		bool later = left && at[left - 1].address > tail[right - 1].address;
		const struct symbol_candidate *last = later ? &at[--left] : &tail[--right];

		at[left + right] = *last;
	}
	free(tail);
	return 0;
}

#define DIGIT_BITS 11
#define DIGITS (1U << DIGIT_BITS)

static uint32_t digit(const struct symbol_candidate *c, int shift)
{
	return (uint32_t)(c->address >> shift) % DIGITS;
}

/* Sorts by one digit of the addresses. False: all have the same one, and nothing is written. */
static bool sort_digit(struct symbol_candidate *to, const struct symbol_candidate *from, size_t count, int shift)
{
	uint32_t places[DIGITS] = {0}, place = 0;

	for (size_t i = 0; i < count; i++)
		places[digit(&from[i], shift)]++;
	if (places[digit(&from[0], shift)] == count)
		return false;
	for (uint32_t d = 0; d < DIGITS; d++) {
		uint32_t n = places[d];

		places[d] = place;
		place += n;
	}
	for (size_t i = 0; i < count; i++)
		to[places[digit(&from[i], shift)]++] = from[i];
	return true;
}

/* Digit by digit from the last: for 60,000 addresses of libjvm.so that takes a tenth of qsort()'s time. */
static int sort(struct symbol_candidate *list, size_t count)
{
	size_t bytes = count * sizeof(*list);
	struct symbol_candidate *other = pages_alloc(bytes), *from = list, *to = other;

	if (!other)
		return -ENOMEM;
	for (int shift = 0; shift < 64; shift += DIGIT_BITS)
		if (sort_digit(to, from, count, shift)) {
			struct symbol_candidate *sorted = to;

			to = from;
			from = sorted;
		}
	if (from != list)
		memcpy(list, from, bytes);
	free(other);
	return 0;
}

int set_sort(struct symbol_set *set)
{
	size_t more = set->list.count - set->sorted;
	int err = more ? sort(set->list.at + set->sorted, more) : 0;

	if (!err && more && set->sorted)
		err = merge(set);
	if (!err)
		set->sorted = set->list.count;
	return err;
}

static const struct symbol_candidate *candidate_at(const struct symbol_set *set, size_t count, uint64_t address)
{
	const struct symbol_candidate key = {.address = address};

	return count ? bsearch(&key, set->list.at, count, sizeof(key), by_address) : NULL;
}

bool set_has(const struct symbol_set *set, size_t count, uint64_t address)
{
	return candidate_at(set, count, address) != NULL;
}

const char *set_name_at(const struct symbol_set *set, size_t count, uint64_t address)
{
	const struct symbol_candidate *found = candidate_at(set, count, address), *end;

	if (!found)
		return NULL;
	end = set->list.at + count - found > ALIASES_MAX ? found + ALIASES_MAX : set->list.at + count;
	for (int i = 0; i < ALIASES_MAX && found > set->list.at && found[-1].address == address; i++)
		found--;
	for (const struct symbol_candidate *c = found + 1; c < end && c->address == address; c++)
		if (by_preference(c, found) < 0)
			found = c;
	return found->name;
}

/* Allocates room for every candidate's name; the tables that they come from are much larger and are freed. */
static int room_for(struct symbols *s, const struct symbol_set *set)
{
	size_t names = 1;

	for (size_t i = 0; i < set->list.count; i++)
		names += set->list.at[i].length + 1UL;
	if (names > UINT32_MAX)
		return -EFBIG;
	s->addresses = malloc((set->list.count + 1) * sizeof(*s->addresses));
	s->spans = malloc((set->list.count + 1) * sizeof(*s->spans));
	s->names = pages_alloc(names);
	return s->addresses && s->spans && s->names ? 0 : -ENOMEM;
}

/* Shrinks a block. When that fails, it stays larger. */
static void *cut_to(void *block, size_t bytes)
{
	return realloc(block, bytes) ?: block;
}

int set_finish(struct symbols **out, struct symbol_set *set)
{
	struct symbols *s = calloc(1, sizeof(*s));
	int err = s ? set_sort(set) : -ENOMEM;
	size_t end, names_used = 0;
	uint32_t parent = NO_PARENT;

	err = err ?: room_for(s, set);
	if (err) {
		symbols_free(s);
		return err;
	}
	for (size_t first = 0; first < set->list.count; first = end) {
		struct symbol_candidate c;

		for (end = first + 1; end < set->list.count && set->list.at[end].address == set->list.at[first].address;
		     end++)
			;
		c = choose(set->list.at, first, end);
		append(s, &names_used, &c, end < set->list.count ? set->list.at[end].address : UINT64_MAX, &parent);
	}
	s->addresses = cut_to(s->addresses, (s->count + 1) * sizeof(*s->addresses));
	s->spans = cut_to(s->spans, (s->count + 1) * sizeof(*s->spans));
	s->names = cut_to(s->names, names_used + 1);
	s->bytes = s->count * (sizeof(*s->addresses) + sizeof(*s->spans)) + names_used;
	s->stripped = set->stripped;
	*out = s;
	return 0;
}

/* ---- using ---- */

bool symbols_find(const struct symbols *s, uint64_t address, struct symbol *out)
{
	size_t low = SEARCH(i, 0, s->count, s->addresses[i] <= address);
	uint32_t at;

	at = low ? (uint32_t)low - 1 : NO_PARENT;
	for (int i = 0; i < NESTING_MAX && at != NO_PARENT; i++, at = s->spans[at].parent)
		if (reaches(s, at, address)) {
			*out = (struct symbol){.address = s->addresses[at],
					       .size = s->spans[at].size,
					       .name = s->names + s->spans[at].name};
			return true;
		}
	return false;
}

bool symbols_stripped(const struct symbols *s)
{
	return s->stripped;
}

size_t symbols_bytes(const struct symbols *s)
{
	return s->bytes;
}

size_t symbols_count(const struct symbols *s)
{
	return s->count;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	free(s->addresses);
	free(s->spans);
	free(s->names);
	free(s);
}
