// SPDX-License-Identifier: Apache-2.0
/*
 * Modes of the hostile program whose code is in an ELF file that is too expensive to read in full. Each mode writes
 * such a file to memory, maps it and runs in it; main.c starts them.
 */
#include "hostile.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096UL
#define CODE_AT PAGE
#define NAMES_AT (2 * PAGE)    /* of the section names */
#define SECTIONS_AT (3 * PAGE) /* the section headers */
#define DATA_AT (1UL << 20)    /* the sections' contents; a mode writes only what it needs */
#define SECTIONS_MAX 60

static const char names[] = "\0.text\0.shstrtab\0.strtab\0.symtab\0.dynsym\0.eh_frame\0.debug_frame\0.gnu_debuglink";

struct image {
	int fd;
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS_MAX];
};

static uint32_t name_at(const char *name)
{
	for (size_t at = 1; at < sizeof(names); at += strlen(names + at) + 1)
		if (strcmp(names + at, name) == 0)
			return (uint32_t)at;
	abort();
}

static void put_at(int fd, const void *bytes, size_t size, uint64_t at)
{
	if (pwrite(fd, bytes, size, (off_t)at) != (ssize_t)size)
		die("pwrite");
}

/* Returns the section's number. */
static uint32_t add(struct image *e, const char *name, uint32_t type, uint64_t at, uint64_t size)
{
	uint16_t n = e->header.e_shnum++;

	e->sections[n] = (Elf64_Shdr){.sh_name = name_at(name), .sh_type = type, .sh_offset = at, .sh_size = size};
	e->sections[n].sh_addralign = 1;
	return n;
}

static void add_symbols(struct image *e, const char *name, uint32_t type, uint64_t at, uint64_t size, uint32_t strings)
{
	Elf64_Shdr *s = &e->sections[add(e, name, type, at, size)];

	s->sh_link = strings;
	s->sh_info = 1;
	s->sh_entsize = sizeof(Elf64_Sym);
}

static void begin(struct image *e, const char *path)
{
	uint32_t text;

	memset(e, 0, sizeof(*e));
	e->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (e->fd < 0)
		die(path);
	memcpy(e->header.e_ident, ELFMAG, SELFMAG);
	e->header.e_ident[EI_CLASS] = ELFCLASS64;
	e->header.e_ident[EI_DATA] = ELFDATA2LSB;
	e->header.e_ident[EI_VERSION] = e->header.e_version = EV_CURRENT;
	e->header.e_type = ET_DYN;
	e->header.e_machine = EM_X86_64;
	e->header.e_phoff = e->header.e_ehsize = sizeof(Elf64_Ehdr);
	e->header.e_phentsize = sizeof(Elf64_Phdr);
	e->header.e_phnum = 1;
	e->header.e_shoff = SECTIONS_AT;
	e->header.e_shentsize = sizeof(Elf64_Shdr);
	e->header.e_shnum = 1;
	text = add(e, ".text", SHT_PROGBITS, CODE_AT, PAGE);
	e->sections[text].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	e->sections[text].sh_addr = CODE_AT;
	e->header.e_shstrndx = (uint16_t)add(e, ".shstrtab", SHT_STRTAB, NAMES_AT, sizeof(names));
}

/* Maps a page of code and stays in it: the first instruction jumps to itself. */
static _Noreturn void run_code(int fd, uint64_t at)
{
	uint8_t *code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)(at & ~(PAGE - 1)));

	if (code == MAP_FAILED)
		die("mmap");
	under_way();
	__asm__ volatile("jmp *%0" : : "r"(code + at % PAGE));
	__builtin_unreachable();
}

static const uint8_t stay[] = {0xeb, 0xfe};

static _Noreturn void end(struct image *e, uint64_t size)
{
	const Elf64_Phdr load = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = NAMES_AT, .p_memsz = NAMES_AT, .p_align = PAGE};

	put_at(e->fd, &e->header, sizeof(e->header), 0);
	put_at(e->fd, &load, sizeof(load), sizeof(e->header));
	put_at(e->fd, stay, sizeof(stay), CODE_AT);
	put_at(e->fd, names, sizeof(names), NAMES_AT);
	put_at(e->fd, e->sections, e->header.e_shnum * sizeof(e->sections[0]), SECTIONS_AT);
	if (ftruncate(e->fd, (off_t)size))
		die("ftruncate");
	run_code(e->fd, CODE_AT);
}

