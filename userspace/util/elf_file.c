// SPDX-License-Identifier: Apache-2.0
#include "elf_file.h"

#include "util/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A compressing file system stores several bytes of a file in one byte of the disk; small files have holes for
 * alignment.
 */
#define DENSE_BYTES (64LL << 20)
#define BYTES_PER_STORED 16
#define SECTIONS_MAX 65535
#define STRINGS_MAX (64UL << 20)
#define NOTES_MAX (4UL << 20)

/* libelf allocates memory for every section when it opens a file, so their number is checked first. */
static bool sections_few(uint64_t table, size_t count, uint64_t first_size)
{
	return !table || count || first_size <= SECTIONS_MAX;
}

/* Reads the bytes at an offset, at most `bytes`. */
static size_t source_read(const struct elf_source *from, void *to, size_t bytes, uint64_t offset)
{
	ssize_t n;

	if (from->image) {
		if (offset >= from->size)
			return 0;
		if (bytes > from->size - offset)
			bytes = from->size - offset;
		memcpy(to, (const char *)from->image + offset, bytes);
		return bytes;
	}
	n = offset > INT64_MAX ? 0 : pread(from->fd, to, bytes, (off_t)offset);
	return n > 0 ? (size_t)n : 0;
}

static int header_check(const struct elf_source *from)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr wide;
		Elf32_Ehdr narrow;
	} eh = {0};
	Elf64_Shdr wide = {0};
	Elf32_Shdr narrow = {0};
	bool few;

	if (source_read(from, &eh, sizeof(eh), 0) < sizeof(eh.narrow) || memcmp(eh.ident, ELFMAG, SELFMAG) != 0)
		return -EBADMSG;
	if (eh.ident[EI_DATA] != ELFDATA2LSB) /* no program of this machine's kind */
		return -EBADMSG;
	if (eh.ident[EI_CLASS] == ELFCLASS64) {
		source_read(from, &wide, sizeof(wide), eh.wide.e_shoff);
		few = sections_few(eh.wide.e_shoff, eh.wide.e_shnum, wide.sh_size) && eh.wide.e_phnum != PN_XNUM;
	} else {
		source_read(from, &narrow, sizeof(narrow), eh.narrow.e_shoff);
		few = sections_few(eh.narrow.e_shoff, eh.narrow.e_shnum, narrow.sh_size) &&
		      eh.narrow.e_phnum != PN_XNUM;
	}
	return few ? 0 : -EFBIG;
}

/* Checks the bytes of all sections, which do not overlap in a linker's output, and of notes without sections. */
static int parts_check(Elf *elf, uint64_t size)
{
	uint64_t left = size * 2, notes = NOTES_MAX;
	Elf_Scn *scn = NULL;
	size_t count = 0;
	GElf_Shdr sh;
	GElf_Phdr ph;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NULL || sh.sh_type == SHT_NOBITS)
			continue;
		if (sh.sh_size > left)
			return -EBADMSG;
		left -= sh.sh_size;
	}
	if (elf_getphdrnum(elf, &count))
		count = 0;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &ph); i++) {
		if (ph.p_type != PT_NOTE)
			continue;
		if (ph.p_filesz > notes)
			return -EBADMSG;
		notes -= ph.p_filesz;
	}
	return 0;
}

/* libelf reads section names to their terminating zero, so the last name must have one. */
static int names_check(Elf *elf)
{
	size_t section, size;

	if (elf_getshdrstrndx(elf, &section) || !section)
		return 0;
	return elf_strings(elf, section, &size) ? 0 : -EBADMSG;
}

static int check(Elf *elf, uint64_t size)
{
	int err = elf && elf_kind(elf) == ELF_K_ELF ? 0 : -EBADMSG;

	err = err ?: parts_check(elf, size);
	return err ?: names_check(elf);
}

