// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of rules that come from instructions: single instructions against known effects, and all against a compiler's
 * own CFI.
 */
#include "unwind/code.h"
#include "unwind/table.h"

#include <check.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *test_unwind_code(void);

/* ---- instructions ---- */

struct sample_insn {
	const char *bytes;
	size_t size;
	enum code_kind kind;
	int64_t value;
};

#define INSN(bytes, kind, value)                                                                                       \
	{                                                                                                              \
		bytes, sizeof(bytes) - 1, kind, value                                                                  \
	}

static const struct sample_insn insns[] = {
	INSN("\x55", CODE_PUSH_FP, 0),
	INSN("\x41\x55", CODE_PUSH, 0),					   /* push r13 */
	INSN("\x53", CODE_PUSH, 0),					   /* push rbx */
	INSN("\x6a\x01", CODE_PUSH, 0),					   /* push 1 */
	INSN("\x68\x01\x02\x03\x04", CODE_PUSH, 0),			   /* push imm32 */
	INSN("\xff\x75\x08", CODE_PUSH, 0),				   /* push [rbp+8] */
	INSN("\xff\x35\x01\x02\x03\x04", CODE_PUSH, 0),			   /* push [rip+n] */
	INSN("\x5d", CODE_POP_FP, 0),					   /* pop rbp */
	INSN("\x41\x5d", CODE_POP, 0),					   /* pop r13 */
	INSN("\x5c", CODE_SP_LOST, 0),					   /* pop rsp */
	INSN("\x48\x83\xec\x18", CODE_MOVE_SP, -0x18),			   /* sub rsp, 0x18 */
	INSN("\x48\x81\xec\x00\x10\x00\x00", CODE_MOVE_SP, -0x1000),	   /* sub rsp, 0x1000 */
	INSN("\x48\x83\xc4\x80", CODE_MOVE_SP, -0x80),			   /* add rsp, -0x80 */
	INSN("\x48\x8d\x64\x24\x08", CODE_MOVE_SP, 8),			   /* lea rsp, [rsp+8] */
	INSN("\x48\x83\xe4\xe0", CODE_SP_LOST, 0),			   /* and rsp, -32 */
	INSN("\x48\x29\xc4", CODE_SP_LOST, 0),				   /* sub rsp, rax */
	INSN("\x48\x89\xe5", CODE_FP_FROM_SP, 0),			   /* mov rbp, rsp */
	INSN("\x48\x8b\xec", CODE_FP_FROM_SP, 0),			   /* the other encoding */
	INSN("\x48\x8d\x6c\x24\x10", CODE_FP_FROM_SP, 0x10),		   /* lea rbp, [rsp+0x10] */
	INSN("\x48\x8d\x65\xd8", CODE_SP_FROM_FP, -0x28),		   /* lea rsp, [rbp-0x28] */
	INSN("\x48\x89\xec", CODE_SP_FROM_FP, 0),			   /* mov rsp, rbp */
	INSN("\xc9", CODE_LEAVE, 0),					   /* leave */
	INSN("\x31\xed", CODE_FP_LOST, 0),				   /* xor ebp, ebp */
	INSN("\xbd\x01\x00\x00\x00", CODE_FP_LOST, 0),			   /* mov ebp, 1 */
	INSN("\x48\x83\xfd\x10", CODE_OTHER, 0),			   /* cmp rbp, 16 */
	INSN("\x48\x39\xec", CODE_OTHER, 0),				   /* cmp rsp, rbp */
	INSN("\x49\x89\xec", CODE_OTHER, 0),				   /* mov r12, rbp */
	INSN("\x4c\x8d\x64\x24\x08", CODE_OTHER, 0),			   /* lea r12, [rsp+8] */
	INSN("\xc3", CODE_RETURN, 0),					   /* ret */
	INSN("\xf3\xc3", CODE_RETURN, 0),				   /* rep ret */
	INSN("\xe8\x0b\x00\x00\x00", CODE_CALL, 16),			   /* call */
	INSN("\xff\xd0", CODE_CALL_UNKNOWN, 0),				   /* call rax */
	INSN("\xff\x15\x01\x02\x03\x04", CODE_CALL_UNKNOWN, 0),		   /* call [rip+n] */
	INSN("\xeb\xfe", CODE_JUMP, 0),					   /* jmp to itself */
	INSN("\xe9\xfb\xff\xff\xff", CODE_JUMP, 0),			   /* the same */
	INSN("\xff\x24\xc5\x01\x02\x03\x04", CODE_JUMP_UNKNOWN, 0),	   /* jmp [rax*8+n] */
	INSN("\x3e\xff\xe0", CODE_JUMP_UNKNOWN, 0),			   /* notrack jmp rax */
	INSN("\x74\x10", CODE_BRANCH, 18),				   /* je */
	INSN("\x0f\x84\x10\x00\x00\x00", CODE_BRANCH, 22),		   /* je */
	INSN("\x0f\x0b", CODE_STOP, 0),					   /* ud2 */
	INSN("\xf4", CODE_STOP, 0),					   /* hlt */
	INSN("\x90", CODE_PADDING, 0),					   /* nop */
	INSN("\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", CODE_PADDING, 0), /* nopw */
	INSN("\xf3\x0f\x1e\xfa", CODE_OTHER, 0),			   /* endbr64 */
	INSN("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", CODE_OTHER, 0),   /* movabs */
	INSN("\x66\xc7\x44\x24\x08\x01\x02", CODE_OTHER, 0),		   /* mov word [rsp+8], n */
	INSN("\xf7\x44\x24\x08\x01\x02\x03\x04", CODE_OTHER, 0),	   /* test dword [rsp+8], n */
	INSN("\xf7\xd8", CODE_OTHER, 0),				   /* neg eax */
	INSN("\x0f\xba\xe0\x05", CODE_OTHER, 0),			   /* bt eax, 5 */
	INSN("\x66\x0f\x3a\x0f\xc1\x08", CODE_OTHER, 0),		   /* palignr */
	INSN("\xc5\xf8\x77", CODE_OTHER, 0),				   /* vzeroupper */
	INSN("\xc4\xe3\x7d\x39\xc1\x01", CODE_OTHER, 0),		   /* vextracti128 */
	INSN("\x62\xf1\xfe\x48\x6f\x07", CODE_OTHER, 0),		   /* vmovdqu64 zmm0, [rdi] */
	INSN("\x64\x48\x8b\x04\x25\x28\x00\x00\x00", CODE_OTHER, 0),	   /* mov rax, fs:0x28 */
	INSN("\x06", CODE_INVALID, 0),
};

