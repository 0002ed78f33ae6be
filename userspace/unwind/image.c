// SPDX-License-Identifier: Apache-2.0
#include "image.h"

#include "util/log.h"

#include <errno.h>
#include <string.h>

const struct segment *image_segment(const struct image *image, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < image->segment_count; i++)
		if (start >= image->segments[i].start && end <= image->segments[i].end && start < end)
			return &image->segments[i];
	return NULL;
}

static bool image_is_code(void *arg, uint64_t start, uint64_t end)
{
	const struct segment *segment = image_segment(arg, start, end);

	return segment && segment->code;
}

const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t size)
{
	const struct segment *s = size <= IMAGE_SECTION_MAX ? image_segment(image, address, address + size) : NULL;
	Elf_Data *data;

	if (!s || address + size > s->file_end || s->offset > INT64_MAX - UINT32_MAX)
		return NULL;
	data = elf_getdata_rawchunk(image->elf, (int64_t)(s->offset + (address - s->start)), size, ELF_T_BYTE);
	return data && data->d_size >= size ? data->d_buf : NULL;
}

static int image_load(void *arg, uint64_t address, uint64_t *value)
{
	const uint8_t *at = address <= UINT32_MAX ? image_bytes(arg, address, sizeof(*value)) : NULL;

	if (!at)
		return -ENODATA;
	memcpy(value, at, sizeof(*value));
	return 0;
}

static int segments_read(struct image *image)
{
	size_t count;

	if (elf_getphdrnum(image->elf, &count))
		return -EBADMSG;
	for (size_t i = 0; i < count; i++) {
		struct segment *s = &image->segments[image->segment_count];
		GElf_Phdr ph;

		if (!gelf_getphdr(image->elf, (int)i, &ph))
			return -EBADMSG;
		if (ph.p_type == PT_GNU_EH_FRAME)
			image->eh_header = ph.p_vaddr;
		if (ph.p_type != PT_LOAD || image->segment_count == SEGMENTS_MAX)
			continue;
		if (ph.p_vaddr > UINT32_MAX || ph.p_memsz > UINT32_MAX - ph.p_vaddr)
			return -EFBIG;
		s->start = ph.p_vaddr;
		s->end = ph.p_vaddr + ph.p_memsz;
		s->file_end = ph.p_vaddr + (ph.p_filesz < ph.p_memsz ? ph.p_filesz : ph.p_memsz);
		s->offset = ph.p_offset;
		s->code = ph.p_flags & PF_X;
		image->segment_count++;
	}
	return 0;
}

/* elf_compress changes section headers in place, and borrowed memory must not change. */
static Elf_Data *section_data(const struct image *image, Elf_Scn *section, const GElf_Shdr *sh)
{
	GElf_Chdr ch;
	Elf_Data *data;

	if (sh->sh_type == SHT_NOBITS || sh->sh_size == 0 || sh->sh_size > IMAGE_SECTION_MAX)
		return NULL;
	if ((sh->sh_flags & SHF_COMPRESSED) && (image->borrowed || !gelf_getchdr(section, &ch) ||
						ch.ch_size > IMAGE_SECTION_MAX || elf_compress(section, 0, 0) < 0))
		return NULL;
	data = elf_getdata(section, NULL);
	return data && data->d_buf && data->d_size && data->d_size <= IMAGE_SECTION_MAX ? data : NULL;
}

static void plt_add(struct image *image, const char *name, const GElf_Shdr *sh, Elf_Scn *section)
{
	struct machine_plt *plt = &image->plts[image->plt_count];
	Elf_Data *data;

	if (image->plt_count == PLTS_MAX || !sh->sh_size || sh->sh_addr > UINT32_MAX || sh->sh_size > UINT32_MAX ||
	    !image_is_code(image, sh->sh_addr, sh->sh_addr + sh->sh_size))
		return;
	data = section_data(image, section, sh);
	if (!data || data->d_size < sh->sh_size)
		return;
	*plt = (struct machine_plt){
		.name = name, .start = (uint32_t)sh->sh_addr, .code = data->d_buf, .size = sh->sh_size};
	if (machine_plt_known(plt))
		image->plt_count++;
}

