// SPDX-License-Identifier: Apache-2.0
/* Tests of ELF files that are made to be expensive: each is refused, or read in a time that its size justifies. */
#include "symbol/set.h"
#include "unit/program.h"
#include "unwind/table.h"
#include "util/elf_file.h"

#include <elf.h>
#include <sys/mman.h>

Suite *test_elf_file(void);

#define CODE_AT 0x1000
#define NAMES_AT 0x2000
#define SECTIONS_AT 0x3000
#define STRINGS_AT 0x100000

static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

static Elf64_Shdr section(const char *name, uint32_t type, uint64_t at, uint64_t size)
{
	Elf64_Shdr sh = {.sh_type = type, .sh_offset = at, .sh_size = size, .sh_addralign = 1};

	sh.sh_name = (uint32_t)((const char *)memmem(section_names, sizeof(section_names), name, strlen(name) + 1) -
				section_names);
	return sh;
}

/* A file with .text, section names, .strtab, and `tables` times the same .symtab. */
static int file_make(uint64_t strings, uint64_t symbols_at, uint64_t symbols, unsigned int tables)
{
	Elf64_Ehdr eh = {.e_ident = ELFMAG "\2\1\1",
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_version = 1,
			 .e_phoff = sizeof(eh),
			 .e_shoff = SECTIONS_AT,
			 .e_ehsize = sizeof(eh),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = (Elf64_Half)(4 + tables),
			 .e_shstrndx = 2};
	Elf64_Phdr ph = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 0x3000, .p_memsz = 0x3000};
	int fd = memfd_create("elf", MFD_CLOEXEC);
	Elf64_Shdr sh[4] = {{0}};

	ck_assert_int_ge(fd, 0);
	sh[1] = section(".text", SHT_PROGBITS, CODE_AT, 0x1000);
	sh[1].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	sh[1].sh_addr = CODE_AT;
	sh[2] = section(".shstrtab", SHT_STRTAB, NAMES_AT, sizeof(section_names));
	sh[3] = section(".strtab", SHT_STRTAB, STRINGS_AT, strings);
	ck_assert_int_eq(pwrite(fd, &eh, sizeof(eh), 0), sizeof(eh));
	ck_assert_int_eq(pwrite(fd, &ph, sizeof(ph), sizeof(eh)), sizeof(ph));
	ck_assert_int_eq(pwrite(fd, section_names, sizeof(section_names), NAMES_AT), sizeof(section_names));
	ck_assert_int_eq(pwrite(fd, sh, sizeof(sh), SECTIONS_AT), sizeof(sh));
	for (unsigned int i = 0; i < tables; i++) {
		Elf64_Shdr table = section(".symtab", SHT_SYMTAB, symbols_at, symbols * sizeof(Elf64_Sym));

		table.sh_link = 3;
		table.sh_entsize = sizeof(Elf64_Sym);
		ck_assert_int_eq(pwrite(fd, &table, sizeof(table), (off_t)(SECTIONS_AT + (4 + i) * sizeof(table))),
				 sizeof(table));
	}
	ck_assert_int_eq(ftruncate(fd, (off_t)(symbols_at + symbols * sizeof(Elf64_Sym))), 0);
	return fd;
}

/* Function i's name begins at byte i + 1 of the strings. */
static void symbols_fill(int fd, uint64_t at, uint64_t count)
{
	Elf64_Sym *list = calloc(count, sizeof(*list));
	ssize_t size = (ssize_t)(count * sizeof(*list));

	ck_assert_ptr_nonnull(list);
	for (uint64_t i = 1; i < count; i++)
		list[i] = (Elf64_Sym){.st_name = (Elf64_Word)i,
				      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				      .st_shndx = 1,
				      .st_value = CODE_AT + i % 0x1000,
				      .st_size = 1};
	ck_assert_int_eq(pwrite(fd, list, (size_t)size, (off_t)at), size);
	free(list);
}

static void strings_fill(int fd, uint64_t size, char fill)
{
	char *text = malloc(size);

	ck_assert_ptr_nonnull(text);
	memset(text, fill, size);
	text[0] = text[size - 1] = '\0';
	ck_assert_int_eq(pwrite(fd, text, size, STRINGS_AT), (ssize_t)size);
	free(text);
}

/* The same bytes in memory. */
static void image_refused(int fd, int expected)
{
	off_t size = lseek(fd, 0, SEEK_END);
	Elf *elf;
	void *image;

	if (size > 64L << 20)
		return;
	image = malloc((size_t)size);
	ck_assert_ptr_nonnull(image);
	ck_assert_int_eq(pread(fd, image, (size_t)size, 0), size);
	ck_assert_int_eq(elf_open(&elf, elf_of_image(image, (size_t)size)), expected);
	ck_assert_ptr_null(elf);
	free(image);
}

static void refused_by_all(int fd, int expected)
{
	struct symbol wanted = {.name = "main"};
	struct symbols *s = NULL;
	struct unwind_table *t = NULL;
	char hex[41];

	ck_assert_int_eq(symbols_open_elf(&s, fd, "", "/nowhere"), expected);
	ck_assert_int_eq(symbols_lookup(fd, "/nowhere", &wanted, 1, NULL, 0), expected);
	ck_assert_int_eq(symbols_exported(fd, &wanted, 1), expected);
	ck_assert_int_eq(build_id_of_fd(fd, hex, sizeof(hex)), expected);
	ck_assert_int_eq(unwind_table_build(&t, fd), expected);
	image_refused(fd, expected);
	close(fd);
}

