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

#define FIELD_CONSTANT 9 /* C.f */

/* The fixture's class, with a field among its constants. */
static inline void class_with_field(struct writer *file, const uint8_t *code, size_t size, const char *type)
{
	struct writer constants = {0};
	const uint8_t *at;

	class_make(file, &(struct class_file){0, 52, code, size});
	write_bytes(&constants, "\11\0\7\0\12\14\0\13\0\14\1\0\1f\1", 15);
	write_u2(&constants, (uint32_t)strlen(type));
	write_bytes(&constants, type, strlen(type));
	at = memmem(file->bytes, file->used, "\0\x21\0\7\0\10", 6);
	size = (size_t)(at - file->bytes);
	write_room(file, constants.used);
	memmove(file->bytes + size + constants.used, file->bytes + size, file->used - constants.used - size);
	memcpy(file->bytes + size, constants.bytes, constants.used);
	put_u2(file->bytes + 8, 13);
	free(constants.bytes);
}

#endif
