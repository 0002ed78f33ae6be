// SPDX-License-Identifier: Apache-2.0
#include "timed.h"

#include "core/publish.h"
#include "core/slots.h"
#include "events/named_event.h"
#include "patterns.h"

#include <pthread.h>
#include <stdio.h>

enum part { CLASS, NAME, DESCRIPTOR, VALUES, WRITER /* of a field, else empty */, PARTS };

struct timed {
	uint64_t limit;
	int pattern;	    /* of its kind; negative: none */
	uint64_t annotated; /* as in struct subject */
	char *text;	    /* its parts, each with a zero at its end */
	uint32_t sizes[PARTS];
};

struct id_entry {
	uint64_t key;
	uint64_t id;
};

struct class_entry {
	uint64_t key;
	uint64_t state;
	uint64_t since_ns;
	uint64_t listed;
};

static struct {
	pthread_mutex_t mutex; /* its holder calls no function of the JVM */
	struct braid_event_config config;
	struct timed *methods;
	uint32_t count, room;
	struct slots ids;
	struct slots classes;
	struct rate rates[BRAID_METHOD_PATTERNS], field_rates[BRAID_FIELD_PATTERNS];
} timed = {.mutex = PTHREAD_MUTEX_INITIALIZER,
	   .ids = SLOTS_OF(struct id_entry, 1, 256),
	   .classes = SLOTS_OF(struct class_entry, 1, 256)};

static uint64_t hash(uint64_t h, struct text t)
{
	for (size_t i = 0; i < t.size; i++)
		h = (h ^ (uint8_t)t.at[i]) * HASH_SPREAD;
	h = (h ^ 0x100) * HASH_SPREAD;
	return (h ^ h >> 32) ?: 1;
}

static struct text part(const struct timed *t, enum part number)
{
	const char *at = t->text;

	for (int i = 0; i < (int)number; i++)
		at += t->sizes[i] + 1;
	return (struct text){.at = at, .size = t->sizes[number]};
}

static bool is_field(const struct timed *t)
{
	return t->sizes[WRITER];
}

static const struct braid_method_pattern *pattern_of(const struct timed *t)
{
	return t->pattern < 0 ? NULL
	       : is_field(t)  ? &timed.config.fields[t->pattern]
			      : &timed.config.methods[t->pattern];
}

static void set_pattern(struct timed *t, int pattern)
{
	const struct braid_method_pattern *p;

	t->pattern = pattern;
	p = pattern_of(t);
	if (is_field(t))
		t->limit = !p ? 0 : p->rate ?: TIMED_NEVER;
	else
		t->limit = p ? p->min_ns : TIMED_NEVER;
}

static int match(const struct braid_event_config *c, const struct timed *t)
{
	struct subject s = {part(t, CLASS), {.name = part(t, NAME), .descriptor = part(t, DESCRIPTOR)}, t->annotated};

	return is_field(t) ? patterns_match_field(c, s.class, s.method.name) : patterns_match(c, &s);
}

static bool differ(const struct braid_method_pattern *a, const struct braid_method_pattern *b)
{
	return strncmp(a->text, b->text, BRAID_METHOD_TEXT) != 0 ||
	       strncmp(a->values, b->values, BRAID_METHOD_WORDS) != 0;
}

bool timed_configure(const struct braid_event_config *c)
{
	bool other = false;

	pthread_mutex_lock(&timed.mutex);
	for (size_t i = 0; i < BRAID_METHOD_PATTERNS; i++)
		other |= differ(&timed.config.methods[i], &c->methods[i]);
	for (size_t i = 0; i < BRAID_FIELD_PATTERNS; i++)
		other |= differ(&timed.config.fields[i], &c->fields[i]);
	memcpy(timed.config.methods, c->methods, sizeof(c->methods));
	memcpy(timed.config.fields, c->fields, sizeof(c->fields));
	for (uint32_t id = 0; id < timed.count; id++)
		set_pattern(&timed.methods[id], match(c, &timed.methods[id]));
	pthread_mutex_unlock(&timed.mutex);
	return other;
}

