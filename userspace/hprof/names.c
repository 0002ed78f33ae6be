// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include "util/search.h"
#include "util/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STRING_SHOWN 64 /* characters of a string */

/* ---- strings ---- */

struct string_fields {
	const struct hprof_dump *d;
	const char *wanted; /* name of a field */
	uint64_t id;	    /* its value */
	uint64_t coder;	    /* 0: Latin-1, 1: UTF-16 */
};

static int see_field(void *ctx, const struct hprof_slot *slot)
{
	struct string_fields *s = ctx;

	if (slot->kind != HPROF_SLOT_FIELD)
		return 0;
	if (slot->type == HPROF_REFERENCE && !s->id && hprof_string_is(s->d, slot->name, s->wanted))
		s->id = slot->id;
	else if (slot->type == 8 && hprof_string_is(s->d, slot->name, "coder"))
		s->coder = slot->id;
	return 0;
}

/* The object to which a field of this name refers; HPROF_NONE: none. */
static uint32_t follow(struct hprof *h, uint32_t object, const char *field, uint64_t *coder)
{
	struct string_fields s = {.d = &h->dump, .wanted = field};

	if (hprof_slots(&h->dump, object, true, see_field, &s) < 0)
		return HPROF_NONE;
	*coder = s.coder;
	return s.id ? hprof_find(&h->dump, s.id) : HPROF_NONE;
}

/* The text of a java.lang.String, or of its first characters. False: it has none. */
static bool string_text(struct hprof *h, uint32_t object, char *buf, size_t size)
{
	uint64_t coder = 0;
	uint32_t value = follow(h, object, "value", &coder);
	char text[UTF8_UNIT_MAX * STRING_SHOWN], *end = text;
	struct hprof_item item;
	unsigned bytes;
	const uint8_t *p;
	uint64_t n;

	if (value == HPROF_NONE || hprof_items_at(&h->dump.items, hprof_objects(&h->dump)[value].at, &item) != 1 ||
	    item.kind != HPROF_PRIMITIVES)
		return false;
	hprof_file_seek(&h->dump.file, item.body);
	bytes = item.type == 5 || coder == 1 ? 2 : 1;
	n = item.length / bytes < STRING_SHOWN ? item.length / bytes : STRING_SHOWN;
	p = hprof_file_take(&h->dump.file, n * bytes);
	if (!p || (item.type != 8 && item.type != 5))
		return false;
	for (uint64_t i = 0; i < n; i++) {
		/* A dump has the bytes of a byte array in the order of the machine that it is of. */
		unsigned c = bytes == 1	      ? p[i]
			     : item.type == 5 ? p[2 * i] * 256U + p[2 * i + 1]
					      : p[2 * i] + p[2 * i + 1] * 256U;

		end += utf8_put_unit(end, (uint16_t)c);
	}
	utf8_printable(buf, size, text, (size_t)(end - text));
	if (item.length / bytes > n && strlen(buf) + 4 < size)
		strcat(buf, "...");
	return true;
}

/* ---- objects ---- */

const struct hprof_thread *hprof_thread_of(const struct hprof *h, uint32_t object)
{
	for (size_t i = 0; i < h->dump.threads.count; i++)
		if (h->dump.threads.at[i].id == hprof_objects(&h->dump)[object].id)
			return &h->dump.threads.at[i];
	return NULL;
}

static void array_text(struct hprof *h, uint32_t object, const char *class, char *buf)
{
	const char *brackets = strstr(class, "[]");
	struct hprof_item item;

	if (brackets && hprof_items_at(&h->dump.items, hprof_objects(&h->dump)[object].at, &item) == 1)
		snprintf(buf, HPROF_TEXT, "%.*s[%" PRIu32 "]%s", (int)(brackets - class), class, item.count,
			 brackets + 2);
	else
		snprintf(buf, HPROF_TEXT, "%s", class);
}

const char *hprof_object_text(struct hprof *h, uint32_t place, char buf[HPROF_TEXT])
{
	uint32_t object = hprof_object_at(h, place), class = graph_u32(&h->class_of)[object], name, own;
	char class_name[HPROF_NAME], text[HPROF_NAME];
	uint64_t coder;

	hprof_class_text(&h->dump, class, class_name);
	snprintf(buf, HPROF_TEXT, "%s", class_name);
	if (class == h->dump.class_class) {
		own = hprof_find_class(&h->dump, hprof_objects(&h->dump)[object].id);
		if (own != HPROF_NONE)
			snprintf(buf, HPROF_TEXT, "class %s", hprof_class_text(&h->dump, own, text));
	} else if (h->dump.classes.at[class].is_array) {
		array_text(h, object, class_name, buf);
	} else if (!strcmp(class_name, "java.lang.String")) {
		if (string_text(h, object, text, sizeof(text)))
			snprintf(buf, HPROF_TEXT, "%s \"%s\"", class_name, text);
	} else if (hprof_thread_of(h, object)) {
		name = follow(h, object, "name", &coder);
		if (name != HPROF_NONE && string_text(h, name, text, sizeof(text)))
			snprintf(buf, HPROF_TEXT, "%s \"%s\"", class_name, text);
	}
	return buf;
}

