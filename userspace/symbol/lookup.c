// SPDX-License-Identifier: Apache-2.0
/* Symbols of an ELF image by their names, functions and data, and the names of data by its address. */
#include "set.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

/* Calls back with every defined symbol of the tables of `type` until told to stop: how many there were. */
typedef bool (*symbol_fn)(void *ctx, const GElf_Sym *sym, const char *name);

static size_t each_of_section(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, symbol_fn fn, void *ctx)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t count = data && data->d_buf ? data->d_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT) : 0, i;

	for (i = 1; i < count && i < INT32_MAX; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (name && name[0] && !fn(ctx, &sym, name))
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

static size_t each_of_debug_file(Elf *elf, const char *root, const char *path, symbol_fn fn, void *ctx)
{
	int fd = debug_file_open(elf, root, path);
	size_t count = 0;
	Elf *debug;

	if (fd < 0)
		return 0;
	debug = elf_begin(fd, ELF_C_READ, NULL);
	if (debug && elf_kind(debug) == ELF_K_ELF)
		count = each_of_type(debug, SHT_SYMTAB, fn, ctx);
	elf_end(debug);
	close(fd);
	return count;
}

static int each_symbol(int fd, const char *root, const char *path, symbol_fn fn, void *ctx)
{
	int err = 0;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		if (!each_of_type(elf, SHT_SYMTAB, fn, ctx) && !each_of_debug_file(elf, root, path, fn, ctx))
			each_of_type(elf, SHT_DYNSYM, fn, ctx);
	} else {
		err = -EBADMSG;
	}
	elf_end(elf);
	return err;
}

struct wanted {
	struct symbol *list;
	size_t count, missing;
};

static bool take_wanted(void *ctx, const GElf_Sym *sym, const char *name)
{
	struct wanted *w = ctx;

	for (size_t i = 0; i < w->count; i++) {
		if (w->list[i].address || strcmp(w->list[i].name, name) != 0)
			continue;
		w->list[i].address = sym->st_value;
		w->list[i].size = sym->st_size;
		w->missing--;
	}
	return w->missing > 0;
}

int symbols_lookup(int fd, const char *root, const char *path, struct symbol *wanted, size_t count)
{
	struct wanted w = {.list = wanted, .count = count, .missing = count};

	return each_symbol(fd, root, path, take_wanted, &w);
}

struct located {
	uint64_t address;
	char *to;
	size_t size;
	bool found;
};

static bool take_located(void *ctx, const GElf_Sym *sym, const char *name)
{
	struct located *l = ctx;

	if (GELF_ST_TYPE(sym->st_info) != STT_OBJECT || l->address - sym->st_value >= sym->st_size)
		return true;
	l->found = strlen(name) < l->size;
	if (l->found)
		strcpy(l->to, name);
	return false;
}

int symbols_data_at(int fd, const char *root, const char *path, uint64_t address, char *to, size_t size)
{
	struct located l = {.address = address, .to = to, .size = size};
	int err = each_symbol(fd, root, path, take_located, &l);

	return err ?: l.found ? 0 : -ENOENT;
}
