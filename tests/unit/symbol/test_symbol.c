// SPDX-License-Identifier: Apache-2.0
/* Tests of symbols: of generated programs, of this process's libraries, of separate debug files. */
#include "symbol/set.h"
#include "unit/program.h"
#include "unit/symbol_fixture.h"
#include "util/owner.h"

#include <dlfcn.h>
#include <elf.h>
#include <glob.h>
#include <sys/auxv.h>

Suite *test_symbol(void);

static uint64_t address_of(const struct symbols *s, const char *name)
{
	for (uint64_t at = 0; at < 0x20000; at++)
		if (!strcmp(name_at(s, at), name))
			return at;
	ck_abort_msg("%s not found", name);
	return 0;
}

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
	ck_assert_uint_eq(symbol_at(s, at).address, at);
	ck_assert_uint_gt(symbol_at(s, at).size, 4);
	address_of(s, "shown");
	at = address_of(s, "assembled");
	ck_assert_str_eq(name_at(s, at + 2), "assembled");
	for (uint64_t pc = 0; pc < 0x20000; pc++)
		ck_assert_str_ne(name_at(s, pc), "data");
	symbols_free(s);
	/* The same from memory, except for what is in other files. */
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
		ck_assert_uint_ge(symbol_at(s, at).size, 8);
		ck_assert_uint_ne(address_of(s, "other@plt"), at);
		if (!strstr(options[i], "-s"))
			address_of(s, "chosen@plt");
		symbols_free(s);
	}
}
END_TEST

/* ---- separate debug files ---- */

static char build_id[41];

/* a.so stripped, with a.debug beside it. */
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
	/* An absolute link is relative to the root. */
	run("cd '%s' && cp a.debug root/a.debug && ln -s /a.debug root/usr/lib/debug/.build-id/%.2s/%s.debug",
	    directory, build_id, build_id + 2);
	ck_assert(sees_hidden(path_in("root/lib/a.so"), root));
	/* No link leads out of it. */
	run("cd '%s' && rm root/a.debug && ln -s ../../../../../../../../../../..'%s'/a.debug root/a.debug", directory,
	    directory);
	ck_assert(!sees_hidden(path_in("root/lib/a.so"), root));
	/* Another program's file is refused, and a pipe does not block. */
	run("cd '%s' && rm root/a.debug && cp a.debug keep && echo 'int x(void) { return 1; }' > x.c && "
	    "gcc -shared -nostdlib -Wl,--build-id -o root/a.debug x.c",
	    directory);
	ck_assert(!sees_hidden(path_in("root/lib/a.so"), root));
	run("cd '%s' && rm root/a.debug && mkfifo root/a.debug", directory);
	ck_assert(!sees_hidden(path_in("root/lib/a.so"), root));
}
END_TEST

/* A process may have its own files where others see root's: its owner's files are for modules of that owner only. */
START_TEST(debug_owner)
{
	if (geteuid() != 0) {
		printf("symbol: debug_owner: skipped, it needs root\n");
		return;
	}
	program_split("");
	run("cd '%s' && mkdir -p root/lib root/usr/lib/debug/.build-id/%.2s && cp a.so root/lib && "
	    "cp a.debug root/usr/lib/debug/.build-id/%.2s/%s.debug && chown 65534 root/usr/lib/debug/.build-id/*/*",
	    directory, build_id, build_id, build_id + 2);
	char root[256];

	snprintf(root, sizeof(root), "%s/root", directory);
	ck_assert(!sees_hidden(path_in("root/lib/a.so"), root));
	run("chown 65534 '%s'/root/lib/a.so", directory);
	ck_assert(sees_hidden(path_in("root/lib/a.so"), root));
	run("cd '%s' && chown root root/usr/lib/debug/.build-id/*/*", directory);
	ck_assert(sees_hidden(path_in("root/lib/a.so"), root));
}
END_TEST

/* Probe locations: functions in the file's code, by its own symbols or by a trusted debug file. */
static struct symbol function_of(const char *path, const char *name)
{
	struct symbol wanted = {.name = name};
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(symbols_lookup(fd, path, NULL, 0, &wanted, 1), 0);
	close(fd);
	return wanted;
}

