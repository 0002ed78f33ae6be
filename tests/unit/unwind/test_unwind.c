// SPDX-License-Identifier: Apache-2.0
/* Tests of the CFI compiler on generated programs and entries. */
#include "unit/unwind_tables.h"
#include "unwind/cfi.h"

#include <dwarf.h>
#include <elf.h>

Suite *test_unwind(void);

/* ---- generated programs ---- */

#define TEXT 0x10000U
/* The rule's layout again, as a constant expression, which braid_rule() is not. */
#define RULE(cfa, offset, rbp, rbp_offset)                                                                             \
	((uint32_t)BRAID_CFA_##cfa | (uint32_t)BRAID_RBP_##rbp << 4 | ((uint32_t)((rbp_offset) / 8) & 0x3ff) << 6 |    \
	 (uint32_t)((offset) / 8) << 16)
#define RSP(offset) RULE(RSP, offset, SAME, 0)

static const char assembly[] =
	"\t.text\n"
	/* 0: a frame with rbp, and an epilogue in the middle */
	"\t.cfi_startproc\n push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset 6,-16\n mov %rsp,%rbp\n"
	" .cfi_def_cfa_register 6\n .cfi_remember_state\n leave\n .cfi_def_cfa 7,8\n .cfi_restore 6\n ret\n"
	" .cfi_restore_state\n nop\n .cfi_endproc\n"
	/* 64: a realigned stack */
	" .org 64\n .cfi_startproc\n nop\n .cfi_def_cfa 10,0\n nop\n .cfi_escape 0x10,6,2,0x76,0\n"
	" .cfi_escape 0x0f,3,0x76,0x78,6\n nop\n .cfi_escape 0x0f,3,0x77,0x10,6\n nop\n"
	" .cfi_escape 0x0f,5,0x77,0x18,6,0x23,8\n nop\n .cfi_endproc\n"
	/* 128: the linker's PLT, without and with endbr64 */
	" .org 128\n .cfi_startproc\n .cfi_escape 0x0f,11,0x77,8,0x80,0,0x3f,0x1a,0x3b,0x2a,0x33,0x24,0x22\n .skip "
	"16,0x90\n"
	" .cfi_escape 0x0f,11,0x77,8,0x80,0,0x3f,0x1a,0x39,0x2a,0x33,0x24,0x22\n .skip 32,0x90\n .cfi_endproc\n"
	/* 192: a first frame */
	" .org 192\n .cfi_startproc\n .cfi_escape 0x2e,0x10\n nop\n .cfi_undefined 16\n nop\n .cfi_endproc\n"
	/* 256: a signal frame, and one that only shows that no call made it */
	" .org 256\n .cfi_startproc simple\n .cfi_signal_frame\n .cfi_escape 0x0f,4,0x77,0xa0,1,6\n nop\n "
	".cfi_endproc\n"
	" .org 264\n .cfi_startproc\n .cfi_signal_frame\n nop\n .cfi_endproc\n"
	/* 320: return addresses and stack pointers in other places */
	" .org 320\n .cfi_startproc\n .cfi_register 16,5\n nop\n .cfi_restore 16\n .cfi_offset 16,-16\n nop\n"
	" .cfi_restore 16\n .cfi_val_offset 7,0\n nop\n .cfi_val_offset 7,8\n nop\n .cfi_endproc\n"
	/* 384: rbp */
	" .org 384\n .cfi_startproc\n .cfi_val_offset 6,-16\n nop\n .cfi_undefined 6\n nop\n .cfi_same_value 6\n nop\n"
	" .cfi_escape 0x2f,6,2\n nop\n .cfi_register 6,3\n nop\n .cfi_offset 6,-4096\n nop\n .cfi_offset 6,-4104\n "
	"nop\n"
	" .cfi_endproc\n"
	/* 448: offsets and registers of the CFA */
	" .org 448\n .cfi_startproc\n .cfi_def_cfa_offset 262136\n nop\n .cfi_def_cfa_offset 262144\n nop\n"
	" .cfi_def_cfa_offset 12\n nop\n .cfi_def_cfa 11,8\n nop\n .cfi_escape 0x12,6,0x7e\n nop\n .cfi_escape "
	"0x13,0x7c\n nop\n"
	" .cfi_endproc\n"
	/* 512: long advances */
	" .org 512\n .cfi_startproc\n .skip 60,0x90\n .cfi_escape 0x1d,4,0,0,0,0,0,0,0\n .cfi_def_cfa_offset 32\n"
	" .skip 70,0x90\n .cfi_def_cfa_offset 24\n .skip 70000,0x90\n .cfi_def_cfa_offset 40\n nop\n .cfi_endproc\n"
	/* 70784: broken programs */
	" .org 70784\n .cfi_startproc\n nop\n .cfi_def_cfa_offset 24\n nop\n .cfi_escape 0x3f\n nop\n .cfi_endproc\n"
	" .org 70848\n .cfi_startproc\n nop\n .cfi_escape 0x0b\n nop\n .cfi_endproc\n"
	" .org 70912\n nop\n .cfi_startproc\n nop\n .cfi_escape 0x0f,0xff,0x7f\n nop\n .cfi_endproc\n";