void map_sparse(void)
{
	const uint64_t bytes = 3UL << 30;
	struct image e;

	begin(&e, "sparse.so");
	add_symbols(&e, ".symtab", SHT_SYMTAB, DATA_AT, bytes, add(&e, ".strtab", SHT_STRTAB, DATA_AT, PAGE));
	end(&e, DATA_AT + bytes);
}

void map_sections(void)
{
	const uint64_t bytes = 240UL << 20;
	struct image e;
	uint32_t strings;

	begin(&e, "sections.so");
	strings = add(&e, ".strtab", SHT_STRTAB, DATA_AT, PAGE);
	while (e.header.e_shnum < SECTIONS_MAX - 4) {
		add_symbols(&e, ".symtab", SHT_SYMTAB, DATA_AT, bytes, strings);
		add_symbols(&e, ".dynsym", SHT_DYNSYM, DATA_AT, bytes, strings);
		add(&e, ".eh_frame", SHT_PROGBITS, DATA_AT, bytes);
		add(&e, ".debug_frame", SHT_PROGBITS, DATA_AT, bytes);
	}
	end(&e, DATA_AT + bytes);
}

/* Each name is a suffix of the one before it. */
void map_names(void)
{
	const uint64_t bytes = 8UL << 20, symbols_at = DATA_AT + bytes;
	const uint32_t count = 60000;
	Elf64_Sym *symbols = calloc(count, sizeof(*symbols));
	char *strings = malloc(bytes);
	struct image e;

	if (!symbols || !strings)
		die("malloc");
	memset(strings, 'a', bytes);
	strings[0] = strings[bytes - 1] = '\0';
	for (uint32_t i = 1; i < count; i++)
		symbols[i] = (Elf64_Sym){.st_name = i,
					 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					 .st_shndx = 1,
					 .st_value = CODE_AT,
					 .st_size = 16};
	begin(&e, "names.so");
	put_at(e.fd, strings, bytes, DATA_AT);
	put_at(e.fd, symbols, count * sizeof(*symbols), symbols_at);
	free(strings);
	free(symbols);
	add_symbols(&e, ".symtab", SHT_SYMTAB, symbols_at, count * sizeof(*symbols),
		    add(&e, ".strtab", SHT_STRTAB, DATA_AT, bytes));
	end(&e, symbols_at + count * sizeof(*symbols));
}

/* A reader must read the whole file to know whether it is the right one. */
void map_debuglink(void)
{
	static const char link[16] = "huge.debug\0\0\1\2\3"; /* with a checksum at the end */
	int huge = open("huge.debug", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct image e;

	if (huge < 0 || ftruncate(huge, 2L << 30))
		die("huge.debug");
	close(huge);
	begin(&e, "linked.so");
	put_at(e.fd, link, sizeof(link), DATA_AT);
	add(&e, ".gnu_debuglink", SHT_PROGBITS, DATA_AT, sizeof(link));
	end(&e, DATA_AT + sizeof(link));
}

/* ---- a file with the identity of another one ---- */

static char *library_path(char *path, size_t size, const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[1024], *at = NULL;

	while (maps && !at && fgets(line, sizeof(line), maps))
		at = strstr(line, name) ? strchr(line, '/') : NULL;
	if (!at)
		die(name);
	snprintf(path, size, "%.*s", (int)strcspn(at, "\n"), at);
	fclose(maps);
	return path;
}

static uint8_t *copy_of(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *copy;

	if (fd < 0 || fstat(fd, &st))
		die(path);
	*size = (size_t)st.st_size;
	copy = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (copy == MAP_FAILED)
		die(path);
	close(fd);
	return copy;
}

void map_impostor(void)
{
	char path[1024];
	size_t size;
	uint8_t *copy = copy_of(library_path(path, sizeof(path), "/libc.so.6"), &size);
	const Elf64_Ehdr *header = (const void *)copy;
	const Elf64_Shdr *sections = (const void *)(copy + header->e_shoff);
	const char *section_names = (const char *)copy + sections[header->e_shstrndx].sh_offset;
	uint64_t code = 0;
	int fd = open("impostor.so", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	for (unsigned int i = 0; i < header->e_shnum; i++) {
		const Elf64_Shdr *s = &sections[i];

		if (strcmp(section_names + s->sh_name, ".text") == 0)
			code = s->sh_offset;
		else if (strcmp(section_names + s->sh_name, ".eh_frame") == 0)
			memset(copy + s->sh_offset, 0, s->sh_size);
	}
	if (!code || fd < 0)
		die("impostor.so");
	memcpy(copy + code, stay, sizeof(stay));
	put_at(fd, copy, size, 0);
	run_code(fd, code);
}
