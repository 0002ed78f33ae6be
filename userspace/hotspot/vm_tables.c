// SPDX-License-Identifier: Apache-2.0
#include "vm_tables.h"

#include "hotspot.h"
#include "symbol/symbol.h"
#include "util/utf8.h"

#include <braid/layout_fields.h>

#include <stdlib.h>

/* The tables' strings are close together, so one read of a page serves most of them. */
#define PAGES 64

struct reader {
	pid_t pid;
	struct {
		uint64_t address; /* 0: none */
		uint8_t bytes[VM_PAGE];
	} page[PAGES];
};

static const uint8_t *page_at(struct reader *r, uint64_t address)
{
	size_t slot = address / VM_PAGE % PAGES;

	if (r->page[slot].address == address)
		return r->page[slot].bytes;
	r->page[slot].address = 0;
	if (!address || hotspot_read_process(&r->pid, address, r->page[slot].bytes, VM_PAGE))
		return NULL;
	r->page[slot].address = address;
	return r->page[slot].bytes;
}

static int paged_read(void *ctx, uint64_t address, void *to, size_t size)
{
	while (size) {
		size_t within = address % VM_PAGE, n = VM_PAGE - within;
		const uint8_t *page = page_at(ctx, address - within);

		if (!page)
			return -EFAULT;
		n = n < size ? n : size;
		memcpy(to, page + within, n);
		to = (uint8_t *)to + n;
		address += n;
		size -= n;
	}
	return 0;
}

int vm_symbols_find(int fd, uint64_t at[VM_SYMBOLS])
{
	struct symbol wanted[VM_SYMBOLS] = {0};
	int err;

	for (int i = 0; i < VM_SYMBOLS; i++)
		wanted[i].name = vm_symbol_name(i);
	err = symbols_exported(fd, wanted, VM_SYMBOLS);
	for (int i = 0; i < VM_SYMBOLS; i++)
		at[i] = err ? 0 : wanted[i].address;
	return err;
}

int vm_process_read(pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS], struct vm_field *fields,
		    size_t field_count, struct vm_type *types, size_t type_count)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct vm_tables t = {.read = paged_read, .ctx = r, .base = bias};
	int err;

	if (!r)
		return -ENOMEM;
	r->pid = pid;
	for (int i = 0; i < VM_SYMBOLS; i++)
		t.at[i] = at[i] ? bias + at[i] : 0;
	err = vm_tables_read(&t, fields, field_count, types, type_count);
	free(r);
	return err;
}

static long statics_read(void *ctx, void *to, __u32 size, __u64 address)
{
	return hotspot_read_process(ctx, address, to, size);
}

bool vm_statics_read(pid_t pid, const struct braid_statics *v, struct braid_layout *l)
{
	statics_heaps(&pid, v, l);
	statics_interpreter(&pid, v, l);
	return statics_is_whole(l);
}

int vm_layout_read(pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS], struct braid_layout *l,
		   struct braid_statics *v)
{
	struct layout_check unused;
	struct layout_tables t;
	int err;

	memcpy(t.field, layout_fields, sizeof(t.field));
	memcpy(t.type, layout_types, sizeof(t.type));
	err = vm_process_read(pid, bias, at, t.field, LAYOUT_FIELDS, t.type, LAYOUT_TYPES);
	if (err)
		return err;
	*l = (struct braid_layout){.libjvm_base = bias};
	*v = (struct braid_statics){0};
	layout_take(&t, l, v, &unused);
	if (!braid_layout_fits(l))
		l->flags &= ~BRAID_LAYOUT_WALKABLE;
	vm_statics_read(pid, v, l);
	return 0;
}

int vm_strings_read(pid_t pid, uint64_t bias, uint64_t address, size_t count, char **to)
{
	struct vm_tables t = {.read = hotspot_read_process, .ctx = &pid};
	char raw[VM_STRING_MAX], text[VM_STRING_MAX];
	int err = 0;
	size_t i;

	for (i = 0; i < count && !err; i++) {
		uint64_t at;

		to[i] = NULL;
		err = hotspot_read_process(&pid, address + i * 8, &at, sizeof(at)) ? -EFAULT : at < bias ? -EAGAIN : 0;
		if (err || !vm_string_read(&t, at, raw))
			continue;
		utf8_printable(text, sizeof(text), raw, strlen(raw));
		to[i] = strdup(text);
	}
	while (err && i)
		free(to[--i]);
	return err;
}
