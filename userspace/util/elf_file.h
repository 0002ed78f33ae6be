// SPDX-License-Identifier: Apache-2.0
/*
 * Opens untrusted ELF files in such a way that reading each section once costs no more than the file's size. Everything
 * that reads ELF files uses it.
 */
#ifndef BRAID_UTIL_ELF_FILE_H
#define BRAID_UTIL_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>

/* What to open: a file, or an image in memory. The caller keeps both until elf_end(). */
struct elf_source {
	int fd; /* when there is no image */
	const void *image;
	size_t size;
};

static inline struct elf_source elf_of_file(int fd)
{
	return (struct elf_source){.fd = fd};
}

static inline struct elf_source elf_of_image(const void *image, size_t size)
{
	return (struct elf_source){.fd = -1, .image = image, .size = size};
}

/*
 * Opens it for libelf; release it with elf_end(). Files are not mapped, because truncating a mapped file would kill
 * this program. -EBADMSG when it is no ELF file, or its sections overlap; -EFBIG when its size exceeds its data, as in
 * sparse files, or when it has more sections than programs have.
 */
int elf_open(Elf **out, struct elf_source from);

/*
 * The program headers of a program of this machine, at most `max`, even if the rest of the file is broken. 0: no such
 * program.
 */
size_t elf_program_headers(struct elf_source from, Elf64_Phdr *to, size_t max);

/* The segment with these flags that has an address: in the file, or with PF_W also in memory alone. */
bool elf_segment_of(Elf *elf, uint64_t address, uint32_t flags, GElf_Phdr *ph);
/* The file's bytes at an address of a segment; NULL when the segment does not have all of them there. */
const void *elf_segment_bytes(Elf *elf, const GElf_Phdr *ph, uint64_t address, size_t size);

/* A section's name, "" when it has none, and its header. */
const char *elf_section_name(Elf *elf, Elf_Scn *scn, GElf_Shdr *sh);
/* The first section of that name, and its header; NULL without one. */
Elf_Scn *elf_section_named(Elf *elf, const char *name, GElf_Shdr *sh);

/* The strings of a string section, whose last byte is zero; NULL when it is no string section, or too large. */
const char *elf_strings(Elf *elf, size_t section, size_t *size);

/*
 * Copies a section's bytes, which the caller may write, and frees with free(). Tables of symbols have megabytes: libelf
 * would keep them until elf_end(), in small pages (see util/pages.h). -EBADMSG: the file does not have them, or they
 * are more than `max`. *to is NULL without any, which is no error, and after an error.
 */
int elf_bytes_read(char **to, size_t *size, struct elf_source from, const GElf_Shdr *section, size_t max);
/* The same of a string section, as of elf_strings(). */
int elf_strings_read(char **to, size_t *size, struct elf_source from, Elf *elf, size_t section);

#endif
