// SPDX-License-Identifier: Apache-2.0
/* What of HotSpot's code can be probed how, and the links that do. Calls wait for the kernel, and use no session. */
#ifndef BRAID_JVM_PROBE_LINKS_H
#define BRAID_JVM_PROBE_LINKS_H

#include "libjvm.h"

#include <stdatomic.h>

struct braid_bpf;
struct bpf_link;
struct probe_way;

enum probe_group {
	PROBE_SAFEPOINTS,
	PROBE_STOPS,
	PROBE_COMPILATIONS,
	PROBE_DEOPTIMISATIONS,
	PROBE_COLLECTIONS,
	PROBE_GROUPS
};

#define WAY_PROBES 9

struct probe_links {
	struct bpf_link *at[PROBE_GROUPS][WAY_PROBES];
	const struct probe_way *way[PROBE_GROUPS]; /* NULL: nothing of this group is reported */
};

/* The functions that libjvm_open() is to look for: as the linker has them, "" for none. */
#define PROBE_FUNCTIONS_MAX 128
size_t probe_functions(const char *names[PROBE_FUNCTIONS_MAX]);

/*
 * Adds each group of `types` that the library has. `pid`: of this process alone, -1 of all that run the file. 0,
 * -ENOENT when groups are missing, -ECANCELED soon after `stop` is set, or why the kernel refused.
 */
int probe_links_attach(struct probe_links *to, const struct braid_bpf *b, const struct libjvm *l, uint32_t types,
		       pid_t pid, const atomic_bool *stop);
void probe_links_destroy(struct probe_links *l);

/* Which groups of `types` there are no links for, in words; the length of that. */
size_t probe_links_missing(const struct probe_links *l, uint32_t types, char *text, size_t size);

#endif
