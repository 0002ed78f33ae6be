// SPDX-License-Identifier: Apache-2.0
#include "codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <braid/trace.h>

#include "util/varint.h"

/*
 * A record's head is one byte for short records of the most frequent kinds: 1LLLLLKK, length L, kind by K. Otherwise it
 * is 0KKKKKKK and the length as a varint.
 */
#define HEAD_SHORT 0x80U
#define HEAD_SHORT_LEN_MAX 31U

static const uint8_t short_kinds[4] = {TRACE_SAMPLE, TRACE_NODE, TRACE_FRAME, TRACE_CODE_LOAD};

#define HEAD_MAX (1 + VARINT_MAX_BYTES)

/* ---- strings ---- */

/* The length of the well-formed sequence at `s` (The Unicode Standard, table 3-7), 0 when there is none. */
static size_t utf8_sequence(const uint8_t *s, size_t left)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t len;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (left < len || s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

static bool trace_utf8_valid(const char *s, size_t len)
{
	const uint8_t *p = (const uint8_t *)s;

	while (len) {
		uint64_t word;
		size_t n = 8;

		if (len >= 8)
			memcpy(&word, p, 8);
		if (len < 8 || (word & 0x8080808080808080ULL))
			n = utf8_sequence(p, len);
		if (!n)
			return false;
		p += n;
		len -= n;
	}
	return true;
}

void trace_delta_reset(struct trace_delta *d)
{
	d->time_ns = 0;
	for (unsigned kind = 0; kind < TRACE_KIND_LIMIT; kind++)
		if (d->used[kind])
			memset(d->last[kind], 0, sizeof(d->last[kind]));
	memset(d->used, 0, sizeof(d->used));
}

/* ---- encoding ---- */

struct pair_array {
	const uint32_t (*pairs)[2];
	uint32_t count;
};

static struct trace_str field_str(const struct trace_field *f, const struct trace_rec *rec)
{
	struct trace_str s;

	memcpy(&s, (const char *)rec + f->offset, sizeof(s));
	return s;
}

static struct pair_array field_pairs(const struct trace_field *f, const struct trace_rec *rec)
{
	struct pair_array a;

	memcpy(&a.pairs, (const char *)rec + f->offset, sizeof(a.pairs));
	memcpy(&a.count, (const char *)rec + f->count_offset, sizeof(a.count));
	return a;
}

static uint64_t field_number(const struct trace_field *f, const struct trace_rec *rec)
{
	uint64_t wide;
	uint32_t narrow;

	if (f->size == sizeof(wide)) {
		memcpy(&wide, (const char *)rec + f->offset, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, (const char *)rec + f->offset, sizeof(narrow));
	return narrow;
}

int trace_rec_bound(const struct trace_rec *rec, size_t *bound_bytes)
{
	const struct trace_layout *l = trace_layout(rec->kind);
	size_t bound;

	if (!l)
		return -EINVAL;
	bound = HEAD_MAX + (size_t)l->count * VARINT_MAX_BYTES;
	for (unsigned i = 0; i < l->count; i++) {
		const struct trace_field *f = &l->fields[i];

		if (f->type < TRACE_TYPE_STR)
			continue;
		if (f->type == TRACE_TYPE_STR) {
			struct trace_str s = field_str(f, rec);

			if (s.len > BRAID_BLOCK_RAW_MAX || (s.len && !s.str) || !trace_utf8_valid(s.str, s.len))
				return -EINVAL;
			bound += s.len;
		} else {
			struct pair_array a = field_pairs(f, rec);

			/* A pair is two numbers of at most 33 bits. */
			if (a.count && !a.pairs)
				return -EINVAL;
			bound += (size_t)a.count * 10;
		}
	}
	if (bound > BRAID_BLOCK_RAW_MAX)
		return -EINVAL;
	*bound_bytes = bound;
	return 0;
}

static uint8_t *put_str(uint8_t *p, struct trace_str s)
{
	p = varint_put(p, s.len);
	if (s.len)
		memcpy(p, s.str, s.len);
	return p + s.len;
}

static uint8_t *put_pairs(uint8_t *p, struct pair_array a, unsigned type)
{
	uint32_t first = 0, second = 0;

	p = varint_put(p, a.count);
	for (uint32_t i = 0; i < a.count; i++) {
		if (type == TRACE_TYPE_US) {
			p = varint_put(p, a.pairs[i][0]);
			p = varint_put(p, zigzag_encode((uint64_t)(int64_t)(int32_t)a.pairs[i][1]));
			continue;
		}
		p = varint_put(p, zigzag_encode((uint64_t)a.pairs[i][0] - first));
		p = varint_put(p, zigzag_encode((uint64_t)a.pairs[i][1] - second));
		first = a.pairs[i][0];
		second = a.pairs[i][1];
	}
	return p;
}

static uint64_t number_code(struct trace_delta *delta, unsigned type, uint64_t *last, uint64_t value, uint64_t front)
{
	uint64_t previous;

	switch (type) {
	case TRACE_TYPE_S:
		return zigzag_encode(value);
	case TRACE_TYPE_T:
		previous = delta->time_ns;
		delta->time_ns = value;
		return zigzag_encode(value - previous);
	case TRACE_TYPE_D:
		previous = *last;
		*last = value;
		return zigzag_encode(value - previous);
	case TRACE_TYPE_N:
		previous = *last;
		*last = value;
		return zigzag_encode(value - previous - 1);
	case TRACE_TYPE_R:
		return zigzag_encode(value - front);
	case TRACE_TYPE_B:
		return zigzag_encode(front - 1 - value);
	default:
		return value;
	}
}

/* Puts the head before the body, which starts `room` bytes after `out`; returns the record's end. */
static uint8_t *put_head(uint8_t *out, uint32_t kind, int short_kind, size_t room, size_t len)
{
	uint8_t head[HEAD_MAX], *p = head;

	if (short_kind >= 0 && len <= HEAD_SHORT_LEN_MAX) {
		*out = (uint8_t)(HEAD_SHORT | len << 2 | (unsigned)short_kind);
		return out + 1 + len;
	}
	*p++ = (uint8_t)kind;
	p = varint_put(p, len);
	if ((size_t)(p - head) != room)
		memmove(out + (p - head), out + room, len);
	memcpy(out, head, (size_t)(p - head));
	return out + (p - head) + len;
}

static int short_kind_of(uint32_t kind)
{
	for (int i = 0; i < (int)sizeof(short_kinds); i++)
		if (short_kinds[i] == kind)
			return i;
	return -1;
}

uint8_t *trace_rec_encode(struct trace_delta *delta, const struct trace_rec *rec, uint8_t *out)
{
	const struct trace_layout *l = trace_layout(rec->kind);
	int short_kind = short_kind_of(rec->kind);
	size_t room = short_kind >= 0 ? 1 : 2;
	uint8_t *body = out + room, *p = body, *end = body;
	uint64_t *last = delta->last[rec->kind];
	uint64_t value = 0;

	delta->used[rec->kind] = true;
	for (unsigned i = 0; i < l->count; i++) {
		const struct trace_field *f = &l->fields[i];
		uint8_t *from = p;

		if (f->type == TRACE_TYPE_STR) {
			p = put_str(p, field_str(f, rec));
		} else if (f->type >= TRACE_TYPE_US) {
			p = put_pairs(p, field_pairs(f, rec), f->type);
		} else {
			uint64_t front = value;

			value = field_number(f, rec);
			p = varint_put(p, number_code(delta, f->type, &last[i], value, front));
		}
		/* Only a coded 0 starts with a zero byte; such fields are omitted at a record's end. */
		if (*from)
			end = p;
	}
	return put_head(out, rec->kind, short_kind, room, (size_t)(end - body));
}

/* ---- decoding ---- */

const uint8_t *trace_rec_head(const uint8_t *p, const uint8_t *end, uint32_t *kind, size_t *len)
{
	uint64_t length;

	if (p >= end)
		return NULL;
	if (*p & HEAD_SHORT) {
		*kind = short_kinds[*p & 3];
		length = *p >> 2 & HEAD_SHORT_LEN_MAX;
		p++;
	} else {
		*kind = *p;
		p = varint_get(p + 1, end, &length);
	}
	if (!p || length > (size_t)(end - p))
		return NULL;
	*len = (size_t)length;
	return p;
}

struct decoder {
	struct trace_delta *delta;
	uint64_t *last;
	struct trace_rec *rec;
	struct trace_pairs *pairs;
	size_t pairs_used;
	uint64_t front;
};

static uint64_t number_value(struct decoder *d, unsigned type, uint64_t *last, uint64_t code)
{
	switch (type) {
	case TRACE_TYPE_S:
		return zigzag_decode(code);
	case TRACE_TYPE_T:
		return d->delta->time_ns += zigzag_decode(code);
	case TRACE_TYPE_D:
		return *last += zigzag_decode(code);
	case TRACE_TYPE_N:
		return *last += zigzag_decode(code) + 1;
	case TRACE_TYPE_R:
		return d->front + zigzag_decode(code);
	case TRACE_TYPE_B:
		return d->front - 1 - zigzag_decode(code);
	default:
		return code;
	}
}

static int set_number(struct decoder *d, const struct trace_field *f, uint64_t value)
{
	char *at = (char *)d->rec + f->offset;
	uint32_t narrow = (uint32_t)value;

	if (f->size == sizeof(value)) {
		memcpy(at, &value, sizeof(value));
	} else if (f->size) {
		if (value > UINT32_MAX)
			return -EBADMSG;
		memcpy(at, &narrow, sizeof(narrow));
	}
	return 0;
}

/* Reads a string's bytes at `p`; returns what follows them, or NULL. */
static const uint8_t *take_str(struct decoder *d, const struct trace_field *f, uint64_t len, const uint8_t *p,
			       const uint8_t *end)
{
	struct trace_str s = {.str = (const char *)p, .len = (uint32_t)len};

	if (len > (size_t)(end - p))
		return NULL;
	if (f->size) {
		if (!trace_utf8_valid(s.str, s.len))
			return NULL;
		memcpy((char *)d->rec + f->offset, &s, sizeof(s));
	}
	return p + len;
}

static const uint8_t *take_pair(unsigned type, const uint8_t *p, const uint8_t *end, uint64_t pair[2])
{
	uint64_t first, second;

	p = varint_get(p, end, &first);
	if (p)
		p = varint_get(p, end, &second);
	if (!p)
		return NULL;
	if (type == TRACE_TYPE_DD) {
		pair[0] += zigzag_decode(first);
		pair[1] += zigzag_decode(second);
		return pair[0] > UINT32_MAX || pair[1] > UINT32_MAX ? NULL : p;
	}
	pair[0] = first;
	pair[1] = zigzag_decode(second);
	return first > UINT32_MAX || (int64_t)pair[1] < INT32_MIN || (int64_t)pair[1] > INT32_MAX ? NULL : p;
}

static const uint8_t *take_pairs(struct decoder *d, const struct trace_field *f, uint64_t count, const uint8_t *p,
				 const uint8_t *end)
{
	uint32_t(*out)[2] = f->size ? d->pairs->pairs + d->pairs_used : NULL;
	uint32_t count32 = (uint32_t)count;
	uint64_t pair[2] = {0, 0};

	if (count > (size_t)(end - p) / 2)
		return NULL;
	for (uint64_t i = 0; i < count; i++) {
		p = take_pair(f->type, p, end, pair);
		if (!p)
			return NULL;
		if (out) {
			out[i][0] = (uint32_t)pair[0];
			out[i][1] = (uint32_t)pair[1];
		}
	}
	if (out) {
		d->pairs_used += count;
		memcpy((char *)d->rec + f->offset, &out, sizeof(out));
		memcpy((char *)d->rec + f->count_offset, &count32, sizeof(count32));
	}
	return p;
}

/* A record of `bytes` bytes has at most half as many pairs. */
static int pairs_reserve(struct trace_pairs *pairs, size_t bytes)
{
	size_t need = bytes / 2 + 1;
	void *grown;

	if (need <= pairs->capacity)
		return 0;
	grown = realloc(pairs->pairs, need * sizeof(*pairs->pairs));
	if (!grown)
		return -ENOMEM;
	pairs->pairs = grown;
	pairs->capacity = need;
	return 0;
}

/* ---- the most frequent kinds ---- */

bool trace_line_is_frequent(uint32_t kind, const char *line, size_t len)
{
	static const char *const lines[TRACE_KINDS] = {
		[TRACE_NODE] = "13 node frame:n node:n parent:b",
		[TRACE_SAMPLE] = "32 sample thread:n cpu:n node:d time_ns:t weight:d vthread:u event:u span:u text:str",
	};

	return kind < TRACE_KINDS && lines[kind] && strlen(lines[kind]) == len && memcmp(lines[kind], line, len) == 0;
}

/* Reads the varints of a body that has no more than `count`; those that are missing are 0. */
static bool take_codes(const uint8_t *p, const uint8_t *end, uint64_t *codes, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		codes[i] = 0;
		if (p < end && !(p = varint_get(p, end, &codes[i])))
			return false;
	}
	return p == end;
}

static bool decode_node(struct trace_delta *delta, const uint8_t *p, const uint8_t *end, struct trace_node *node)
{
	uint64_t *last = delta->last[TRACE_NODE], codes[3], frame, id, parent;

	if (!take_codes(p, end, codes, 3))
		return false;
	frame = last[0] + zigzag_decode(codes[0]) + 1;
	id = last[1] + zigzag_decode(codes[1]) + 1;
	parent = id - 1 - zigzag_decode(codes[2]);
	if ((frame | id | parent) > UINT32_MAX)
		return false;
	last[0] = frame;
	last[1] = id;
	*node = (struct trace_node){.node = (uint32_t)id, .parent = (uint32_t)parent, .frame = (uint32_t)frame};
	return true;
}

static bool decode_sample(struct trace_delta *delta, const uint8_t *p, const uint8_t *end, struct trace_sample *sample)
{
	uint64_t *last = delta->last[TRACE_SAMPLE], codes[8], thread, cpu, node;

	if (!take_codes(p, end, codes, 8))
		return false;
	thread = last[0] + zigzag_decode(codes[0]) + 1;
	cpu = last[1] + zigzag_decode(codes[1]) + 1;
	node = last[2] + zigzag_decode(codes[2]);
	if ((thread | cpu | node | codes[5] | codes[6] | codes[7]) > UINT32_MAX)
		return false;
	last[0] = thread;
	last[1] = cpu;
	last[2] = node;
	delta->time_ns += zigzag_decode(codes[3]);
	last[4] += zigzag_decode(codes[4]);
	*sample = (struct trace_sample){.time_ns = delta->time_ns,
					.thread = (uint32_t)thread,
					.cpu = (uint32_t)cpu,
					.node = (uint32_t)node,
					.weight = last[4],
					.vthread = (uint32_t)codes[5],
					.event = (uint32_t)codes[6],
					.span = (uint32_t)codes[7],
					.text = {.str = (const char *)end}};
	return true;
}

/* False, with nothing changed: it is none of them, or is unusual. */
static bool decode_frequent(const struct trace_layout *l, struct trace_delta *delta, uint32_t kind, const uint8_t *p,
			    const uint8_t *end, struct trace_rec *rec)
{
	if (!l->frequent ||
	    !(kind == TRACE_NODE ? decode_node(delta, p, end, &rec->node) : decode_sample(delta, p, end, &rec->sample)))
		return false;
	rec->kind = kind;
	return true;
}

int trace_rec_decode(const struct trace_schema *schema, struct trace_delta *delta, uint32_t kind, const uint8_t *p,
		     const uint8_t *end, struct trace_rec *rec, struct trace_pairs *pairs, bool *newer)
{
	const struct trace_layout *l = &schema->layouts[kind];
	struct decoder d = {.delta = delta, .last = delta->last[kind], .rec = rec, .pairs = pairs};
	int err;

	*newer = false;
	delta->used[kind] = true;
	if (decode_frequent(l, delta, kind, p, end, rec))
		return 1;
	err = l->has_array ? pairs_reserve(pairs, (size_t)(end - p)) : 0;
	if (err)
		return err;
	memset(rec, 0, l->rec_size);
	rec->kind = kind;
	for (unsigned i = 0; i < l->count; i++) {
		const struct trace_field *f = &l->fields[i];
		uint64_t code = 0;

		if (p < end) {
			p = varint_get(p, end, &code);
			if (!p)
				return -EBADMSG;
		}
		if (f->type == TRACE_TYPE_STR) {
			p = take_str(&d, f, code, p, end);
		} else if (f->type >= TRACE_TYPE_US) {
			p = take_pairs(&d, f, code, p, end);
		} else {
			d.front = number_value(&d, f->type, &d.last[i], code);
			if (set_number(&d, f, d.front))
				return -EBADMSG;
		}
		if (!p)
			return -EBADMSG;
	}
	*newer = l->newer || p < end;
	return l->rec_size ? 1 : 0;
}
