// SPDX-License-Identifier: Apache-2.0
#include "symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int symtab_read(struct symtab *t, struct elf_source from, Elf *elf, const GElf_Shdr *section)
{
	size_t size;
	int err;

	*t = (struct symtab){.wide = gelf_getclass(elf) == ELFCLASS64};
	err = elf_strings_read(&t->names, &t->names_size, from, elf, section->sh_link);
	err = err ?: elf_bytes_read(&t->symbols, &size, from, section, SYMBOLS_BYTES_MAX);
	if (err)
		symtab_free(t);
	else
		t->count = size / (t->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	return err;
}

void symtab_free(struct symtab *t)
{
	free(t->symbols);
	free(t->names);
}

static GElf_Sym widened(const Elf32_Sym *s)
{
	return (GElf_Sym){.st_name = s->st_name,
			  .st_info = s->st_info,
			  .st_other = s->st_other,
			  .st_shndx = s->st_shndx,
			  .st_value = s->st_value,
			  .st_size = s->st_size};
}

bool symtab_get(const struct symtab *t, size_t index, GElf_Sym *sym, char **name)
{
	Elf32_Sym narrow;

	if (t->wide) {
		memcpy(sym, t->symbols + index * sizeof(*sym), sizeof(*sym));
	} else {
		memcpy(&narrow, t->symbols + index * sizeof(narrow), sizeof(narrow));
		*sym = widened(&narrow);
	}
	if (sym->st_shndx == SHN_UNDEF || sym->st_name >= t->names_size)
		return false;
	*name = t->names + sym->st_name;
	return **name;
}