static uint64_t undescribed(const char *name)
{
	struct symbol wanted = {.name = name};
	int fd = open(path_in("a.so"), O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(symbols_undescribed(fd, &wanted), 0);
	close(fd);
	return wanted.address;
}

START_TEST(functions)
{
	struct symbols *s;
	uint64_t at;

	write_text("d.s",
		   ".data\n.globl unreal\n.type unreal,@function\nunreal: .quad 1\n.size unreal, 8\n"
		   ".text\n.globl around, inside, bare, unsized\n.type around,@function\n.type inside,@function\n"
		   "around: .cfi_startproc\nmovl $0, %eax\n.set inside, .-3\nret\n.cfi_endproc\n"
		   ".size inside, 3\n.type bare,@function\n.type unsized,@function\n"
		   "bare: nop\nret\n.size bare, 2\nunsized: ret\n");
	program_make("a.so", "-Wl,-z,noseparate-code -x assembler d.s -x c");
	s = symbols_of(path_in("a.so"), "");
	at = address_of(s, "hidden");
	symbols_free(s);
	ck_assert_uint_eq(function_of(path_in("a.so"), "hidden").address, at); /* one segment from the file's start */
	ck_assert_uint_eq(function_of(path_in("a.so"), "data").address, 0);
	ck_assert_uint_eq(function_of(path_in("a.so"), "unreal").address, 0);
	ck_assert_uint_ne(function_of(path_in("a.so"), "around").address, 0);
	ck_assert_uint_eq(function_of(path_in("a.so"), "inside").address, 0); /* of an instruction */
	ck_assert_uint_eq(function_of(path_in("a.so"), "no_such_name").address, 0);
	ck_assert_uint_eq(function_of(path_in("a.so"), "bare").address, 0); /* without a description, but: */
	ck_assert_uint_ne(undescribed("bare"), 0);
	ck_assert_uint_eq(undescribed("unsized"), 0);
	ck_assert_uint_eq(undescribed("inside"), 0);
	ck_assert_uint_eq(undescribed("around"), 0);
	ck_assert_uint_eq(undescribed("unreal"), 0);
	ck_assert_uint_eq(undescribed("no_such_name"), 0);
	run("cd '%s' && objcopy --only-keep-debug a.so a.debug && strip a.so && objcopy --add-gnu-debuglink=a.debug "
	    "a.so",
	    directory);
	ck_assert_uint_eq(function_of(path_in("a.so"), "hidden").address, at);
	if (geteuid() == 0) {
		run("chown 65534 '%s/a.debug'", directory);
		ck_assert_uint_eq(function_of(path_in("a.so"), "hidden").address, 0);
	}
}
END_TEST

START_TEST(trusted)
{
	struct stat st = {.st_uid = geteuid(), .st_mode = S_IFREG | 0755};

	ck_assert(owner_trusted(&st));
	st.st_mode = S_IFREG | 0757;
	ck_assert(!owner_trusted(&st));
	st.st_mode = S_IFREG | 0775;
	st.st_gid = 65534;
	ck_assert(!owner_trusted(&st));
	st.st_mode = S_IFREG | 0755;
	st.st_uid = 0;
	ck_assert(owner_trusted(&st));
	st.st_uid = 65534;
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534x", 1);
	ck_assert_int_eq(owner_trusted(&st), geteuid() == 65534);
	setenv("SUDO_GID", "65534", 1);
	ck_assert_int_eq(owner_trusted(&st), geteuid() == 0 || geteuid() == 65534);
	unsetenv("SUDO_UID");
	ck_assert_int_eq(owner_trusted(&st), geteuid() == 65534);
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
			if (o == 1) { /* the checksum is wrong */
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
	    "objcopy --only-keep-debug a.so full && objcopy -S --remove-section .comment --keep-symbols=keep full "
	    "mini && xz mini && strip a.so && objcopy --add-section .gnu_debugdata=mini.xz a.so",
	    directory);
	ck_assert(sees_hidden(path_in("a.so"), ""));
	/* With a damaged .gnu_debugdata only .dynsym is left. */
	run("cd '%s' && head -c 200 mini.xz > half && objcopy --update-section .gnu_debugdata=half a.so", directory);
	ck_assert(!sees_hidden(path_in("a.so"), ""));
}
END_TEST

/* ---- this process ---- */

static void in_module(const char *name)
{
	void *function = dlsym(RTLD_DEFAULT, name);
	struct symbols *s;
	struct symbol found;
	Dl_info info;
	uint64_t address;

	ck_assert_ptr_nonnull(function);
	ck_assert_int_ne(dladdr(function, &info), 0);
	s = symbols_of(info.dli_fname, "");
	address = (uint64_t)((char *)function - (char *)info.dli_fbase);
	ck_assert(symbols_find(s, address + 3, &found));
	ck_assert_str_eq(found.name, name);
	ck_assert_uint_eq(found.address, address);
	ck_assert_uint_eq(symbol_at(s, address + found.size - 1).address, address);
	ck_assert_uint_ne(symbol_at(s, address + found.size).address, address);
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
	struct symbols *s = NULL;
	char hex[130];

	if (build_id_of_image(data, size, hex, sizeof(hex)) == 0)
		ck_assert_uint_lt(strlen(hex), sizeof(hex));
	if (symbols_open_image(&s, data, size))
		return;
	for (uint64_t at = 0; at < 0x8000; at += 0x133)
		ck_assert_uint_ge(strlen(name_at(s, at)), 0);
	symbols_free(s);
}

/* What is read most is the tail: symbols, and section headers. */
START_TEST(damaged)
{
	struct damage d = {.head = 800, .cut_step = 499, .attempt = damaged_try};
	unsigned char *data;
	size_t size;

	program_make("a.so", "-Wl,-z,max-page-size=4096 -Wl,--build-id");
	run("cd '%s' && objcopy --strip-debug a.so", directory);
	data = read_file(path_in("a.so"), &size);
	d.at = ((const Elf64_Ehdr *)data)->e_shoff - 2000;
	ck_assert_uint_lt(d.at, size);
	d.span = size - d.at;
	free(data);
	damage_file("a.so", &d);
}
END_TEST

Suite *test_symbol(void)
{
	Suite *suite = suite_create("symbol");

	add(suite, "generated", generated);
	add(suite, "plt", plt);
	add(suite, "debug_build_id", debug_build_id);
	add(suite, "debug_owner", debug_owner);
	add(suite, "functions", functions);
	add(suite, "trusted", trusted);
	add(suite, "debug_link", debug_link);
	add(suite, "mini_debug_info", mini_debug_info);
	add(suite, "libc", libc);
	add(suite, "vdso", vdso);
	add(suite, "libjvm", libjvm);
	add(suite, "refused", refused);
	add(suite, "damaged", damaged);
	return suite;
}
