// SPDX-License-Identifier: Apache-2.0
/* From an ELF image to a table: finds the sections, decides which entry speaks for which address, collects the rows. */
#include "table.h"

#include "cfi.h"
#include "util/log.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SECTION_MAX (256UL << 20)
#define SEGMENTS_MAX 64
#define PLTS_MAX 8
#define ENTRY_BYTES 64 /* as much as an entry point without CFI is taken to be long */

struct segment {
	uint64_t start;
	uint64_t file_end; /* as far as the file has contents */
	uint64_t end;
	uint64_t offset;
	bool code;
};

struct image {
	Elf *elf;
	bool borrowed; /* the caller's memory, not to be written to */
	struct segment segments[SEGMENTS_MAX];
	size_t segment_count;
	uint64_t eh_header;
	struct cfi_section eh_frame;
	struct cfi_section debug_frame;
	struct machine_plt plts[PLTS_MAX];
	size_t plt_count;
	uint64_t text_base;
	uint64_t data_base;
	uint64_t entry;
};

/* Who speaks for [start, end). */
enum speaker { EH_FRAME, DEBUG_FRAME, PLT, ENTRY };

struct range {
	uint32_t start;
	uint32_t end;
	enum speaker speaker;
	uint32_t index;
};

struct ranges {
	struct range *list;
	size_t count;
};

/* ---- the image ---- */

static const struct segment *segment_of(const struct image *image, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < image->segment_count; i++)
		if (start >= image->segments[i].start && end <= image->segments[i].end && start < end)
			return &image->segments[i];
	return NULL;
}

static bool image_is_code(void *arg, uint64_t start, uint64_t end)
{
	const struct segment *segment = segment_of(arg, start, end);

	return segment && segment->code;
}

/* `size` bytes of the file at an address of the image, valid as long as the Elf. */
static const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t size)
{
	const struct segment *s = size <= UINT32_MAX ? segment_of(image, address, address + size) : NULL;
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

/* elf_compress changes section headers where they are, which in borrowed memory is not ours to do. */
static Elf_Data *section_data(const struct image *image, Elf_Scn *section, const GElf_Shdr *sh)
{
	GElf_Chdr ch;
	Elf_Data *data;

	if (sh->sh_type == SHT_NOBITS || sh->sh_size == 0 || sh->sh_size > SECTION_MAX)
		return NULL;
	if ((sh->sh_flags & SHF_COMPRESSED) && (image->borrowed || !gelf_getchdr(section, &ch) ||
						ch.ch_size > SECTION_MAX || elf_compress(section, 0, 0) < 0))
		return NULL;
	data = elf_getdata(section, NULL);
	return data && data->d_buf && data->d_size && data->d_size <= SECTION_MAX ? data : NULL;
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
	}
}

/* Without section headers .eh_frame_hdr says where .eh_frame begins; it ends with its segment or a terminator. */
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
	segment = segment_of(image, address, address + 1);
	if (!segment || segment->file_end <= address || segment->file_end - address > SECTION_MAX)
		return;
	image->eh_frame.size = segment->file_end - address;
	image->eh_frame.data = image_bytes(image, address, image->eh_frame.size);
	image->eh_frame.address = address;
	image->eh_frame.eh = image->eh_frame.unbounded = true;
}

static int image_read(struct image *image, Elf *elf, bool borrowed)
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
	for (size_t i = 0; i < 2; i++) {
		frames[i]->text_base = image->text_base;
		frames[i]->data_base = image->data_base;
		frames[i]->load = image_load;
		frames[i]->is_code = image_is_code;
		frames[i]->arg = image;
	}
	return 0;
}

/* ---- who speaks for what ---- */

static int range_compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : (x->index > y->index) - (x->index < y->index);
}

static void ranges_sort(struct ranges *r)
{
	for (size_t i = 1; i < r->count; i++)
		if (range_compare(&r->list[i - 1], &r->list[i]) > 0) {
			qsort(r->list, r->count, sizeof(*r->list), range_compare);
			return;
		}
}

/*
 * Adds to `all` (sorted, disjoint) the parts of `more` that it does not cover yet; among `more` the earlier start wins.
 * `covered` only grows, so there are at most as many parts as ranges in both.
 */
static int ranges_fill(struct ranges *all, struct ranges *more)
{
	size_t base = all->count, next = 0;
	struct range *list;
	uint64_t covered = 0;

	if (!more->count)
		return 0;
	list = realloc(all->list, (base + base + more->count) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	all->list = list;
	ranges_sort(more);
	for (size_t i = 0; i < more->count; i++) {
		struct range r = more->list[i];

		if (covered < r.start)
			covered = r.start;
		while (covered < r.end) {
			while (next < base && list[next].end <= covered)
				next++;
			if (next < base && list[next].start <= covered) {
				covered = list[next].end;
				continue;
			}
			list[all->count] = r;
			list[all->count].start = (uint32_t)covered;
			if (next < base && list[next].start < r.end)
				list[all->count].end = list[next].start;
			covered = list[all->count++].end;
		}
	}
	ranges_sort(all);
	return 0;
}

static int ranges_fill_entries(struct ranges *all, const struct cfi_entries *e, enum speaker speaker)
{
	struct ranges more = {.count = e->fde_count};
	int err = 0;

	if (!e->fde_count)
		return 0;
	more.list = malloc(more.count * sizeof(*more.list));
	if (!more.list)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->fde_count; i++)
		more.list[i] = (struct range){e->fdes[i].start, e->fdes[i].end, speaker, i};
	err = ranges_fill(all, &more);
	free(more.list);
	return err;
}

