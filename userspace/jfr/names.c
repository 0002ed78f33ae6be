// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	char letter;
} primitives[] = {{"boolean", 'Z'}, {"byte", 'B'}, {"char", 'C'},  {"short", 'S'},
		  {"int", 'I'},	    {"long", 'J'}, {"float", 'F'}, {"double", 'D'}};

static char letter_of(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++)
		if (strlen(primitives[i].name) == length && memcmp(name, primitives[i].name, length) == 0)
			return primitives[i].letter;
	return 0;
}

/* The VM writes the '/' in front of a hidden class's address as '+'. */
static void put_name(char *to, const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		to[i] = (char)(name[i] == '.' ? '/' : name[i] == '/' ? '+' : name[i]);
	to[length] = 0;
}

char *jfr_class_name(const char *name, size_t length)
{
	size_t dimensions = 0, at = 0;
	char *to = malloc(length + 3), letter;

	if (!to)
		return NULL;
	for (; length >= 2 && memcmp(name + length - 2, "[]", 2) == 0; length -= 2)
		dimensions++;
	memset(to, '[', dimensions);
	at = dimensions;
	letter = dimensions ? letter_of(name, length) : 0;
	if (letter) {
		to[at++] = letter;
		to[at] = 0;
		return to;
	}
	if (dimensions)
		to[at++] = 'L';
	put_name(to + at, name, length);
	if (!dimensions && to[0] == '[') /* it would be an array */
		to[0] = '(';
	if (dimensions)
		memcpy(to + at + length, ";", 2);
	return to;
}

size_t jfr_class_length(const char *method)
{
	const char *dot = strrchr(method, '.');

	return dot ? (size_t)(dot - method) : 0;
}