START_TEST(sound)
{
	int fd = file_make(4096, STRINGS_AT + 4096, 100, 1);
	struct symbols *s = NULL;

	strings_fill(fd, 4096, 'a');
	symbols_fill(fd, STRINGS_AT + 4096, 100);
	ck_assert_int_eq(symbols_open_elf(&s, fd, "", "/nowhere"), 0);
	ck_assert_uint_eq(symbols_count(s), 99);
	ck_assert_uint_gt(symbols_bytes(s), 99 * (size_t)(4096 - 100));
	symbols_free(s);
	close(fd);
}
END_TEST

/* Three gigabytes of holes. */
START_TEST(sparse)
{
	refused_by_all(file_make(4096, STRINGS_AT + 4096, (3UL << 30) / sizeof(Elf64_Sym), 1), -EFBIG);
}
END_TEST

/* One table under many headers. */
START_TEST(overlapping)
{
	refused_by_all(file_make(4096, STRINGS_AT + 4096, (8UL << 20) / sizeof(Elf64_Sym), 400), -EBADMSG);
}
END_TEST

/* As many sections as the first one's size allows: libelf allocates memory for each. */
START_TEST(sections_without_end)
{
	int fd = file_make(4096, STRINGS_AT + 4096, 1UL << 20, 1);
	Elf64_Shdr first = {.sh_size = 20000000};
	Elf64_Half none = 0;

	ck_assert_int_eq(pwrite(fd, &none, sizeof(none), offsetof(Elf64_Ehdr, e_shnum)), sizeof(none));
	ck_assert_int_eq(pwrite(fd, &first, sizeof(first), SECTIONS_AT), sizeof(first));
	refused_by_all(fd, -EFBIG);
}
END_TEST

/* Whatever else is wrong with a program, the location of its code can be read, from a file as from memory. */
START_TEST(program_headers)
{
	int fd = file_make(4096, STRINGS_AT + 4096, 100, 1);
	Elf64_Off behind = 1UL << 62;
	Elf64_Ehdr eh = {0};
	Elf64_Phdr ph[4];

	ck_assert_int_eq(pwrite(fd, "x", 1, NAMES_AT + sizeof(section_names) - 1), 1);
	ck_assert_uint_eq(elf_program_headers(elf_of_file(fd), ph, 4), 1);
	ck_assert_uint_eq(ph[0].p_filesz, 0x3000);
	ck_assert_int_eq(pread(fd, &eh, sizeof(eh), 0), sizeof(eh));
	ck_assert_uint_eq(elf_program_headers(elf_of_image(&eh, sizeof(eh)), ph, 4), 0);
	ck_assert_uint_eq(elf_program_headers(elf_of_image(&eh, sizeof(eh) - 1), ph, 4), 0);
	ck_assert_int_eq(pwrite(fd, &behind, sizeof(behind), offsetof(Elf64_Ehdr, e_phoff)), sizeof(behind));
	ck_assert_uint_eq(elf_program_headers(elf_of_file(fd), ph, 4), 0);
	close(fd);
}
END_TEST

/* Section names without a terminating zero. */
START_TEST(names_without_end)
{
	int fd = file_make(4096, STRINGS_AT + 4096, 100, 1);

	ck_assert_int_eq(pwrite(fd, "x", 1, NAMES_AT + sizeof(section_names) - 1), 1);
	refused_by_all(fd, -EBADMSG);
}
END_TEST

/* Eight megabytes of one letter, in which 300,000 names begin: together more than a terabyte. */
START_TEST(names_in_names)
{
	const uint64_t strings = 8UL << 20, count = 300000;
	int fd = file_make(strings, STRINGS_AT + strings, count, 1);
	struct symbol wanted = {.name = "main"};
	struct symbols *s = NULL;

	strings_fill(fd, strings, 'a');
	symbols_fill(fd, STRINGS_AT + strings, count);
	ck_assert_int_eq(symbols_open_elf(&s, fd, "", "/nowhere"), -EBADMSG);
	ck_assert_int_eq(symbols_lookup(fd, "/nowhere", &wanted, 1, NULL, 0), 0);
	ck_assert_uint_eq(wanted.address, 0);
	close(fd);
}
END_TEST

/* Functions that all end at one address, and labels after it in a larger one. */
START_TEST(labels_behind_nests)
{
	const uint64_t count = 200000;
	struct symbol_set set = {0};
	char *name = set_blob(&set, 2);
	struct symbols *s = NULL;
	struct symbol found;

	strcpy(name, "f");
	ck_assert_int_eq(set_add(&set, &(struct symbol_candidate){.name = name, .size = count * 10, .length = 1}), 0);
	for (uint64_t i = 1; i < count; i++)
		ck_assert_int_eq(set_add(&set, &(struct symbol_candidate){.address = i,
									  .name = name,
									  .size = (uint32_t)(count - i),
									  .length = 1}),
				 0);
	for (uint64_t i = 0; i < count; i++)
		ck_assert_int_eq(
			set_add(&set, &(struct symbol_candidate){.address = count + i, .name = name, .length = 1}), 0);
	ck_assert_int_eq(set_finish(&s, &set), 0);
	set_clear(&set);
	ck_assert_uint_eq(symbols_count(s), count);
	ck_assert(symbols_find(s, 1, &found));
	ck_assert_uint_eq(found.address, 1);
	symbols_free(s);
}
END_TEST

Suite *test_elf_file(void)
{
	Suite *suite = suite_create("elf_file");
	TCase *tc = tcase_create("elf_file");

	tcase_add_test(tc, sound);
	tcase_add_test(tc, sparse);
	tcase_add_test(tc, overlapping);
	tcase_add_test(tc, sections_without_end);
	tcase_add_test(tc, program_headers);
	tcase_add_test(tc, names_without_end);
	tcase_add_test(tc, names_in_names);
	tcase_add_test(tc, labels_behind_nests);
	suite_add_tcase(suite, tc);
	return suite;
}
