// SPDX-License-Identifier: Apache-2.0
/* Tests of unwind tables of real files: files that are no ELF, damaged files, the vdso; and of the cache. */
#include "unit/unwind_tables.h"

#include "symbol/symbol.h"
#include "util/stint.h"

#include <dirent.h>
#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>

Suite *test_unwind_files(void);

static void program_make(const char *name, const char *options)
{
	static const char text[] =
		"int use(int *, int); int twice(int a) { return a * 2; }\n"
		"int f(int n) { int a[n + 1]; return use(a, n) + twice(n); }\n"
		"int g(int n) { _Alignas(64) int a[64]; return use(a, n) + f(n); }\n"
		"int use(int *a, int n) { while (n-- > 0) a[n] = n; return n > 5 ? g(n) : twice(a[0]); }\n"
		"int _start(int n) { return f(n) + g(n); }\n";

	write_text("a.c", text);
	run("cd '%s' && gcc -shared -nostdlib -fPIC -O1 -fno-inline -Wl,--build-id %s -o %s a.c", directory, options,
	    name);
}

/* ---- files that are none, or no longer ---- */

START_TEST(refused)
{
	struct unwind_table *t = NULL;
	Elf64_Ehdr *eh;
	unsigned char *data;
	size_t size;
	int fd;

	ck_assert_int_eq(unwind_table_build_image(&t, "", 0), -EBADMSG);
	ck_assert_int_eq(unwind_table_build_image(&t, "#!/bin/sh\n", 10), -EBADMSG);
	ck_assert_int_eq(unwind_table_build(&t, -1), -EBADF);
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(unwind_table_build(&t, fd), -EBADMSG);
	close(fd);
	program_make("a.so", "");
	data = read_file(path_in("a.so"), &size);
	eh = (Elf64_Ehdr *)data;
	eh->e_machine = EM_AARCH64;
	ck_assert_int_eq(unwind_table_build_image(&t, data, size), -ENOTSUP);
	eh->e_machine = EM_X86_64;
	for (int i = 0; i < eh->e_phnum; i++)
		((Elf64_Phdr *)(data + eh->e_phoff))[i].p_vaddr += 1ULL << 32;
	ck_assert_int_eq(unwind_table_build_image(&t, data, size), -EFBIG);
	free(data);
	write_text("n.s", " .text\n nop\n");
	run("cd '%s' && gcc -shared -nostdlib -o n.so n.s", directory);
	data = read_file(path_in("n.so"), &size);
	ck_assert_int_eq(unwind_table_build_image(&t, data, size), -ENODATA);
	free(data);
	ck_assert_ptr_null(t);
	unwind_table_free(NULL);
}
END_TEST

static void damaged_try(const unsigned char *data, size_t size)
{
	struct unwind_table *t = NULL;

	if (unwind_table_build_image(&t, data, size))
		return;
	table_check(t);
	for (uint32_t pc = 0; pc < 0x40000; pc += 0x333)
		unwind_table_rule(t, pc);
	unwind_table_free(t);
}

START_TEST(damaged)
{
	struct damage d = {.head = 600, .span = 1200, .cut_step = 4999, .attempt = damaged_try};
	unsigned char *data;
	size_t size;

	program_make("a.so", "-Wa,--gdwarf-5 -Wl,-z,max-page-size=4096");
	run("cd '%s' && objcopy --strip-unneeded a.so b.so && readelf -SW b.so | sed -n 's/.* \\.eh_frame *PROGBITS "
	    "*[0-9a-f]* \\([0-9a-f]*\\).*/\\1/p' > at",
	    directory);
	data = read_file(path_in("at"), &size);
	data[size] = '\0';
	d.at = strtoul((char *)data, NULL, 16);
	free(data);
	ck_assert_uint_gt(d.at, 0);
	damage_file("b.so", &d);
}
END_TEST

/* ---- the vdso ---- */

START_TEST(vdso)
{
	const unsigned char *image = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	struct unwind_table *t = NULL;
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)image;
	size_t size;

	if (!image) {
		printf("unwind: vdso: skipped, the kernel gives this process none\n");
		return;
	}
	size = eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize;
	ck_assert_int_eq(unwind_table_build_image(&t, image, size), 0);
	table_check(t);
	ck_assert_uint_ge(t->row_count, 4);
	unwind_table_free(t);
}
END_TEST

/* ---- the cache ---- */

