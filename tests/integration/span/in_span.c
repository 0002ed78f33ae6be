/* SPDX-License-Identifier: Apache-2.0 */
/* A library to be preloaded: the first thread of the program serves the request a1..02 from its start on. */
#include "variable.h"

static struct context served = {.valid = 1};

__attribute__((constructor)) static void serve(void)
{
	for (int i = 0; i < 16; i++)
		served.trace[i] = 0x10;
	served.span[0] = 0xa1;
	served.span[7] = 2;
	context_set(&served);
}