static int ranges_fill_plts(struct ranges *all, const struct image *image)
{
	struct range list[PLTS_MAX];
	struct ranges more = {.list = list, .count = image->plt_count};

	for (uint32_t i = 0; i < image->plt_count; i++)
		list[i] = (struct range){image->plts[i].start, (uint32_t)(image->plts[i].start + image->plts[i].size),
					 PLT, i};
	return ranges_fill(all, &more);
}

/* Nothing calls a program's first instructions, nor the dynamic loader's: what they call is the thread's first frame.
 */
static int ranges_fill_entry(struct ranges *all, const struct image *image)
{
	struct range entry = {.speaker = ENTRY};
	struct ranges more = {.list = &entry, .count = 1};

	if (!image->entry || image->entry > UINT32_MAX - ENTRY_BYTES ||
	    !segment_of(image, image->entry, image->entry + 1))
		return 0;
	entry.start = (uint32_t)image->entry;
	entry.end = entry.start + ENTRY_BYTES;
	return ranges_fill(all, &more);
}

/* ---- the table ---- */

static int rows_collect(struct cfi_rows *rows, const struct ranges *all, struct cfi_entries *frames,
			const struct image *image)
{
	int err = 0;

	for (size_t i = 0; i < all->count && !err; i++) {
		const struct range *r = &all->list[i];

		if (r->speaker == PLT)
			err = machine_plt_rows(rows, &image->plts[r->index], r->start, r->end);
		else if (r->speaker == ENTRY)
			err = rows_put(rows, r->start, BRAID_CFA_ROOT);
		else
			err = cfi_run(&frames[r->speaker], &frames[r->speaker].fdes[r->index], r->start, r->end, rows);
		if (!err)
			err = rows_put(rows, r->end, BRAID_CFA_NONE);
	}
	return err;
}

/* -ENODATA without a section; a broken one is only an error when the other does not help. */
static int frames_read(struct cfi_entries frames[2], const struct image *image)
{
	const struct cfi_section *sections[] = {&image->eh_frame, &image->debug_frame};
	int result = -ENODATA;

	for (size_t i = 0; i < 2; i++) {
		int err = sections[i]->data ? cfi_entries_read(&frames[i], sections[i]) : -ENODATA;

		if (err == -ENOMEM)
			return err;
		if (result == -ENODATA || err == 0)
			result = err;
	}
	return result;
}

static int build(struct unwind_table **out, Elf *elf, bool borrowed)
{
	struct image *image = calloc(1, sizeof(*image));
	struct cfi_entries frames[2] = {0};
	struct ranges all = {0};
	struct cfi_rows rows = {0};
	int err = -ENOMEM;

	if (!image)
		goto out;
	err = image_read(image, elf, borrowed);
	if (err)
		goto out;
	err = frames_read(frames, image);
	if (err && (err != -ENODATA || !image->plt_count))
		goto out;
	err = ranges_fill_entries(&all, &frames[EH_FRAME], EH_FRAME);
	if (!err)
		err = ranges_fill_entries(&all, &frames[DEBUG_FRAME], DEBUG_FRAME);
	if (!err)
		err = ranges_fill_plts(&all, image);
	if (!err)
		err = ranges_fill_entry(&all, image);
	if (!err)
		err = rows_collect(&rows, &all, frames, image);
	if (err)
		goto out;
	err = table_from_rows(out, rows.rows, rows.count);
	rows.rows = NULL;
out:
	free(rows.rows);
	free(all.list);
	cfi_entries_free(&frames[EH_FRAME]);
	cfi_entries_free(&frames[DEBUG_FRAME]);
	free(image);
	return err;
}

int unwind_table_build(struct unwind_table **out, int fd)
{
	struct stat st;
	Elf *elf;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	elf_version(EV_CURRENT);
	/* Not ELF_C_READ_MMAP: whoever truncates a mapped file would kill us. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return -EBADMSG;
	err = build(out, elf, false);
	elf_end(elf);
	return err;
}

int unwind_table_build_image(struct unwind_table **out, const void *data, size_t size)
{
	Elf *elf;
	int err;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)data, size);
	if (!elf)
		return -EBADMSG;
	err = build(out, elf, true);
	elf_end(elf);
	return err;
}