START_TEST(instructions)
{
	for (size_t i = 0; i < sizeof(insns) / sizeof(insns[0]); i++) {
		uint8_t bytes[32];
		struct code_insn insn;

		memset(bytes, 0x90, sizeof(bytes));
		memcpy(bytes, insns[i].bytes, insns[i].size);
		machine_decode(&insn, bytes, sizeof(bytes));
		ck_assert_msg(insn.length == insns[i].size, "instruction %zu: %u bytes, not %zu", i, insn.length,
			      insns[i].size);
		ck_assert_msg(insn.kind == insns[i].kind, "instruction %zu: kind %u, not %d", i, insn.kind,
			      (int)insns[i].kind);
		if (insns[i].value)
			ck_assert_int_eq(insn.value, insns[i].value);
		/* A truncated instruction is invalid, and nothing after the end is read, which sanitizers check. */
		for (size_t size = 1; size < insns[i].size; size++) {
			uint8_t *cut = malloc(size);

			memcpy(cut, insns[i].bytes, size);
			machine_decode(&insn, cut, size);
			ck_assert_uint_ge(insn.length, 1);
			ck_assert_uint_le(insn.length, size);
			free(cut);
		}
	}
}
END_TEST

/* ---- functions ---- */

static struct unwind_table *table_of(const char *code, size_t size)
{
	cfi_rows rows = {0};
	struct unwind_table *t = NULL;

	ck_assert_int_eq(code_rows(&rows, 0x1000, (const uint8_t *)code, size, NULL, 0), 0);
	ck_assert_int_eq(table_from_rows(&t, rows.at, rows.count), 0);
	return t;
}

static void has(const struct unwind_table *t, uint32_t at, uint32_t cfa, int32_t offset, uint32_t rbp,
		int32_t rbp_offset)
{
	uint32_t expected = braid_rule(cfa, offset, rbp, rbp_offset), got = unwind_table_rule(t, 0x1000 + at);

	ck_assert_msg(got == expected, "at %u: %08x, not %08x", at, got, expected);
}

