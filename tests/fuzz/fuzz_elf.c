// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzzes everything that reads ELF files: unwind tables from CFI and from instructions, symbols, build-ids, source
 * lines, and the demangler. It touches only a temporary file with the input. `make fuzz` builds and runs it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/lines.h"
#include "symbol/symbol.h"
#include "unwind/table.h"

#include "must.h"

#define SIZE_MAX_BYTES (256U << 10)
#define NOWHERE "/nonexistent/file.so"
#define PROBED_BYTES 0x6000U /* of the addresses that each input is queried for */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_table(struct unwind_table *t)
{
	for (uint32_t i = 0; i + 1 < t->row_count; i++)
		must(t->rows[i].pc < t->rows[i + 1].pc, "rows are not in order");
	for (uint64_t pc = 0; pc < PROBED_BYTES; pc += 61)
		(void)unwind_table_rule(t, pc);
	unwind_table_free(t);
}

static void try_unwind(int fd, const uint8_t *data, size_t size)
{
	struct unwind_table *t = NULL;

	if (unwind_table_build(&t, fd) == 0)
		check_table(t);
	t = NULL;
	if (unwind_table_build_image(&t, data, size) == 0)
		check_table(t);
}

static void try_symbols(int fd)
{
	struct symbol wanted[] = {{.name = "main"}, {.name = "gHotSpotVMStructs"}}, found;
	struct symbols *s = NULL;
	char id[130];

	(void)build_id_of_fd(fd, id, sizeof(id));
	(void)symbols_lookup(fd, NOWHERE, wanted, 2);
	(void)symbols_functions(fd, NOWHERE, wanted, 2);
	(void)symbols_exported(fd, wanted, 2);
	if (symbols_open_elf(&s, fd, "", NOWHERE))
		return;
	for (uint64_t at = 0; at < PROBED_BYTES; at += 61)
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
	for (uint64_t at = 0; at < PROBED_BYTES; at += 61) {
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
	int fd;

	if (size > SIZE_MAX_BYTES)
		return 0;
	try_name(data, size);
	fd = memfd_create("fuzz_elf", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size, "no file to work with");
	try_unwind(fd, data, size);
	try_symbols(fd);
	try_lines(fd);
	close(fd);
	return 0;
}
