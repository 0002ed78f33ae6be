// SPDX-License-Identifier: Apache-2.0
/* A program of another user: it reports when its own code has changed. */
#include <stdio.h>
#include <unistd.h>

int victim_add(int a);

#ifdef LIBRARY
int victim_add(int a)
{
	return a + 0x11223344;
}

/* Notes of HotSpot's USDT probes, with locations in the middle of an instruction. */
#define NOTE(provider, name)                                                                                           \
	__asm__(".pushsection .note.stapsdt, \"\", \"note\"\n"                                                         \
		".balign 4\n.4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"                 \
		"993: .8byte victim_add+3, 0, 0\n.asciz \"" provider "\"\n.asciz \"" name "\"\n.asciz \"\"\n"          \
		"994: .balign 4\n.popsection")
NOTE("hs_private", "safepoint__begin");
NOTE("hotspot", "vmops__begin");
NOTE("hs_private", "safepoint__end");
#else
int main(void)
{
	puts("ready");
	fflush(stdout);
	if (read(STDIN_FILENO, &(char){0}, 1) < 0)
		return 2;
	return victim_add(1) == 0x11223345 ? 0 : 3;
}
#endif
