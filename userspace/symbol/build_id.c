// SPDX-License-Identifier: Apache-2.0
/* Reads build-ids of ELF files, as hexadecimal text. */
#include "set.h"

#include "util/elf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdio.h>

int build_id_of_elf(Elf *elf, char *hex, size_t size)
{
	const void *bits;
	ssize_t length;

	if (!elf || elf_kind(elf) != ELF_K_ELF)
		return -EBADMSG;
	length = dwelf_elf_gnu_build_id(elf, &bits);
	if (length < 0)
		return -EBADMSG;
	if (length == 0)
		return -ENODATA;
	if ((size_t)length * 2 >= size)
		return -ENOBUFS;
	for (ssize_t i = 0; i < length; i++)
		snprintf(hex + i * 2, 3, "%02x", ((const unsigned char *)bits)[i]);
	return 0;
}

int build_id_of_fd(int fd, char *hex, size_t size)
{
	Elf *elf;
	int err = elf_open(&elf, elf_of_file(fd));

	err = err ?: build_id_of_elf(elf, hex, size);
	elf_end(elf);
	return err;
}

int build_id_of_image(const void *data, size_t image_size, char *hex, size_t size)
{
	Elf *elf;
	int err = elf_open(&elf, elf_of_image(data, image_size));

	err = err ?: build_id_of_elf(elf, hex, size);
	elf_end(elf);
	return err;
}
