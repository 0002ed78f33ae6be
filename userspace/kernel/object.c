// SPDX-License-Identifier: Apache-2.0
#include "object.h"

#include "abilities.h"
#include "braid.skel.h"
#include "util/pages.h"

#include <string.h>

struct braid_bpf *object_open(void)
{
	const struct abilities *kernel = kernel_abilities();
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = kernel->types[0] ? kernel->types : NULL);
	struct braid_bpf *b = braid_bpf__open_opts(&options);
	const char *bytes;
	size_t size;

	if (!b)
		return NULL;
	/* libbpf has copied what it needs of them. */
	bytes = braid_bpf__elf_bytes(&size);
	b->rodata->kernel_casts = kernel->casts;
	memcpy(b->rodata->cast_ids, kernel->cast_ids, sizeof(kernel->cast_ids));
	pages_release(bytes, bytes + size);
	return b;
}
