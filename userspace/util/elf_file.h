// SPDX-License-Identifier: Apache-2.0
/* ELF files of strangers: opened so that reading each of their sections once costs no more than the file is large. */
#ifndef BRAID_UTIL_ELF_FILE_H
#define BRAID_UTIL_ELF_FILE_H

#include <gelf.h>
#include <stddef.h>

/* What to open: a file, or an image in memory. Both stay the caller's, and stay open or there as long as the Elf. */
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
 * Opens it for libelf; it ends with elf_end(). Files are not mapped: a mapped file that somebody truncates would kill
 * this program. -EBADMSG when it is no ELF file, or its sections overlap; -EFBIG when it is larger than what it holds,
 * as sparse files are, or has more sections than programs have.
 */
int elf_open(Elf **out, struct elf_source from);

/* The program headers of a program of this machine, at most `max`; the rest of it may be broken. 0: it is none. */
size_t elf_program_headers(struct elf_source from, Elf64_Phdr *to, size_t max);

/* The strings of a string section, of which the last byte is zero; NULL when it is none, or too large. */
const char *elf_strings(Elf *elf, size_t section, size_t *size);

#endif
