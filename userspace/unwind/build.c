// SPDX-License-Identifier: Apache-2.0
/*
 * Builds a table from an ELF image: finds the sections, decides which entry describes which address, collects the rows.
 */
#include "table.h"

#include "code.h"
#include "image.h"
#include "util/elf_file.h"
#include "util/log.h"
#include "util/search.h"
#include "util/stint.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#define STARTS_MAX (4UL << 20)
#define NAME_BYTES_MAX 8192
#define NAMES_BYTES_MAX (256UL << 20)
#define GAP_MIN 16	       /* smaller gaps are alignment of the next function */
#define CODE_MAX (16UL << 20)  /* the largest piece without CFI that is decoded */
#define CODES_MAX (64UL << 20) /* all sections in which there are any, which may be the same bytes of a small file */
#define FDES_MAX (1U << 21)    /* in both sections */
#define ENTRY_BYTES 64	       /* the assumed size of an entry point without CFI */

typedef VEC(struct range) ranges;

/* ---- who speaks for what ---- */

static int range_compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : (x->index > y->index) - (x->index < y->index);
}

static void ranges_sort(ranges *r)
{
	for (size_t i = 1; i < r->count; i++)
		if (range_compare(&r->at[i - 1], &r->at[i]) > 0) {
			VEC_SORT(r, range_compare);
			return;
		}
}

/*
 * Adds to `all` (sorted, disjoint) the parts of `more` that it does not cover yet; among `more` the earlier start wins.
 * `covered` only grows, so there are at most as many parts as ranges in both.
 */