/* The size to be read; -EFBIG: the file's size exceeds its data. */
static int source_size(const struct elf_source *from, uint64_t *size)
{
	struct stat st;

	*size = from->size;
	if (from->image)
		return 0;
	if (fstat(from->fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	*size = (uint64_t)st.st_size;
	return st.st_size > DENSE_BYTES && st.st_size / BYTES_PER_STORED > st.st_blocks * 512 ? -EFBIG : 0;
}

int elf_open(Elf **out, struct elf_source from)
{
	uint64_t size;
	int err;

	*out = NULL;
	err = source_size(&from, &size);
	err = err ?: header_check(&from);
	if (err)
		return err;
	elf_version(EV_CURRENT);
	*out = from.image ? elf_memory((char *)from.image, from.size) : elf_begin(from.fd, ELF_C_READ, NULL);
	err = check(*out, size);
	if (!err)
		return 0;
	elf_end(*out);
	*out = NULL;
	return err;
}

size_t elf_program_headers(struct elf_source from, Elf64_Phdr *to, size_t max)
{
	Elf64_Ehdr eh;
	size_t bytes;

	if (source_read(&from, &eh, sizeof(eh), 0) < sizeof(eh) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_machine != EM_X86_64 || eh.e_phentsize != sizeof(*to))
		return 0;
	bytes = (eh.e_phnum < max ? eh.e_phnum : max) * sizeof(*to);
	return source_read(&from, to, bytes, eh.e_phoff) == bytes ? bytes / sizeof(*to) : 0;
}

bool elf_segment_of(Elf *elf, uint64_t address, uint32_t flags, GElf_Phdr *ph)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, ph); i++)
		if (ph->p_type == PT_LOAD && (ph->p_flags & flags) == flags && address >= ph->p_vaddr &&
		    address - ph->p_vaddr < (flags & PF_W ? ph->p_memsz : ph->p_filesz))
			return true;
	return false;
}

const void *elf_segment_bytes(Elf *elf, const GElf_Phdr *ph, uint64_t address, size_t size)
{
	uint64_t from = address - ph->p_vaddr;
	Elf_Data *data;

	if (address < ph->p_vaddr || from > ph->p_filesz || size > ph->p_filesz - from || from > INT64_MAX ||
	    ph->p_offset > INT64_MAX - from)
		return NULL;
	data = elf_getdata_rawchunk(elf, (int64_t)(ph->p_offset + from), size, ELF_T_BYTE);
	return data && data->d_size == size ? data->d_buf : NULL;
}

const char *elf_section_name(Elf *elf, Elf_Scn *scn, GElf_Shdr *sh)
{
	const char *name = NULL;
	size_t names;

	if (!elf_getshdrstrndx(elf, &names) && gelf_getshdr(scn, sh))
		name = elf_strptr(elf, names, sh->sh_name);
	return name ? name : "";
}

Elf_Scn *elf_section_named(Elf *elf, const char *name, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (!strcmp(elf_section_name(elf, scn, sh), name))
			return scn;
	return NULL;
}

const char *elf_strings(Elf *elf, size_t section, size_t *size)
{
	Elf_Scn *scn = elf_getscn(elf, section);
	Elf_Data *data;
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_type != SHT_STRTAB || sh.sh_size > STRINGS_MAX)
		return NULL;
	data = elf_getdata(scn, NULL);
	if (!data || !data->d_buf || !data->d_size || ((const char *)data->d_buf)[data->d_size - 1])
		return NULL;
	*size = data->d_size;
	return data->d_buf;
}

int elf_bytes_read(char **to, size_t *size, struct elf_source from, const GElf_Shdr *section, size_t max)
{
	*to = NULL;
	*size = section->sh_size;
	if (section->sh_type == SHT_NOBITS || section->sh_size > max)
		return -EBADMSG;
	if (!*size)
		return 0;
	*to = pages_alloc(*size);
	if (!*to)
		return -ENOMEM;
	if (source_read(&from, *to, *size, section->sh_offset) == *size)
		return 0;
	free(*to);
	*to = NULL;
	return -EBADMSG;
}

int elf_strings_read(char **to, size_t *size, struct elf_source from, Elf *elf, size_t section)
{
	Elf_Scn *scn = elf_getscn(elf, section);
	GElf_Shdr sh;
	int err;

	*to = NULL;
	if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_type != SHT_STRTAB)
		return -EBADMSG;
	err = elf_bytes_read(to, size, from, &sh, STRINGS_MAX);
	if (err || (*size && !(*to)[*size - 1]))
		return err;
	free(*to);
	*to = NULL;
	return -EBADMSG;
}
