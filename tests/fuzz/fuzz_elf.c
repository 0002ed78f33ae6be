// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzzes everything that reads ELF files: unwind tables from CFI and from instructions, symbols, build-ids, source
 * lines, and the demangler. The last byte says which of them read the rest, as a file.
 */
#include <stdint.h>
#include <string.h>

#include "symbol/lines.h"
#include "symbol/symbol.h"
#include "unwind/table.h"

#include "input.h"

enum { FUZZ_UNWIND = 1, FUZZ_IMAGE = 2, FUZZ_SYMBOLS = 4, FUZZ_LINES = 8, FUZZ_NAME = 16 };

#define SIZE_MAX_BYTES (256U << 10)
#define NOWHERE "/nonexistent/file.so"
#define PROBED_BYTES 0x6000U /* of the addresses that each input is queried for */
#define PROBED_STEP 193U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_table(struct unwind_table *t)
{
	for (uint32_t i = 0; i + 1 < t->row_count; i++)
		must(t->rows[i].pc < t->rows[i + 1].pc, "rows are not in order");
	for (uint64_t pc = 0; pc < PROBED_BYTES; pc += PROBED_STEP)
		(void)unwind_table_rule(t, pc);
	unwind_table_free(t);
}

static void try_unwind(int fd)
{
	struct unwind_table *t = NULL;

	if (unwind_table_build(&t, fd) == 0)
		check_table(t);
}

static void try_image(const uint8_t *data, size_t size)
{
	struct unwind_table *t = NULL;

	if (unwind_table_build_image(&t, data, size) == 0)
		check_table(t);
}

static void try_symbols(int fd)
{
	struct symbol wanted[] = {{.name = "main"}, {.name = "gHotSpotVMStructs"}}, found;
	struct symbols *s = NULL;
	char id[130];

	(void)build_id_of_fd(fd, id, sizeof(id));
	(void)symbols_lookup(fd, NOWHERE, wanted + 1, 1, wanted, 1);
	(void)symbols_exported(fd, wanted, 2);
	if (symbols_open_elf(&s, fd, "", NOWHERE))
		return;
	for (uint64_t at = 0; at < PROBED_BYTES; at += PROBED_STEP)
		if (symbols_find(s, at, &found) && found.name)
			free(symbol_demangle(found.name));
	symbols_free(s);
}

static void try_lines(int fd)
{
	struct line_place places[LINES_DEPTH_MAX];
	struct lines *l = NULL;

	if (lines_open(&l, fd, "", NOWHERE))
		return;
	for (uint64_t at = 0; at < PROBED_BYTES; at += PROBED_STEP) {
		size_t count = lines_find(l, at, places);

		must(count <= LINES_DEPTH_MAX, "more places than there is room for");
		for (size_t i = 0; i < count; i++)
			must(places[i].name && places[i].file, "a place without a name");
	}
	lines_free(l);
}

static void try_name(const uint8_t *data, size_t size)
{
	char *name = strndup((const char *)data, size < 1024 ? size : 1024);

	must(name != NULL, "no memory");
	free(symbol_demangle(name));
	free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory_file file;
	unsigned what;

	if (!size || size > SIZE_MAX_BYTES)
		return 0;
	what = data[--size];
	memory_file_set(&file, data, size);
	if (what & FUZZ_UNWIND)
		try_unwind(file.fd);
	if (what & FUZZ_IMAGE)
		try_image(data, size);
	if (what & FUZZ_SYMBOLS)
		try_symbols(file.fd);
	if (what & FUZZ_LINES)
		try_lines(file.fd);
	if (what & FUZZ_NAME)
		try_name(data, size);
	return 0;
}
