// SPDX-License-Identifier: Apache-2.0
#include "context.h"

#include "util/elf_file.h"

#include <braid/context.h>

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define PART_BYTES_MAX (64UL << 20) /* of a section */

struct context_file {
	Elf *elf;
	Elf_Scn *dynsym;
	const char *names;
	size_t names_size;
	size_t variable; /* number of the symbol; 0: none */
	struct context_symbols *to;
};

static Elf_Scn *section_of_type(Elf *elf, Elf_Scn *after, unsigned int type, GElf_Shdr *sh)
{
	while ((after = elf_nextscn(elf, after)))
		if (gelf_getshdr(after, sh) && sh->sh_type == type && sh->sh_size <= PART_BYTES_MAX)
			return after;
	return NULL;
}

/* Most files have neither name, and are not searched further. */
static bool find_names(struct context_file *f)
{
	GElf_Shdr sh;

	f->dynsym = section_of_type(f->elf, NULL, SHT_DYNSYM, &sh);
	f->names = f->dynsym ? elf_strings(f->elf, sh.sh_link, &f->names_size) : NULL;
	return f->names && (memmem(f->names, f->names_size, BRAID_CONTEXT_TLS, sizeof(BRAID_CONTEXT_TLS)) ||
			    memmem(f->names, f->names_size, BRAID_CONTEXT_TABLE, sizeof(BRAID_CONTEXT_TABLE)));
}

static void take_symbol(struct context_file *f, size_t number, const GElf_Sym *sym)
{
	const char *name = sym->st_name < f->names_size ? f->names + sym->st_name : "";
	bool defined = sym->st_shndx != SHN_UNDEF;

	/* An undefined symbol may have no type. */
	if (strcmp(name, BRAID_CONTEXT_TLS) == 0 && (GELF_ST_TYPE(sym->st_info) == STT_TLS || !defined)) {
		f->variable = number;
		f->to->defined = defined;
		f->to->offset = defined ? sym->st_value : 0;
	} else if (strcmp(name, BRAID_CONTEXT_TABLE) == 0 && defined && GELF_ST_TYPE(sym->st_info) == STT_OBJECT &&
		   sym->st_size == sizeof(struct braid_context_table)) {
		f->to->table = sym->st_value;
	}
}

static void find_symbols(struct context_file *f)
{
	Elf_Data *data = elf_getdata(f->dynsym, NULL);
	size_t count = data && data->d_buf ? data->d_size / gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT) : 0;
	GElf_Sym sym;

	for (size_t i = 1; i < count && i < INT32_MAX; i++)
		if (gelf_getsym(data, (int)i, &sym))
			take_symbol(f, i, &sym);
}

/*
 * Where a block of thread-local data ends at the thread pointer, as that of the main program does (variant II of the
 * ELF TLS ABI), its start is below by its size, rounded up.
 */
static void find_addresses(struct context_file *f)
{
	struct context_symbols *to = f->to;
	uint64_t size = 0, start = 0;
	GElf_Ehdr eh;
	GElf_Phdr ph;
	size_t count;

	if (!gelf_getehdr(f->elf, &eh) || elf_getphdrnum(f->elf, &count))
		return;
	for (size_t i = 0; i < count && gelf_getphdr(f->elf, (int)i, &ph); i++) {
		if (ph.p_type == PT_TLS) {
			start = ph.p_align && !(ph.p_align & (ph.p_align - 1)) ? ph.p_align : 1;
			size = (ph.p_memsz + start - 1) & ~(start - 1);
		}
		if (ph.p_type != PT_LOAD)
			continue;
		if (eh.e_phoff - ph.p_offset < ph.p_filesz)
			to->headers = ph.p_vaddr + (eh.e_phoff - ph.p_offset);
		if (ph.p_vaddr + ph.p_memsz > to->end)
			to->end = ph.p_vaddr + ph.p_memsz;
	}
	to->main_offset = (int64_t)(to->offset - size);
}

static void take_relocation(struct context_file *f, const GElf_Rela *r)
{
	bool own = !GELF_R_SYM(r->r_info) && f->to->defined;
	struct context_slot slot = {.address = r->r_offset, .own = own};

	if (f->to->slot_count == CONTEXT_SLOTS || (!own && GELF_R_SYM(r->r_info) != f->variable))
		return;
	switch (GELF_R_TYPE(r->r_info)) {
	case R_X86_64_DTPMOD64: /* one of a local symbol is of the whole module */
		slot.kind = CONTEXT_MODULE;
		break;
	case R_X86_64_TPOFF64:
		slot.kind = CONTEXT_TPOFF;
		break;
	case R_X86_64_TLSDESC:
		slot.kind = CONTEXT_DESC;
		break;
	default:
		return;
	}
	if (own && slot.kind != CONTEXT_MODULE && (uint64_t)r->r_addend != f->to->offset)
		return;
	f->to->slots[f->to->slot_count++] = slot;
}

static void find_slots(struct context_file *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = section_of_type(f->elf, scn, SHT_RELA, &sh))) {
		Elf_Data *data = sh.sh_link == elf_ndxscn(f->dynsym) ? elf_getdata(scn, NULL) : NULL;
		size_t count = data && data->d_buf ? data->d_size / gelf_fsize(f->elf, ELF_T_RELA, 1, EV_CURRENT) : 0;
		GElf_Rela r;

		for (size_t i = 0; i < count && i < INT32_MAX; i++)
			if (gelf_getrela(data, (int)i, &r))
				take_relocation(f, &r);
	}
}

struct context_symbols *context_symbols_read(int fd)
{
	struct context_symbols found = {0}, *to = NULL;
	struct context_file f = {.to = &found};

	if (!elf_open(&f.elf, elf_of_file(fd)) && gelf_getclass(f.elf) == ELFCLASS64 && find_names(&f)) {
		find_symbols(&f);
		find_addresses(&f);
		if (f.variable)
			find_slots(&f);
		if (f.variable || found.table)
			to = malloc(sizeof(*to));
	}
	if (to)
		*to = found;
	elf_end(f.elf);
	return to;
}
