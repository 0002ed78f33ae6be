// SPDX-License-Identifier: Apache-2.0
#include "object.h"

#include "abilities.h"
#include "braid.skel.h"
#include "util/pages.h"

struct braid_bpf *object_open(void)
{
	struct braid_bpf *b = braid_bpf__open();
	const char *bytes;
	size_t size;

	if (!b)
		return NULL;
	/* libbpf has copied what it needs of them. */
	bytes = braid_bpf__elf_bytes(&size);
	b->rodata->kernel_casts = kernel_abilities()->casts;
	pages_release(bytes, bytes + size);
	return b;
}
