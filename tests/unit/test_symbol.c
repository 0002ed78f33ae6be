// SPDX-License-Identifier: Apache-2.0
/* Symbols: of generated programs, of what this process has loaded, of separate debug files, of the kernel. */
#include "symbol/set.h"
#include "unit/program.h"

#include <dlfcn.h>
#include <elf.h>
#include <glob.h>
#include <sys/auxv.h>
#include <time.h>

Suite *test_symbol(void);

static struct symbols *symbols_of(const char *path, const char *root)
{
	struct symbols *s = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(symbols_open_elf(&s, fd, root, path + strlen(root)), 0);
	close(fd);
	return s;
}

static const char *name_at(const struct symbols *s, uint64_t address)
{
	const struct symbol *symbol = symbols_find(s, address);

	return symbol ? symbol->name : "";
}

static uint64_t address_of(const struct symbols *s, const char *name)
{
	for (uint64_t at = 0; at < 0x20000; at++)
		if (!strcmp(name_at(s, at), name))
			return at;
	ck_abort_msg("%s not found", name);
	return 0;
}

/* ---- choosing and finding ---- */

static void put(struct symbol_set *set, uint64_t address, uint64_t size, uint64_t limit, enum symbol_binding binding,
		const char *name)
{
	char *copy = set_blob(set, strlen(name) + 1);

	ck_assert_ptr_nonnull(copy);
	strcpy(copy, name);
	ck_assert_int_eq(set_add(set, &(struct symbol_candidate){address, size, limit, copy, binding}), 0);
}

START_TEST(aliases)
{
	struct symbol_set set = {0};
	struct symbols *s = NULL;

	put(&set, 0x200, 16, 0x1000, SYMBOL_LOCAL, "a");
	put(&set, 0x200, 16, 0x1000, SYMBOL_GLOBAL, "__write");
	put(&set, 0x200, 16, 0x1000, SYMBOL_WEAK, "write");
	put(&set, 0x200, 16, 0x1000, SYMBOL_WEAK, "write@OLD_1");
	put(&set, 0x100, 16, 0x1000, SYMBOL_WEAK, "bcmp");
	put(&set, 0x100, 16, 0x1000, SYMBOL_GLOBAL, "memcmp");
	put(&set, 0x300, 16, 0x1000, SYMBOL_GLOBAL, "fopen@@NEW_2");
	put(&set, 0x300, 16, 0x1000, SYMBOL_GLOBAL, "__fopen_now");
	put(&set, 0x400, 16, 0x1000, SYMBOL_GLOBAL, "fopen@OLD_1");
	put(&set, 0x500, 0, 0x1000, SYMBOL_GLOBAL, "sizeless");
	put(&set, 0x500, 8, 0x1000, SYMBOL_LOCAL, "sized");
	ck_assert_int_eq(set_finish(&s, &set), 0);
	set_clear(&set);
	ck_assert_uint_eq(symbols_count(s), 5);
	ck_assert_str_eq(name_at(s, 0x100), "memcmp");
	ck_assert_str_eq(name_at(s, 0x20f), "write");
	ck_assert_str_eq(name_at(s, 0x300), "fopen");
	ck_assert_str_eq(name_at(s, 0x400), "fopen@OLD_1");
	ck_assert_str_eq(name_at(s, 0x507), "sizeless");
	ck_assert_str_eq(name_at(s, 0x508), "");
	symbols_free(s);
}
END_TEST

