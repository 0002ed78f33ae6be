// SPDX-License-Identifier: Apache-2.0
/* Inside the symbol tables: symbols are added in any order, then made searchable once. */
#ifndef BRAID_SYMBOL_SET_H
#define BRAID_SYMBOL_SET_H

#include "symbol.h"

#include <libelf.h>
#include <stdbool.h>

enum symbol_binding { SYMBOL_GLOBAL, SYMBOL_WEAK, SYMBOL_LOCAL };

struct symbol_candidate {
	uint64_t address;
	uint64_t size;	/* 0: unknown */
	uint64_t limit; /* where a symbol of unknown size ends at the latest: its section's end */
	char *name;	/* in a blob of the set */
	enum symbol_binding binding;
};

struct symbol_set {
	struct symbol_candidate *list;
	size_t count;
	size_t capacity;
	char **blobs; /* all names */
	size_t blob_count;
	bool stripped;
};

/* Memory for names that lives as long as the symbols; NULL when there is none. */
char *set_blob(struct symbol_set *set, size_t size);
int set_add(struct symbol_set *set, const struct symbol_candidate *candidate);
void set_sort(struct symbol_set *set);
/* The preferred name of what begins at `address`, among the first `count` candidates, which are sorted; or NULL. */
const char *set_name_at(const struct symbol_set *set, size_t count, uint64_t address);
/* Takes over the names; the set is still to be cleared. */
int set_finish(struct symbols **out, struct symbol_set *set);
void set_clear(struct symbol_set *set);

/* Functions of the symbol tables of `type` (SHT_SYMTAB or SHT_DYNSYM). */
int set_add_elf(struct symbol_set *set, Elf *elf, unsigned int type);
/* Jump slots, named after what their relocations name. */
int set_add_plt(struct symbol_set *set, Elf *elf);
/* Functions of an xz-compressed ELF image within the image, .gnu_debugdata. */
int set_add_debugdata(struct symbol_set *set, Elf *elf);
/* Functions that only have a frame description, with empty names. */
int set_add_frames(struct symbol_set *set, Elf *elf);

/* The text of /proc/kallsyms, which becomes the names. -EPERM when every address is 0. */
int symbols_from_kallsyms(struct symbols **out, const char *text, size_t size);

/* The separate debug file of the image; an fd, or -ENOENT. */
int debug_file_open(Elf *elf, const char *root, const char *path);

int build_id_of_elf(Elf *elf, char *hex, size_t size);

#endif
