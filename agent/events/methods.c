// SPDX-License-Identifier: Apache-2.0
/*
 * Dense ids for methods, defined on first use; all event kinds use them. The callback that mentions a method reads its
 * names, because the class is alive there. A jmethodID is only a key of this table; the VM never gets it back later.
 */
#include "handlers.h"
#include "core/slots.h"
#include "vm/names.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_FIRST_ROOM 4096U
#define LINES_MAX ((BRAID_REC_MAX - sizeof(struct braid_rec_lines)) / sizeof(struct braid_line))

/* The definition was lost. It is neither tried nor counted again before the spill has been emptied. */
#define ID_LOST UINT32_MAX

struct entry {
	uint64_t key; /* the jmethodID, which is never 0 */
	uint32_t id;
	uint32_t epoch; /* with ID_LOST: publish_recoveries() at that time */
	uint32_t event; /* the last event in which it was compared with the VM, see methods_event() */
	uint64_t names; /* hash */
	uint64_t lines; /* hash */
};

static struct {
	pthread_mutex_t mutex; /* its holder calls no JVM TI function */
	struct slots entries;
	uint32_t last_id; /* each connection counts from 1: the collector's table is an array */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER, .entries = SLOTS_OF(struct entry, 1, TABLE_FIRST_ROOM)};

/*
 * Counts class unloads. After one a key may mean another method, so older entries are compared with the names that the
 * VM gives now.
 */
static _Atomic uint32_t epoch;

/*
 * Counts events. Class redefinition keeps the key and has no event of its own; it shows in the line number table, which
 * is read once for each method and event.
 */
static _Atomic uint32_t events;

struct description {
	char *class_name;
	char *name;
	char *signature;
	char *source;
	jint modifiers;
	struct braid_line *lines;
	uint32_t line_count;
	bool lines_cut;
};

static void description_free(struct description *d)
{
	agent_release(d->class_name);
	agent_release(d->name);
	agent_release(d->signature);
	agent_release(d->source);
	free(d->lines);
}

static int line_compare(const void *a, const void *b)
{
	const struct braid_line *x = a, *y = b;

	return x->bci < y->bci ? -1 : x->bci > y->bci;
}

/* Native, abstract and stripped methods have no lines; that is not an error. */
static void lines_read(struct description *d, jmethodID method)
{
	jvmtiLineNumberEntry *entries = NULL;
	jint count = 0;

	if (!caps_has(CAP_LINE_NUMBERS) || !agent.bci_locations ||
	    (*agent.jvmti)->GetLineNumberTable(agent.jvmti, method, &count, &entries) != JVMTI_ERROR_NONE)
		return;
	if (count > 0)
		d->lines = malloc((size_t)count * sizeof(*d->lines));
	for (jint i = 0; d->lines && i < count; i++)
		if (entries[i].start_location >= 0 && entries[i].start_location <= UINT16_MAX &&
		    entries[i].line_number >= 0)
			d->lines[d->line_count++] = (struct braid_line){.bci = (uint32_t)entries[i].start_location,
									.line = (uint32_t)entries[i].line_number};
	agent_release(entries);
	if (d->line_count)
		qsort(d->lines, d->line_count, sizeof(*d->lines), line_compare);
	if (d->line_count > LINES_MAX) {
		d->line_count = LINES_MAX;
		d->lines_cut = true;
	}
}

/* Reads all but the lines. The class is a local reference, which the VM drops when the callback returns. */
static bool description_read(struct description *d, jmethodID method)
{
	jvmtiEnv *ti = agent.jvmti;
	jclass class;

	if ((*ti)->GetMethodDeclaringClass(ti, method, &class) != JVMTI_ERROR_NONE)
		return false;
	if ((*ti)->GetMethodName(ti, method, &d->name, &d->signature, NULL) != JVMTI_ERROR_NONE) {
		d->name = d->signature = NULL; /* the call leaves them undefined on error */
		return false;
	}
	if ((*ti)->GetClassSignature(ti, class, &d->class_name, NULL) != JVMTI_ERROR_NONE) {
		d->class_name = NULL;
		return false;
	}
	if ((*ti)->GetMethodModifiers(ti, method, &d->modifiers) != JVMTI_ERROR_NONE)
		d->modifiers = 0;
	if (!caps_has(CAP_SOURCE_FILE_NAME) || (*ti)->GetSourceFileName(ti, class, &d->source) != JVMTI_ERROR_NONE)
		d->source = NULL;
	return true;
}

static uint64_t description_hash(const struct description *d)
{
	return hash_text(hash_text(hash_text(HASH_BEGIN, d->class_name), d->name), d->signature);
}

static uint64_t lines_hash(const struct description *d)
{
	uint64_t h = HASH_BEGIN ^ d->line_count;

	for (uint32_t i = 0; i < d->line_count; i++)
		h = (h ^ ((uint64_t)d->lines[i].bci << 32 | d->lines[i].line)) * HASH_SPREAD;
	return h;
}