START_TEST(covering)
{
	struct symbol_set set = {0};
	struct symbols *s = NULL;

	put(&set, 0x1000, 0x100, 0x2000, SYMBOL_GLOBAL, "outer");
	put(&set, 0x1040, 0x10, 0x2000, SYMBOL_GLOBAL, "inner");
	put(&set, 0x1060, 0, 0x2000, SYMBOL_LOCAL, "label");
	put(&set, 0x1080, 0x100, 0x2000, SYMBOL_GLOBAL, "crossing");
	put(&set, 0x1800, 0, 0x2000, SYMBOL_GLOBAL, "assembler");
	put(&set, 0x1900, 0, 0x2000, SYMBOL_GLOBAL, "last");
	put(&set, 0x3000, 0, 0x3000, SYMBOL_GLOBAL, "nowhere");
	put(&set, UINT64_MAX - 1, 100, UINT64_MAX, SYMBOL_GLOBAL, "end");
	ck_assert_int_eq(set_finish(&s, &set), 0);
	set_clear(&set);
	ck_assert_str_eq(name_at(s, 0xfff), "");
	ck_assert_str_eq(name_at(s, 0x1000), "outer");
	ck_assert_str_eq(name_at(s, 0x103f), "outer");
	ck_assert_str_eq(name_at(s, 0x1040), "inner");
	ck_assert_str_eq(name_at(s, 0x104f), "inner");
	ck_assert_str_eq(name_at(s, 0x1050), "outer");
	ck_assert_str_eq(name_at(s, 0x1060), "outer");
	ck_assert_str_eq(name_at(s, 0x10ff), "crossing");
	ck_assert_str_eq(name_at(s, 0x117f), "crossing");
	ck_assert_str_eq(name_at(s, 0x1180), "");
	ck_assert_str_eq(name_at(s, 0x18ff), "assembler");
	ck_assert_str_eq(name_at(s, 0x1fff), "last");
	ck_assert_str_eq(name_at(s, 0x2000), "");
	ck_assert_str_eq(name_at(s, 0x3000), "");
	ck_assert_str_eq(name_at(s, UINT64_MAX - 1), "end");
	symbols_free(s);
}
END_TEST

START_TEST(empty)
{
	struct symbol_set set = {0};
	struct symbols *s = NULL;

	ck_assert_int_eq(set_finish(&s, &set), 0);
	ck_assert_uint_eq(symbols_count(s), 0);
	ck_assert_ptr_null(symbols_find(s, 0));
	ck_assert_ptr_null(symbols_find(s, UINT64_MAX));
	symbols_free(s);
	symbols_free(NULL);
	write_text("n.s", ".text\n nop\n");
	run("cd '%s' && gcc -shared -nostdlib -o n.so n.s && strip n.so", directory);
	s = symbols_of(path_in("n.so"), "");
	ck_assert_uint_eq(symbols_count(s), 0);
	symbols_free(s);
}
END_TEST

/* ---- generated programs ---- */

static void program_make(const char *name, const char *options)
{
	write_text("a.c", "int outside(int); int other(int);\n"
			  "__attribute__((noinline)) static int hidden(int a) { return outside(a) + 1; }\n"
			  "int shown(int a) { return hidden(a) * other(a); }\n"
			  "int (*pointer(void))(int) { return outside; }\n"
			  "static int (*resolve(void))(int) { return hidden; }\n"
			  "__attribute__((visibility(\"hidden\"), ifunc(\"resolve\"))) int chosen(int);\n"
			  "int through(int a) { return chosen(a) + 2; }\n"
			  "int data = 5;\n__asm__(\".text\\nassembled: nop\\nnop\\n.Llocal: nop\\n\");\n");
	run("cd '%s' && gcc -shared -nostdlib -fPIC -O1 -g -Wl,--build-id %s -o %s a.c", directory, options, name);
}

START_TEST(generated)
{
	struct symbols *s;
	uint64_t at;

	program_make("a.so", "");
	s = symbols_of(path_in("a.so"), "");
	at = address_of(s, "hidden");
	ck_assert_uint_eq(symbols_find(s, at)->address, at);
	ck_assert_uint_gt(symbols_find(s, at)->size, 4);
	address_of(s, "shown");
	at = address_of(s, "assembled");
	ck_assert_str_eq(name_at(s, at + 2), "assembled");
	for (uint64_t pc = 0; pc < 0x20000; pc++)
		ck_assert_str_ne(name_at(s, pc), "data");
	symbols_free(s);
	/* From memory the same, but for what lies in other files. */
	size_t size;
	unsigned char *data = read_file(path_in("a.so"), &size);

	ck_assert_int_eq(symbols_open_image(&s, data, size), 0);
	address_of(s, "hidden");
	symbols_free(s);
	free(data);
}
END_TEST

START_TEST(plt)
{
	static const char *const options[] = {"-Wl,-z,lazy", "-Wl,-z,lazy -Wl,-z,ibtplt", "-Wl,-z,now",
					      "-Wl,-z,lazy -s"};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct symbols *s;
		uint64_t at;

		program_make("a.so", options[i]);
		s = symbols_of(path_in("a.so"), "");
		at = address_of(s, "outside@plt");
		ck_assert_uint_ge(symbols_find(s, at)->size, 8);
		ck_assert_uint_ne(address_of(s, "other@plt"), at);
		if (!strstr(options[i], "-s"))
			address_of(s, "chosen@plt");
		symbols_free(s);
	}
}
END_TEST

