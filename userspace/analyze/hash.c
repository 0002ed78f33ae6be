// SPDX-License-Identifier: Apache-2.0
#include "hash.h"

#include "util/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

static uint64_t random_seed(void)
{
	uint64_t seed = 0x9e3779b97f4a7c15ULL;

	/* Without entropy the tables still work, but they are predictable. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed ^= (uint64_t)(uintptr_t)&seed;
	return seed;
}

/* ---- 64-bit keys ---- */

static size_t u64map_slot(const struct u64map *m, uint64_t key)
{
	size_t mask = ((size_t)1 << m->bits) - 1;
	uint64_t h = (key ^ m->seed) * 0xff51afd7ed558ccdULL;
	size_t i;

	h = (h ^ h >> 32) * 0xc4ceb9fe1a85ec53ULL;
	i = h >> (64 - m->bits);
	while (m->values[i] && m->keys[i] != key)
		i = (i + 1) & mask;
	return i;
}

uint32_t u64map_get(const struct u64map *m, uint64_t key)
{
	return m->count ? m->values[u64map_slot(m, key)] : 0;
}

static int u64map_grow(struct u64map *m)
{
	struct u64map next = {.bits = m->bits ? m->bits + 1 : 6, .count = m->count, .seed = m->seed};
	size_t slots = (size_t)1 << next.bits;

	if (!m->bits)
		next.seed = random_seed();
	if (next.bits > 40)
		return -ENOMEM;
	next.keys = malloc(slots * sizeof(*next.keys));
	next.values = calloc(slots, sizeof(*next.values));
	if (!next.keys || !next.values) {
		free(next.keys);
		free(next.values);
		return -ENOMEM;
	}
	for (size_t i = 0; m->bits && i < (size_t)1 << m->bits; i++) {
		size_t to;

		if (!m->values[i])
			continue;
		to = u64map_slot(&next, m->keys[i]);
		next.keys[to] = m->keys[i];
		next.values[to] = m->values[i];
	}
	free(m->keys);
	free(m->values);
	*m = next;
	return 0;
}

uint32_t *u64map_put(struct u64map *m, uint64_t key)
{
	size_t i;

	if ((!m->bits || m->count >= ((size_t)1 << m->bits) / 2) && u64map_grow(m))
		return NULL;
	i = u64map_slot(m, key);
	if (!m->values[i]) {
		m->keys[i] = key;
		m->count++;
	}
	return &m->values[i];
}

int u64map_add(struct u64map *m, uint64_t key)
{
	uint32_t *at = u64map_put(m, key);
	int added = at && !*at;

	if (!at)
		return -ENOMEM;
	*at = 1;
	return added;
}

void u64map_free(struct u64map *m)
{
	free(m->keys);
	free(m->values);
	memset(m, 0, sizeof(*m));
}

/* ---- rows by id ---- */

void table_init(struct table *t, size_t row_bytes)
{
	memset(t, 0, sizeof(*t));
	t->row_bytes = row_bytes;
}

size_t table_find(const struct table *t, uint32_t id)
{
	uint32_t at;

	if (id == 0)
		return TABLE_NONE;
	if (id - 1 < t->dense || (id - 1 < t->count && t->ids[id - 1] == id))
		return id - 1;
	if (id - 1 < t->moved_count && t->moved[id - 1])
		return t->moved[id - 1] - 1;
	at = u64map_get(&t->far, id);
	return at ? at - 1 : TABLE_NONE;
}

uint32_t table_row_of(const struct table *t, uint32_t id)
{
	size_t row = table_find(t, id);

	return row == TABLE_NONE ? ROW_NONE : (uint32_t)row;
}

void *table_row(const struct table *t, size_t row)
{
	return t->rows + row * t->row_bytes;
}

void *table_get(const struct table *t, uint32_t id)
{
	size_t row = table_find(t, id);

	return row == TABLE_NONE ? NULL : table_row(t, row);
}

void *table_put(struct table *t, uint32_t id)
{
	size_t row = table_find(t, id);
	uint32_t *at;

	if (row != TABLE_NONE)
		return table_row(t, row);
	if (id == 0 || t->count >= UINT32_MAX - 1)
		return NULL;
	if ((t->count == t->rows_room || t->count == t->ids_room) &&
	    (vec_reserve((void **)&t->rows, &t->rows_room, t->count, 1, t->row_bytes) ||
	     vec_reserve((void **)&t->ids, &t->ids_room, t->count, 1, sizeof(*t->ids))))
		return NULL;
	if (id - 1 != t->count) {
		at = u64map_put(&t->far, id);
		if (!at)
			return NULL;
		*at = (uint32_t)t->count + 1;
	}
	t->dense += t->dense == t->count && id - 1 == t->count;
	row = t->count++;
	t->ids[row] = id;
	return memset(table_row(t, row), 0, t->row_bytes);
}

/* Notes where rows with unexpected ids are once only those of `keep` are left. */
static int find_moved(const struct table *t, const bool *keep, struct table *to)
{
	size_t kept = 0;

	to->moved_count = t->count > t->moved_count ? t->count : t->moved_count;
	to->moved = calloc(to->moved_count + 1, sizeof(*to->moved));
	if (!to->moved)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		uint32_t id = t->ids[i], *at = NULL;

		if (!keep[i])
			continue;
		at = id - 1 < to->moved_count ? &to->moved[id - 1] : u64map_put(&to->far, id);
		if (!at)
			return -ENOMEM;
		*at = (uint32_t)++kept;
	}
	return 0;
}