void timed_patterns(struct braid_event_config *to)
{
	pthread_mutex_lock(&timed.mutex);
	*to = timed.config;
	pthread_mutex_unlock(&timed.mutex);
}

static bool text_set(struct timed *t, const struct text parts[PARTS])
{
	size_t size = PARTS;
	char *at;

	for (int i = 0; i < PARTS; i++)
		size += parts[i].size;
	at = t->text = malloc(size);
	for (int i = 0; at && i < PARTS; i++) {
		t->sizes[i] = (uint32_t)parts[i].size;
		memcpy(at, parts[i].at, parts[i].size);
		at += parts[i].size;
		*at++ = '\0';
	}
	return t->text;
}

/* The caller holds the mutex. */
static int32_t id_new(uint64_t key, const struct text parts[PARTS])
{
	struct id_entry *e;

	if (timed.count == timed.room) {
		uint32_t room = timed.room ? 2 * timed.room : 256;
		struct timed *more = room <= TIMED_MAX ? realloc(timed.methods, room * sizeof(*more)) : NULL;

		if (!more)
			return -1;
		timed.methods = more;
		timed.room = room;
	}
	timed.methods[timed.count] = (struct timed){0};
	if (!slots_reserve(&timed.ids) || !text_set(&timed.methods[timed.count], parts))
		return -1;
	e = slots_find(&timed.ids, &key);
	*e = (struct id_entry){.key = key, .id = timed.count};
	timed.ids.used++;
	return (int32_t)timed.count++;
}

/* `own` is the pattern's place in timed.config. */
static int32_t id_of(const struct text parts[PARTS], const struct braid_method_pattern *p,
		     const struct braid_method_pattern *own, int pattern)
{
	uint64_t key = HASH_BEGIN;
	const struct id_entry *e;
	int32_t id;

	for (int i = 0; i < PARTS; i++)
		key = hash(key, parts[i]);
	pthread_mutex_lock(&timed.mutex);
	e = slots_find(&timed.ids, &key);
	id = e && e->key ? (int32_t)e->id : id_new(key, parts);
	if (id >= 0) {
		timed.methods[id].annotated = patterns_key(p) ?: timed.methods[id].annotated;
		/* After a change of the configuration meanwhile, all classes are looked at again. */
		set_pattern(&timed.methods[id], memcmp(own, p, sizeof(*p)) == 0 ? pattern : -1);
	}
	pthread_mutex_unlock(&timed.mutex);
	return id;
}

static struct text values_of(const struct braid_method_pattern *p)
{
	return (struct text){p->values, strnlen(p->values, sizeof(p->values))};
}

int32_t timed_id(const struct braid_event_config *c, const struct subject *s, int pattern)
{
	const struct braid_method_pattern *p = &c->methods[pattern];
	const struct text parts[PARTS] = {s->class, s->method.name, s->method.descriptor, values_of(p), TEXT("")};

	return id_of(parts, p, &timed.config.methods[pattern], pattern);
}

int32_t timed_field_id(const struct braid_event_config *c, const struct rewrite_field *f, struct text writer,
		       int pattern)
{
	const struct braid_method_pattern *p = &c->fields[pattern];
	const struct text parts[PARTS] = {f->class, f->name, f->type, values_of(p), writer};

	return id_of(parts, p, &timed.config.fields[pattern], pattern);
}

uint64_t timed_limit(uint32_t id)
{
	uint64_t limit;

	pthread_mutex_lock(&timed.mutex);
	limit = id < timed.count ? timed.methods[id].limit : TIMED_NEVER;
	pthread_mutex_unlock(&timed.mutex);
	return limit;
}