static const struct {
	uint32_t offset;
	uint32_t rule;
} expected[] = {
	{0, RSP(8)},
	{1, RULE(RSP, 16, CFA, -16)},
	{4, RULE(RBP, 16, CFA, -16)},
	{5, RSP(8)},
	{6, RULE(RBP, 16, CFA, -16)},
	{7, BRAID_CFA_NONE},
	{63, BRAID_CFA_NONE},
	{64, RSP(8)},
	{65, RULE(R10, 0, SAME, 0)},
	{66, RULE(DEREF_RBP, -8, RBP, 0)},
	{67, RULE(DEREF_RSP, 16, RBP, 0)},
	{68, BRAID_CFA_UNSUPPORTED},
	{69, BRAID_CFA_NONE},
	{128, RULE(PLT, 0, SAME, 0)},
	{143, RULE(PLT, 0, SAME, 0)},
	{144, RSP(8)},
	{152, RSP(8)},
	{153, RSP(16)},
	{160, RSP(8)},
	{169, RSP(16)},
	{176, BRAID_CFA_NONE},
	{192, RSP(8)},
	{193, BRAID_CFA_ROOT},
	{256, BRAID_CFA_SIGNAL},
	{264, RSP(8)},
	{320, BRAID_CFA_UNSUPPORTED},
	{321, BRAID_CFA_UNSUPPORTED},
	{322, RSP(8)},
	{323, BRAID_CFA_UNSUPPORTED},
	{384, RULE(RSP, 8, UNDEFINED, 0)},
	{385, RULE(RSP, 8, UNDEFINED, 0)},
	{386, RSP(8)},
	{387, RULE(RSP, 8, CFA, 16)},
	{388, RULE(RSP, 8, UNDEFINED, 0)},
	{389, RULE(RSP, 8, CFA, -4096)},
	{390, BRAID_CFA_UNSUPPORTED},
	{448, RSP(262136)},
	{449, BRAID_CFA_UNSUPPORTED},
	{450, BRAID_CFA_UNSUPPORTED},
	{451, BRAID_CFA_UNSUPPORTED},
	{452, RULE(RBP, 16, SAME, 0)},
	{453, RULE(RBP, 32, SAME, 0)},
	{512, RSP(8)},
	{575, RSP(8)},
	{576, RSP(32)},
	{645, RSP(32)},
	{646, RSP(24)},
	{70642, RSP(24)}, /* the assembler does not count the four bytes */
	{70643, BRAID_CFA_NONE},
	{70784, RSP(8)},
	{70785, RSP(24)},
	{70786, BRAID_CFA_UNSUPPORTED},
	{70787, BRAID_CFA_NONE},
	{70848, RSP(8)},
	{70849, BRAID_CFA_UNSUPPORTED},
	{70912, BRAID_CFA_NONE},
	{70913, RSP(8)},
	{70914, BRAID_CFA_UNSUPPORTED},
	{70915, BRAID_CFA_NONE},
	{0x7fffffff, BRAID_CFA_NONE},
};

static void expected_check(const struct unwind_table *t, const char *what)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		uint32_t rule = unwind_table_rule(t, (uint64_t)TEXT + expected[i].offset);

		ck_assert_msg(rule == expected[i].rule, "%s: offset %u: %#x, not %#x", what, expected[i].offset, rule,
			      expected[i].rule);
	}
	ck_assert_uint_eq(unwind_table_rule(t, 0), BRAID_CFA_NONE);
	ck_assert_uint_eq(unwind_table_rule(t, TEXT - 1), BRAID_CFA_NONE);
	ck_assert_uint_eq(unwind_table_rule(t, UINT64_MAX), BRAID_CFA_NONE);
	ck_assert_uint_eq(unwind_table_rule(t, (1ULL << 32) + TEXT), BRAID_CFA_NONE);
	table_check(t);
}

