// SPDX-License-Identifier: Apache-2.0
#include "kernel_types.h"

#include "util/pages.h"
#include "util/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEXED 64 /* types between two whose offsets are noted */

uint32_t kernel_types_size(const struct btf_type *t)
{
	static const struct {
		uint8_t fixed, each; /* bytes that follow, in all and for each of its parts; both 0: none */
	} kinds[] = {
		[BTF_KIND_INT] = {sizeof(uint32_t), 0},
		[BTF_KIND_ARRAY] = {sizeof(struct btf_array), 0},
		[BTF_KIND_STRUCT] = {0, sizeof(struct btf_member)},
		[BTF_KIND_UNION] = {0, sizeof(struct btf_member)},
		[BTF_KIND_ENUM] = {0, sizeof(struct btf_enum)},
		[BTF_KIND_FUNC_PROTO] = {0, sizeof(struct btf_param)},
		[BTF_KIND_VAR] = {sizeof(struct btf_var), 0},
		[BTF_KIND_DATASEC] = {0, sizeof(struct btf_var_secinfo)},
		[BTF_KIND_DECL_TAG] = {sizeof(struct btf_decl_tag), 0},
		[BTF_KIND_ENUM64] = {0, sizeof(struct btf_enum64)}, /* the last of all kinds */
	};
	uint32_t kind = BTF_INFO_KIND(t->info);

	if (kind == BTF_KIND_UNKN || kind >= sizeof(kinds) / sizeof(kinds[0]))
		return 0;
	return (uint32_t)sizeof(*t) + kinds[kind].fixed + BTF_INFO_VLEN(t->info) * kinds[kind].each;
}

/* The type at *offset, which is moved behind it; NULL: at the end, or where no known type is. */
static const struct btf_type *next_type(const struct kernel_types *k, uint32_t *offset)
{
	const struct btf_type *t;
	uint32_t size;

	if (k->types_size - *offset < sizeof(*t))
		return NULL;
	t = (const void *)(k->types + *offset);
	size = kernel_types_size(t);
	if (!size || size > k->types_size - *offset)
		return NULL;
	*offset += size;
	return t;
}

static int note_types(struct kernel_types *k)
{
	uint32_t offset = 0, at;

	k->index = malloc((k->types_size / sizeof(struct btf_type) / INDEXED + 1) * sizeof(*k->index));
	if (!k->index)
		return -ENOMEM;
	for (at = 0; next_type(k, &offset); at = offset) {
		if (k->count % INDEXED == 0)
			k->index[k->count / INDEXED] = at;
		k->count++;
	}
	return offset == k->types_size ? 0 : -EINVAL;
}

int kernel_types_parse(struct kernel_types *k, const void *bytes, size_t size)
{
	const struct btf_header *h = bytes;
	uint64_t rest;

	*k = (struct kernel_types){0};
	if (size < sizeof(*h) || h->magic != BTF_MAGIC || h->hdr_len < sizeof(*h) || h->hdr_len > size)
		return -EINVAL;
	rest = size - h->hdr_len;
	if ((uint64_t)h->type_off + h->type_len > rest || (uint64_t)h->str_off + h->str_len > rest || h->type_off % 4 ||
	    h->hdr_len % 4 || !h->str_len)
		return -EINVAL;
	k->types = (const char *)bytes + h->hdr_len + h->type_off;
	k->types_size = h->type_len;
	k->strings = (const char *)bytes + h->hdr_len + h->str_off;
	k->strings_size = h->str_len;
	return k->strings[k->strings_size - 1] ? -EINVAL : note_types(k);
}

int kernel_types_read(struct kernel_types *k, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct stat st;
	void *pages;

	*k = (struct kernel_types){0};
	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : st.st_size > UINT32_MAX ? -EINVAL : 0;
	pages = err ? NULL : pages_alloc((size_t)st.st_size);
	err = err ?: pages ? read_all(fd, pages, (size_t)st.st_size) : -ENOMEM;
	err = err ?: kernel_types_parse(k, pages, (size_t)st.st_size);
	close(fd);
	k->pages = pages;
	return err;
}

void kernel_types_free(struct kernel_types *k)
{
	free(k->index);
	free(k->pages);
	*k = (struct kernel_types){0};
}

const struct btf_type *kernel_types_at(const struct kernel_types *k, uint32_t id)
{
	const struct btf_type *t;
	uint32_t offset;

	if (!id || id > k->count)
		return NULL;
	offset = k->index[(id - 1) / INDEXED];
	for (uint32_t i = (id - 1) / INDEXED * INDEXED; (t = next_type(k, &offset)) && i < id - 1; i++)
		;
	return t;
}

const char *kernel_types_name(const struct kernel_types *k, uint32_t offset)
{
	return offset < k->strings_size ? k->strings + offset : "";
}

static int by_name(const void *a, const void *b)
{
	const struct type_name *x = a, *y = b;

	return strcmp(x->name, y->name) ?: (x->kind > y->kind) - (x->kind < y->kind);
}

/* Most names differ in their first two characters from all that are looked for. */
static uint16_t begin_of(const char *name)
{
	return (uint16_t)((uint8_t)name[0] << 8 | (name[0] ? (uint8_t)name[1] : 0));
}

void kernel_types_find(const struct kernel_types *k, struct type_name *names, size_t count, kernel_types_fn fn,
		       void *ctx)
{
	uint8_t begins[(UINT16_MAX + 1) / 8] = {0};
	const struct type_name *found;
	const struct btf_type *t;
	uint32_t offset = 0;

	qsort(names, count, sizeof(*names), by_name);
	for (size_t i = 0; i < count; i++)
		begins[begin_of(names[i].name) / 8] |= (uint8_t)(1 << begin_of(names[i].name) % 8);
	for (uint32_t id = 1; (t = next_type(k, &offset)); id++) {
		struct type_name key = {kernel_types_name(k, t->name_off), BTF_INFO_KIND(t->info)};
		uint16_t begin = begin_of(key.name);

		if (!key.name[0] || !(begins[begin / 8] & 1 << begin % 8))
			continue;
		found = bsearch(&key, names, count, sizeof(*names), by_name);
		if (found)
			fn(ctx, found, id);
	}
}
