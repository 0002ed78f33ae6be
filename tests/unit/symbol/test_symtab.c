// SPDX-License-Identifier: Apache-2.0
/* Tests of symbol tables: those of 32-bit programs, and what is missing in a file. */
#include "symbol/symbol.h"
#include "symbol/symtab.h"

#include <check.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

Suite *test_symtab(void);

static const char names[] = "\0first\0second\0.symtab\0.strtab";

/* A 32-bit program with two functions. */
struct narrow {
	Elf32_Ehdr head;
	Elf32_Sym symbols[4];
	char names[sizeof(names)];
	Elf32_Shdr sections[4];
};

static struct narrow narrow_make(void)
{
	struct narrow n = {
		.head = {.e_ident = ELFMAG "\1\1\1",
			 .e_type = ET_DYN,
			 .e_machine = EM_386,
			 .e_version = 1,
			 .e_shoff = offsetof(struct narrow, sections),
			 .e_ehsize = sizeof(Elf32_Ehdr),
			 .e_shentsize = sizeof(Elf32_Shdr),
			 .e_shnum = 4,
			 .e_shstrndx = 3},
		.symbols = {{0},
			    {.st_name = 1, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x1000, .st_size = 16},
			    {.st_name = 7, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x1010, .st_size = 16},
			    {.st_name = 1, .st_info = STT_FUNC, .st_value = 0x1020}}, /* not defined here */
		.sections = {{0},
			     {.sh_type = SHT_NOBITS, .sh_flags = SHF_EXECINSTR, .sh_addr = 0x1000, .sh_size = 0x1000},
			     {.sh_name = 14,
			      .sh_type = SHT_SYMTAB,
			      .sh_offset = offsetof(struct narrow, symbols),
			      .sh_size = sizeof(n.symbols),
			      .sh_entsize = sizeof(Elf32_Sym),
			      .sh_link = 3},
			     {.sh_name = 22,
			      .sh_type = SHT_STRTAB,
			      .sh_offset = offsetof(struct narrow, names),
			      .sh_size = sizeof(names)}},
	};

	memcpy(n.names, names, sizeof(names));
	return n;
}

START_TEST(of_32_bit_programs)
{
	struct narrow n = narrow_make();
	struct symbol found;
	struct symbols *s;

	ck_assert_int_eq(symbols_open_image(&s, &n, sizeof(n)), 0);
	ck_assert_uint_eq(symbols_count(s), 2);
	ck_assert(symbols_find(s, 0x100f, &found));
	ck_assert_str_eq(found.name, "first");
	ck_assert(symbols_find(s, 0x1010, &found));
	ck_assert_str_eq(found.name, "second");
	ck_assert(!symbols_find(s, 0x1020, &found));
	symbols_free(s);
}
END_TEST

static int read_table(const struct narrow *n, size_t size, struct symtab *t)
{
	struct elf_source from = elf_of_image(n, size);
	GElf_Shdr sh;
	Elf *elf;
	int err;

	ck_assert_int_eq(elf_open(&elf, elf_of_image(n, sizeof(*n))), 0);
	ck_assert_ptr_nonnull(gelf_getshdr(elf_getscn(elf, 2), &sh));
	err = symtab_read(t, from, elf, &sh);
	elf_end(elf);
	return err;
}

START_TEST(what_a_file_does_not_have)
{
	struct narrow n = narrow_make();
	struct symtab t;
	GElf_Sym sym;
	char *name;

	ck_assert_int_eq(read_table(&n, sizeof(n), &t), 0);
	ck_assert_uint_eq(t.count, 4);
	ck_assert(!symtab_get(&t, 0, &sym, &name));
	ck_assert(symtab_get(&t, 1, &sym, &name));
	ck_assert(!symtab_get(&t, 3, &sym, &name));
	symtab_free(&t);

	n.symbols[1].st_name = sizeof(names);
	ck_assert_int_eq(read_table(&n, sizeof(n), &t), 0);
	ck_assert(!symtab_get(&t, 1, &sym, &name));
	symtab_free(&t);

	/* The file has become shorter since its head was read. */
	ck_assert_int_eq(read_table(&n, offsetof(struct narrow, names) + 1, &t), -EBADMSG);
	ck_assert_int_eq(read_table(&n, offsetof(struct narrow, symbols) + 1, &t), -EBADMSG);
	n.sections[2].sh_link = 1; /* no strings */
	ck_assert_int_eq(read_table(&n, sizeof(n), &t), -EBADMSG);
	ck_assert_ptr_null(t.names);
}
END_TEST

Suite *test_symtab(void)
{
	Suite *s = suite_create("symtab");
	TCase *tc = tcase_create("symtab");

	tcase_add_test(tc, of_32_bit_programs);
	tcase_add_test(tc, what_a_file_does_not_have);
	suite_add_tcase(s, tc);
	return s;
}
