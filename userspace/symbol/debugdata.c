// SPDX-License-Identifier: Apache-2.0
/* Mini debug info: .gnu_debugdata is an xz-compressed ELF image whose .symtab has the functions that .dynsym lacks. */
#include "set.h"

#include "util/elf_file.h"
#include "util/log.h"

#include <errno.h>
#include <gelf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#define COMPRESSED_MAX (32UL << 20)
#define IMAGE_MAX (128UL << 20)
#define DECODER_BYTES_MAX (128UL << 20)

static Elf_Data *debugdata_find(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && !strcmp(name, ".gnu_debugdata") && sh.sh_type == SHT_PROGBITS &&
		    sh.sh_size <= COMPRESSED_MAX)
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

/* Decompresses into a growing buffer; NULL when the data is invalid, or larger than any real one. */
static void *decode(const Elf_Data *data, size_t *size)
{
	for (size_t capacity = 1UL << 20; capacity <= IMAGE_MAX; capacity *= 4) {
		uint64_t memory = DECODER_BYTES_MAX;
		size_t in = 0;
		void *image = malloc(capacity);
		lzma_ret ret;

		*size = 0;
		if (!image)
			return NULL;
		ret = lzma_stream_buffer_decode(&memory, 0, NULL, data->d_buf, &in, data->d_size, image, size,
						capacity);
		if (ret == LZMA_OK)
			return image;
		free(image);
		if (ret != LZMA_BUF_ERROR)
			break;
	}
	return NULL;
}

int set_add_debugdata(struct symbol_set *set, Elf *elf)
{
	Elf_Data *data = debugdata_find(elf);
	void *image;
	size_t size;
	Elf *inner;
	int err;

	if (!data || !data->d_buf)
		return 0;
	image = decode(data, &size);
	if (!image) {
		log_debug("mini debug info that cannot be unpacked left out");
		return 0;
	}
	err = elf_open(&inner, elf_of_image(image, size))
		      ? 0
		      : set_add_elf(set, elf_of_image(image, size), inner, SHT_SYMTAB);
	elf_end(inner);
	free(image);
	return err;
}
