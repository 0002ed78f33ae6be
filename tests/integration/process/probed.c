/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repeatedly calls functions that others have probed: one begins with a push, which the kernel emulates, the other with
 * an instruction that the kernel single-steps in a copy.
 */
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

int pushes(int n);
int steps(int n);

/* In assembly, because the first instruction determines where the kernel is at a sample. */
__asm__(".text\n"
	".globl pushes\n"
	".type pushes, @function\n"
	"pushes:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"lea 1(%rdi), %eax\n"
	"pop %rbp\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size pushes, . - pushes\n"
	".globl steps\n"
	".type steps, @function\n"
	"steps:\n"
	".cfi_startproc\n"
	"lea 2(%rdi), %eax\n"
	"ret\n"
	".cfi_endproc\n"
	".size steps, . - steps\n");

static NOINLINE int calls(int n)
{
	return pushes(n) + steps(n) + 1;
}

int main(int argc, char **argv)
{
	volatile int sum = 0;

	for (int i = 0, n = argc > 1 ? atoi(argv[1]) : 0; i < n; i++)
		sum = calls(sum & 0xff);
	return 0;
}
