// SPDX-License-Identifier: Apache-2.0
/*
 * The ways to probe HotSpot's code, and the links of the probes that are set. probes.c calls this, also on its own
 * thread: the calls wait for the kernel, and touch no other state of the recording.
 */
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
	/* Where the kernel can, one link for all functions of a group instead. */
	struct {
		bool set;
		int fd;
	} functions[PROBE_GROUPS];
	const struct probe_way *way[PROBE_GROUPS]; /* NULL: nothing of this group is reported */
	struct bpf_link *named[BRAID_HITS];	   /* of hit events in JVMs */
};

/* The functions for libjvm_open() to look up: linker names, "" for none. */
#define PROBE_FUNCTIONS_MAX 128
size_t probe_functions(const char *names[PROBE_FUNCTIONS_MAX]);

/*
 * Attaches each group of the enabled types, and each hit event, that the library has. `pid` -1: for all processes
 * that run the file. Returns 0, -ENOENT when some are missing, -ECANCELED soon after `stop` is set, or the kernel's
 * error.
 */
int probe_links_attach(struct probe_links *to, const struct braid_bpf *b, const struct libjvm *l,
		       const struct record_options *o, pid_t pid, const atomic_bool *stop);
void probe_links_destroy(struct probe_links *l);

/* Describes the groups of `types` without links. Returns the length of the text. */
size_t probe_links_missing(const struct probe_links *l, uint32_t types, char *text, size_t size);
/* The same for hit events. */
size_t probe_links_unknown(const struct probe_links *l, const struct record_options *o, char *text, size_t size);

#endif