/* ---- frames ---- */

uint32_t hprof_frames(const struct hprof *h, uint32_t trace)
{
	const struct hprof_trace *t = hprof_trace_find(&h->dump, trace);

	return t ? t->count : 0;
}

/* The class of a frame, by the number that the record of its name has. */
static const char *frame_class(const struct hprof *h, uint32_t serial, char buf[HPROF_NAME])
{
	const struct hprof_load *l = h->dump.loads.at;
	size_t at = SEARCH(i, 0, h->dump.loads.count, l[i].serial < serial);
	uint32_t class;

	if (at == h->dump.loads.count || l[at].serial != serial)
		return "?";
	class = hprof_find_class(&h->dump, l[at].id);
	return class == HPROF_NONE ? "?" : hprof_class_text(&h->dump, class, buf);
}

const char *hprof_frame_text(const struct hprof *h, uint32_t trace, uint32_t frame, char buf[HPROF_TEXT])
{
	unsigned id_bytes = h->dump.items.id_bytes;
	const struct hprof_trace *t = hprof_trace_find(&h->dump, trace);
	const struct hprof_frame *f = h->dump.frames.at;
	char class[HPROF_NAME], method[HPROF_NAME], source[HPROF_NAME];
	uint8_t bytes[3 * 8 + 8];
	uint64_t id;
	size_t at;
	uint32_t serial; /* 0: the method's name has the class's, which is not in the dump */
	int32_t line;

	snprintf(buf, HPROF_TEXT, "?");
	if (!t || frame >= t->count ||
	    !hprof_file_read(&h->dump.file, t->at + (uint64_t)frame * id_bytes, bytes, id_bytes))
		return buf;
	id = hprof_number(bytes, id_bytes);
	at = SEARCH(i, 0, h->dump.frames.count, f[i].id < id);
	if (at == h->dump.frames.count || f[at].id != id ||
	    !hprof_file_read(&h->dump.file, f[at].at, bytes, 3 * id_bytes + 8))
		return buf;
	line = (int32_t)hprof_number(bytes + 3 * id_bytes + 4, 4);
	hprof_string_text(&h->dump, hprof_number(bytes, id_bytes), method);
	hprof_string_text(&h->dump, hprof_number(bytes + 2 * id_bytes, id_bytes), source);
	serial = (uint32_t)hprof_number(bytes + 3 * id_bytes, 4);
	snprintf(buf, HPROF_TEXT, "%s%s%s", serial ? frame_class(h, serial, class) : "", serial ? "." : "", method);
	if (line > 0 && strlen(buf) + strlen(source) + 16 < HPROF_TEXT)
		snprintf(buf + strlen(buf), HPROF_TEXT - strlen(buf), "(%s:%" PRId32 ")", source, line);
	return buf;
}

/* ---- roots ---- */

static const struct {
	uint8_t type;
	const char *text;
} roots[HPROF_ROOT_RANKS] = {
	{HPROF_ROOT_THREAD, "thread"},
	{HPROF_ROOT_STICKY_CLASS, "system class"},
	{HPROF_ROOT_JNI_GLOBAL, "JNI global"},
	{HPROF_ROOT_JAVA_FRAME, "Java local"},
	{HPROF_ROOT_JNI_LOCAL, "JNI local"},
	{HPROF_ROOT_MONITOR, "monitor in use"},
	{HPROF_ROOT_NATIVE_STACK, "native stack"},
	{HPROF_ROOT_THREAD_BLOCK, "thread block"},
	{HPROF_ROOT_UNKNOWN, "unknown"},
};

size_t hprof_root_rank(const struct hprof_root_of *root)
{
	size_t i = 0;

	while (i + 1 < HPROF_ROOT_RANKS && roots[i].type != root->type)
		i++;
	return i;
}

const char *hprof_root_rank_text(size_t rank)
{
	return roots[rank].text;
}