bool timed_take(uint32_t id)
{
	const struct braid_method_pattern *p;
	struct rate *rate = NULL;
	uint32_t max = 0;

	pthread_mutex_lock(&timed.mutex);
	p = id < timed.count ? pattern_of(&timed.methods[id]) : NULL;
	if (p) {
		rate = (is_field(&timed.methods[id]) ? timed.field_rates : timed.rates) + timed.methods[id].pattern;
		max = p->rate;
	}
	pthread_mutex_unlock(&timed.mutex);
	return rate && rate_take(rate, max);
}

void timed_values(uint32_t id, char to[BRAID_METHOD_WORDS + 1])
{
	pthread_mutex_lock(&timed.mutex);
	snprintf(to, BRAID_METHOD_WORDS + 1, "%s", id < timed.count ? part(&timed.methods[id], VALUES).at : "");
	pthread_mutex_unlock(&timed.mutex);
}

void timed_writer(uint32_t id, char *to, size_t size)
{
	pthread_mutex_lock(&timed.mutex);
	snprintf(to, size, "%s", id < timed.count ? part(&timed.methods[id], WRITER).at : "");
	pthread_mutex_unlock(&timed.mutex);
}

char timed_type(uint32_t id)
{
	char type;

	pthread_mutex_lock(&timed.mutex);
	type = id < timed.count ? *part(&timed.methods[id], DESCRIPTOR).at : '\0';
	pthread_mutex_unlock(&timed.mutex);
	return type;
}

void timed_name(uint32_t id, char *to, size_t size)
{
	size_t used = 0;

	pthread_mutex_lock(&timed.mutex);
	if (id < timed.count) {
		const struct timed *t = &timed.methods[id];

		for (; used < t->sizes[CLASS] && used + 1 < size; used++)
			to[used] = t->text[used] == '/' ? '.' : t->text[used];
		for (size_t i = 0; i <= t->sizes[NAME] && used + 1 < size; i++)
			to[used++] = i ? part(t, NAME).at[i - 1] : '.';
	}
	pthread_mutex_unlock(&timed.mutex);
	to[used] = '\0';
}

enum class_state timed_class(struct text class)
{
	uint64_t key = hash(HASH_BEGIN, class);
	const struct class_entry *e;
	enum class_state state;

	pthread_mutex_lock(&timed.mutex);
	e = slots_find(&timed.classes, &key);
	state = e && e->key ? (enum class_state)e->state : CLASS_PLAIN;
	pthread_mutex_unlock(&timed.mutex);
	return state;
}

bool timed_class_set(struct text class, enum class_state state)
{
	uint64_t key = hash(HASH_BEGIN, class);
	struct class_entry *e;
	bool known;

	pthread_mutex_lock(&timed.mutex);
	known = slots_reserve(&timed.classes);
	if (known) {
		e = slots_find(&timed.classes, &key);
		timed.classes.used += !e->key;
		*e = (struct class_entry){.key = key, .state = state, .since_ns = clock_ns()};
	}
	pthread_mutex_unlock(&timed.mutex);
	return known;
}

void timed_class_listed(struct text class)
{
	uint64_t key = hash(HASH_BEGIN, class);
	struct class_entry *e;

	pthread_mutex_lock(&timed.mutex);
	e = slots_find(&timed.classes, &key);
	if (e && e->key)
		e->listed = true;
	pthread_mutex_unlock(&timed.mutex);
}

uint32_t timed_classes_unlisted(uint64_t since_ns)
{
	const struct class_entry *entries;
	uint32_t count = 0;

	pthread_mutex_lock(&timed.mutex);
	entries = (const void *)timed.classes.at;
	for (size_t i = 0; i < timed.classes.room; i++)
		count += entries[i].key && !entries[i].listed && entries[i].since_ns >= since_ns;
	pthread_mutex_unlock(&timed.mutex);
	return count;
}

void timed_classes_forget(void)
{
	pthread_mutex_lock(&timed.mutex);
	slots_free(&timed.classes);
	pthread_mutex_unlock(&timed.mutex);
}