int table_keep(struct table *t, const bool *keep)
{
	struct table to = {0};
	size_t kept = 0;

	if (find_moved(t, keep, &to)) {
		free(to.moved);
		u64map_free(&to.far);
		return -ENOMEM;
	}
	free(t->moved);
	u64map_free(&t->far);
	t->moved = to.moved;
	t->moved_count = to.moved_count;
	t->far = to.far;
	for (size_t i = 0; i < t->count; i++) {
		if (!keep[i])
			continue;
		if (i != kept)
			memcpy(table_row(t, kept), table_row(t, i), t->row_bytes);
		t->ids[kept++] = t->ids[i];
	}
	t->count = kept;
	for (t->dense = 0; t->dense < kept && t->ids[t->dense] - 1 == t->dense;)
		t->dense++;
	return 0;
}

void table_free(struct table *t)
{
	free(t->rows);
	free(t->ids);
	free(t->moved);
	u64map_free(&t->far);
	table_init(t, t->row_bytes);
}

/* ---- strings ---- */

/* Length of the UTF-8 sequence at s, 0 for an invalid one; *code gets its code point. */
static size_t utf8_decode(const unsigned char *s, size_t left, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : 4;

	if (len == 1) {
		*code = s[0];
		return 1;
	}
	if ((len == 4 && (s[0] & 0xf8) != 0xf0) || len > left)
		return 0;
	*code = s[0] & (0xffU >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < least[len] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return len;
}

size_t text_clean(char *dst, const char *src, size_t len)
{
	const unsigned char *s = (const unsigned char *)src;
	size_t n = 0;

	for (size_t i = 0; i < len;) {
		uint32_t code = 0;
		size_t step;

		/* nearly all of every name */
		if (s[i] >= ' ' && s[i] < 0x7f) {
			dst[n++] = src[i++];
			continue;
		}
		step = utf8_decode(s + i, len - i, &code);
		if (step == 0 || utf8_steers(code)) {
			dst[n++] = '?';
			i += step ? step : 1;
			continue;
		}
		memmove(dst + n, src + i, step);
		n += step;
		i += step;
	}
	return n;
}

static char *strpool_room(struct strpool *p, size_t need)
{
	size_t bytes = need > 65536 ? need : 65536;
	char *chunk;

	if (p->chunks.count && p->chunk_bytes - p->chunk_used >= need)
		return p->chunks.at[p->chunks.count - 1] + p->chunk_used;
	chunk = malloc(bytes);
	if (!chunk)
		return NULL;
	if (VEC_PUSH(&p->chunks, chunk)) {
		free(chunk);
		return NULL;
	}
	p->chunk_used = 0;
	p->chunk_bytes = bytes;
	return chunk;
}

static size_t strpool_slot(const struct strpool *p, const char *str, size_t len)
{
	size_t mask = ((size_t)1 << p->bits) - 1;
	size_t i = XXH3_64bits_withSeed(str, len, p->seed) & mask;

	while (p->slots[i]) {
		const char *other = p->strings.at[p->slots[i] - 1];

		if (strncmp(other, str, len) == 0 && other[len] == '\0')
			break;
		i = (i + 1) & mask;
	}
	return i;
}

static int strpool_grow(struct strpool *p)
{
	unsigned bits = p->bits ? p->bits + 1 : 8;
	uint32_t *old = p->slots;
	uint32_t *slots = calloc((size_t)1 << bits, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	if (!p->bits)
		p->seed = random_seed();
	p->bits = bits;
	p->slots = slots;
	for (size_t i = 0; i < p->strings.count; i++) {
		const char *s = p->strings.at[i];

		slots[strpool_slot(p, s, strlen(s))] = (uint32_t)i + 1;
	}
	free(old);
	return 0;
}

uint32_t strpool_add(struct strpool *p, const char *str, size_t len)
{
	char *to;
	size_t slot;

	if (len == 0)
		return 0;
	if ((!p->bits || p->strings.count >= ((size_t)1 << p->bits) / 2) && strpool_grow(p))
		return STRPOOL_FAILED;
	if (len >= UINT32_MAX || p->strings.count >= UINT32_MAX - 2)
		return STRPOOL_FAILED;
	to = strpool_room(p, len + 1);
	if (!to)
		return STRPOOL_FAILED;
	len = text_clean(to, str, len);
	to[len] = '\0';
	slot = strpool_slot(p, to, len);
	if (!p->slots[slot]) {
		if (VEC_PUSH(&p->strings, to))
			return STRPOOL_FAILED;
		p->chunk_used += len + 1;
		p->slots[slot] = (uint32_t)p->strings.count;
	}
	return p->slots[slot];
}

uint32_t strpool_find(const struct strpool *p, const char *str)
{
	uint32_t at;

	if (!*str)
		return 0;
	at = p->bits ? p->slots[strpool_slot(p, str, strlen(str))] : 0;
	return at ? at : STRPOOL_FAILED;
}

const char *strpool_get(const struct strpool *p, uint32_t id)
{
	return id == 0 || id > p->strings.count ? "" : p->strings.at[id - 1];
}

void strpool_free(struct strpool *p)
{
	for (size_t i = 0; i < p->chunks.count; i++)
		free(p->chunks.at[i]);
	free(p->chunks.at);
	free(p->strings.at);
	free(p->slots);
	memset(p, 0, sizeof(*p));
}

uint64_t add_saturating(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
