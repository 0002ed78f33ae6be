// SPDX-License-Identifier: Apache-2.0
/*
 * Names PLT slots, for x86-64. A slot has the name in the relocation of the GOT entry through which it jumps. A lazy
 * slot of an IBT program, which only pushes its relocation's number, has the name in that relocation. The linker that
 * made the slots does not matter.
 */
#include "set.h"

#include "util/elf_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLT_BYTES_MAX (1UL << 20)
#define RELA_BYTES_MAX (64UL << 20)
#define NAME_MAX_BYTES 4096
#define NAMES_BYTES_MAX (64UL << 20)

struct slot_name {
	uint64_t got;
	const char *name;  /* in the ELF file's dynamic strings */
	uint64_t resolver; /* of an IFUNC without a name */
};

struct slot_names {
	VEC(struct slot_name) by_got;
	struct slot_name *by_number; /* .rela.plt in its own order */
	size_t number_count;
};

static const char *symbol_name(Elf_Data *symbols, const char *strings, size_t strings_size, size_t index)
{
	GElf_Sym sym;

	if (!index || index > INT32_MAX || !gelf_getsym(symbols, (int)index, &sym) || sym.st_name >= strings_size)
		return NULL;
	return strings + sym.st_name;
}

/* The relocations of one section. */
struct relas {
	char *bytes;
	Elf_Data *symbols;
	const char *strings;
	size_t strings_size, count;
};

static void relas_open(struct relas *r, struct elf_source from, Elf *elf, const GElf_Shdr *sh)
{
	Elf_Scn *symbols_scn = elf_getscn(elf, sh->sh_link);
	GElf_Shdr symbols_sh = {0};
	size_t size;

	*r = (struct relas){0};
	if (!elf_bytes_read(&r->bytes, &size, from, sh, RELA_BYTES_MAX))
		r->count = size / sizeof(Elf64_Rela);
	if (sh->sh_link && symbols_scn && gelf_getshdr(symbols_scn, &symbols_sh))
		r->strings = elf_strings(elf, symbols_sh.sh_link, &r->strings_size);
	if (r->strings)
		r->symbols = elf_getdata(symbols_scn, NULL);
}

/* Zero: it is of no jump slot. */
static struct slot_name slot_of(const struct relas *r, size_t i)
{
	struct slot_name slot = {0};
	Elf64_Rela rela;

	memcpy(&rela, r->bytes + i * sizeof(rela), sizeof(rela));
	switch (GELF_R_TYPE(rela.r_info)) {
	case R_X86_64_JUMP_SLOT:
	case R_X86_64_GLOB_DAT:
		slot.got = rela.r_offset;
		if (r->symbols)
			slot.name = symbol_name(r->symbols, r->strings, r->strings_size, GELF_R_SYM(rela.r_info));
		break;
	case R_X86_64_IRELATIVE:
		slot.got = rela.r_offset;
		slot.resolver = (uint64_t)rela.r_addend;
		break;
	default:
		break;
	}
	return slot;
}

static int by_got(const void *a, const void *b)
{
	const struct slot_name *x = a, *y = b;

	return (x->got > y->got) - (x->got < y->got);
}

/* Most relocations of a library are of no jump slot; only those of .rela.plt have numbers. */
static int names_add(struct slot_names *names, const struct relas *r, bool numbered)
{
	int err = 0;

	if (numbered) {
		names->by_number = calloc(r->count + 1, sizeof(*names->by_number));
		names->number_count = names->by_number ? r->count : 0;
		err = names->by_number ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < r->count && !err; i++) {
		struct slot_name slot = slot_of(r, i);

		if (numbered)
			names->by_number[i] = slot;
		if (slot.name || slot.resolver)
			err = VEC_PUSH(&names->by_got, slot);
	}
	return err;
}

static int plt_names_read(struct slot_names *names, struct elf_source from, Elf *elf)
{
	Elf_Scn *scn = NULL;
	int err = 0;

	while (!err && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *name = elf_section_name(elf, scn, &sh);
		bool plt = !strcmp(name, ".rela.plt");
		struct relas relas;

		if ((!plt && strcmp(name, ".rela.dyn") != 0) || sh.sh_type != SHT_RELA)
			continue;
		relas_open(&relas, from, elf, &sh);
		err = names_add(names, &relas, plt && !names->by_number);
		free(relas.bytes);
	}
	if (!err)
		VEC_SORT(&names->by_got, by_got);
	return err;
}

