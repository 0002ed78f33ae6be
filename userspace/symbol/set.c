// SPDX-License-Identifier: Apache-2.0
/* From candidates to a sorted table, and the search. */
#include "set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_PARENT UINT32_MAX
#define COUNT_MAX (16UL << 20)
/* Functions nest two or three deep (cold parts, assembler); a made-up file must not turn a search into a scan. */
#define NESTING_MAX 64

struct span {
	uint64_t end;
	uint32_t parent; /* the nearest earlier symbol that reaches beyond this one's start */
};

struct symbols {
	struct symbol *list;
	struct span *spans;
	size_t count;
	char **blobs;
	size_t blob_count;
	bool stripped;
};

char *set_blob(struct symbol_set *set, size_t size)
{
	char **blobs = realloc(set->blobs, (set->blob_count + 1) * sizeof(*blobs));
	char *blob;

	if (!blobs)
		return NULL;
	set->blobs = blobs;
	blob = malloc(size);
	if (blob)
		blobs[set->blob_count++] = blob;
	return blob;
}

int set_add(struct symbol_set *set, const struct symbol_candidate *candidate)
{
	if (set->count == set->capacity) {
		size_t capacity = set->capacity ? set->capacity * 2 : 1024;
		struct symbol_candidate *list;

		if (capacity > COUNT_MAX)
			return -EFBIG;
		list = realloc(set->list, capacity * sizeof(*list));
		if (!list)
			return -ENOMEM;
		set->list = list;
		set->capacity = capacity;
	}
	set->list[set->count++] = *candidate;
	return 0;
}

static void blobs_free(char **blobs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(blobs[i]);
	free(blobs);
}

void set_clear(struct symbol_set *set)
{
	free(set->list);
	blobs_free(set->blobs, set->blob_count);
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

/* Names of one address: what people call a function comes first. The last two only make the choice the same every time.
 */
static int by_preference(const struct symbol_candidate *a, const struct symbol_candidate *b)
{
	bool a_versioned = is_old_version(a->name), b_versioned = is_old_version(b->name);
	bool a_vdso = !strncmp(a->name, "__vdso_", 7), b_vdso = !strncmp(b->name, "__vdso_", 7);
	size_t a_underscores = strspn(a->name, "_"), b_underscores = strspn(b->name, "_");
	size_t a_length, b_length;

	if ((a->binding == SYMBOL_LOCAL) != (b->binding == SYMBOL_LOCAL))
		return a->binding < b->binding ? -1 : 1;
	if (a_vdso != b_vdso) /* the others are those of libc, which calls it */
		return a_vdso ? -1 : 1;
	if (a_versioned != b_versioned)
		return a_versioned ? 1 : -1;
	if (a_underscores != b_underscores)
		return a_underscores < b_underscores ? -1 : 1;
	if (a->binding != b->binding)
		return a->binding < b->binding ? -1 : 1;
	a_length = strlen(a->name);
	b_length = strlen(b->name);
	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* One candidate of list[first, end), all at one address. Only a name without a size borrows that of its aliases. */
static struct symbol_candidate choose(const struct symbol_candidate *list, size_t first, size_t end)
{
	struct symbol_candidate best = list[first];
	uint64_t size = best.size, limit = best.limit;

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

/* "name@@VERSION" is the default version of name. Whatever shares the string's tail is cut at the same place, rightly.
 */
static void drop_default_version(char *name)
{
	char *at = strstr(name, "@@");

	if (at && at != name)
		*at = '\0';
}

static uint64_t end_of(const struct symbol_candidate *c, uint64_t next)
{
	uint64_t end;

	if (c->size)
		return __builtin_add_overflow(c->address, c->size, &end) ? UINT64_MAX : end;
	return c->limit < next ? c->limit : next;
}

static void append(struct symbols *s, const struct symbol_candidate *c, uint64_t next)
{
	uint32_t parent = s->count ? (uint32_t)s->count - 1 : NO_PARENT;

	while (parent != NO_PARENT && s->spans[parent].end <= c->address)
		parent = s->spans[parent].parent;
	/* A label inside a function is not a function. */
	if (!c->size && parent != NO_PARENT && s->list[parent].size)
		return;
	drop_default_version(c->name);
	s->list[s->count] = (struct symbol){.address = c->address, .size = c->size, .name = c->name};
	s->spans[s->count++] = (struct span){.end = end_of(c, next), .parent = parent};
}

void set_sort(struct symbol_set *set)
{
	for (size_t i = 1; i < set->count; i++)
		if (set->list[i].address < set->list[i - 1].address) {
			qsort(set->list, set->count, sizeof(*set->list), by_address);
			return;
		}
}

const char *set_name_at(const struct symbol_set *set, size_t count, uint64_t address)
{
	const struct symbol_candidate key = {.address = address}, *found, *end = set->list + count;

	found = count ? bsearch(&key, set->list, count, sizeof(key), by_address) : NULL;
	if (!found)
		return NULL;
	while (found > set->list && found[-1].address == address)
		found--;
	for (const struct symbol_candidate *c = found + 1; c < end && c->address == address; c++)
		if (by_preference(c, found) < 0)
			found = c;
	return found->name;
}

int set_finish(struct symbols **out, struct symbol_set *set)
{
	struct symbols *s = calloc(1, sizeof(*s));
	size_t end;

	if (!s)
		return -ENOMEM;
	s->list = malloc((set->count + 1) * sizeof(*s->list));
	s->spans = malloc((set->count + 1) * sizeof(*s->spans));
	if (!s->list || !s->spans) {
		symbols_free(s);
		return -ENOMEM;
	}
	set_sort(set);
	for (size_t first = 0; first < set->count; first = end) {
		struct symbol_candidate c;

		for (end = first + 1; end < set->count && set->list[end].address == set->list[first].address; end++)
			;
		c = choose(set->list, first, end);
		append(s, &c, end < set->count ? set->list[end].address : UINT64_MAX);
	}
	s->blobs = set->blobs;
	s->blob_count = set->blob_count;
	s->stripped = set->stripped;
	set->blobs = NULL;
	set->blob_count = 0;
	*out = s;
	return 0;
}

/* ---- using ---- */

const struct symbol *symbols_find(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->count;
	uint32_t at;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->list[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	at = low ? (uint32_t)low - 1 : NO_PARENT;
	for (int i = 0; i < NESTING_MAX && at != NO_PARENT; i++, at = s->spans[at].parent)
		if (address < s->spans[at].end)
			return &s->list[at];
	return NULL;
}

bool symbols_stripped(const struct symbols *s)
{
	return s->stripped;
}

size_t symbols_count(const struct symbols *s)
{
	return s->count;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	free(s->list);
	free(s->spans);
	blobs_free(s->blobs, s->blob_count);
	free(s);
}
