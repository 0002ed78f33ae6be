// SPDX-License-Identifier: Apache-2.0
#include "memory_room.h"

#include "jvm_proc.h"
#include "procfs.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CGROUPS "/sys/fs/cgroup"
#define CGROUPS_V1 CGROUPS "/memory"

/* The number after `name` in a file, or at its start; false: there is none, as in "max". */
static bool number_in(const char *dir, const char *file, const char *name, uint64_t *to)
{
	char path[PATH_MAX], line[256];
	size_t length = strlen(name);
	bool found = false;
	FILE *f;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, file) >= sizeof(path) || !(f = fopen(path, "re")))
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = strncmp(line, name, length) == 0 && sscanf(line + length, "%" SCNu64, to) == 1;
	fclose(f);
	return found;
}

/* What one group leaves; files that it has in memory can go. */
static uint64_t room_in(const char *dir, const char *limit, const char *usage, const char *files)
{
	uint64_t most, used, can_go = 0;

	if (!number_in(dir, limit, "", &most) || !number_in(dir, usage, "", &used))
		return UINT64_MAX;
	(void)number_in(dir, "memory.stat", files, &can_go);
	used -= can_go < used ? can_go : used;
	return most > used ? most - used : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Groups have limits of their own and those of all groups around them. */
static uint64_t room_of_groups(const char *group)
{
	uint64_t room = UINT64_MAX;
	char *path = strdup(group);

	while (path && *path) {
		char dir[PATH_MAX], *slash = strrchr(path, '/');

		if ((size_t)snprintf(dir, sizeof(dir), CGROUPS "%s", path) < sizeof(dir))
			room = least(room, room_in(dir, "memory.max", "memory.current", "inactive_file "));
		if ((size_t)snprintf(dir, sizeof(dir), CGROUPS_V1 "%s", path) < sizeof(dir))
			room = least(room, room_in(dir, "memory.limit_in_bytes", "memory.usage_in_bytes",
						   "total_inactive_file "));
		if (!slash)
			break;
		*slash = '\0';
	}
	free(path);
	return room;
}

uint64_t memory_room(pid_t pid)
{
	char group[PATH_MAX];
	uint64_t kib;

	procfs_cgroup(pid, group, sizeof(group));
	return least(number_in("/proc", "meminfo", "MemAvailable:", &kib) ? kib * 1024 : UINT64_MAX,
		     room_of_groups(group));
}

uint64_t memory_private(pid_t pid)
{
	char text[8192];
	const char *at;

	if (proc_file_read(pid, "status", text, sizeof(text)) <= 0 || !(at = strstr(text, "\nRssAnon:")))
		return 0;
	return strtoull(at + sizeof("\nRssAnon:") - 1, NULL, 10) * 1024;
}
