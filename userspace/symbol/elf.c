// SPDX-License-Identifier: Apache-2.0
/* Reads the functions of an ELF image, and selects the symbol table: its own or its debug file's. */
#include "set.h"
#include "symtab.h"

#include "util/stint.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct section {
	uint64_t end;
	bool code;
};

static int sections_read(Elf *elf, struct section **out, size_t *count)
{
	Elf_Scn *scn = NULL;

	if (elf_getshdrnum(elf, count))
		return -EBADMSG;
	*out = calloc(*count + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	while ((scn = elf_nextscn(elf, scn))) {
		size_t index = elf_ndxscn(scn);
		GElf_Shdr sh;

		if (index >= *count || !gelf_getshdr(scn, &sh))
			continue;
		(*out)[index].code = sh.sh_flags & SHF_EXECINSTR;
		if (__builtin_add_overflow(sh.sh_addr, sh.sh_size, &(*out)[index].end))
			(*out)[index].end = UINT64_MAX;
	}
	return 0;
}

static bool is_function(const GElf_Sym *sym, const char *name, const struct section *section)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);

	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return !section || section->code;
	/* Assembler functions; names that begin with .L or $ are the tools' own labels. */
	return type == STT_NOTYPE && section && section->code && name[0] != '$' && strncmp(name, ".L", 2) != 0;
}

static enum symbol_binding binding_of(const GElf_Sym *sym)
{
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_LOCAL:
		return SYMBOL_LOCAL;
	case STB_WEAK:
		return SYMBOL_WEAK;
	default:
		return SYMBOL_GLOBAL;
	}
}

/*
 * Functions with the same name share its bytes, and a name may be the end of another. All names together are still at
 * most this many times their table.
 */
#define NAMES_SHARED 8
#define NAMES_BYTES_MIN (1UL << 20)
#define NAMES_BYTES_MAX (96UL << 20)

/*
 * False when the name is longer than any real one, or when *room is used up because there are more names than in a real
 * table.
 */
static bool name_taken(const char *name, size_t *length, size_t *room)
{
	*length = strnlen(name, SYMBOL_NAME_MAX);
	*room = *length < *room ? *room - *length : 0;
	return *length < SYMBOL_NAME_MAX || !*room;
}

static int add_functions(struct symbol_set *set, const struct symtab *table, const struct section *sections,
			 size_t section_count)
{
	size_t room = table->names_size * NAMES_SHARED + NAMES_BYTES_MIN;
	int err = 0;

	room = room < NAMES_BYTES_MAX ? room : NAMES_BYTES_MAX;
	for (size_t i = 1; i < table->count && !err; i++) {
		const struct section *section = NULL;
		GElf_Sym sym;
		size_t length;
		char *name;

		if (stint_over())
			return -ETIME;
		if (!symtab_get(table, i, &sym, &name))
			continue;
		if (sym.st_shndx < section_count && sym.st_shndx < SHN_LORESERVE)
			section = &sections[sym.st_shndx];
		if (!is_function(&sym, name, section) || !name_taken(name, &length, &room))
			continue;
		if (!room)
			return -EBADMSG;
		err = set_add(set, &(struct symbol_candidate){
					   .address = sym.st_value,
					   .limit = section ? section->end : sym.st_value,
					   .name = name,
					   .size = symbol_size(sym.st_size),
					   .length = (uint16_t)length,
					   .binding = binding_of(&sym),
				   });
	}
	return err;
}

static int add_table(struct symbol_set *set, struct elf_source from, Elf *elf, const GElf_Shdr *sh,
		     const struct section *sections, size_t section_count)
{
	struct symtab table;
	int err = symtab_read(&table, from, elf, sh);

	if (err)
		return err == -EBADMSG ? 0 : err;
	err = set_reserve(set, table.count);
	err = err ?: add_functions(set, &table, sections, section_count);
	if (!err) {
		err = set_take_names(set, table.names);
		table.names = NULL;
	}
	symtab_free(&table);
	return err;
}

int set_add_elf(struct symbol_set *set, struct elf_source from, Elf *elf, unsigned int type)
{
	struct section *sections = NULL;
	size_t section_count = 0;
	Elf_Scn *scn = NULL;
	int err = sections_read(elf, &sections, &section_count);

	while (!err && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == type)
			err = add_table(set, from, elf, &sh, sections, section_count);
	}
	free(sections);
	return err;
}

static int add_debug_file(struct symbol_set *set, int fd)
{
	Elf *debug;
	int err = 0;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (!elf_open(&debug, elf_of_file(fd)))
		err = set_add_elf(set, elf_of_file(fd), debug, SHT_SYMTAB);
	elf_end(debug);
	return err;
}

/* Searches for the debug file when `debug_fd` is -1 and there is a path. */
static int open_elf(struct symbols **out, struct elf_source from, Elf *elf, int debug_fd, const char *root,
		    const char *path)
{
	struct symbol_set set = {0};
	int err = set_add_elf(&set, from, elf, SHT_SYMTAB), found = -ENOENT;

	if (!err && !set.list.count) {
		if (debug_fd < 0 && path)
			found = debug_file_open(from.fd, elf, root, path);
		err = add_debug_file(&set, debug_fd < 0 ? found : debug_fd);
		if (found >= 0)
			close(found);
	}
	if (!err && !set.list.count) {
		err = set_add_elf(&set, from, elf, SHT_DYNSYM);
		if (!err)
			err = set_add_debugdata(&set, elf);
		set.stripped = true;
	}
	if (!err)
		err = set_add_plt(&set, from, elf);
	if (!err && set.stripped)
		err = set_add_frames(&set, elf);
	if (!err)
		err = set_finish(out, &set);
	set_clear(&set);
	return err;
}

static int open_fd(struct symbols **out, int fd, int debug_fd, const char *root, const char *path)
{
	Elf *elf;
	int err = elf_open(&elf, elf_of_file(fd));

	err = err ?: open_elf(out, elf_of_file(fd), elf, debug_fd, root, path);
	elf_end(elf);
	return err;
}

int symbols_open_elf(struct symbols **out, int fd, const char *root, const char *path)
{
	return open_fd(out, fd, -1, root, path);
}

int symbols_open_with(struct symbols **out, int fd, int debug_fd)
{
	return open_fd(out, fd, debug_fd, NULL, NULL);
}

int symbols_open_image(struct symbols **out, const void *data, size_t size)
{
	Elf *elf;
	int err = elf_open(&elf, elf_of_image(data, size));

	err = err ?: open_elf(out, elf_of_image(data, size), elf, -1, NULL, NULL);
	elf_end(elf);
	return err;
}
