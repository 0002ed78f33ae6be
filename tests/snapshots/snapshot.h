// SPDX-License-Identifier: Apache-2.0
/* One recorded walk: its start, the memory that it read, and its result. README.md describes the text format. */
#ifndef BRAID_TESTS_SNAPSHOT_H
#define BRAID_TESTS_SNAPSHOT_H

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "host_walk.h"

#define SNAPSHOT_CHUNK 32U
#define SNAPSHOT_LINE 512

/* Memory as far as it is known: aligned chunks, with a bit of `known` for each byte. */
struct snapshot_chunk {
	uint64_t address;
	uint32_t known;
	uint8_t bytes[SNAPSHOT_CHUNK];
};

/* The rule for a module's addresses [from, to). */
struct snapshot_rule {
	uint32_t table;
	uint32_t rule;
	uint64_t from;
	uint64_t to;
};

struct snapshot_frame {
	uint64_t frame;
	char name[160]; /* for people only */
};

struct snapshot {
	char title[160];
	char jdk[64];
	char kind[80];
	struct host_regs regs;
	bool has_layout;
	struct braid_layout layout;
	struct snapshot_chunk *chunks; /* sorted by address */
	size_t chunk_count, chunk_room;
	struct braid_mapping *mappings;
	size_t mapping_count, mapping_room;
	struct snapshot_rule *rules;
	size_t rule_count, rule_room;
	struct snapshot_frame *frames; /* expected, leaf first */
	size_t frame_count, frame_room;
	uint32_t end; /* expected */
};

/* Fields of the layout by name, so that a snapshot stays valid when the record changes. */
struct snapshot_field {
	const char *name;
	size_t offset;
	size_t size;
};

#define SNAPSHOT_FIELD(name)                                                                                           \
	{                                                                                                              \
#name, offsetof(struct braid_layout, name), sizeof(((struct braid_layout *)0)->name)                   \
	}
static const struct snapshot_field snapshot_fields[] = {
	SNAPSHOT_FIELD(flags),
	SNAPSHOT_FIELD(heap_count),
	SNAPSHOT_FIELD(interpreter_start),
	SNAPSHOT_FIELD(interpreter_end),
	SNAPSHOT_FIELD(call_stub_return),
	SNAPSHOT_FIELD(libjvm_base),
	SNAPSHOT_FIELD(heap_block_header),
	SNAPSHOT_FIELD(blob_name),
	SNAPSHOT_FIELD(blob_size),
	SNAPSHOT_FIELD(blob_frame_size),
	SNAPSHOT_FIELD(blob_frame_complete),
	SNAPSHOT_FIELD(blob_code),
	SNAPSHOT_FIELD(nmethod_method),
	SNAPSHOT_FIELD(nmethod_compile_id),
	SNAPSHOT_FIELD(nmethod_comp_level),
	SNAPSHOT_FIELD(nmethod_comp_level_size),
	SNAPSHOT_FIELD(nmethod_deopt_handler),
	SNAPSHOT_FIELD(nmethod_orig_pc_offset),
	SNAPSHOT_FIELD(interp_sender_sp),
	SNAPSHOT_FIELD(interp_method),
	SNAPSHOT_FIELD(interp_bcp),
	SNAPSHOT_FIELD(method_const),
	SNAPSHOT_FIELD(method_access_flags),
	SNAPSHOT_FIELD(const_size),
	SNAPSHOT_FIELD(const_constants),
	SNAPSHOT_FIELD(const_code_size),
	SNAPSHOT_FIELD(const_name_index),
	SNAPSHOT_FIELD(const_signature_index),
	SNAPSHOT_FIELD(pool_size),
	SNAPSHOT_FIELD(pool_holder),
	SNAPSHOT_FIELD(klass_name),
	SNAPSHOT_FIELD(symbol_length),
	SNAPSHOT_FIELD(symbol_body),
	SNAPSHOT_FIELD(thread_anchor_sp),
	SNAPSHOT_FIELD(thread_anchor_fp),
	SNAPSHOT_FIELD(thread_anchor_pc),
	SNAPSHOT_FIELD(thread_osthread),
	SNAPSHOT_FIELD(osthread_tid),
};
#define SNAPSHOT_FIELDS (sizeof(snapshot_fields) / sizeof(snapshot_fields[0]))