/* ---- separate debug files ---- */

static char build_id[41];

/* a.so stripped, a.debug beside it. */
static void program_split(const char *options)
{
	int fd;

	program_make("a.so", options);
	run("cd '%s' && objcopy --only-keep-debug a.so a.debug && strip a.so", directory);
	fd = open(path_in("a.so"), O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	build_id[0] = '\0';
	build_id_of_fd(fd, build_id, sizeof(build_id));
	close(fd);
}

static bool sees_hidden(const char *module, const char *root)
{
	struct symbols *s = symbols_of(module, root);
	bool found = false;

	for (uint64_t at = 0; at < 0x20000 && !found; at++)
		found = !strcmp(name_at(s, at), "hidden");
	ck_assert_uint_ne(address_of(s, "outside@plt"), 0);
	symbols_free(s);
	return found;
}

START_TEST(debug_build_id)
{
	char root[256];

	program_split("");
	ck_assert_uint_eq(strlen(build_id), 40);
	snprintf(root, sizeof(root), "%s/root", directory);
	run("cd '%s' && mkdir -p root/lib root/usr/lib/debug/.build-id/%.2s && cp a.so root/lib", directory, build_id);
	ck_assert(!sees_hidden(path_in("root/lib/a.so"), root));
	/* An absolute link means a place under the root. */
	run("cd '%s' && cp a.debug root/a.debug && ln -s /a.debug root/usr/lib/debug/.build-id/%.2s/%s.debug",
	    directory, build_id, build_id + 2);
	ck_assert(sees_hidden(path_in("root/lib/a.so"), root));
	/* Nothing leads out of it. */
	run("cd '%s' && rm root/a.debug && ln -s ../../../../../../../../../../..'%s'/a.debug root/a.debug", directory,
	    directory);
	ck_assert(!sees_hidden(path_in("root/lib/a.so"), root));
	/* Another program's file does not do, and a pipe does not hang. */
	run("cd '%s' && rm root/a.debug && cp a.debug keep && echo 'int x(void) { return 1; }' > x.c && "
	    "gcc -shared -nostdlib -Wl,--build-id -o root/a.debug x.c",
	    directory);
	ck_assert(!sees_hidden(path_in("root/lib/a.so"), root));
	run("cd '%s' && rm root/a.debug && mkfifo root/a.debug", directory);
	ck_assert(!sees_hidden(path_in("root/lib/a.so"), root));
}
END_TEST

START_TEST(debug_link)
{
	static const char *const places[] = {"root/lib", "root/lib/.debug", "root/usr/lib/debug/lib"};
	static const char *const options[] = {"", "-Wl,--build-id=none"};
	char root[256];

	snprintf(root, sizeof(root), "%s/root", directory);
	for (size_t o = 0; o < 2; o++) {
		program_split(options[o]);
		ck_assert_int_eq(build_id[0] == '\0', o == 1);
		run("cd '%s' && objcopy --add-gnu-debuglink=a.debug a.so && mkdir -p root/lib && cp a.so root/lib",
		    directory);
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			run("cd '%s' && mkdir -p %s && cp a.debug %s", directory, places[i], places[i]);
			ck_assert(sees_hidden(path_in("root/lib/a.so"), root));
			if (o == 1) { /* the checksum is off */
				run("cd '%s' && printf x >> %s/a.debug", directory, places[i]);
				ck_assert(!sees_hidden(path_in("root/lib/a.so"), root));
			}
			run("cd '%s' && rm %s/a.debug", directory, places[i]);
			ck_assert(!sees_hidden(path_in("root/lib/a.so"), root));
		}
	}
}
END_TEST

START_TEST(mini_debug_info)
{
	program_make("a.so", "");
	if (system("xz --version > /dev/null 2>&1")) {
		printf("symbol: mini debug info: skipped, no xz here\n");
		return;
	}
	run("cd '%s' && nm a.so --format=posix --defined-only | awk '$2 == \"t\" { print $1 }' > keep && "
	    "objcopy --only-keep-debug a.so full && objcopy -S --remove-section .comment --keep-symbols=keep full mini "
	    "&& "
	    "xz mini && strip a.so && objcopy --add-section .gnu_debugdata=mini.xz a.so",
	    directory);
	ck_assert(sees_hidden(path_in("a.so"), ""));
	/* Broken inside: what is left is .dynsym. */
	run("cd '%s' && head -c 200 mini.xz > half && objcopy --update-section .gnu_debugdata=half a.so", directory);
	ck_assert(!sees_hidden(path_in("a.so"), ""));
}
END_TEST