static void cfi_section_set(const struct image *image, struct cfi_section *s, Elf_Scn *section, const GElf_Shdr *sh)
{
	Elf_Data *data = section_data(image, section, sh);

	if (!data)
		return;
	s->data = data->d_buf;
	s->size = data->d_size;
	s->address = sh->sh_addr;
	s->eh = s == &image->eh_frame;
}

static void code_add(struct image *image, uint64_t start, uint64_t size)
{
	if (image->section_count < SECTIONS_MAX && size && start <= UINT32_MAX && size <= UINT32_MAX - start &&
	    image_is_code(image, start, start + size))
		image->sections[image->section_count++] =
			(struct range){.start = (uint32_t)start, .end = (uint32_t)(start + size), .speaker = CODE};
}

static void sections_read(struct image *image)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(image->elf, &names))
		return;
	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr sh;
		const char *name;

		if (!gelf_getshdr(section, &sh))
			continue;
		name = elf_strptr(image->elf, names, sh.sh_name);
		if (!name)
			continue;
		if (!strcmp(name, ".eh_frame"))
			cfi_section_set(image, &image->eh_frame, section, &sh);
		else if (!strcmp(name, ".debug_frame"))
			cfi_section_set(image, &image->debug_frame, section, &sh);
		else if (!strcmp(name, ".text"))
			image->text_base = sh.sh_addr;
		else if (!strcmp(name, ".got.plt") || (!strcmp(name, ".got") && !image->data_base))
			image->data_base = sh.sh_addr;
		else if (sh.sh_flags & SHF_EXECINSTR)
			plt_add(image, name, &sh, section);
		if (sh.sh_flags & SHF_EXECINSTR)
			code_add(image, sh.sh_addr, sh.sh_size);
	}
}

/* Without section headers, .eh_frame_hdr has the start of .eh_frame; it ends with its segment or a terminator. */
static void eh_frame_from_header(struct image *image)
{
	struct cfi_section header = {.address = image->eh_header,
				     .data_base = image->eh_header,
				     .load = image_load,
				     .is_code = image_is_code,
				     .arg = image};
	const struct segment *segment;
	struct cfi_bytes b;
	uint64_t address;
	uint8_t encoding;

	header.data = image->eh_header <= UINT32_MAX ? image_bytes(image, image->eh_header, 12) : NULL;
	if (!header.data || header.data[0] != 1)
		return;
	encoding = header.data[1];
	b = (struct cfi_bytes){header.data + 4, header.data + 12, false};
	address = cfi_pointer(&b, encoding, &header, 0);
	if (b.bad || address > UINT32_MAX)
		return;
	segment = image_segment(image, address, address + 1);
	if (!segment || segment->file_end <= address || segment->file_end - address > IMAGE_SECTION_MAX)
		return;
	image->eh_frame.size = segment->file_end - address;
	image->eh_frame.data = image_bytes(image, address, image->eh_frame.size);
	image->eh_frame.address = address;
	image->eh_frame.eh = image->eh_frame.unbounded = true;
}

static void code_from_segments(struct image *image)
{
	for (size_t i = 0; i < image->segment_count; i++)
		if (image->segments[i].code && image->segments[i].file_end > image->segments[i].start)
			code_add(image, image->segments[i].start,
				 image->segments[i].file_end - image->segments[i].start);
}

int image_read(struct image *image, Elf *elf, bool borrowed)
{
	struct cfi_section *frames[] = {&image->eh_frame, &image->debug_frame};
	GElf_Ehdr eh;
	int err;

	image->elf = elf;
	image->borrowed = borrowed;
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh))
		return -EBADMSG;
	if (eh.e_machine != machine_elf || eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (eh.e_type != ET_DYN && eh.e_type != ET_EXEC)) {
		log_debug("no unwind table: not a program or library for %s", machine_name);
		return -ENOTSUP;
	}
	image->entry = eh.e_entry;
	err = segments_read(image);
	if (err)
		return err;
	sections_read(image);
	if (!image->eh_frame.data && image->eh_header)
		eh_frame_from_header(image);
	if (!image->section_count)
		code_from_segments(image);
	for (size_t i = 0; i < image->section_count; i++)
		image->sections[i].index = (uint32_t)i;
	for (size_t i = 0; i < 2; i++) {
		frames[i]->text_base = image->text_base;
		frames[i]->data_base = image->data_base;
		frames[i]->load = image_load;
		frames[i]->is_code = image_is_code;
		frames[i]->arg = image;
	}
	return 0;
}
