// SPDX-License-Identifier: Apache-2.0
/*
 * Reads source lines from DWARF 5, sections 2.17 (ranges), 3.3 (subprograms and their inlined instances) and 6.2
 * (lines), through libdw.
 */
#include "lines.h"

#include "set.h"
#include "util/elf_file.h"
#include "util/search.h"
#include "util/vec.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCOPES_DEPTH_MAX 256
#define RANGES_MAX (4UL << 20)
#define UNPACKED_MAX (1536UL << 20)

struct unit_range {
	uint64_t start, end;
	Dwarf_Off unit; /* offset of its first entry */
};

struct lines {
	int fd; /* of the debug file, -1: the caller's */
	Elf *elf;
	Dwarf *dwarf;
	VEC(struct unit_range) ranges; /* sorted by start */
};

static int range_add(struct lines *l, uint64_t start, uint64_t end, Dwarf_Off unit)
{
	if (start >= end)
		return 0;
	if (l->ranges.count == RANGES_MAX)
		return -EFBIG;
	return VEC_PUSH(&l->ranges, (struct unit_range){start, end, unit});
}

static int by_start(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Without .debug_aranges, which not every compiler writes. */
static int ranges_read(struct lines *l)
{
	Dwarf_Off offset = 0, next;
	size_t header;
	int err = 0;

	while (!err && dwarf_nextcu(l->dwarf, offset, &next, &header, NULL, NULL, NULL) == 0) {
		Dwarf_Addr base, start, end;
		ptrdiff_t at = 0;
		Dwarf_Die die;

		if (dwarf_offdie(l->dwarf, offset + header, &die))
			while (!err && (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0)
				err = range_add(l, start, end, offset + header);
		if (next <= offset)
			break;
		offset = next;
	}
	VEC_SORT(&l->ranges, by_start);
	return err;
}

static bool has_debug_info(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && !strcmp(name, ".debug_info") && sh.sh_type == SHT_PROGBITS)
			return true;
	}
	return false;
}

/* Sets l->elf to the file with the debug information. */
static int open_debug(struct lines *l, int fd, int debug_fd, const char *root, const char *path)
{
	int err = elf_open(&l->elf, elf_of_file(fd));

	if (err)
		return err;
	if (has_debug_info(l->elf))
		return 0;
	if (debug_fd < 0)
		debug_fd = l->fd = debug_file_open(fd, l->elf, root, path);
	elf_end(l->elf);
	l->elf = NULL;
	return debug_fd >= 0 && !elf_open(&l->elf, elf_of_file(debug_fd)) && has_debug_info(l->elf) ? 0 : -ENODATA;
}

/* libdw decompresses all sections when it opens a file. */
static uint64_t unpacked_bytes(Elf *elf)
{
	uint64_t bytes = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Chdr ch;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && (sh.sh_flags & SHF_COMPRESSED) && gelf_getchdr(scn, &ch) &&
		    __builtin_add_overflow(bytes, ch.ch_size, &bytes))
			return UINT64_MAX;
	return bytes;
}

/* libdw omits sections that it cannot decompress. */
static bool has_units(Dwarf *dwarf)
{
	Dwarf_Off next;
	size_t header;

	return dwarf && dwarf_nextcu(dwarf, 0, &next, &header, NULL, NULL, NULL) == 0;
}

static int open_lines(struct lines **out, int fd, int debug_fd, const char *root, const char *path)
{
	struct lines *l = calloc(1, sizeof(*l));
	int err;

	*out = NULL;
	if (!l)
		return -ENOMEM;
	l->fd = -1;
	err = open_debug(l, fd, debug_fd, root, path);
	if (!err && unpacked_bytes(l->elf) > UNPACKED_MAX)
		err = -EFBIG;
	if (!err) {
		l->dwarf = dwarf_begin_elf(l->elf, DWARF_C_READ, NULL);
		err = has_units(l->dwarf) ? ranges_read(l) : -EBADMSG;
	}
	if (err) {
		lines_free(l);
		return err;
	}
	*out = l;
	return 0;
}

int lines_open(struct lines **out, int fd, const char *root, const char *path)
{
	return open_lines(out, fd, -1, root, path);
}

int lines_open_with(struct lines **out, int fd, int debug_fd)
{
	return open_lines(out, fd, debug_fd, NULL, NULL);
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	dwarf_end(l->dwarf);
	elf_end(l->elf);
	if (l->fd >= 0)
		close(l->fd);
	free(l->ranges.at);
	free(l);
}

static bool unit_find(const struct lines *l, uint64_t address, Dwarf_Die *unit)
{
	size_t low = SEARCH(i, 0, l->ranges.count, l->ranges.at[i].start <= address);

	return low && address < l->ranges.at[low - 1].end && dwarf_offdie(l->dwarf, l->ranges.at[low - 1].unit, unit);
}

static const char *line_name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	if (!name)
		name = dwarf_diename(die);
	return name ? name : "";
}

/* Where the surrounding function calls an inlined function. */
static void call_site(Dwarf_Die *unit, Dwarf_Die *inlined, struct line_place *to)
{
	Dwarf_Attribute attr;
	Dwarf_Word number;
	Dwarf_Files *files;
	const char *file;
	size_t count;

	to->file = "";
	to->line = 0;
	if (dwarf_attr(inlined, DW_AT_call_file, &attr) && !dwarf_formudata(&attr, &number) &&
	    !dwarf_getsrcfiles(unit, &files, &count) && (file = dwarf_filesrc(files, number, NULL, NULL)))
		to->file = file;
	if (dwarf_attr(inlined, DW_AT_call_line, &attr) && !dwarf_formudata(&attr, &number) && number <= INT32_MAX)
		to->line = (int)number;
}

/* The functions at an address, the outermost first. */
struct chain {
	uint64_t address;
	Dwarf_Die functions[LINES_DEPTH_MAX];
	size_t count;
};

/*
 * Not dwarf_getscopes(), which fails for functions that come from another unit, such as all generic ones of Rust.
 * Functions are in units or in their namespaces and types; inlined functions are in functions or in their blocks.
 */
static bool chain_find(struct chain *c, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;

	if (depth == SCOPES_DEPTH_MAX || dwarf_child(parent, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);
		bool function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;

		if (function || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block) {
			if (dwarf_haspc(&die, c->address) <= 0)
				continue;
			if (function && c->count < LINES_DEPTH_MAX)
				c->functions[c->count++] = die;
			chain_find(c, &die, depth + 1);
			return true;
		}
		if ((tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
		     tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type) &&
		    chain_find(c, &die, depth + 1))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

size_t lines_find(struct lines *l, uint64_t address, struct line_place to[LINES_DEPTH_MAX])
{
	struct line_place at = {.name = "", .file = ""};
	struct chain chain = {.address = address};
	Dwarf_Die unit;
	const char *file;
	Dwarf_Line *line;
	size_t n = 0;

	if (!unit_find(l, address, &unit))
		return 0;
	line = dwarf_getsrc_die(&unit, address);
	if (line && (file = dwarf_linesrc(line, NULL, NULL))) {
		at.file = file;
		if (dwarf_lineno(line, &at.line))
			at.line = 0;
	}
	chain_find(&chain, &unit, 0);
	for (size_t i = chain.count; i-- > 0;) {
		at.name = line_name_of(&chain.functions[i]);
		to[n++] = at;
		call_site(&unit, &chain.functions[i], &at);
	}
	if (!n && at.line)
		to[n++] = at;
	return n;
}
