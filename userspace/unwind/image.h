// SPDX-License-Identifier: Apache-2.0
/* An ELF image as the table compiler needs it: its code and the descriptions of that code. */
#ifndef BRAID_UNWIND_IMAGE_H
#define BRAID_UNWIND_IMAGE_H

#include "cfi.h"

#include <gelf.h>
#include <libelf.h>

#define SEGMENTS_MAX 64
#define PLTS_MAX 8
#define SECTIONS_MAX 64
#define IMAGE_SECTION_MAX (64UL << 20)

struct segment {
	uint64_t start;
	uint64_t file_end; /* as far as the file has content */
	uint64_t end;
	uint64_t offset;
	bool code;
};

/* The source of the rules for [start, end). */
enum speaker { EH_FRAME, DEBUG_FRAME, PLT, ENTRY, CODE };

struct range {
	uint32_t start;
	uint32_t end;
	enum speaker speaker;
	uint32_t index;
};

struct image {
	Elf *elf;
	bool borrowed; /* the caller's memory, which must not change */
	struct segment segments[SEGMENTS_MAX];
	size_t segment_count;
	uint64_t eh_header;
	struct cfi_section eh_frame;
	struct cfi_section debug_frame;
	struct machine_plt plts[PLTS_MAX];
	size_t plt_count;
	struct range sections[SECTIONS_MAX];	    /* of code, indexed by their own number */
	const uint8_t *section_bytes[SECTIONS_MAX]; /* NULL: not read */
	size_t code_bytes;			    /* in all that were read */
	size_t section_count;
	VEC(uint32_t) starts; /* starts of functions, from the symbol tables */
	uint64_t text_base;
	uint64_t data_base;
	uint64_t entry;
};

/* The segment that contains [start, end), or NULL. */
const struct segment *image_segment(const struct image *image, uint64_t start, uint64_t end);
/*
 * `size` bytes of the file at an address of the image, valid as long as the Elf; NULL when the file does not have them.
 */
const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t size);
/* Does not take ownership of `elf`. -EBADMSG, -EFBIG, -ENOTSUP as unwind_table_build. */
int image_read(struct image *image, Elf *elf, bool borrowed);

#endif
