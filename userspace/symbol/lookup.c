// SPDX-License-Identifier: Apache-2.0
/* Looks up symbols of an ELF file by name, functions and data, and lists the names of data. */
#include "set.h"

#include "util/elf_file.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

/*
 * Calls back with every defined symbol of the tables of `type` until the callback returns false. Returns the number of
 * calls.
 */
typedef bool (*symbol_fn)(void *ctx, const GElf_Sym *sym, const char *name);

static size_t each_of_section(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, symbol_fn fn, void *ctx)
{
	size_t names_size, count, i;
	const char *names = elf_strings(elf, sh->sh_link, &names_size);
	Elf_Data *data = names && sh->sh_size <= SYMBOLS_BYTES_MAX ? elf_getdata(scn, NULL) : NULL;

	count = data && data->d_buf ? data->d_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT) : 0;
	for (i = 1; i < count && i < INT32_MAX; i++) {
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF || sym.st_name >= names_size)
			continue;
		if (names[sym.st_name] && !fn(ctx, &sym, names + sym.st_name))
			break;
	}
	return i;
}

static size_t each_of_type(Elf *elf, unsigned int type, symbol_fn fn, void *ctx)
{
	Elf_Scn *scn = NULL;
	size_t count = 0;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == type)
			count += each_of_section(elf, scn, &sh, fn, ctx);
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
		count = each_of_type(debug, SHT_SYMTAB, fn, ctx);
	elf_end(debug);
	close(fd);
	return count;
}

static int each_symbol(int fd, const char *path, symbol_fn fn, void *ctx)
{
	Elf *elf;
	int err = elf_open(&elf, elf_of_file(fd));

	if (err)
		return err;
	if (!each_of_type(elf, SHT_SYMTAB, fn, ctx) && !each_of_debug_file(fd, elf, path, fn, ctx))
		each_of_type(elf, SHT_DYNSYM, fn, ctx);
	elf_end(elf);
	return 0;
}

struct symbol_query {
	struct symbol *list;
	size_t count, missing;
	bool functions; /* and no other symbols */
};

static bool query_match(void *ctx, const GElf_Sym *sym, const char *name)
{
	struct symbol_query *w = ctx;

	if (w->functions && GELF_ST_TYPE(sym->st_info) != STT_FUNC)
		return true;
	for (size_t i = 0; i < w->count; i++) {
		if (w->list[i].address || strcmp(w->list[i].name, name) != 0)
			continue;
		w->list[i].address = sym->st_value;
		w->list[i].size = sym->st_size;
		w->missing--;
	}
	return w->missing > 0;
}

int symbols_lookup(int fd, const char *path, struct symbol *query, size_t count)
{
	struct symbol_query w = {.list = query, .count = count, .missing = count};

	return each_symbol(fd, path, query_match, &w);
}

/* The file offset of an address in the code; 0 outside of it. */
static uint64_t code_offset(Elf *elf, uint64_t address)
{
	GElf_Phdr ph;

	return elf_segment_of(elf, address, PF_X, &ph) ? address - ph.p_vaddr + ph.p_offset : 0;
}

int symbols_functions(int fd, const char *path, struct symbol *query, size_t count)
{
	struct symbol_query w = {.list = query, .count = count, .missing = count, .functions = true};
	int err = each_symbol(fd, path, query_match, &w);
	Elf *elf;

	if (err)
		return err;
	err = elf_open(&elf, elf_of_file(fd));
	for (size_t i = 0; i < count; i++)
		query[i].address = !err && query[i].address && frames_begin_at(elf, query[i].address)
					   ? code_offset(elf, query[i].address)
					   : 0;
	elf_end(elf);
	return err;
}

int symbols_undescribed(int fd, struct symbol *query)
{
	struct symbol_query w = {.list = query, .count = 1, .missing = 1, .functions = true};
	Elf *elf;
	int err = elf_open(&elf, elf_of_file(fd));

	query->address = 0;
	if (!err)
		each_of_type(elf, SHT_SYMTAB, query_match, &w);
	if (!err && w.missing)
		each_of_type(elf, SHT_DYNSYM, query_match, &w);
	if (!err && query->address)
		query->address =
			query->size && !frames_cover(elf, query->address) ? code_offset(elf, query->address) : 0;
	elf_end(elf);
	return err;
}

int symbols_exported(int fd, struct symbol *query, size_t count)
{
	struct symbol_query w = {.list = query, .count = count, .missing = count};
	Elf *elf;
	int err = elf_open(&elf, elf_of_file(fd));

	if (!err)
		each_of_type(elf, SHT_DYNSYM, query_match, &w);
	elf_end(elf);
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

	return each_symbol(fd, path, take_prefixed, &p);
}
