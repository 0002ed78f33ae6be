// SPDX-License-Identifier: Apache-2.0
/* Tests of symbol sets: which symbol an address has and under which name, and the kernel's symbols. */
#include "symbol/set.h"
#include "unit/program.h"
#include "unit/symbol_fixture.h"

Suite *test_symbol_set(void);

/* ---- choosing and finding ---- */

static void put(struct symbol_set *set, uint64_t address, uint64_t size, uint64_t limit, enum symbol_binding binding,
		const char *name)
{
	struct symbol_candidate c = {.address = address,
				     .limit = limit,
				     .size = symbol_size(size),
				     .length = (uint16_t)strlen(name),
				     .binding = (uint8_t)binding};

	c.name = set_blob(set, c.length + 1UL);
	ck_assert_ptr_nonnull(c.name);
	strcpy(c.name, name);
	ck_assert_int_eq(set_add(set, &c), 0);
}

static void put_many(struct symbol_set *set, uint64_t count, uint64_t factor)
{
	for (uint64_t i = 1; i <= count; i++)
		put(set, i * factor, i, 0, SYMBOL_GLOBAL, "f");
}

/* What comes later is put between what is sorted already, all of it and in every digit of the addresses. */
START_TEST(order)
{
	struct symbol_set set = {0};
	uint64_t sum = 0;

	ck_assert_int_eq(set_sort(&set), 0);
	put_many(&set, 5000, 0x9e3779b97f4a7c15);
	ck_assert_int_eq(set_sort(&set), 0);
	ck_assert(set_has(&set, 5000, 5000 * 0x9e3779b97f4a7c15));
	put_many(&set, 300, 0xc2b2ae3d27d4eb4f);
	put_many(&set, 300, 2); /* all before the others */
	ck_assert_int_eq(set_sort(&set), 0);
	ck_assert_int_eq(set_sort(&set), 0);
	ck_assert_uint_eq(set.list.count, 5600);
	for (size_t i = 0; i < set.list.count; i++) {
		ck_assert(!i || set.list.at[i - 1].address <= set.list.at[i].address);
		sum += set.list.at[i].size;
	}
	ck_assert_uint_eq(sum, 5000 * 5001 / 2 + 300 * 301);
	set_clear(&set);
}
END_TEST

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

/* Tables of a file, some of them empty, make room one after the other; what is there stays. */
START_TEST(room)
{
	struct symbol_set set = {0};
	struct symbols *s = NULL;

	ck_assert_int_eq(set_reserve(&set, 0), 0);
	ck_assert_int_eq(set_reserve(&set, 0), 0);
	ck_assert_int_eq(set_reserve(&set, 1), 0);
	put(&set, 0x100, 16, 0x1000, SYMBOL_GLOBAL, "first");
	ck_assert_int_eq(set_reserve(&set, 100), 0);
	put(&set, 0x200, 16, 0x1000, SYMBOL_GLOBAL, "second");
	ck_assert_int_eq(set_finish(&s, &set), 0);
	set_clear(&set);
	ck_assert_str_eq(name_at(s, 0x100), "first");
	ck_assert_str_eq(name_at(s, 0x200), "second");
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
	ck_assert_ptr_null(symbol_at(s, 0).name);
	ck_assert_ptr_null(symbol_at(s, UINT64_MAX).name);
	symbols_free(s);
	symbols_free(NULL);
	write_text("n.s", ".text\n nop\n");
	run("cd '%s' && gcc -shared -nostdlib -o n.so n.s && strip n.so", directory);
	s = symbols_of(path_in("n.so"), "");
	ck_assert_uint_eq(symbols_count(s), 0);
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

/* f(P<a, a>, P<P<a, a>, P<a, a>>, ...): each parameter is twice as long as the one before. */
START_TEST(demangling_bounded)
{
	char name[8192], *at = name, *demangled;
	clock_t start = clock();

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
	ck_assert_int_lt(clock() - start, 2 * CLOCKS_PER_SEC);
}
END_TEST

/* ---- the kernel ---- */

/* A function as the kernel prints it; NULL if the text names none. */
static const char *printed(const char *text, uint64_t address, struct symbol *out)
{
	static char copy[256];

	(void)snprintf(copy, sizeof(copy), "%s", text);
	return symbol_from_kernel(copy, address, out) ? out->name : NULL;
}

START_TEST(kernel_text)
{
	const uint64_t at = 0xffffffff81000123;
	struct symbol sym;

	ck_assert_str_eq(printed("vfs_read+0x23/0x3f0", at, &sym), "vfs_read");
	ck_assert_uint_eq(sym.address, 0xffffffff81000100);
	ck_assert_uint_eq(sym.size, 0x3f0);
	ck_assert_str_eq(printed("one_run.isra.0+0x0/0x10 [one]", at, &sym), "one_run.isra.0");
	ck_assert_uint_eq(sym.address, at);
	ck_assert_ptr_null(printed("0xffffffff81000123", at, &sym));
	ck_assert_ptr_null(printed("", at, &sym));
	ck_assert_ptr_null(printed("+0x1/0x2", at, &sym));
	ck_assert_ptr_null(printed("vfs_read+0x23", at, &sym));
	ck_assert_ptr_null(printed("vfs_read+0x23/0x3f0", 0x22, &sym));
}
END_TEST

Suite *test_symbol_set(void)
{
	Suite *suite = suite_create("symbol_set");

	add(suite, "order", order);
	add(suite, "aliases", aliases);
	add(suite, "room", room);
	add(suite, "covering", covering);
	add(suite, "empty", empty);
	add(suite, "demangling", demangling);
	add(suite, "demangling_bounded", demangling_bounded);
	add(suite, "kernel_text", kernel_text);
	return suite;
}
