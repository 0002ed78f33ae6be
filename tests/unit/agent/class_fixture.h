// SPDX-License-Identifier: Apache-2.0
/* A class file. */
#ifndef TESTS_UNIT_AGENT_CLASS_FIXTURE_H
#define TESTS_UNIT_AGENT_CLASS_FIXTURE_H

#include "rewrite/rewrite.h"

/* A class with one static method `()I`. */
struct class_file {
	uint32_t minor, major;
	const uint8_t *code;
	size_t code_size;
};

static inline void class_make(struct writer *w, const struct class_file *f)
{
	static const char *const texts[] = {"C", "java/lang/Object", "m", "()I", "Code", "LineNumberTable"};
	size_t code, attribute;

	write_u4(w, 0xcafebabe);
	write_u2(w, f->minor);
	write_u2(w, f->major);
	write_u2(w, 9);
	for (size_t i = 0; i < 6; i++) {
		write_u1(w, 1);
		write_u2(w, (uint32_t)strlen(texts[i]));
		write_bytes(w, texts[i], strlen(texts[i]));
	}
	write_bytes(w, "\7\0\1\7\0\2", 6); /* 7, 8: classes */
	write_bytes(w, "\0\x21\0\7\0\10\0\0\0\0\0\1", 12);
	write_bytes(w, "\0\11\0\3\0\4\0\1", 8);
	write_u2(w, 5);
	code = w->used;
	write_u4(w, 0);
	write_u2(w, 1);
	write_u2(w, 0);
	write_u4(w, (uint32_t)f->code_size);
	write_bytes(w, f->code, f->code_size);
	write_u2(w, 0);
	write_u2(w, 1);
	write_u2(w, 6);
	attribute = w->used;
	write_u4(w, 0);
	write_bytes(w, "\0\2\0\0\0\12\0\1\0\13", 10); /* lines 10 and 11, at 0 and 1 */
	write_length(w, attribute);
	write_length(w, code);
	write_u2(w, 0);
}

#endif
