// SPDX-License-Identifier: Apache-2.0
/* What the symbol readers share: symbols are added in any order, then made searchable once. */
#ifndef BRAID_SYMBOL_SET_H
#define BRAID_SYMBOL_SET_H

#include "symbol.h"
#include "util/elf_file.h"
#include "util/vec.h"

#include <stdbool.h>

/* A limit for an untrusted file. */
#define SYMBOL_NAME_MAX 8192

enum symbol_binding { SYMBOL_GLOBAL, SYMBOL_WEAK, SYMBOL_LOCAL };

/* Kept small: libjvm.so has 60,000 of them, and qsort() moves what is larger only by way of pointers. */
struct symbol_candidate {
	uint64_t address;
	uint64_t limit;	 /* where a symbol of unknown size ends at the latest: its section's end */
	char *name;	 /* in a blob of the set */
	uint32_t size;	 /* 0: unknown; truncated to fit */
	uint16_t length; /* of the name */
	uint8_t binding; /* enum symbol_binding */
};
_Static_assert(sizeof(struct symbol_candidate) == 32, "candidate");

struct symbol_set {
	VEC(struct symbol_candidate) list;
	size_t sorted;	   /* that many of the first candidates are */
	VEC(char *) blobs; /* of all names */
	bool stripped;
};

/* Memory for names that is valid as long as the set; NULL without memory. */
char *set_blob(struct symbol_set *set, size_t size);
/* Takes names, which are freed even if it fails: -ENOMEM. */
int set_take_names(struct symbol_set *set, char *names);
/* Makes room for `count` candidates at once, unless there is some already. */
int set_reserve(struct symbol_set *set, size_t count);
int set_add(struct symbol_set *set, const struct symbol_candidate *candidate);
/* Sorts by address: -ENOMEM. */
int set_sort(struct symbol_set *set);
/* A number of bytes as a candidate has it. */
uint32_t symbol_size(uint64_t bytes);
/* Whether any of the first `count` candidates, which are sorted, begins at `address`. */
bool set_has(const struct symbol_set *set, size_t count, uint64_t address);
/* The preferred name of those, of which only a few are compared; or NULL. */
const char *set_name_at(const struct symbol_set *set, size_t count, uint64_t address);
/* Copies the names; the caller must still clear the set. */
int set_finish(struct symbols **out, struct symbol_set *set);
void set_clear(struct symbol_set *set);

/* Functions of the symbol tables of `type` (SHT_SYMTAB or SHT_DYNSYM). */
int set_add_elf(struct symbol_set *set, struct elf_source from, Elf *elf, unsigned int type);
/* PLT slots, with the names in their relocations. */
int set_add_plt(struct symbol_set *set, struct elf_source from, Elf *elf);
/* Functions of an xz-compressed ELF image within the image, .gnu_debugdata. */
int set_add_debugdata(struct symbol_set *set, Elf *elf);
/* Functions that only have a frame description, with empty names. */
int set_add_frames(struct symbol_set *set, Elf *elf);

/* Whether a frame description begins at this address. */
bool frames_begin_at(Elf *elf, uint64_t address);
/* Whether one describes the code there, or may do so. */
bool frames_cover(Elf *elf, uint64_t address);
/* The start, and the latest possible end, of the description that covers this address. */
bool frames_around(Elf *elf, uint64_t address, uint64_t *start, uint64_t *end);

/* The separate debug file of the image open at `fd`; an fd, or -ENOENT. */
int debug_file_open(int fd, Elf *elf, const char *root, const char *path);

int build_id_of_elf(Elf *elf, char *hex, size_t size);

#endif