START_TEST(function_without_frame_pointer)
{
	/* push rbx; sub rsp, 0x10; test edi, edi; je 1f; add rsp, 0x10; pop rbx; ret; 1: call f; jmp back; f: ret */
	static const char code[] = "\x53\x48\x83\xec\x10\x85\xff\x74\x06\x48\x83\xc4\x10\x5b\xc3"
				   "\xe8\x02\x00\x00\x00\xeb\xf3\xc3";
	struct unwind_table *t = table_of(code, sizeof(code) - 1);

	has(t, 0, BRAID_CFA_RSP, 8, BRAID_RBP_SAME, 0);
	has(t, 1, BRAID_CFA_RSP, 16, BRAID_RBP_SAME, 0);
	has(t, 5, BRAID_CFA_RSP, 32, BRAID_RBP_SAME, 0);
	has(t, 13, BRAID_CFA_RSP, 16, BRAID_RBP_SAME, 0);
	has(t, 14, BRAID_CFA_RSP, 8, BRAID_RBP_SAME, 0);
	has(t, 15, BRAID_CFA_RSP, 32, BRAID_RBP_SAME, 0); /* after a ret, reached by the branch */
	has(t, 20, BRAID_CFA_RSP, 32, BRAID_RBP_SAME, 0);
	has(t, 22, BRAID_CFA_RSP, 8, BRAID_RBP_SAME, 0); /* a call's target begins a function */
	unwind_table_free(t);
}
END_TEST

START_TEST(function_with_frame_pointer)
{
	/* push rbp; mov rbp, rsp; sub rsp, rax; leave; ret */
	static const char code[] = "\x55\x48\x89\xe5\x48\x29\xc4\xc9\xc3";
	struct unwind_table *t = table_of(code, sizeof(code) - 1);

	has(t, 0, BRAID_CFA_RSP, 8, BRAID_RBP_SAME, 0);
	has(t, 1, BRAID_CFA_RSP, 16, BRAID_RBP_CFA, -16);
	has(t, 4, BRAID_CFA_RBP, 16, BRAID_RBP_CFA, -16);
	has(t, 7, BRAID_CFA_RBP, 16, BRAID_RBP_CFA, -16);
	has(t, 8, BRAID_CFA_RSP, 8, BRAID_RBP_SAME, 0);
	unwind_table_free(t);
}
END_TEST

/* The callee pops its arguments: the height differs from iteration to iteration, the frame pointer does not. */
START_TEST(callee_takes_arguments)
{
	/* push rbp; mov rbp, rsp; call rax; 1: push rax; call rax; test edi, edi; jne 1b; leave; ret */
	static const char code[] = "\x55\x48\x89\xe5\xff\xd0\x50\xff\xd0\x85\xff\x75\xf9\xc9\xc3";
	struct unwind_table *t = table_of(code, sizeof(code) - 1);

	for (uint32_t at = 4; at <= 13; at++)
		has(t, at, BRAID_CFA_RBP, 16, BRAID_RBP_CFA, -16);
	has(t, 14, BRAID_CFA_RSP, 8, BRAID_RBP_SAME, 0);
	unwind_table_free(t);
}
END_TEST

START_TEST(nothing_is_said_of_what_is_not_known)
{
	/* and rsp, -32; nop; and a loop that pushes: xor eax, eax; 1: push rax; dec edi; jne 1b; ret */
	static const char lost[] = "\x48\x83\xe4\xe0\x90\xc3", loop[] = "\x31\xc0\x50\xff\xcf\x75\xfb\xc3";
	struct unwind_table *t = table_of(lost, sizeof(lost) - 1);

	ck_assert_uint_eq(unwind_table_rule(t, 0x1004), BRAID_CFA_NONE);
	unwind_table_free(t);
	t = table_of(loop, sizeof(loop) - 1);
	ck_assert_uint_ne(unwind_table_rule(t, 0x1000), BRAID_CFA_NONE);
	ck_assert_uint_eq(unwind_table_rule(t, 0x1002), BRAID_CFA_NONE);
	ck_assert_uint_eq(unwind_table_rule(t, 0x1007), BRAID_CFA_NONE);
	unwind_table_free(t);
}
END_TEST

START_TEST(any_bytes)
{
	uint8_t bytes[4096];
	uint32_t seed = 1;

	for (int round = 0; round < 200; round++) {
		cfi_rows rows = {0};

		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = (uint8_t)(seed >> 24);
		}
		ck_assert_int_eq(code_rows(&rows, UINT32_MAX - sizeof(bytes), bytes, sizeof(bytes), NULL, 0), 0);
		for (size_t i = 1; i < rows.count; i++)
			ck_assert(rows.at[i].pc > rows.at[i - 1].pc);
		free(rows.at);
	}
}
END_TEST

