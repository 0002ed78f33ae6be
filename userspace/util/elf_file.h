// SPDX-License-Identifier: Apache-2.0
/* ELF files of strangers: opened so that reading each of their sections once costs no more than the file is large. */
#ifndef BRAID_UTIL_ELF_FILE_H
#define BRAID_UTIL_ELF_FILE_H

#include <gelf.h>

/*
 * Opens the file for libelf, without mapping it: a mapped file that somebody truncates would kill this program.
 * -EBADMSG when it is no ELF file, or its sections overlap; -EFBIG when it is larger than what it holds, as sparse
 * files are, or has more sections than programs have.
 */
int elf_file_open(Elf **out, int fd);
/* The same of an image in memory. */
int elf_image_open(Elf **out, const void *data, size_t size);

/* The strings of a string section, of which the last byte is zero; NULL when it is none, or too large. */
const char *elf_strings(Elf *elf, size_t section, size_t *size);

#endif