START_TEST(rule_fields)
{
	for (int32_t offset = -4096; offset < 4096; offset += 8) {
		uint32_t rule = braid_rule(BRAID_CFA_RBP, offset * 64, BRAID_RBP_CFA, offset);

		ck_assert_uint_eq(braid_rule_cfa(rule), BRAID_CFA_RBP);
		ck_assert_uint_eq(braid_rule_rbp(rule), BRAID_RBP_CFA);
		ck_assert_int_eq(braid_rule_cfa_offset(rule), offset * 64);
		ck_assert_int_eq(braid_rule_rbp_offset(rule), offset);
		ck_assert_uint_eq(rule, RULE(RBP, offset * 64, CFA, offset));
	}
}
END_TEST

static void program_make(const char *name, const char *before, const char *options)
{
	FILE *f = fopen(path_in("a.s"), "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s%s", before, assembly);
	fclose(f);
	run("cd '%s' && gcc -shared -nostdlib -Wl,--build-id -Wl,-Ttext=%#x %s -o %s a.s", directory, TEXT, options,
	    name);
}

START_TEST(generated)
{
	static const struct {
		const char *before;
		const char *options;
	} forms[] = {
		{"", ""},
		{"", "-Wl,--no-eh-frame-hdr"},
		{".cfi_sections .debug_frame\n", ""},
		{".cfi_sections .debug_frame\n", "-Wl,--compress-debug-sections=zlib"},
		{".cfi_sections .eh_frame, .debug_frame\n", ""},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct unwind_table *t;
		char what[128];

		snprintf(what, sizeof(what), "%s %s", forms[i].before, forms[i].options);
		program_make("a.so", forms[i].before, forms[i].options);
		t = table_of(path_in("a.so"));
		expected_check(t, what);
		unwind_table_free(t);
	}
}
END_TEST

/* From memory, then without section headers, so that .eh_frame_hdr must lead to .eh_frame. */
START_TEST(generated_image)
{
	struct unwind_table *t = NULL;
	unsigned char *data;
	size_t size;

	program_make("a.so", "", "");
	data = read_file(path_in("a.so"), &size);
	ck_assert_int_eq(unwind_table_build_image(&t, data, size), 0);
	expected_check(t, "image");
	unwind_table_free(t);
	memset(data + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
	memset(data + offsetof(Elf64_Ehdr, e_shnum), 0, 4);
	ck_assert_int_eq(unwind_table_build_image(&t, data, size), 0);
	expected_check(t, "image without sections");
	unwind_table_free(t);
	free(data);
}
END_TEST

/* Jump slots without an FDE get exactly the rows that GNU ld's own FDEs give. */
START_TEST(plt_without_cfi)
{
	static const char *const options[] = {"-Wl,-z,lazy", "-Wl,-z,lazy -Wl,-z,ibtplt", "-Wl,-z,now -fno-plt",
					      "-Wl,-z,now"};
	static const char how[] = "cd '%s' && gcc -shared -nostdlib -fPIC -O1 %s %s -o %s p.c";

	write_text("p.c", "extern int f(int); extern int g(int); int h(int a) { return f(a) + g(a); } void *p(void) { "
			  "return f; }");
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct unwind_table *with, *without;

		run(how, directory, options[i], "", "with.so");
		run(how, directory, options[i], "-Wl,--no-ld-generated-unwind-info", "without.so");
		with = table_of(path_in("with.so"));
		without = table_of(path_in("without.so"));
		table_check(without);
		ck_assert_uint_eq(with->row_count, without->row_count);
		for (uint32_t row = 0; row < with->row_count; row++)
			ck_assert_uint_eq(with->rows[row].rule, without->rows[row].rule);
		if (i < 2) { /* the first slot, which pushes the link map */
			ck_assert_uint_eq(without->rows[0].rule, RSP(16));
			ck_assert_uint_eq(without->rows[1].rule, RSP(24));
			ck_assert_uint_eq(without->rows[2].rule, i ? RSP(8) : RULE(PLT, 0, SAME, 0));
		}
		unwind_table_free(with);
		unwind_table_free(without);
	}
}
END_TEST