static uint32_t word_at(const unsigned char *code)
{
	return (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
}

/* Slot code: [endbr64] [bnd] jmp *GOT(%rip), or endbr64; push $number. */
static const struct slot_name *slot_decode(const struct slot_names *names, const unsigned char *code, size_t size,
					   uint64_t address)
{
	bool endbr = size >= 16 && !memcmp(code, "\xf3\x0f\x1e\xfa", 4);
	size_t at = endbr ? 4 : 0;
	struct slot_name key;

	if (endbr && code[at] == 0x68) {
		uint32_t number = word_at(code + at + 1);

		return number < names->number_count ? &names->by_number[number] : NULL;
	}
	if (at < size && code[at] == 0xf2)
		at++;
	if (size < at + 6 || code[at] != 0xff || code[at + 1] != 0x25 || !names->by_got.count)
		return NULL;
	key.got = address + at + 6 + (uint64_t)(int32_t)word_at(code + at + 2);
	return bsearch(&key, names->by_got.at, names->by_got.count, sizeof(key), by_got);
}

/* An IFUNC without a name in its relocation gets the name of its resolver's symbol. */
static const char *plt_name_of(const struct slot_name *slot, const struct symbol_set *set, size_t known)
{
	return slot->name ? slot->name : set_name_at(set, known, slot->resolver);
}

/* The first `known` candidates of the set are sorted functions. */
static int slots_add(struct symbol_set *set, size_t known, const struct slot_names *names, const GElf_Shdr *sh,
		     const unsigned char *code, size_t size, size_t *budget)
{
	size_t step = sh->sh_entsize == 8 ? 8 : 16;
	int err = 0;

	for (size_t at = 0; at + step <= size && !err; at += step) {
		const struct slot_name *slot = slot_decode(names, code + at, size - at, sh->sh_addr + at);
		const char *name = slot ? plt_name_of(slot, set, known) : NULL;
		size_t length = name ? strnlen(name, NAME_MAX_BYTES + 1) : 0;
		char *blob;

		if (!length || length > NAME_MAX_BYTES || length > *budget)
			continue;
		length = strcspn(name, "@");
		*budget -= length;
		blob = set_blob(set, length + sizeof("@plt"));
		if (!blob)
			return -ENOMEM;
		snprintf(blob, length + sizeof("@plt"), "%.*s@plt", (int)length, name);
		err = set_add(set, &(struct symbol_candidate){.address = sh->sh_addr + at,
							      .limit = sh->sh_addr + at,
							      .name = blob,
							      .size = (uint32_t)step,
							      .length = (uint16_t)(length + strlen("@plt")),
							      .binding = SYMBOL_LOCAL});
	}
	return err;
}

static bool is_plt(const char *name)
{
	return !strcmp(name, ".plt") || !strcmp(name, ".plt.sec") || !strcmp(name, ".plt.got") ||
	       !strcmp(name, ".plt.bnd") || !strcmp(name, ".iplt");
}

int set_add_plt(struct symbol_set *set, struct elf_source from, Elf *elf)
{
	struct slot_names names = {0};
	size_t budget = NAMES_BYTES_MAX, known = set->list.count;
	Elf_Scn *scn = NULL;
	GElf_Ehdr eh;
	int err = 0;

	if (!gelf_getehdr(elf, &eh) || eh.e_machine != EM_X86_64 || eh.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	err = set_sort(set);
	err = err ?: plt_names_read(&names, from, elf);
	while (!err && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;

		if (!is_plt(elf_section_name(elf, scn, &sh)) || sh.sh_type != SHT_PROGBITS ||
		    sh.sh_size > PLT_BYTES_MAX)
			continue;
		data = elf_getdata(scn, NULL);
		if (data && data->d_buf)
			err = slots_add(set, known, &names, &sh, data->d_buf, data->d_size, &budget);
	}
	free(names.by_got.at);
	free(names.by_number);
	return err;
}
