// SPDX-License-Identifier: Apache-2.0
/* Looks up symbols of an ELF file by name, functions and data, and lists the names of data. */
#include "set.h"
#include "symtab.h"

#include "util/search.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Calls back with every defined symbol of the tables of `type` until the callback returns false. Returns the number of
 * calls.
 */
typedef bool (*symbol_fn)(void *ctx, const GElf_Sym *sym, const char *name);

static size_t each_of_section(struct elf_source from, Elf *elf, const GElf_Shdr *sh, symbol_fn fn, void *ctx)
{
	struct symtab table;
	size_t i = 1;

	if (symtab_read(&table, from, elf, sh))
		return 0;
	for (; i < table.count; i++) {
		GElf_Sym sym;
		char *name;

		if (symtab_get(&table, i, &sym, &name) && !fn(ctx, &sym, name))
			break;
	}
	symtab_free(&table);
	return i;
}

static size_t each_of_type(struct elf_source from, Elf *elf, unsigned int type, symbol_fn fn, void *ctx)
{
	Elf_Scn *scn = NULL;
	size_t count = 0;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == type)
			count += each_of_section(from, elf, &sh, fn, ctx);
	}
	return count;
}

static size_t each_of_debug_file(int file, Elf *elf, const char *path, symbol_fn fn, void *ctx)
{
	int fd = debug_file_open(file, elf, "", path);
	size_t count = 0;
	Elf *debug;

	if (fd < 0)
		return 0;
	if (!elf_open(&debug, elf_of_file(fd)))
		count = each_of_type(elf_of_file(fd), debug, SHT_SYMTAB, fn, ctx);
	elf_end(debug);
	close(fd);
	return count;
}

static void each_symbol(int fd, Elf *elf, const char *path, symbol_fn fn, void *ctx)
{
	if (!each_of_type(elf_of_file(fd), elf, SHT_SYMTAB, fn, ctx) && !each_of_debug_file(fd, elf, path, fn, ctx))
		each_of_type(elf_of_file(fd), elf, SHT_DYNSYM, fn, ctx);
}

/* What is looked for, by name: a file may have a hundred thousand symbols, and a caller ask for a hundred. */
struct wanted {
	struct symbol *symbol;
	bool function; /* and no other symbol */
};

struct symbol_query {
	VEC(struct wanted) list;
	size_t missing;
};

static int by_name(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return strcmp(x->symbol->name, y->symbol->name);
}

static int query_add(struct symbol_query *q, struct symbol *symbols, size_t count, bool functions)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		symbols[i].address = symbols[i].size = 0;
		if (symbols[i].name[0])
			err = VEC_PUSH(&q->list, (struct wanted){.symbol = &symbols[i], .function = functions});
	}
	VEC_SORT(&q->list, by_name);
	q->missing = q->list.count;
	return err;
}

static bool query_match(void *ctx, const GElf_Sym *sym, const char *name)
{
	struct symbol_query *q = ctx;
	size_t first = SEARCH(i, 0, q->list.count, strcmp(q->list.at[i].symbol->name, name) < 0);

	for (size_t i = first; i < q->list.count && strcmp(q->list.at[i].symbol->name, name) == 0; i++) {
		struct wanted *w = &q->list.at[i];

		if (w->symbol->address || (w->function && GELF_ST_TYPE(sym->st_info) != STT_FUNC))
			continue;
		w->symbol->address = sym->st_value;
		w->symbol->size = sym->st_size;
		q->missing--;
	}
	return q->missing > 0;
}

/* The file offset of an address in the code; 0 outside of it. */
static uint64_t code_offset(Elf *elf, uint64_t address)
{
	GElf_Phdr ph;

	return elf_segment_of(elf, address, PF_X, &ph) ? address - ph.p_vaddr + ph.p_offset : 0;
}

int symbols_lookup(int fd, const char *path, struct symbol *any, size_t any_count, struct symbol *functions,
		   size_t function_count)
{
	struct symbol_query q = {0};
	Elf *elf = NULL;
	int err = query_add(&q, any, any_count, false);

	err = err ?: query_add(&q, functions, function_count, true);
	err = err ?: elf_open(&elf, elf_of_file(fd));
	if (!err)
		each_symbol(fd, elf, path, query_match, &q);
	for (size_t i = 0; i < function_count; i++)
		functions[i].address = !err && functions[i].address && frames_begin_at(elf, functions[i].address)
					       ? code_offset(elf, functions[i].address)
					       : 0;
	elf_end(elf);
	free(q.list.at);
	return err;
}

int symbols_undescribed(int fd, struct symbol *query)
{
	struct symbol_query q = {0};
	Elf *elf = NULL;
	int err = query_add(&q, query, 1, true);

	err = err ?: elf_open(&elf, elf_of_file(fd));
	if (!err)
		each_of_type(elf_of_file(fd), elf, SHT_SYMTAB, query_match, &q);
	if (!err && q.missing)
		each_of_type(elf_of_file(fd), elf, SHT_DYNSYM, query_match, &q);
	if (!err && query->address)
		query->address =
			query->size && !frames_cover(elf, query->address) ? code_offset(elf, query->address) : 0;
	elf_end(elf);
	free(q.list.at);
	return err;
}

int symbols_exported(int fd, struct symbol *query, size_t count)
{
	struct symbol_query q = {0};
	Elf *elf = NULL;
	int err = query_add(&q, query, count, false);

	err = err ?: elf_open(&elf, elf_of_file(fd));
	if (!err)
		each_of_type(elf_of_file(fd), elf, SHT_DYNSYM, query_match, &q);
	elf_end(elf);
	free(q.list.at);
	return err;
}

struct prefixed {
	const char *prefix;
	bool (*fn)(void *ctx, const struct symbol *symbol);
	void *ctx;
};

static bool take_prefixed(void *ctx, const GElf_Sym *sym, const char *name)
{
	const struct prefixed *p = ctx;

	if (GELF_ST_TYPE(sym->st_info) != STT_OBJECT || strncmp(name, p->prefix, strlen(p->prefix)) != 0)
		return true;
	return p->fn(p->ctx, &(struct symbol){.address = sym->st_value, .size = sym->st_size, .name = name});
}

int symbols_of_data(int fd, const char *path, const char *prefix, bool (*fn)(void *ctx, const struct symbol *symbol),
		    void *ctx)
{
	struct prefixed p = {.prefix = prefix, .fn = fn, .ctx = ctx};
	Elf *elf;
	int err = elf_open(&elf, elf_of_file(fd));

	if (!err)
		each_symbol(fd, elf, path, take_prefixed, &p);
	elf_end(elf);
	return err;
}
