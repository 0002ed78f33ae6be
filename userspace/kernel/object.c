// SPDX-License-Identifier: Apache-2.0
#include "object.h"

#include "braid.skel.h"
#include "util/pages.h"

struct braid_bpf *object_open(void)
{
	struct braid_bpf *b = braid_bpf__open();
	size_t size;
	const char *bytes = braid_bpf__elf_bytes(&size);

	/* libbpf has copied what it needs of them. */
	pages_release(bytes, bytes + size);
	return b;
}