/* The best root that holds the object: through the thread's object, or, if that is HPROF_NONE, by itself. */
static const struct hprof_root_of *find_root(const struct hprof *h, uint32_t object, uint32_t thread)
{
	const struct hprof_root_of *best = NULL;

	for (size_t i = 0; i < h->dump.roots.count; i++) {
		const struct hprof_root_of *r = &h->dump.roots.at[i];

		if (r->object == object && r->thread == thread && (!best || hprof_root_rank(r) < hprof_root_rank(best)))
			best = r;
	}
	return best;
}

const char *hprof_root_kind(const struct hprof *h, uint32_t place, const struct hprof_root_of **root)
{
	*root = find_root(h, hprof_object_at(h, place), HPROF_NONE);
	return *root ? roots[hprof_root_rank(*root)].text : NULL;
}

/* ---- references ---- */

struct link_search {
	uint64_t id;
	struct hprof_slot slot;
	const struct hprof_dump *d;
};

/* A weak reference is the answer only if there is no other one. */
static int is_link(void *ctx, const struct hprof_slot *slot)
{
	struct link_search *s = ctx;

	if (slot->id != s->id)
		return 0;
	s->slot = *slot;
	return slot->kind != HPROF_SLOT_FIELD || slot->field != s->d->referent;
}

/* What a thread's stack or a loader holds, which is in no field. */
static const char *other_link(struct hprof *h, uint32_t from, uint32_t to, char *buf, enum hprof_anchor *anchor)
{
	const struct hprof_thread *thread = hprof_thread_of(h, from);
	const struct hprof_root_of *root = find_root(h, to, from);
	char frame[HPROF_TEXT - 32];

	if (!root || !thread) {
		snprintf(buf, HPROF_TEXT, "loads");
		return buf;
	}
	*anchor = HPROF_ANCHOR_LOCAL;
	if (root->frame < hprof_frames(h, thread->trace)) {
		char text[HPROF_TEXT];

		snprintf(frame, sizeof(frame), " of %.*s", (int)sizeof(frame) - 8,
			 hprof_frame_text(h, thread->trace, root->frame, text));
	} else {
		frame[0] = 0;
	}
	snprintf(buf, HPROF_TEXT, "%s%s",
		 root->type == HPROF_ROOT_JAVA_FRAME ? "local" : roots[hprof_root_rank(root)].text, frame);
	return buf;
}

static const char *slot_text(const struct hprof *h, uint32_t from, const struct hprof_slot *slot, char *buf)
{
	static const char *const kinds[] = {
		[HPROF_SLOT_CONSTANT] = "constant", [HPROF_SLOT_CLASS] = "its class",
		[HPROF_SLOT_SUPER] = "superclass",  [HPROF_SLOT_LOADER] = "class loader",
		[HPROF_SLOT_SIGNERS] = "signers",   [HPROF_SLOT_DOMAIN] = "protection domain",
		[HPROF_SLOT_RESERVED] = "reserved"};
	uint32_t class = hprof_find_class(&h->dump, hprof_objects(&h->dump)[from].id);
	char name[HPROF_NAME], class_name[HPROF_NAME];

	if (slot->kind == HPROF_SLOT_FIELD)
		snprintf(buf, HPROF_TEXT, ".%s%s", hprof_string_text(&h->dump, slot->name, name),
			 slot->field == h->dump.referent ? ", weakly" : "");
	else if (slot->kind == HPROF_SLOT_ELEMENT)
		snprintf(buf, HPROF_TEXT, "[%" PRIu32 "]", slot->index);
	else if (slot->kind == HPROF_SLOT_STATIC && class != HPROF_NONE)
		snprintf(buf, HPROF_TEXT, "static %s.%s", hprof_class_text(&h->dump, class, class_name),
			 hprof_string_text(&h->dump, slot->name, name));
	else
		snprintf(buf, HPROF_TEXT, "%s", kinds[slot->kind] ? kinds[slot->kind] : "?");
	return buf;
}

const char *hprof_link_text(struct hprof *h, uint32_t from, uint32_t to, char buf[HPROF_TEXT],
			    enum hprof_anchor *anchor)
{
	struct link_search s = {.id = hprof_id_at(h, to), .d = &h->dump};

	*anchor = HPROF_ANCHOR_NONE;
	if (hprof_slots(&h->dump, hprof_object_at(h, from), false, is_link, &s) < 0 || !s.slot.id)
		return other_link(h, hprof_object_at(h, from), hprof_object_at(h, to), buf, anchor);
	if (s.slot.kind == HPROF_SLOT_STATIC)
		*anchor = HPROF_ANCHOR_STATIC;
	return slot_text(h, hprof_object_at(h, from), &s.slot, buf);
}
