// SPDX-License-Identifier: Apache-2.0
#include "memory_room.h"

#include "groups.h"
#include "jvm_proc.h"
#include "procfs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one group leaves; files that it has in memory can go. */
static uint64_t room_in(const char *dir, const char *limit, const char *usage, const char *files)
{
	uint64_t most, used, can_go = 0;

	if (!groups_number(dir, limit, "", &most) || !groups_number(dir, usage, "", &used))
		return UINT64_MAX;
	(void)groups_number(dir, "memory.stat", files, &can_go);
	used -= can_go < used ? can_go : used;
	return most > used ? most - used : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void take_room(void *ctx, const char *dir)
{
	uint64_t *room = ctx;

	*room = least(*room, room_in(dir, "memory.max", "memory.current", "inactive_file "));
}

static void take_room_v1(void *ctx, const char *dir)
{
	uint64_t *room = ctx;

	*room = least(*room, room_in(dir, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "));
}

/* Groups have limits of their own and those of all groups around them. */
static uint64_t room_of_groups(const char *group)
{
	uint64_t room = UINT64_MAX;

	groups_each(CGROUPS, group, take_room, &room);
	groups_each(CGROUPS "/memory", group, take_room_v1, &room);
	return room;
}

uint64_t memory_room(pid_t pid)
{
	char group[PATH_MAX];
	uint64_t kib;

	procfs_cgroup(pid, group, sizeof(group));
	return least(groups_number("/proc", "meminfo", "MemAvailable:", &kib) ? kib * 1024 : UINT64_MAX,
		     room_of_groups(group));
}

uint64_t memory_private(pid_t pid)
{
	char text[8192];
	const char *at;

	if (procfs_status(pid, pid, text, sizeof(text)) <= 0 || !(at = strstr(text, "\nRssAnon:")))
		return 0;
	return strtoull(at + sizeof("\nRssAnon:") - 1, NULL, 10) * 1024;
}