/* ---- this process ---- */

static void in_module(const char *name)
{
	void *function = dlsym(RTLD_DEFAULT, name);
	struct symbols *s;
	const struct symbol *found;
	Dl_info info;
	uint64_t address;

	ck_assert_ptr_nonnull(function);
	ck_assert_int_ne(dladdr(function, &info), 0);
	s = symbols_of(info.dli_fname, "");
	address = (uint64_t)((char *)function - (char *)info.dli_fbase);
	found = symbols_find(s, address + 3);
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->name, name);
	ck_assert_uint_eq(found->address, address);
	ck_assert_ptr_eq(found, symbols_find(s, address + found->size - 1));
	ck_assert_ptr_ne(found, symbols_find(s, address + found->size));
	symbols_free(s);
}

START_TEST(libc)
{
	in_module("malloc");
	in_module("write");
	in_module("qsort");
	in_module("elf_begin");
}
END_TEST

START_TEST(vdso)
{
	const unsigned char *image = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)image;
	struct symbols *s = NULL;
	char hex[41] = "";
	size_t size;

	if (!image) {
		printf("symbol: vdso: skipped, the kernel gives this process none\n");
		return;
	}
	size = eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize;
	ck_assert_int_eq(symbols_open_image(&s, image, size), 0);
	ck_assert_uint_gt(symbols_count(s), 3);
	ck_assert_str_eq(name_at(s, address_of(s, "__vdso_clock_gettime") + 1), "__vdso_clock_gettime");
	symbols_free(s);
	ck_assert_int_eq(build_id_of_image(image, size, hex, sizeof(hex)), 0);
	ck_assert_uint_eq(strspn(hex, "0123456789abcdef"), 40);
}
END_TEST

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

START_TEST(libjvm)
{
	const char *home = getenv("JAVA_HOME");
	glob_t found = {0};
	struct symbols *s;
	char path[512];
	bool java_main = false;
	double start;

	snprintf(path, sizeof(path), "%s/lib/server/libjvm.so", home ? home : "");
	if (!home || access(path, R_OK)) {
		glob("/usr/lib/jvm/*/lib/server/libjvm.so", 0, NULL, &found);
		snprintf(path, sizeof(path), "%s", found.gl_pathc ? found.gl_pathv[0] : "");
	}
	globfree(&found);
	if (!path[0]) {
		printf("symbol: libjvm.so: skipped, no JDK in JAVA_HOME or /usr/lib/jvm\n");
		return;
	}
	start = now_ms();
	s = symbols_of(path, "");
	printf("symbol: %s: %zu functions in %.1f ms\n", path, symbols_count(s), now_ms() - start);
	for (uint64_t at = 0; at < 0x4000000 && !java_main; at += 16)
		java_main = !strcmp(name_at(s, at), "JNI_CreateJavaVM");
	ck_assert(java_main);
	symbols_free(s);
}
END_TEST

/* ---- the kernel ---- */

START_TEST(kallsyms_text)
{
	static const char text[] =
		"ffffffff81000000 T _stext\nffffffff81000000 T startup_64\nffffffff81000100 t helper\n"
		"ffffffff81000200 D some_data\nffffffff81000300 W weak\nnonsense\n\nffffffff81000400 T\n"
		"ffffffffc0000000 t init_one\t[one]\nffffffffc0000010 T one_run\t[one]\n"
		"ffffffffc0005000 t two_run\t[two]";
	struct symbols *s = NULL;

	ck_assert_int_eq(symbols_from_kallsyms(&s, text, sizeof(text) - 1), 0);
	ck_assert_uint_eq(symbols_count(s), 6);
	ck_assert_str_eq(name_at(s, 0xffffffff80ffffff), "");
	ck_assert_str_eq(name_at(s, 0xffffffff81000000), "startup_64");
	ck_assert_str_eq(name_at(s, 0xffffffff810002ff), "helper");
	ck_assert_str_eq(name_at(s, 0xffffffff81000fff), "weak");
	ck_assert_str_eq(name_at(s, 0xffffffff81001000), "");
	ck_assert_str_eq(name_at(s, 0xffffffffc000000f), "init_one");
	ck_assert_str_eq(name_at(s, 0xffffffffc0000fff), "one_run");
	ck_assert_str_eq(name_at(s, 0xffffffffc0001000), "");
	ck_assert_str_eq(name_at(s, 0xffffffffc0005000), "two_run");
	symbols_free(s);
	ck_assert_int_eq(symbols_from_kallsyms(&s, "0000000000000000 T a\n0000000000000000 t b\n", 42), -EPERM);
	ck_assert_int_eq(symbols_from_kallsyms(&s, "", 0), -EPERM);
}
END_TEST