static void get_same(const char *path, const struct unwind_table *expected_table)
{
	struct unwind_table *t = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(unwind_table_get(&t, fd), 0);
	close(fd);
	ck_assert_uint_eq(t->row_count, expected_table->row_count);
	ck_assert_uint_eq(t->page_count, expected_table->page_count);
	ck_assert_uint_eq(t->unsupported, expected_table->unsupported);
	ck_assert_mem_eq(t->rows, expected_table->rows, t->row_count * sizeof(*t->rows));
	ck_assert_mem_eq(t->index, expected_table->index, (t->page_count + 1) * sizeof(*t->index));
	unwind_table_free(t);
}

static size_t files_in_cache(void)
{
	DIR *d = opendir(path_in("cache/braid"));
	size_t count = 0;
	struct dirent *entry;

	if (!d)
		return 0;
	while ((entry = readdir(d)))
		count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(d);
	return count;
}

/* The only file in the cache. */
static char *cached(void)
{
	static char path[256];
	size_t size;
	char *name;

	run("ls '%s/cache/braid' > '%s/names'", directory, directory);
	name = (char *)read_file(path_in("names"), &size);
	name[strcspn(name, "\n")] = '\0';
	snprintf(path, sizeof(path), "%s/cache/braid/%s", directory, name);
	free(name);
	return path;
}