static bool method_publish(uint32_t id, const struct description *d)
{
	struct braid_rec_method r = {.method = id, .modifiers = (uint32_t)d->modifiers};

	record_init(&r.hdr, BRAID_REC_METHOD, 0);
	r.class_len = string_cut(d->class_name, &r.hdr.flags);
	r.name_len = string_cut(d->name, &r.hdr.flags);
	r.sig_len = string_cut(d->signature, &r.hdr.flags);
	r.source_len = string_cut(d->source, &r.hdr.flags);
	/* All four at their maximum exceed a record by 36 bytes. */
	if (r.source_len > BRAID_STR_MAX - 64) {
		r.source_len = BRAID_STR_MAX - 64;
		r.hdr.flags |= BRAID_REC_TRUNCATED;
	}
	return publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(d->class_name, r.class_len),
						   PART(d->name, r.name_len), PART(d->signature, r.sig_len),
						   PART(d->source, r.source_len)},
				  5);
}

static void lines_publish(uint32_t id, const struct description *d)
{
	struct braid_rec_lines r = {.method = id, .count = d->line_count};

	if (!d->line_count)
		return;
	record_init(&r.hdr, BRAID_REC_LINES, d->lines_cut ? BRAID_REC_TRUNCATED : 0);
	publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(d->lines, d->line_count * sizeof(*d->lines))}, 2);
}

/*
 * The caller holds the mutex, so no thread finds an id in the table before its METHOD record is published. A lost
 * definition leaves no id: the method gets a new one after the spill has been emptied.
 */
static uint32_t method_define(jmethodID method, uint64_t names, const struct description *d, uint32_t now,
			      uint32_t event)
{
	uint64_t lines = lines_hash(d), key = (uintptr_t)method;
	struct entry *e;

	if (!slots_reserve(&table.entries))
		return 0;
	e = slots_find(&table.entries, &key);
	if (e->id && e->id != ID_LOST && e->names == names && e->lines == lines) {
		e->epoch = now;
		e->event = event;
		return e->id;
	}
	if (e->id && e->id != ID_LOST && e->names == names)
		names_redefined();
	if (!e->id)
		table.entries.used++;
	if (table.last_id == ID_LOST - 1 || !method_publish(table.last_id + 1, d)) {
		*e = (struct entry){.key = key, .id = ID_LOST, .epoch = publish_recoveries()};
		return 0;
	}
	*e = (struct entry){
		.key = key, .id = ++table.last_id, .epoch = now, .event = event, .names = names, .lines = lines};
	lines_publish(e->id, d);
	return e->id;
}

/* True when the table decides the id, which may be 0: it was compared in this event, or `lines` match. */
static bool look_up(jmethodID method, uint32_t now, uint32_t event, const uint64_t *lines, uint32_t *id)
{
	uint64_t key = (uintptr_t)method;
	struct entry *e = slots_find(&table.entries, &key);
	bool known;

	*id = 0;
	if (!e || !e->id)
		return false;
	if (e->id == ID_LOST)
		return e->epoch == publish_recoveries();
	known = e->epoch == now && (e->event == event || (lines && e->lines == *lines));
	if (known) {
		e->event = event;
		*id = e->id;
	}
	return known;
}

static bool look_up_locked(jmethodID method, uint32_t now, uint32_t event, const uint64_t *lines, uint32_t *id)
{
	bool known;

	pthread_mutex_lock(&table.mutex);
	known = look_up(method, now, event, lines, id);
	pthread_mutex_unlock(&table.mutex);
	return known;
}

uint32_t methods_event(void)
{
	return atomic_fetch_add(&events, 1) + 1;
}

uint32_t methods_id(jmethodID method, uint32_t event)
{
	uint32_t now = atomic_load(&epoch), id;
	struct description d = {0};
	uint64_t lines;

	if (!method)
		return 0;
	if (look_up_locked(method, now, event, NULL, &id))
		return id;
	lines_read(&d, method);
	lines = lines_hash(&d);
	if (!look_up_locked(method, now, event, &lines, &id) && description_read(&d, method)) {
		pthread_mutex_lock(&table.mutex);
		id = method_define(method, description_hash(&d), &d, now, event);
		pthread_mutex_unlock(&table.mutex);
	}
	description_free(&d);
	return id;
}

void methods_unloaded(void)
{
	atomic_fetch_add(&epoch, 1);
}

uint32_t methods_count(void)
{
	uint32_t n;

	pthread_mutex_lock(&table.mutex);
	n = table.last_id;
	pthread_mutex_unlock(&table.mutex);
	return n;
}

void methods_reset(void)
{
	pthread_mutex_lock(&table.mutex);
	slots_free(&table.entries);
	table.last_id = 0;
	pthread_mutex_unlock(&table.mutex);
}

const struct kind methods_kind = {
	.caps = {{CAP_LINE_NUMBERS, false, 0, NULL, 0}, {CAP_SOURCE_FILE_NAME, false, 0, NULL, 0}},
};