START_TEST(kernel)
{
	struct symbols *s = NULL;
	double start = now_ms();
	int err = symbols_open_kernel(&s);
	unsigned long address = 0;
	char text[256];
	FILE *f;

	if (err == -EPERM || err == -ENOENT || err == -EACCES) {
		printf("symbol: kernel: skipped: %s\n",
		       err == -EPERM ? "the addresses are hidden (kptr_restrict)" : strerror(-err));
		return;
	}
	ck_assert_int_eq(err, 0);
	printf("symbol: kernel: %zu functions in %.1f ms\n", symbols_count(s), now_ms() - start);
	ck_assert_uint_gt(symbols_count(s), 5000);
	f = fopen("/proc/kallsyms", "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(text, sizeof(text), f) && !strstr(text, " T vfs_read\n"))
		;
	fclose(f);
	ck_assert_int_eq(sscanf(text, "%lx T vfs_read", &address), 1);
	ck_assert_str_eq(name_at(s, address), "vfs_read");
	ck_assert_str_eq(name_at(s, address + 8), "vfs_read");
	ck_assert_str_ne(name_at(s, address - 1), "vfs_read");
	symbols_free(s);
}
END_TEST

/* ---- names ---- */

START_TEST(demangling)
{
	static const char *const names[][2] = {
		{"_ZN3foo3barEv", "foo::bar()"},
		{"_ZN9JavaCalls4callEP9JavaValueRK12methodHandleP17JavaCallArgumentsP10JavaThread",
		 "JavaCalls::call(JavaValue*, methodHandle const&, JavaCallArguments*, JavaThread*)"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)"},
		{"_ZN3foo3barEv.cold", "foo::bar() [clone .cold]"},
		{"_ZN3foo3barEv@plt", "foo::bar()@plt"},
		{"_ZN3foo3barEv@V_1", "foo::bar()@V_1"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
		{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
		{"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
	};
	static const char *const plain[] = {"main",	  "",	"_",	"_Z",	 "_ZN", "__libc_start_main",
					    "malloc@plt", "_R", "@plt", "Z3foov"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *name = symbol_demangle(names[i][0]);

		ck_assert_ptr_nonnull(name);
		ck_assert_str_eq(name, names[i][1]);
		free(name);
	}
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		ck_assert_ptr_null(symbol_demangle(plain[i]));
}
END_TEST

/* f(P<a, a>, P<P<a, a>, P<a, a>>, ...): each parameter is written out twice as long as the one before. */
START_TEST(demangling_bounded)
{
	char name[8192], *at = name, *demangled;
	double start = now_ms();

	at += sprintf(at, "_Z1f1PI1aS0_E");
	for (int i = 1; i < 34; i++) {
		at += sprintf(at, "S_IS%c_S%c_E", i < 10 ? '0' + i : 'A' + i - 10, i < 10 ? '0' + i : 'A' + i - 10);
		demangled = symbol_demangle(name);
		ck_assert(i < 8 ? demangled != NULL : i < 14 || !demangled);
		free(demangled);
	}
	memset(name, 'P', sizeof(name) - 1);
	memcpy(name, "_Z1f", 4);
	name[sizeof(name) - 1] = '\0';
	ck_assert_ptr_null(symbol_demangle(name));
	name[4000] = '\0';
	name[3999] = 'i';
	free(symbol_demangle(name));
	ck_assert_double_lt(now_ms() - start, 2000);
}
END_TEST

/* ---- files that are none, or no longer ---- */

START_TEST(refused)
{
	struct symbols *s = NULL;
	char hex[130];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(symbols_open_elf(&s, -1, "", ""), -EBADF);
	ck_assert_int_eq(symbols_open_elf(&s, fd, "", ""), -EBADMSG);
	ck_assert_int_eq(build_id_of_fd(fd, hex, sizeof(hex)), -EBADMSG);
	close(fd);
	ck_assert_int_eq(symbols_open_image(&s, "#!/bin/sh\n", 10), -EBADMSG);
	ck_assert_int_eq(build_id_of_image("\177ELF", 4, hex, sizeof(hex)), -EBADMSG);
	program_make("a.so", "-Wl,--build-id=none");
	fd = open(path_in("a.so"), O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(build_id_of_fd(fd, hex, sizeof(hex)), -ENODATA);
	close(fd);
	program_make("a.so", "-Wl,--build-id=0xfedcba9876543210");
	fd = open(path_in("a.so"), O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(build_id_of_fd(fd, hex, 17), 0);
	ck_assert_str_eq(hex, "fedcba9876543210");
	ck_assert_int_eq(build_id_of_fd(fd, hex, 16), -ENOBUFS);
	close(fd);
	ck_assert_ptr_null(s);
}
END_TEST

static void damaged_try(const unsigned char *data, size_t size)
{
	/* Exactly as large as the file, so that a sanitizer sees what reads over its end. */
	unsigned char *copy = malloc(size ? size : 1);
	struct symbols *s = NULL;
	char hex[130];

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, data, size);
	if (build_id_of_image(copy, size, hex, sizeof(hex)) == 0)
		ck_assert_uint_lt(strlen(hex), sizeof(hex));
	if (symbols_open_image(&s, copy, size) == 0) {
		for (uint64_t at = 0; at < 0x8000; at += 0x133)
			ck_assert_uint_ge(strlen(name_at(s, at)), 0);
		symbols_free(s);
	}
	free(copy);
}

/* BRAID_TEST_FLIPS=N for more than a quick look. */
START_TEST(damaged)
{
	const char *more = getenv("BRAID_TEST_FLIPS");
	long flips = more ? atol(more) : 600;
	unsigned int seed = 1;
	unsigned char *data;
	const Elf64_Ehdr *eh;
	size_t size;

	program_make("a.so", "-Wl,-z,max-page-size=4096 -Wl,--build-id");
	run("cd '%s' && objcopy --strip-debug a.so", directory);
	data = read_file(path_in("a.so"), &size);
	eh = (const Elf64_Ehdr *)data;
	for (long i = 0; i < flips; i++) {
		/* A third each: the file's head, its tail (symbols, section headers), anywhere. */
		size_t tail = eh->e_shoff < size ? size - eh->e_shoff + 2000 : size;
		size_t at = i % 3 == 0			? (size_t)rand_r(&seed) % 800
			    : i % 3 == 1 && tail < size ? size - 1 - (size_t)rand_r(&seed) % tail
							: (size_t)rand_r(&seed) % size;
		unsigned char bit = (unsigned char)(1U << rand_r(&seed) % 8);

		data[at] ^= bit;
		damaged_try(data, size);
		if (i % 4) /* let some damage pile up, but not all */
			data[at] ^= bit;
		if (i % 200 == 199) {
			free(data);
			data = read_file(path_in("a.so"), &size);
			eh = (const Elf64_Ehdr *)data;
		}
	}
	for (size_t cut = 0; cut < size; cut += cut < 2000 ? 97 : 499)
		damaged_try(data, cut);
	free(data);
}
END_TEST

static void add(Suite *suite, const char *name, const TTest *test)
{
	TCase *tc = tcase_create(name);

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, directory_make, directory_remove);
	tcase_add_test(tc, test);
	suite_add_tcase(suite, tc);
}

Suite *test_symbol(void)
{
	Suite *suite = suite_create("symbol");

	add(suite, "aliases", aliases);
	add(suite, "covering", covering);
	add(suite, "empty", empty);
	add(suite, "generated", generated);
	add(suite, "plt", plt);
	add(suite, "debug_build_id", debug_build_id);
	add(suite, "debug_link", debug_link);
	add(suite, "mini_debug_info", mini_debug_info);
	add(suite, "libc", libc);
	add(suite, "vdso", vdso);
	add(suite, "libjvm", libjvm);
	add(suite, "kallsyms_text", kallsyms_text);
	add(suite, "kernel", kernel);
	add(suite, "demangling", demangling);
	add(suite, "demangling_bounded", demangling_bounded);
	add(suite, "refused", refused);
	add(suite, "damaged", damaged);
	return suite;
}
