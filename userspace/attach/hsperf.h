// SPDX-License-Identifier: Apache-2.0
/*
 * HotSpot's performance counters (hsperfdata), read from a JVM's memory or its file without its help. jvm_process.c
 * calls this.
 */
#ifndef BRAID_ATTACH_HSPERF_H
#define BRAID_ATTACH_HSPERF_H

#include "proc/jvm_proc.h"

#include <stdbool.h>
#include <stdint.h>

#define HSPERF_BYTES_MAX (1U << 20) /* the JVM's default is 32 KiB */

/* Missing strings are empty. The others are as the JVM wrote them; print them with utf8_printable. */
struct hsperf {
	char command[1024]; /* sun.rt.javaCommand: main class or jar, then arguments */
	char args[8192];    /* java.rt.vmArgs: options from the command line and from the environment */
	char version[128];  /* java.property.java.version */
	bool has_stopped;
	uint64_t stopped_ns; /* sun.rt.safepointTime: how long all its safepoints have taken */
};

/*
 * Parses the counters in `data` (perfMemory.hpp, version 2). -EINVAL when it has none, -EAGAIN when the JVM is still
 * starting.
 */
int hsperf_parse(const void *data, size_t size, struct hsperf *out);

/*
 * Reads the counters of a running JVM from its memory, or else from its user's file in its /tmp. -ENOENT when there are
 * none (-XX:-UsePerfData).
 */
int hsperf_read(pid_t pid, const struct proc_status *status, const struct proc_maps *maps, struct hsperf *out);

#endif
