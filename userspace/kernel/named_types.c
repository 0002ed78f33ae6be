// SPDX-License-Identifier: Apache-2.0
#include "named_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Which types are copied: their ids follow the order in which they are met. */
struct choice {
	const struct btf *kernel;
	uint32_t *ids;	      /* by the kernel's: that of the copy, or 0 */
	uint32_t *kernel_ids; /* by that of the copy; [0] is 0 */
	uint32_t count;	      /* of them */
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of the structures, sorted; NULL: no memory. A name with a flavour is there without it, too: its structure differs between kernels. */
static const char **names_of(const struct btf *programs, uint32_t *count)
{
	uint32_t types = btf__type_cnt(programs);
	const char **names = calloc(types, sizeof(*names));

	*count = 0;
	for (uint32_t id = 1; names && id < types; id++) {
		const struct btf_type *t = btf__type_by_id(programs, id);

		if (btf_is_struct(t) && t->name_off)
			names[(*count)++] = btf__name_by_offset(programs, t->name_off);
	}
	if (names)
		qsort(names, *count, sizeof(*names), by_name);
	return names;
}

static void choose(struct choice *c, uint32_t id)
{
	if (!id || c->ids[id])
		return;
	c->ids[id] = c->count;
	c->kernel_ids[c->count++] = id;
}

static int choose_named(struct choice *c, const struct btf *programs)
{
	uint32_t types = btf__type_cnt(c->kernel), count;
	const char **names = names_of(programs, &count);

	if (!names)
		return -ENOMEM;
	for (uint32_t id = 1; id < types; id++) {
		const struct btf_type *t = btf__type_by_id(c->kernel, id);
		const char *name = btf_is_struct(t) ? btf__name_by_offset(c->kernel, t->name_off) : "";

		if (bsearch(&name, names, count, sizeof(*names), by_name))
			choose(c, id);
	}
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

static void choose_parts(struct choice *c)
{
	const uint32_t *part;

	for (uint32_t next = 1; next < c->count; next++) {
		const struct btf_type *t = btf__type_by_id(c->kernel, c->kernel_ids[next]);

		for (uint32_t i = 0; (part = part_of(t, i)); i++)
			choose(c, *part);
	}
}

static int copy_chosen(const struct choice *c, struct btf *out)
{
	uint32_t *part;

	for (uint32_t id = 1; id < c->count; id++) {
		int err = btf__add_type(out, c->kernel, btf__type_by_id(c->kernel, c->kernel_ids[id]));
		struct btf_type *t;

		if (err < 0)
			return err;
		t = (struct btf_type *)btf__type_by_id(out, id);
		for (uint32_t i = 0; (part = part_of(t, i)); i++)
			*part = c->ids[*part];
		if (btf_is_ptr(t))
			t->type = 0;
	}
	return 0;
}

int named_types_make(const struct btf *kernel, const struct btf *programs, struct named_types *out)
{
	uint32_t types = btf__type_cnt(kernel);
	struct choice c = {kernel, calloc(types, sizeof(*c.ids)), calloc(types, sizeof(*c.kernel_ids)), 1};
	int err = c.ids && c.kernel_ids ? choose_named(&c, programs) : -ENOMEM;

	*out = (struct named_types){.btf = err ? NULL : btf__new_empty(), .kernel_ids = c.kernel_ids};
	err = err ?: out->btf ? 0 : -errno;
	if (!err) {
		choose_parts(&c);
		err = copy_chosen(&c, out->btf);
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