/* ---- against CFI ---- */

struct agreement {
	unsigned long all, same, differ;
};

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static size_t functions(Elf *elf, uint32_t **list)
{
	Elf_Scn *scn = NULL;
	size_t n = 0;

	*list = NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;

		ck_assert_ptr_nonnull(gelf_getshdr(scn, &sh));
		if (sh.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(scn, NULL);
		*list = realloc(*list, (n + data->d_size / sizeof(Elf64_Sym) + 1) * sizeof(**list));
		for (int i = 0; i < (int)(data->d_size / sizeof(Elf64_Sym)); i++) {
			GElf_Sym sym;

			gelf_getsym(data, i, &sym);
			if (GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_shndx != SHN_UNDEF &&
			    !strstr(elf_strptr(elf, sh.sh_link, sym.st_name), ".cold"))
				(*list)[n++] = (uint32_t)sym.st_value;
		}
	}
	if (n)
		qsort(*list, n, sizeof(**list), by_value);
	return n;
}

static void compare(struct agreement *a, const struct unwind_table *cfi, const struct unwind_table *code,
		    uint32_t start, const uint8_t *bytes, size_t size)
{
	struct code_insn insn;

	for (size_t at = 0; at < size; at += insn.length) {
		uint32_t says = unwind_table_rule(cfi, start + at), rule = unwind_table_rule(code, start + at);
		uint32_t cfa = braid_rule_cfa(says);

		machine_decode(&insn, bytes + at, size - at);
		if (insn.kind == CODE_PADDING || (cfa != BRAID_CFA_RSP && cfa != BRAID_CFA_RBP))
			continue;
		a->all++;
		if (cfa == braid_rule_cfa(rule) && braid_rule_cfa_offset(says) == braid_rule_cfa_offset(rule))
			a->same++;
		else if (braid_rule_cfa(rule) != BRAID_CFA_NONE)
			a->differ++;
	}
}

/* This program's functions: the compiler's CFI against the rules from instructions. */
START_TEST(agrees_with_the_compiler)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct unwind_table *cfi = NULL, *code = NULL;
	cfi_rows rows = {0};
	struct agreement a = {0};
	uint32_t *starts;
	Elf_Scn *scn = NULL;
	size_t n, names;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	ck_assert_ptr_nonnull(elf);
	ck_assert_int_eq(unwind_table_build(&cfi, fd), 0);
	n = functions(elf, &starts);
	ck_assert_uint_gt(n, 100);
	ck_assert_int_eq(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;

		ck_assert_ptr_nonnull(gelf_getshdr(scn, &sh));
		if (strcmp(elf_strptr(elf, names, sh.sh_name), ".text") != 0)
			continue;
		data = elf_getdata(scn, NULL);
		ck_assert_int_eq(code_rows(&rows, (uint32_t)sh.sh_addr, data->d_buf, data->d_size, starts, n), 0);
		ck_assert_int_eq(table_from_rows(&code, rows.at, rows.count), 0);
		compare(&a, cfi, code, (uint32_t)sh.sh_addr, data->d_buf, data->d_size);
	}
	ck_assert_uint_gt(a.all, 10000);
	/* 97 and 1 in an ordinary build; sanitizers add code that does not return. */
	ck_assert_msg(a.same * 100 >= a.all * 94 && a.differ * 100 <= a.all * 3,
		      "of %lu instructions %lu agree, %lu contradict", a.all, a.same, a.differ);
	unwind_table_free(cfi);
	unwind_table_free(code);
	free(starts);
	elf_end(elf);
	close(fd);
}
END_TEST

Suite *test_unwind_code(void)
{
	Suite *s = suite_create("unwind code");
	TCase *t = tcase_create("code");

	tcase_add_test(t, instructions);
	tcase_add_test(t, function_without_frame_pointer);
	tcase_add_test(t, function_with_frame_pointer);
	tcase_add_test(t, callee_takes_arguments);
	tcase_add_test(t, nothing_is_said_of_what_is_not_known);
	tcase_add_test(t, any_bytes);
	tcase_add_test(t, agrees_with_the_compiler);
	suite_add_tcase(s, t);
	return s;
}