static int ranges_fill(ranges *all, ranges *more)
{
	size_t base = all->count, next = 0;
	struct range *list;
	uint64_t covered = 0;

	if (!more->count)
		return 0;
	if (VEC_RESERVE(all, base + more->count))
		return -ENOMEM;
	list = all->at;
	ranges_sort(more);
	for (size_t i = 0; i < more->count; i++) {
		struct range r = more->at[i];

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

static int ranges_fill_entries(ranges *all, const struct cfi_entries *e, enum speaker speaker)
{
	ranges more = {0};
	int err = 0;

	for (uint32_t i = 0; i < e->fdes.count && !err; i++)
		err = VEC_PUSH(&more, (struct range){e->fdes.at[i].start, e->fdes.at[i].end, speaker, i});
	err = err ?: ranges_fill(all, &more);
	free(more.at);
	return err;
}

static int ranges_fill_plts(ranges *all, const struct image *image)
{
	struct range list[PLTS_MAX];
	ranges more = {.at = list, .count = image->plt_count};

	for (uint32_t i = 0; i < image->plt_count; i++)
		list[i] = (struct range){image->plts[i].start, (uint32_t)(image->plts[i].start + image->plts[i].size),
					 PLT, i};
	return ranges_fill(all, &more);
}

/*
 * No code calls the first instructions of a program or of the dynamic loader: their function is the thread's first
 * frame.
 */
static int ranges_fill_entry(ranges *all, const struct image *image)
{
	struct range entry = {.speaker = ENTRY};
	ranges more = {.at = &entry, .count = 1};

	if (!image->entry || image->entry > UINT32_MAX - ENTRY_BYTES ||
	    !image_segment(image, image->entry, image->entry + 1))
		return 0;
	entry.start = (uint32_t)image->entry;
	entry.end = entry.start + ENTRY_BYTES;
	return ranges_fill(all, &more);
}

/* ---- code that nobody speaks for ---- */

/* Padding up to the next function or to the end of a page. */
static bool is_padding(const uint8_t *code, size_t size)
{
	struct code_insn insn;

	for (size_t at = 0; at < size; at += insn.length) {
		machine_decode(&insn, code + at, size - at);
		if (insn.kind != CODE_PADDING && code[at] != 0 && code[at] != 0xcc)
			return false;
	}
	return true;
}

/* The bytes of a section of code, valid as long as the Elf. NULL: the file does not have them, or they are too many. */
static const uint8_t *section_bytes(struct image *image, uint32_t section)
{
	const struct range *code = &image->sections[section];
	size_t size = code->end - code->start;

	if (image->section_bytes[section] || size > CODES_MAX - image->code_bytes)
		return image->section_bytes[section];
	image->section_bytes[section] = image_bytes(image, code->start, size);
	if (image->section_bytes[section])
		image->code_bytes += size;
	return image->section_bytes[section];
}

static int gap_add(ranges *gaps, struct image *image, uint32_t section, uint32_t start, uint32_t end)
{
	const uint8_t *bytes;

	if (end - start < GAP_MIN || end - start > CODE_MAX)
		return 0;
	if (stint_over())
		return -ETIME;
	bytes = section_bytes(image, section);
	if (!bytes || is_padding(bytes + (start - image->sections[section].start), end - start))
		return 0;
	return VEC_PUSH(gaps, (struct range){start, end, CODE, section});
}

/* Finds the parts of `code` that `all`, sorted and disjoint, does not cover. */
static int gaps_find(ranges *gaps, const ranges *all, struct image *image, const struct range *code)
{
	uint32_t at = code->start;
	size_t low = SEARCH(i, 0, all->count, all->at[i].end <= at);
	int err = 0;

	for (; low < all->count && all->at[low].start < code->end && !err; low++) {
		if (all->at[low].start > at)
			err = gap_add(gaps, image, code->index, at, all->at[low].start);
		if (all->at[low].end > at)
			at = all->at[low].end;
	}
	return !err && at < code->end ? gap_add(gaps, image, code->index, at, code->end) : err;
}

static int start_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Parts of functions have symbols, too. Names that are together longer than those of any program are ignored. */
static bool is_part(const char *name, size_t *left)
{
	size_t length = strnlen(name, *left < NAME_BYTES_MAX ? *left : NAME_BYTES_MAX);

	*left -= length;
	return memmem(name, length, ".cold", 5);
}

static int starts_add(struct image *image, Elf_Data *data, size_t strings)
{
	size_t names_size = 0, left = NAMES_BYTES_MAX;
	const char *names = elf_strings(image->elf, strings, &names_size);
	size_t count = data && data->d_buf ? data->d_size / sizeof(Elf64_Sym) : 0;
	int err = 0;

	for (size_t i = 0; i < count && image->starts.count < STARTS_MAX && !err; i++) {
		GElf_Sym sym;

		if (stint_over())
			return -ETIME;
		if (gelf_getsym(data, (int)i, &sym) && GELF_ST_TYPE(sym.st_info) == STT_FUNC &&
		    sym.st_shndx != SHN_UNDEF && sym.st_value <= UINT32_MAX &&
		    !(sym.st_name < names_size && is_part(names + sym.st_name, &left)))
			err = VEC_PUSH(&image->starts, (uint32_t)sym.st_value);
	}
	return err;
}

static int starts_read(struct image *image)
{
	Elf_Scn *section = NULL;
	int err = 0;

	while (!err && (section = elf_nextscn(image->elf, section))) {
		GElf_Shdr sh;

		if (gelf_getshdr(section, &sh) && (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM) &&
		    sh.sh_size <= IMAGE_SECTION_MAX)
			err = starts_add(image, elf_getdata(section, NULL), sh.sh_link);
	}
	VEC_SORT(&image->starts, start_compare);
	return err;
}

static int ranges_fill_code(ranges *all, struct image *image)
{
	ranges gaps = {0};
	int err = 0;

	for (size_t i = 0; i < image->section_count && !err; i++)
		err = gaps_find(&gaps, all, image, &image->sections[i]);
	if (!err && gaps.count)
		err = starts_read(image);
	if (!err)
		err = ranges_fill(all, &gaps);
	free(gaps.at);
	return err;
}

/* ---- the table ---- */

static int rows_collect(cfi_rows *rows, const ranges *all, struct cfi_entries *frames, const struct image *image)
{
	int err = 0;

	for (size_t i = 0; i < all->count && !err; i++) {
		const struct range *r = &all->at[i];

		if (stint_over())
			return -ETIME;
		if (r->speaker == PLT)
			err = machine_plt_rows(rows, &image->plts[r->index], r->start, r->end);
		else if (r->speaker == ENTRY)
			err = rows_put(rows, r->start, BRAID_CFA_ROOT);
		else if (r->speaker == CODE)
			err = code_rows(rows, r->start,
					image->section_bytes[r->index] + (r->start - image->sections[r->index].start),
					r->end - r->start, image->starts.at, image->starts.count);
		else
			err = cfi_run(&frames[r->speaker], &frames[r->speaker].fdes.at[r->index], r->start, r->end,
				      rows);
		if (!err)
			err = rows_put(rows, r->end, BRAID_CFA_NONE);
	}
	return err;
}

/* -ENODATA without a section; a broken section is only an error when the other is of no use. */
static int frames_read(struct cfi_entries frames[2], const struct image *image)
{
	const struct cfi_section *sections[] = {&image->eh_frame, &image->debug_frame};
	int result = -ENODATA;

	for (size_t i = 0; i < 2; i++) {
		uint32_t room = FDES_MAX - (uint32_t)frames[0].fdes.count;
		int err = sections[i]->data ? cfi_entries_read(&frames[i], sections[i], room) : -ENODATA;

		if (err == -ENOMEM || err == -ETIME)
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
	ranges all = {0};
	cfi_rows rows = {0};
	int err = -ENOMEM, broken;

	if (!image)
		goto out;
	err = image_read(image, elf, borrowed);
	if (err)
		goto out;
	broken = frames_read(frames, image);
	err = broken == -ENOMEM || broken == -ETIME ? broken : 0;
	if (!err)
		err = ranges_fill_entries(&all, &frames[EH_FRAME], EH_FRAME);
	if (!err)
		err = ranges_fill_entries(&all, &frames[DEBUG_FRAME], DEBUG_FRAME);
	if (!err)
		err = ranges_fill_plts(&all, image);
	if (!err)
		err = ranges_fill_entry(&all, image);
	if (!err)
		err = ranges_fill_code(&all, image);
	if (!err)
		err = rows_collect(&rows, &all, frames, image);
	if (err)
		goto out;
	err = table_from_rows(out, rows.at, rows.count);
	rows.at = NULL;
	if (err == -ENODATA && broken)
		err = broken;
out:
	free(rows.at);
	free(all.at);
	cfi_entries_free(&frames[EH_FRAME]);
	cfi_entries_free(&frames[DEBUG_FRAME]);
	if (image)
		free(image->starts.at);
	free(image);
	return err;
}

int unwind_table_build(struct unwind_table **out, int fd)
{
	Elf *elf;
	int err = elf_open(&elf, elf_of_file(fd));

	err = err ?: build(out, elf, false);
	elf_end(elf);
	return err;
}

int unwind_table_build_image(struct unwind_table **out, const void *data, size_t size)
{
	Elf *elf;
	int err = elf_open(&elf, elf_of_image(data, size));

	err = err ?: build(out, elf, true);
	elf_end(elf);
	return err;
}
