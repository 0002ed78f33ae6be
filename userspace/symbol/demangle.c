// SPDX-License-Identifier: Apache-2.0
/*
 * Demangles Itanium C++ and Rust (legacy and v0) names through libiberty. A crafted name of a few hundred bytes can
 * expand to gigabytes (every substitution may double it), so a jump out of the printing callback bounds the output.
 * libiberty's callback interfaces use the stack; the jump can leak at most the buffer of one Rust identifier in
 * Punycode.
 */
#include "symbol.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define MANGLED_MAX 4096
#define DEMANGLED_MAX 16384

struct output {
	jmp_buf full;
	size_t length;
	char text[DEMANGLED_MAX];
};

static void demangle_collect(const char *text, size_t length, void *arg)
{
	struct output *out = arg;

	if (!length) /* without any text */
		return;
	if (length >= sizeof(out->text) - out->length)
		longjmp(out->full, 1);
	memcpy(out->text + out->length, text, length);
	out->length += length;
}

/* The text that a compiler or linker adds after a '@' (plt, a version) is no part of the mangled name. */
static int demangle_head(struct output *out, const char *name, size_t length)
{
	char head[MANGLED_MAX];
	int options = DMGL_PARAMS | DMGL_ANSI;

	memcpy(head, name, length);
	head[length] = '\0';
	out->length = 0;
	if (setjmp(out->full))
		return 0;
	if (rust_demangle_callback(head, options, demangle_collect, out))
		return 1;
	out->length = 0;
	return cplus_demangle_v3_callback(head, options, demangle_collect, out);
}

char *symbol_demangle(const char *name)
{
	size_t length = strcspn(name, "@"), tail = strnlen(name + length, MANGLED_MAX);
	struct output *out;
	char *result = NULL;

	if (name[0] != '_' || length >= MANGLED_MAX || tail >= MANGLED_MAX)
		return NULL;
	out = malloc(sizeof(*out));
	if (!out)
		return NULL;
	if (demangle_head(out, name, length))
		result = malloc(out->length + tail + 1);
	if (result) {
		memcpy(result, out->text, out->length);
		memcpy(result + out->length, name + length, tail + 1);
	}
	free(out);
	return result;
}