START_TEST(compiled_realigned)
{
	struct unwind_table *t;
	bool found = false;

	write_text(
		"r.c",
		"void use(void *, void *);\nvoid f(int n) { _Alignas(64) char a[64]; use(a, __builtin_alloca(n)); }\n");
	run("cd '%s' && gcc -shared -nostdlib -fPIC -O2 -o r.so r.c", directory);
	t = table_of(path_in("r.so"));
	for (uint32_t i = 0; i < t->row_count; i++)
		found |= braid_rule_cfa(t->rows[i].rule) == BRAID_CFA_DEREF_RBP &&
			 braid_rule_rbp(t->rows[i].rule) == BRAID_RBP_RBP;
	ck_assert(found);
	ck_assert_uint_eq(t->unsupported, 0);
	unwind_table_free(t);
}
END_TEST

/* ---- entries by hand ---- */

static int load_constant(void *arg, uint64_t address, uint64_t *value)
{
	*value = address + 0x1000;
	return *(int *)arg;
}

static bool any_code(void *arg, uint64_t start, uint64_t end)
{
	return arg && start < end;
}

/* A CIE "zR" with the encoding, and one FDE with the pointers `pointer` and `range`, 8 bytes each at most. */
static size_t frame_make(unsigned char *to, uint8_t encoding, const void *pointer, size_t pointer_size,
			 const void *range, size_t range_size)
{
	static const unsigned char cie[] = {16, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0, 0x0c, 7, 8};
	uint32_t length = (uint32_t)(4 + pointer_size + range_size + 1 + 2), back = sizeof(cie) + 4;
	unsigned char *at = to + sizeof(cie);

	memcpy(to, cie, sizeof(cie));
	to[16] = encoding;
	memcpy(at, &length, 4);
	memcpy(at + 4, &back, 4);
	memcpy(at + 8, pointer, pointer_size);
	memcpy(at + 8 + pointer_size, range, range_size);
	memcpy(at + 8 + pointer_size + range_size, "\0\x0e\x10", 3);
	return sizeof(cie) + 4 + length;
}

START_TEST(encodings)
{
	/* The FDE's pointer is at 0x5000 + 28. */
	static const struct {
		uint8_t encoding;
		uint8_t size;
		int64_t value;
		uint32_t start;
	} forms[] = {
		{DW_EH_PE_absptr, 8, 0x1234, 0x1234},
		{DW_EH_PE_udata2, 2, 0xf234, 0xf234},
		{DW_EH_PE_udata4, 4, 0xf2345678, 0xf2345678},
		{DW_EH_PE_sdata8, 8, 0x1234, 0x1234},
		{DW_EH_PE_pcrel | DW_EH_PE_sdata4, 4, -28, 0x5000},
		{DW_EH_PE_pcrel | DW_EH_PE_sdata2, 2, -28, 0x5000},
		{DW_EH_PE_pcrel | DW_EH_PE_sdata8, 8, 0x10000, 0x15000 + 28},
		{DW_EH_PE_textrel | DW_EH_PE_udata4, 4, 16, 0x7010},
		{DW_EH_PE_datarel | DW_EH_PE_sdata4, 4, -16, 0x8ff0},
		{DW_EH_PE_funcrel | DW_EH_PE_udata4, 4, 0x1234, 0x1234},
		{DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4, 4, -28, 0x6000},
		{DW_EH_PE_uleb128, 1, 0x55, 0x55},
		{DW_EH_PE_sleb128 | DW_EH_PE_pcrel, 1, 0x64, 0x5000},
	};
	static const int64_t range = 0x20;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		int loadable = 0;
		unsigned char data[128];
		struct cfi_section section = {.data = data,
					      .address = 0x5000,
					      .text_base = 0x7000,
					      .data_base = 0x9000,
					      .load = load_constant,
					      .is_code = any_code,
					      .arg = &loadable,
					      .eh = true};
		struct cfi_entries e;

		section.size =
			frame_make(data, forms[i].encoding, &forms[i].value, forms[i].size, &range, forms[i].size);
		ck_assert_int_eq(cfi_entries_read(&e, &section, 8), 0);
		ck_assert_uint_eq(e.fdes.count, 1);
		ck_assert_uint_eq(e.fdes.at[0].start, forms[i].start);
		ck_assert_uint_eq(e.fdes.at[0].end, forms[i].start + 0x20);
		cfi_entries_free(&e);
		if (forms[i].encoding & DW_EH_PE_indirect) {
			loadable = -ENODATA;
			ck_assert_int_eq(cfi_entries_read(&e, &section, 8), -EBADMSG);
		}
		for (size_t size = 20; size < section.size; size++) { /* truncated anywhere */
			struct cfi_section cut = section;

			cut.size = size;
			if (cfi_entries_read(&e, &cut, 8) == 0) {
				ck_assert_uint_eq(e.fdes.count, 0);
				cfi_entries_free(&e);
			}
		}
	}
}
END_TEST