START_TEST(cache_kept)
{
	struct unwind_table *t;
	struct stat st;
	char program[256];

	program_make("a.so", "");
	snprintf(program, sizeof(program), "%s", path_in("a.so"));
	t = table_of(program);
	setenv("XDG_CACHE_HOME", path_in("cache"), 1);
	umask(0);
	get_same(program, t);
	ck_assert_int_eq(stat(path_in("cache/braid"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_uint_eq(files_in_cache(), 1);
	ck_assert_int_eq(stat(cached(), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	get_same(program, t);
	/* The cached table is used and not written again. */
	run("touch -d @1 '%s'", cached());
	get_same(program, t);
	ck_assert_int_eq(stat(cached(), &st), 0);
	ck_assert_int_eq(st.st_mtim.tv_sec, 1);
	ck_assert_uint_eq(files_in_cache(), 1);
	unwind_table_free(t);
}
END_TEST

/* A file with another file's build-id has its own table, a copy has none. */
START_TEST(cache_by_content)
{
	struct unwind_table *a, *b;
	char program[256];

	program_make("a.so", "-Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567");
	program_make("b.so", "-Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567 -fno-omit-frame-pointer -O0");
	snprintf(program, sizeof(program), "%s", path_in("a.so"));
	a = table_of(program);
	b = table_of(path_in("b.so"));
	ck_assert(a->row_count != b->row_count || memcmp(a->rows, b->rows, a->row_count * sizeof(*a->rows)));
	setenv("XDG_CACHE_HOME", path_in("cache"), 1);
	get_same(program, a);
	get_same(path_in("b.so"), b);
	ck_assert_uint_eq(files_in_cache(), 2);
	run("cd '%s' && cat b.so > a.so", directory);
	get_same(program, b);
	ck_assert_uint_eq(files_in_cache(), 2);
	unwind_table_free(a);
	unwind_table_free(b);
}
END_TEST

START_TEST(cache_of_strangers)
{
	struct unwind_table *t;

	program_make("a.so", "");
	t = table_of(path_in("a.so"));
	setenv("XDG_CACHE_HOME", path_in("cache"), 1);
	run("chmod o+w '%s/a.so'", directory);
	get_same(path_in("a.so"), t);
	ck_assert_uint_eq(files_in_cache(), 0);
	if (geteuid() == 0) {
		run("chmod 755 '%s/a.so' && chown 65534 '%s/a.so'", directory, directory);
		get_same(path_in("a.so"), t);
		ck_assert_uint_eq(files_in_cache(), 0);
	}
	unwind_table_free(t);
}
END_TEST

START_TEST(cache_has_an_end)
{
	struct unwind_table *t;

	program_make("a.so", "");
	t = table_of(path_in("a.so"));
	setenv("XDG_CACHE_HOME", path_in("cache"), 1);
	run("mkdir -p '%s/cache/braid' && cd '%s/cache/braid' && touch $(seq 2048) && touch -d @1 77 && chmod 700 .",
	    directory, directory);
	get_same(path_in("a.so"), t);
	ck_assert_uint_eq(files_in_cache(), 2048);
	ck_assert_int_ne(access(path_in("cache/braid/77"), F_OK), 0);
	unwind_table_free(t);
}
END_TEST

START_TEST(cache_damaged)
{
	struct unwind_table *t;
	unsigned char *good;
	char program[256], kept[256];
	size_t size;

	program_make("a.so", "");
	snprintf(program, sizeof(program), "%s", path_in("a.so"));
	t = table_of(program);
	setenv("XDG_CACHE_HOME", path_in("cache"), 1);
	get_same(program, t);
	snprintf(kept, sizeof(kept), "%s", cached());
	good = read_file(kept, &size);
	for (size_t at = 0; at < size; at += at < 96 ? 1 : 37) {
		unsigned char *after;
		size_t after_size;
		FILE *f = fopen(kept, "w");

		ck_assert_ptr_nonnull(f);
		good[at] ^= 4;
		ck_assert_uint_eq(fwrite(good, 1, at % 2 ? size : at, f), at % 2 ? size : at);
		fclose(f);
		good[at] ^= 4;
		get_same(program, t);
		after = read_file(kept, &after_size); /* made again */
		ck_assert_uint_eq(after_size, size);
		ck_assert_mem_eq(after, good, size);
		free(after);
	}
	/* Another file's table is refused. */
	run("cp '%s' '%s/keep' && cp '%s' '%s/b.so' && echo >> '%s/b.so'", kept, directory, program, directory,
	    directory);
	get_same(path_in("b.so"), t);
	run("cd '%s/cache/braid' && for f in *; do cp ../../keep $f; done", directory);
	get_same(path_in("b.so"), t);
	run("! cmp '%s/cache/braid/'*", directory);
	/* A world-writable directory is not read. */
	run("chmod 0777 '%s/cache/braid' && rm '%s'", directory, kept);
	get_same(program, t);
	ck_assert_uint_eq(files_in_cache(), 1);
	free(good);
	unwind_table_free(t);
}
END_TEST

/* Reading an untrusted file ends after its time limit. */
START_TEST(given_up)
{
	struct unwind_table *t = NULL;
	struct symbols *symbols = NULL;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	stint_begin(0, NULL);
	ck_assert_int_eq(unwind_table_build(&t, fd), -ETIME);
	ck_assert_int_eq(symbols_open_elf(&symbols, fd, "", "/proc/self/exe"), -ETIME);
	stint_begin(3600000000000, NULL);
	ck_assert_int_eq(unwind_table_build(&t, fd), 0);
	unwind_table_free(t);
	stint_end();
	ck_assert_int_eq(symbols_open_elf(&symbols, fd, "", "/proc/self/exe"), 0);
	symbols_free(symbols);
	close(fd);
}
END_TEST

#define CODE_BYTES (15UL << 20)
#define SEGMENTS 64

/* Many segments, all of them the same bytes of the file: instructions of one byte each. */
static int same_code_again_and_again(void)
{
	Elf64_Ehdr eh = {.e_ident = ELFMAG,
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(eh),
			 .e_ehsize = sizeof(eh),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = SEGMENTS};
	int fd = memfd_create("code", MFD_CLOEXEC);
	char *file;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, CODE_BYTES + 4096), 0);
	file = mmap(NULL, CODE_BYTES + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(file, MAP_FAILED);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	memset(file, 0x50, CODE_BYTES + 4096); /* push rax */
	memcpy(file, &eh, sizeof(eh));
	for (uint64_t i = 0; i < SEGMENTS; i++) {
		Elf64_Phdr ph = {.p_type = PT_LOAD,
				 .p_flags = PF_R | PF_X,
				 .p_offset = 4096 - i, /* each has to be read */
				 .p_vaddr = i << 24,
				 .p_filesz = CODE_BYTES,
				 .p_memsz = CODE_BYTES};

		memcpy(file + sizeof(eh) + i * sizeof(ph), &ph, sizeof(ph));
	}
	munmap(file, CODE_BYTES + 4096);
	return fd;
}

/* A small file cannot make the recorder use any memory that it likes. */
START_TEST(memory_limited)
{
	struct unwind_table *t = NULL;
	struct rusage before, after;
	int fd = same_code_again_and_again();

	ck_assert_int_eq(getrusage(RUSAGE_SELF, &before), 0);
	ck_assert_int_eq(unwind_table_build(&t, fd), -ENODATA);
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &after), 0);
#ifndef BRAID_SANITIZED /* what is freed stays in use there */
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 400 << 10);
#endif
	close(fd);
}
END_TEST

Suite *test_unwind_files(void)
{
	Suite *suite = suite_create("unwind files");

	add(suite, "refused", refused);
	add(suite, "damaged", damaged);
	add(suite, "given_up", given_up);
	add(suite, "memory_limited", memory_limited);
	add(suite, "vdso", vdso);
	add(suite, "cache_kept", cache_kept);
	add(suite, "cache_damaged", cache_damaged);
	add(suite, "cache_by_content", cache_by_content);
	add(suite, "cache_of_strangers", cache_of_strangers);
	add(suite, "cache_has_an_end", cache_has_an_end);
	return suite;
}
