// SPDX-License-Identifier: Apache-2.0
/* One symbol table of an ELF file, with its names. */
#ifndef BRAID_SYMBOL_SYMTAB_H
#define BRAID_SYMBOL_SYMTAB_H

#include "util/elf_file.h"

#include <stdbool.h>
#include <stddef.h>

/* A table, without its names, of an untrusted file. */
#define SYMBOLS_BYTES_MAX (64UL << 20)

struct symtab {
	char *symbols, *names;
	size_t names_size;
	size_t count; /* the first is none */
	bool wide;    /* of a 64-bit program */
};

/* -EBADMSG: it has no names, or is larger than any real one; -ENOMEM. */
int symtab_read(struct symtab *t, struct elf_source from, Elf *elf, const GElf_Shdr *section);
void symtab_free(struct symtab *t);

/* A defined symbol that has a name. False: it is none. */
bool symtab_get(const struct symtab *t, size_t index, GElf_Sym *sym, char **name);

#endif