/* Functions beyond the limit are left out. */
START_TEST(entries_limited)
{
	static const int64_t pointer = 0x1000, range = 0x20;
	unsigned char data[256];
	int loadable = 0;
	struct cfi_section section = {
		.data = data, .load = load_constant, .is_code = any_code, .arg = &loadable, .eh = true};
	size_t first = frame_make(data, DW_EH_PE_absptr, &pointer, 8, &range, 8);

	section.size = first + frame_make(data + first, DW_EH_PE_absptr, &pointer, 8, &range, 8);
	for (uint32_t max = 0; max <= 3; max++) {
		struct cfi_entries e;

		ck_assert_int_eq(cfi_entries_read(&e, &section, max), max ? 0 : -EBADMSG);
		ck_assert_uint_eq(e.fdes.count, max < 2 ? max : 2);
		cfi_entries_free(&e);
	}
}
END_TEST

START_TEST(encodings_unknown)
{
	static const uint8_t unknown[] = {0x05, 0x0d, 0x60, 0x70, DW_EH_PE_omit};
	static const int64_t pointer = 0x1000, range = 0x20;
	int loadable = 0;

	for (size_t i = 0; i < sizeof(unknown); i++) {
		unsigned char data[128];
		struct cfi_section section = {
			.data = data, .load = load_constant, .is_code = any_code, .arg = &loadable, .eh = true};
		struct cfi_entries e;

		section.size = frame_make(data, unknown[i], &pointer, 8, &range, 8);
		ck_assert_int_eq(cfi_entries_read(&e, &section, 8), -EBADMSG);
		ck_assert_ptr_null(e.cies.at);
	}
}
END_TEST

/* Overlapping entries: the earlier start wins, and .eh_frame wins over .debug_frame, which fills the gaps. */
START_TEST(overlapping)
{
	static const char text[] =
		" .text\n .globl f\nf:\n .cfi_sections .eh_frame\n .cfi_startproc\n .skip 16,0x90\n .cfi_endproc\n"
		" .skip 16,0x90\n .cfi_startproc\n .skip 16,0x90\n .cfi_endproc\n"
		" .section .debug_frame,\"\",@progbits\n"
		"0: .long 2f-1f\n1: .long 0xffffffff\n .byte 3,0\n .uleb128 1\n .sleb128 -8\n .uleb128 16\n .byte "
		"0x0c,7,24,0x90,1\n"
		" .balign 8\n2: .long 4f-3f\n3: .long 0\n .quad 0x10008\n .quad 40\n .byte 0\n4:\n";
	struct unwind_table *t;

	write_text("o.s", text);
	run("cd '%s' && gcc -shared -nostdlib -Wl,-Ttext=%#x -o o.so o.s", directory, TEXT);
	t = table_of(path_in("o.so"));
	ck_assert_uint_eq(unwind_table_rule(t, TEXT), RSP(8));
	ck_assert_uint_eq(unwind_table_rule(t, TEXT + 15), RSP(8));
	ck_assert_uint_eq(unwind_table_rule(t, TEXT + 16), RSP(24));
	ck_assert_uint_eq(unwind_table_rule(t, TEXT + 31), RSP(24));
	ck_assert_uint_eq(unwind_table_rule(t, TEXT + 32), RSP(8));
	ck_assert_uint_eq(unwind_table_rule(t, TEXT + 47), RSP(8));
	table_check(t);
	unwind_table_free(t);
}
END_TEST

Suite *test_unwind(void)
{
	Suite *suite = suite_create("unwind");

	add(suite, "rule_fields", rule_fields);
	add(suite, "generated", generated);
	add(suite, "generated_image", generated_image);
	add(suite, "plt_without_cfi", plt_without_cfi);
	add(suite, "compiled_realigned", compiled_realigned);
	add(suite, "encodings", encodings);
	add(suite, "entries_limited", entries_limited);
	add(suite, "encodings_unknown", encodings_unknown);
	add(suite, "overlapping", overlapping);
	return suite;
}
