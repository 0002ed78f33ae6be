// SPDX-License-Identifier: Apache-2.0
/* Maps HotSpot's names of collectors to one set of names for all JDKs. gc.c calls it. */
#include "gc.h"

#include <string.h>

const char *gc_collector_name(const char *name)
{
	/* CollectorCounters of HotSpot's gc directory: those of JDK 8 and 11, then later ones. */
	static const struct {
		const char *counter, *name;
	} known[] = {
		{"Copy", "Serial young"},
		{"MSC", "Serial full"},
		{"PCopy", "ParNew"},
		{"CMS", "CMS"},
		{"PSScavenge", "Parallel young"},
		{"PSParallelCompact", "Parallel full"},
		{"PSMarkSweep", "Parallel full"},
		{"G1 incremental collections", "G1 young"},
		{"G1 stop-the-world full collections", "G1 full"},
		{"G1 stop-the-world phases", "G1 concurrent cycle"},
		{"Serial young collection pauses", "Serial young"},
		{"Serial full collection pauses", "Serial full"},
		{"Parallel young collection pauses", "Parallel young"},
		{"Parallel full collection pauses", "Parallel full"},
		{"G1 young collection pauses", "G1 young"},
		{"G1 full collection pauses", "G1 full"},
		{"G1 concurrent cycle pauses", "G1 concurrent cycle"},
		{"Z concurrent cycle pauses", "ZGC"},
		{"ZGC minor collection pauses", "ZGC minor"},
		{"ZGC major collection pauses", "ZGC major"},
		{"Shenandoah partial", "Shenandoah"},
		{"Shenandoah full", "Shenandoah"}, /* all of its pauses */
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].counter, name))
			return known[i].name;
	return name;
}

const char *gc_leader_name(const char *thread)
{
	static const struct {
		const char *prefix, *name;
	} known[] = {
		{"G1 ", "G1 concurrent cycle"},
		{"ZDriverMinor", "ZGC minor"},
		{"ZDriverMajor", "ZGC major"},
		{"ZDriver", "ZGC"},
		{"XDriver", "ZGC"},
		{"Shenandoah", "Shenandoah"},
		{"Shenand..", "Shenandoah"}, /* cut for the kernel */
		{"CMS ", "CMS"},
		{"Concurrent Mark", "CMS"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strncmp(known[i].prefix, thread, strlen(known[i].prefix)))
			return known[i].name;
	return thread;
}
