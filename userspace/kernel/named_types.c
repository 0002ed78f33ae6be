// SPDX-License-Identifier: Apache-2.0
#include "named_types.h"

#include "kernel_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Which types are copied: their ids follow the order in which they are met. */
struct choice {
	const struct kernel_types *kernel;
	uint32_t *ids;	      /* by the kernel's: that of the copy, or 0 */
	uint32_t *kernel_ids; /* by that of the copy; [0] is 0 */
	uint32_t count;	      /* of them */
};

/*
 * The names of the structures; NULL: no memory. A name with a flavour is there without it, too: its structure differs
 * between kernels.
 */
static struct type_name *names_of(const struct btf *programs, uint32_t *count)
{
	uint32_t types = btf__type_cnt(programs);
	struct type_name *names = calloc(types, sizeof(*names));

	*count = 0;
	for (uint32_t id = 1; names && id < types; id++) {
		const struct btf_type *t = btf__type_by_id(programs, id);

		if (btf_is_struct(t) && t->name_off)
			names[(*count)++] =
				(struct type_name){btf__name_by_offset(programs, t->name_off), BTF_KIND_STRUCT};
	}
	return names;
}

static void choose(struct choice *c, uint32_t id)
{
	if (!id || id > c->kernel->count || c->ids[id])
		return;
	c->ids[id] = c->count;
	c->kernel_ids[c->count++] = id;
}

static void choose_found(void *ctx, const struct type_name *name, uint32_t id)
{
	(void)name;
	choose(ctx, id);
}

static int choose_named(struct choice *c, const struct btf *programs)
{
	uint32_t count;
	struct type_name *names = names_of(programs, &count);

	if (!names)
		return -ENOMEM;
	kernel_types_find(c->kernel, names, count, choose_found, c);
	free(names);
	return 0;
}

/* The i-th of the types that a value of type t consists of; NULL: there are fewer. */
static uint32_t *part_of(const struct btf_type *t, uint32_t i)
{
	switch (btf_kind(t)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return i < btf_vlen(t) ? &btf_members(t)[i].type : NULL;
	case BTF_KIND_ARRAY:
		return i == 0 ? &btf_array(t)->type : i == 1 ? &btf_array(t)->index_type : NULL;
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_TYPE_TAG:
		return i == 0 ? (uint32_t *)&t->type : NULL;
	default:
		return NULL;
	}
}

/* The i-th name of a type: its own, then those of its fields or values; NULL: there are fewer. */
static uint32_t *name_of(struct btf_type *t, uint32_t i)
{
	if (i == 0)
		return &t->name_off;
	if (i > btf_vlen(t))
		return NULL;
	switch (btf_kind(t)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return &btf_members(t)[i - 1].name_off;
	case BTF_KIND_ENUM:
		return &btf_enum(t)[i - 1].name_off;
	case BTF_KIND_ENUM64:
		return &btf_enum64(t)[i - 1].name_off;
	default:
		return NULL;
	}
}

static void choose_parts(struct choice *c)
{
	const uint32_t *part;

	for (uint32_t next = 1; next < c->count; next++) {
		const struct btf_type *t = kernel_types_at(c->kernel, c->kernel_ids[next]);

		for (uint32_t i = 0; (part = part_of(t, i)); i++)
			choose(c, *part);
	}
}

/* The copy: a header, the types, their names. */
struct copy {
	struct btf_header *header;
	char *types, *strings; /* where the next ones go */
};

static void copy_name(const struct choice *c, struct copy *to, uint32_t *name)
{
	const char *text = kernel_types_name(c->kernel, *name);
	char *begin = (char *)(to->header + 1) + to->header->str_off;

	*name = (uint32_t)(*text ? to->strings - begin : 0);
	if (*text)
		to->strings = stpcpy(to->strings, text) + 1;
}

static void copy_type(const struct choice *c, struct copy *to, const struct btf_type *from)
{
	struct btf_type *t = (struct btf_type *)to->types;
	uint32_t *part;

	memcpy(t, from, kernel_types_size(from));
	to->types += kernel_types_size(from);
	for (uint32_t i = 0; (part = part_of(t, i)); i++)
		*part = *part <= c->kernel->count ? c->ids[*part] : 0;
	for (uint32_t i = 0; (part = name_of(t, i)); i++)
		copy_name(c, to, part);
	if (btf_is_ptr(t))
		t->type = 0;
}

/* How long types and names are. */
static struct btf_header measure(const struct choice *c)
{
	struct btf_header h = {.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(h), .str_len = 1};
	const uint32_t *name;

	for (uint32_t id = 1; id < c->count; id++) {
		struct btf_type *t = (struct btf_type *)kernel_types_at(c->kernel, c->kernel_ids[id]);

		h.type_len += kernel_types_size(t);
		for (uint32_t i = 0; (name = name_of(t, i)); i++)
			h.str_len += (uint32_t)strlen(kernel_types_name(c->kernel, *name)) + 1;
	}
	h.str_off = h.type_len;
	return h;
}

static int copy_chosen(const struct choice *c, struct btf **out)
{
	struct btf_header h = measure(c);
	uint32_t size = (uint32_t)sizeof(h) + h.type_len + h.str_len;
	struct copy to = {.header = calloc(1, size)};
	int err;

	if (!to.header)
		return -ENOMEM;
	*to.header = h;
	to.types = (char *)(to.header + 1);
	to.strings = to.types + h.str_off + 1; /* the first name is "" */
	for (uint32_t id = 1; id < c->count; id++)
		copy_type(c, &to, kernel_types_at(c->kernel, c->kernel_ids[id]));
	*out = btf__new(to.header, size);
	err = *out ? 0 : -errno;
	free(to.header);
	return err;
}

int named_types_make(const struct kernel_types *kernel, const struct btf *programs, struct named_types *out)
{
	uint32_t types = kernel->count + 1;
	struct choice c = {kernel, calloc(types, sizeof(*c.ids)), calloc(types, sizeof(*c.kernel_ids)), 1};
	int err = c.ids && c.kernel_ids ? choose_named(&c, programs) : -ENOMEM;

	*out = (struct named_types){.kernel_ids = c.kernel_ids};
	if (!err) {
		choose_parts(&c);
		err = copy_chosen(&c, &out->btf);
	}
	free(c.ids);
	if (err)
		named_types_free(out);
	return err;
}

void named_types_free(struct named_types *t)
{
	btf__free(t->btf);
	free(t->kernel_ids);
	*t = (struct named_types){0};
}

uint32_t named_types_kernel_id(const struct named_types *t, const char *structure)
{
	int id = btf__find_by_name_kind(t->btf, structure, BTF_KIND_STRUCT);

	return id > 0 ? t->kernel_ids[id] : 0;
}
