// SPDX-License-Identifier: Apache-2.0
#include "items.h"

#include <errno.h>
#include <string.h>

enum record { /* of the format */
	      RECORD_STRING = 0x01,
	      RECORD_LOAD_CLASS = 0x02,
	      RECORD_FRAME = 0x04,
	      RECORD_TRACE = 0x05,
	      RECORD_SITES = 0x06,
	      RECORD_HEAP_DUMP = 0x0c,
	      RECORD_SEGMENT = 0x1c,
	      RECORD_SEGMENTS_END = 0x2c,
};

enum part {
	PART_CLASS = 0x20,
	PART_INSTANCE = 0x21,
	PART_OBJECTS = 0x22,
	PART_PRIMITIVES = 0x23,
};

#define HEAD 31	      /* the format's name, the bytes of ids, the time */
#define RECORD_HEAD 9 /* tag, time, length */

int hprof_items_bad(struct hprof_items *r, uint64_t at, const char *why)
{
	r->why = why;
	r->error_at = at;
	return -EBADMSG;
}

unsigned hprof_type_bytes(unsigned type, unsigned id_bytes)
{
	static const uint8_t bytes[] = {[4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8};

	return type == HPROF_REFERENCE ? id_bytes : type < sizeof(bytes) ? bytes[type] : 0;
}

const char *hprof_array_name(unsigned type)
{
	static const char *const names[] = {[4] = "boolean[]", [5] = "char[]",	[6] = "float[]", [7] = "double[]",
					    [8] = "byte[]",    [9] = "short[]", [10] = "int[]",	 [11] = "long[]"};

	return names[type];
}

int hprof_items_open(struct hprof_items *r, struct hprof_file *file)
{
	static const char magic[] = "JAVA PROFILE 1.0.";
	const uint8_t *p = hprof_file_take(file, HEAD);

	*r = (struct hprof_items){.file = file, .next = HEAD};
	if (!p || memcmp(p, magic, sizeof(magic) - 1) || (p[17] != '1' && p[17] != '2') || p[18])
		return hprof_items_bad(r, 0, "it is no heap dump in the format HPROF 1.0.1 or 1.0.2");
	memcpy(r->version, p + 13, 6);
	r->id_bytes = (unsigned)hprof_number(p + 19, 4);
	r->time_ms = hprof_number(p + 23, 8);
	if (r->id_bytes != 4 && r->id_bytes != 8)
		return hprof_items_bad(r, 19, "its ids have neither 4 nor 8 bytes");
	return 0;
}

/* ---- fields of an item, in [at, end) ---- */

struct part_reader {
	struct hprof_items *r;
	uint64_t end;
	bool cut;
};

static uint64_t number(struct part_reader *p, unsigned bytes)
{
	uint64_t at = hprof_file_tell(p->r->file);
	const uint8_t *from = at + bytes <= p->end && !p->cut ? hprof_file_take(p->r->file, bytes) : NULL;

	p->cut = !from;
	return from ? hprof_number(from, bytes) : 0;
}

static uint64_t id(struct part_reader *p)
{
	return number(p, p->r->id_bytes);
}

static uint32_t u4(struct part_reader *p)
{
	return (uint32_t)number(p, 4);
}

static void skip(struct part_reader *p, uint64_t bytes)
{
	uint64_t at = hprof_file_tell(p->r->file);

	if (p->cut || bytes > p->end - at)
		p->cut = true;
	else
		hprof_file_seek(p->r->file, at + bytes);
}

/* ---- parts of a heap dump ---- */

static void read_root(struct part_reader *p, struct hprof_item *item)
{
	item->kind = HPROF_ROOT;
	item->id = id(p);
	item->number = HPROF_NO_FRAME;
	switch (item->type) {
	case HPROF_ROOT_JNI_GLOBAL:
		(void)id(p);
		break;
	case HPROF_ROOT_JNI_LOCAL:
	case HPROF_ROOT_JAVA_FRAME:
	case HPROF_ROOT_THREAD:
		item->thread = u4(p);
		item->number = u4(p);
		break;
	case HPROF_ROOT_NATIVE_STACK:
	case HPROF_ROOT_THREAD_BLOCK:
		item->thread = u4(p);
		break;
	default:
		break;
	}
}

static bool skip_value(struct part_reader *p, unsigned type)
{
	unsigned bytes = hprof_type_bytes(type, p->r->id_bytes);

	skip(p, bytes);
	return bytes;
}

/* Its constants, its static fields and its fields. */
static bool skip_class(struct part_reader *p)
{
	bool ok = true;
	uint64_t n;

	skip(p, 4 + 6 * (uint64_t)p->r->id_bytes);
	(void)u4(p);
	for (n = number(p, 2); n && ok && !p->cut; n--) {
		skip(p, 2);
		ok = skip_value(p, (unsigned)number(p, 1));
	}
	for (n = ok ? number(p, 2) : 0; n && ok && !p->cut; n--) {
		(void)id(p);
		ok = skip_value(p, (unsigned)number(p, 1));
	}
	for (n = ok ? number(p, 2) : 0; n && ok && !p->cut; n--) {
		(void)id(p);
		ok = hprof_type_bytes((unsigned)number(p, 1), p->r->id_bytes);
	}
	return ok || p->cut;
}

static int read_object(struct part_reader *p, struct hprof_item *item, unsigned tag)
{
	item->id = id(p);
	item->serial = u4(p);
	if (tag == PART_INSTANCE) {
		item->kind = HPROF_INSTANCE;
		item->class = id(p);
		item->length = u4(p);
	} else {
		item->kind = tag == PART_OBJECTS ? HPROF_OBJECTS : HPROF_PRIMITIVES;
		item->count = u4(p);
		item->type = HPROF_REFERENCE;
		if (tag == PART_OBJECTS)
			item->class = id(p);
		else
			item->type = (uint8_t)number(p, 1);
		item->length = (uint64_t)item->count * hprof_type_bytes(item->type, p->r->id_bytes);
		if (!p->cut && (tag == PART_PRIMITIVES) != (item->type >= 4 && item->type <= 11))
			return hprof_items_bad(p->r, item->at, "an array of an unknown type");
	}
	item->body = hprof_file_tell(p->r->file);
	p->cut |= item->body > p->end || item->length > p->end - item->body;
	return 1;
}

static int read_part(struct hprof_items *r, uint64_t end, struct hprof_item *item)
{
	struct part_reader p = {.r = r, .end = end};
	unsigned tag;
	int err = 1;

	*item = (struct hprof_item){.at = hprof_file_tell(r->file)};
	tag = (unsigned)number(&p, 1);
	item->type = (uint8_t)tag;
	if (tag == PART_CLASS) {
		item->kind = HPROF_CLASS;
		item->id = id(&p);
		item->body = hprof_file_tell(r->file);
		if (!skip_class(&p))
			return hprof_items_bad(r, item->at, "a class has a field of an unknown type");
	} else if (tag == PART_INSTANCE || tag == PART_OBJECTS || tag == PART_PRIMITIVES) {
		err = read_object(&p, item, tag);
	} else if (tag == HPROF_ROOT_UNKNOWN || (tag >= HPROF_ROOT_JNI_GLOBAL && tag <= HPROF_ROOT_THREAD)) {
		read_root(&p, item);
	} else if (!p.cut) {
		return hprof_items_bad(r, item->at, "a part of the heap dump has an unknown type");
	}
	if (p.cut)
		return hprof_items_bad(r, item->at, "it is cut, or a length inside the heap dump is wrong");
	return err;
}

int hprof_items_at(struct hprof_items *r, uint64_t at, struct hprof_item *item)
{
	hprof_file_seek(r->file, at);
	return read_part(r, r->file->size, item);
}

/* ---- records ---- */

/* One that is not known, or not needed, is no item. */
static void read_record(struct part_reader *p, unsigned tag, struct hprof_item *item)
{
	item->body = hprof_file_tell(p->r->file);
	item->length = p->end - item->body;
	switch (tag) {
	case RECORD_STRING:
		item->kind = HPROF_STRING;
		item->id = id(p);
		item->body = hprof_file_tell(p->r->file);
		item->length = p->end - item->body;
		break;
	case RECORD_LOAD_CLASS:
		item->kind = HPROF_LOAD_CLASS;
		item->serial = u4(p);
		item->id = id(p);
		(void)u4(p);
		item->name = id(p);
		break;
	case RECORD_FRAME:
		item->kind = HPROF_FRAME;
		item->id = id(p);
		item->body = hprof_file_tell(p->r->file);
		skip(p, 3 * (uint64_t)p->r->id_bytes + 8);
		break;
	case RECORD_TRACE:
		item->kind = HPROF_TRACE;
		item->serial = u4(p);
		item->thread = u4(p);
		item->count = u4(p);
		item->body = hprof_file_tell(p->r->file);
		skip(p, (uint64_t)item->count * p->r->id_bytes);
		break;
	case RECORD_SITES:
		item->kind = HPROF_SITES;
		skip(p, 2 + 4 + 4 + 4 + 8 + 8);
		item->count = u4(p);
		item->body = hprof_file_tell(p->r->file);
		skip(p, (uint64_t)item->count * HPROF_SITE_BYTES);
		break;
	default:
		break;
	}
}

/* The head of the record at r->next. 1, 0: the end of the file, or -EBADMSG. */
static int next_record(struct hprof_items *r, struct hprof_item *item)
{
	struct part_reader p = {.r = r};
	const uint8_t *head;
	uint64_t at = r->next;
	unsigned tag;

	*item = (struct hprof_item){.at = at};
	if (at >= r->file->size)
		return r->segmented && !r->ended ? hprof_items_bad(r, at, "it is cut: its end is missing") : 0;
	hprof_file_seek(r->file, at);
	head = hprof_file_take(r->file, RECORD_HEAD);
	if (!head)
		return hprof_items_bad(r, at, "it is cut inside a record");
	p.end = at + RECORD_HEAD + hprof_number(head + 5, 4);
	if (p.end > r->file->size)
		return hprof_items_bad(r, at, "it is cut, or the length of a record is wrong");
	tag = head[0];
	r->segmented |= tag == RECORD_SEGMENT;
	r->ended |= tag == RECORD_SEGMENTS_END;
	r->next = p.end;
	if (tag == RECORD_HEAP_DUMP || tag == RECORD_SEGMENT) {
		r->dump_end = p.end;
		r->next = at + RECORD_HEAD;
	} else {
		read_record(&p, tag, item);
	}
	return p.cut ? hprof_items_bad(r, at, "a record is too short for what it has") : 1;
}

int hprof_items_next(struct hprof_items *r, struct hprof_item *item)
{
	int got;

	do {
		if (r->next < r->dump_end) {
			hprof_file_seek(r->file, r->next);
			got = read_part(r, r->dump_end, item);
			r->next = hprof_file_tell(r->file);
			if (item->kind >= HPROF_INSTANCE)
				r->next = item->body + item->length;
			return got;
		}
		r->dump_end = 0;
		got = next_record(r, item);
	} while (got > 0 && item->kind == HPROF_END);
	return got;
}

void hprof_items_rewind(struct hprof_items *r)
{
	r->next = HEAD;
	r->dump_end = 0;
}
