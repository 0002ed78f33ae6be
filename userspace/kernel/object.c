// SPDX-License-Identifier: Apache-2.0
#include "object.h"

#include "abilities.h"
#include "braid.skel.h"
#include "util/pages.h"

#include <bpf/bpf.h>
#include <string.h>

int object_run(const struct bpf_program *p, void *arg, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = arg, .ctx_size_in = (uint32_t)size);

	return bpf_prog_test_run_opts(bpf_program__fd(p), &run) ?: (int)run.retval;
}

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