static inline uint64_t snapshot_field_get(const struct braid_layout *l, const struct snapshot_field *f)
{
	uint64_t v = 0;

	memcpy(&v, (const char *)l + f->offset, f->size); /* little endian */
	return v;
}

/* Makes room for one more item in a growing array, or returns NULL. */
static inline void *snapshot_grow(void **array, size_t *count, size_t *room, size_t size)
{
	if (*count == *room) {
		size_t more = *room ? *room * 2 : 64;
		void *bigger = realloc(*array, more * size);

		if (!bigger)
			return NULL;
		*array = bigger;
		*room = more;
	}
	return memset((char *)*array + (*count)++ * size, 0, size);
}

#define SNAPSHOT_GROW(s, what)                                                                                         \
	snapshot_grow((void **)&(s)->what##s, &(s)->what##_count, &(s)->what##_room, sizeof(*(s)->what##s))

static inline void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	free(s->chunks);
	free(s->mappings);
	free(s->rules);
	free(s->frames);
	memset(s, 0, sizeof(*s));
}

/* ---- memory ---- */

/* The first chunk at or after an address. */
static inline size_t snapshot_chunk_at(const struct snapshot *s, uint64_t address)
{
	size_t low = 0, high = s->chunk_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->chunks[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static inline struct snapshot_chunk *snapshot_chunk_make(struct snapshot *s, uint64_t address)
{
	size_t at = snapshot_chunk_at(s, address);

	if (at < s->chunk_count && s->chunks[at].address == address)
		return &s->chunks[at];
	if (!SNAPSHOT_GROW(s, chunk))
		return NULL;
	memmove(&s->chunks[at + 1], &s->chunks[at], (s->chunk_count - 1 - at) * sizeof(*s->chunks));
	s->chunks[at] = (struct snapshot_chunk){.address = address};
	return &s->chunks[at];
}

static inline int snapshot_put(struct snapshot *s, uint64_t address, const void *data, size_t size)
{
	const uint8_t *from = data;

	while (size) {
		uint32_t skip = address % SNAPSHOT_CHUNK;
		uint32_t n = SNAPSHOT_CHUNK - skip < size ? SNAPSHOT_CHUNK - skip : (uint32_t)size;
		struct snapshot_chunk *c = snapshot_chunk_make(s, address - skip);

		if (!c)
			return -ENOMEM;
		memcpy(c->bytes + skip, from, n);
		c->known |= (uint32_t)(((1ULL << n) - 1) << skip);
		address += n;
		from += n;
		size -= n;
	}
	return 0;
}

/* -EFAULT when a byte is not known. */
static inline int snapshot_get(const struct snapshot *s, uint64_t address, void *to, size_t size)
{
	uint8_t *out = to;

	while (size) {
		uint32_t skip = address % SNAPSHOT_CHUNK;
		uint32_t n = SNAPSHOT_CHUNK - skip < size ? SNAPSHOT_CHUNK - skip : (uint32_t)size;
		uint32_t mask = (uint32_t)(((1ULL << n) - 1) << skip);
		size_t at = snapshot_chunk_at(s, address - skip);

		if (at >= s->chunk_count || s->chunks[at].address != address - skip ||
		    (s->chunks[at].known & mask) != mask)
			return -EFAULT;
		memcpy(out, s->chunks[at].bytes + skip, n);
		address += n;
		out += n;
		size -= n;
	}
	return 0;
}

/* ---- mappings and rules ---- */

static inline bool snapshot_find_mapping(const struct snapshot *s, uint64_t pc, struct braid_mapping *m)
{
	for (size_t i = 0; i < s->mapping_count; i++)
		if (pc >= s->mappings[i].start && pc < s->mappings[i].end) {
			*m = s->mappings[i];
			return true;
		}
	return false;
}

static inline const struct snapshot_rule *snapshot_find_rule(const struct snapshot *s, uint32_t table, uint64_t vaddr)
{
	for (size_t i = 0; i < s->rule_count; i++)
		if (s->rules[i].table == table && vaddr >= s->rules[i].from && vaddr < s->rules[i].to)
			return &s->rules[i];
	return NULL;
}

static inline int snapshot_add_mapping(struct snapshot *s, const struct braid_mapping *m)
{
	struct braid_mapping known, *to;

	if (snapshot_find_mapping(s, m->start, &known))
		return 0;
	to = SNAPSHOT_GROW(s, mapping);
	if (!to)
		return -ENOMEM;
	*to = *m;
	return 0;
}

static inline int snapshot_add_rule(struct snapshot *s, const struct snapshot_rule *rule)
{
	struct snapshot_rule *to;

	if (snapshot_find_rule(s, rule->table, rule->from))
		return 0;
	to = SNAPSHOT_GROW(s, rule);
	if (!to)
		return -ENOMEM;
	*to = *rule;
	return 0;
}

/* ---- walking in a snapshot ---- */

static inline long snapshot_op_read(void *ctx, void *to, __u32 size, __u64 address)
{
	return snapshot_get(ctx, address, to, size);
}

static inline bool snapshot_op_mapping(void *ctx, __u64 pc, struct braid_mapping *m)
{
	return snapshot_find_mapping(ctx, pc, m);
}

static inline __u32 snapshot_op_rule(void *ctx, const struct braid_mapping *m, __u64 vaddr)
{
	const struct snapshot_rule *r = snapshot_find_rule(ctx, m->table, vaddr);

	return r ? r->rule : BRAID_CFA_NONE;
}

static const struct host_walk_ops snapshot_ops = {
	.read = snapshot_op_read, .mapping = snapshot_op_mapping, .rule = snapshot_op_rule};

/* ---- text ---- */

static inline void snapshot_save_chunk(const struct snapshot_chunk *c, FILE *f)
{
	static const uint8_t zeros[SNAPSHOT_CHUNK];
	uint32_t i = 0;

	if (c->known == UINT32_MAX && memcmp(c->bytes, zeros, sizeof(zeros)) == 0) {
		fprintf(f, "zero %" PRIx64 "\n", c->address);
		return;
	}
	while (i < SNAPSHOT_CHUNK) {
		if (!(c->known >> i & 1)) {
			i++;
			continue;
		}
		fprintf(f, "mem %" PRIx64 " ", c->address + i);
		for (; i < SNAPSHOT_CHUNK && (c->known >> i & 1); i++)
			fprintf(f, "%02x", c->bytes[i]);
		fputc('\n', f);
	}
}

static inline void snapshot_save_layout(const struct braid_layout *l, FILE *f)
{
	for (size_t i = 0; i < SNAPSHOT_FIELDS; i++)
		if (snapshot_field_get(l, &snapshot_fields[i]))
			fprintf(f, "layout %s %" PRIx64 "\n", snapshot_fields[i].name,
				snapshot_field_get(l, &snapshot_fields[i]));
	for (uint32_t i = 0; i < BRAID_CODE_HEAPS; i++)
		if (l->heaps[i].low)
			fprintf(f, "heap %u %" PRIx64 " %" PRIx64 " %" PRIx64 " %x\n", i, (uint64_t)l->heaps[i].low,
				(uint64_t)l->heaps[i].high, (uint64_t)l->heaps[i].segmap, l->heaps[i].log2_segment);
}

static inline int snapshot_save(const struct snapshot *s, FILE *f)
{
	fprintf(f, "braid snapshot 1\ntitle %s\njdk %s\nkind %s\n", s->title, s->jdk, s->kind);
	fprintf(f,
		"pc %" PRIx64 "\nsp %" PRIx64 "\nfp %" PRIx64 "\nrax %" PRIx64 "\nrbx %" PRIx64 "\nr10 %" PRIx64
		"\nr13 %" PRIx64 "\n",
		(uint64_t)s->regs.pc, (uint64_t)s->regs.sp, (uint64_t)s->regs.fp, (uint64_t)s->regs.rax,
		(uint64_t)s->regs.rbx, (uint64_t)s->regs.r10, (uint64_t)s->regs.r13);
	for (size_t i = 0; i < s->frame_count; i++)
		fprintf(f, "frame %" PRIx64 "%s%s\n", s->frames[i].frame, s->frames[i].name[0] ? " # " : "",
			s->frames[i].name);
	fprintf(f, "end %u\n", s->end);
	if (s->has_layout)
		snapshot_save_layout(&s->layout, f);
	for (size_t i = 0; i < s->mapping_count; i++)
		fprintf(f, "map %" PRIx64 " %" PRIx64 " %" PRIx64 " %x\n", (uint64_t)s->mappings[i].start,
			(uint64_t)s->mappings[i].end, (uint64_t)s->mappings[i].bias, s->mappings[i].table);
	for (size_t i = 0; i < s->rule_count; i++)
		fprintf(f, "rule %x %" PRIx64 " %" PRIx64 " %x\n", s->rules[i].table, s->rules[i].from, s->rules[i].to,
			s->rules[i].rule);
	for (size_t i = 0; i < s->chunk_count; i++)
		snapshot_save_chunk(&s->chunks[i], f);
	return ferror(f) ? -EIO : 0;
}

static inline int snapshot_load_mem(struct snapshot *s, const char *line)
{
	uint64_t address;
	int used = 0;

	if (sscanf(line, "%" SCNx64 " %n", &address, &used) != 1 || !used)
		return -EINVAL;
	for (line += used; line[0] && line[1]; line += 2, address++) {
		char pair[3] = {line[0], line[1], 0}, *stop;
		uint8_t byte = (uint8_t)strtoul(pair, &stop, 16);

		if (*stop || snapshot_put(s, address, &byte, 1))
			return -EINVAL;
	}
	return line[0] ? -EINVAL : 0;
}

static inline int snapshot_load_zero(struct snapshot *s, const char *line)
{
	static const uint8_t zeros[SNAPSHOT_CHUNK];
	uint64_t address;

	return sscanf(line, "%" SCNx64, &address) == 1 ? snapshot_put(s, address, zeros, sizeof(zeros)) : -EINVAL;
}

static inline int snapshot_load_layout(struct snapshot *s, const char *name, const char *value)
{
	char *stop;
	uint64_t v = strtoull(value, &stop, 16);

	for (size_t i = 0; i < SNAPSHOT_FIELDS && !*stop; i++)
		if (strcmp(snapshot_fields[i].name, name) == 0) {
			memcpy((char *)&s->layout + snapshot_fields[i].offset, &v, snapshot_fields[i].size);
			s->has_layout = true;
			return 0;
		}
	return -EINVAL;
}

static inline int snapshot_load_heap(struct snapshot *s, const char *line)
{
	uint64_t low, high, segmap;
	uint32_t i, log2;

	if (sscanf(line, "%u %" SCNx64 " %" SCNx64 " %" SCNx64 " %x", &i, &low, &high, &segmap, &log2) != 5 ||
	    i >= BRAID_CODE_HEAPS)
		return -EINVAL;
	s->layout.heaps[i] = (struct braid_code_heap){.low = low, .high = high, .segmap = segmap, .log2_segment = log2};
	return 0;
}

static inline int snapshot_load_map(struct snapshot *s, const char *line)
{
	uint64_t start, end, bias;
	struct braid_mapping *m;
	uint32_t table;

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %x", &start, &end, &bias, &table) != 4)
		return -EINVAL;
	m = SNAPSHOT_GROW(s, mapping);
	if (!m)
		return -ENOMEM;
	*m = (struct braid_mapping){.start = start, .end = end, .bias = bias, .table = table};
	return 0;
}

static inline int snapshot_load_rule(struct snapshot *s, const char *line)
{
	struct snapshot_rule r, *to;

	if (sscanf(line, "%x %" SCNx64 " %" SCNx64 " %x", &r.table, &r.from, &r.to, &r.rule) != 4)
		return -EINVAL;
	to = SNAPSHOT_GROW(s, rule);
	if (!to)
		return -ENOMEM;
	*to = r;
	return 0;
}

static inline int snapshot_load_frame(struct snapshot *s, const char *line)
{
	struct snapshot_frame *f = SNAPSHOT_GROW(s, frame);
	const char *name = strstr(line, " # ");

	if (!f)
		return -ENOMEM;
	if (sscanf(line, "%" SCNx64, &f->frame) != 1)
		return -EINVAL;
	snprintf(f->name, sizeof(f->name), "%s", name ? name + 3 : "");
	return 0;
}

static inline __u64 *snapshot_register(struct snapshot *s, const char *name)
{
	static const struct {
		const char *name;
		size_t offset;
	} regs[] = {
		{"pc", offsetof(struct host_regs, pc)},	  {"sp", offsetof(struct host_regs, sp)},
		{"fp", offsetof(struct host_regs, fp)},	  {"rax", offsetof(struct host_regs, rax)},
		{"rbx", offsetof(struct host_regs, rbx)}, {"r10", offsetof(struct host_regs, r10)},
		{"r13", offsetof(struct host_regs, r13)},
	};

	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++)
		if (strcmp(regs[i].name, name) == 0)
			return (__u64 *)((char *)&s->regs + regs[i].offset);
	return NULL;
}

/* One line, split after its first word. */
static inline int snapshot_load_line(struct snapshot *s, const char *word, char *rest)
{
	__u64 *reg = snapshot_register(s, word);
	char *value;

	if (reg)
		return sscanf(rest, "%llx", reg) == 1 ? 0 : -EINVAL;
	if (strcmp(word, "mem") == 0)
		return snapshot_load_mem(s, rest);
	if (strcmp(word, "zero") == 0)
		return snapshot_load_zero(s, rest);
	if (strcmp(word, "map") == 0)
		return snapshot_load_map(s, rest);
	if (strcmp(word, "rule") == 0)
		return snapshot_load_rule(s, rest);
	if (strcmp(word, "heap") == 0)
		return snapshot_load_heap(s, rest);
	if (strcmp(word, "frame") == 0)
		return snapshot_load_frame(s, rest);
	if (strcmp(word, "end") == 0)
		return sscanf(rest, "%u", &s->end) == 1 ? 0 : -EINVAL;
	if (strcmp(word, "title") == 0)
		return snprintf(s->title, sizeof(s->title), "%s", rest) < 0 ? -EINVAL : 0;
	if (strcmp(word, "jdk") == 0)
		return snprintf(s->jdk, sizeof(s->jdk), "%s", rest) < 0 ? -EINVAL : 0;
	if (strcmp(word, "kind") == 0)
		return snprintf(s->kind, sizeof(s->kind), "%s", rest) < 0 ? -EINVAL : 0;
	value = strchr(rest, ' ');
	if (strcmp(word, "layout") || !value)
		return -EINVAL;
	*value = '\0';
	return snapshot_load_layout(s, rest, value + 1);
}

/* -EINVAL for a malformed line, whose number is then in *line_number. Free `s` in any case. */
static inline int snapshot_load(struct snapshot *s, FILE *f, unsigned int *line_number)
{
	char line[SNAPSHOT_LINE], *space;
	int err = 0;

	memset(s, 0, sizeof(*s));
	*line_number = 1;
	if (!fgets(line, sizeof(line), f) || strcmp(line, "braid snapshot 1\n"))
		return -EINVAL;
	while (!err && fgets(line, sizeof(line), f)) {
		++*line_number;
		line[strcspn(line, "\n")] = '\0';
		space = strchr(line, ' ');
		if (!space)
			return -EINVAL;
		*space = '\0';
		err = snapshot_load_line(s, line, space + 1);
	}
	return err ? err : ferror(f) ? -EIO : 0;
}

#endif
