// SPDX-License-Identifier: Apache-2.0
/* Reads what the kernel prints of its functions (lib/vsprintf.c: %pS). */
#include "symbol.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool symbol_from_kernel(char *text, uint64_t address, struct symbol *out)
{
	char *plus = strchr(text, '+'); /* in no name */
	uint64_t offset, size;

	if (!plus || plus == text || sscanf(plus, "+0x%" SCNx64 "/0x%" SCNx64, &offset, &size) != 2 || offset > address)
		return false;
	*plus = '\0';
	*out = (struct symbol){.address = address - offset, .size = size, .name = text};
	return true;
}
