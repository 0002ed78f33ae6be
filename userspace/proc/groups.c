// SPDX-License-Identifier: Apache-2.0
#include "groups.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool groups_number(const char *dir, const char *file, const char *name, uint64_t *to)
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

void groups_each(const char *base, const char *group, groups_fn fn, void *ctx)
{
	char *path = strdup(group);

	while (path && *path) {
		char dir[PATH_MAX], *slash = strrchr(path, '/');

		if ((size_t)snprintf(dir, sizeof(dir), "%s%s", base, path) < sizeof(dir))
			fn(ctx, dir);
		if (!slash)
			break;
		*slash = '\0';
	}
	free(path);
}

/* ---- quotas ---- */

static void take_throttling(void *ctx, const char *dir)
{
	struct group_throttling *t = ctx, one = {0};
	uint64_t us;

	if (!groups_number(dir, "cpu.stat", "nr_periods ", &one.periods) || !one.periods)
		return;
	(void)groups_number(dir, "cpu.stat", "nr_throttled ", &one.throttled);
	if (groups_number(dir, "cpu.stat", "throttled_usec ", &us))
		one.throttled_ns = us * 1000;
	else /* cgroup v1 */
		(void)groups_number(dir, "cpu.stat", "throttled_time ", &one.throttled_ns);
	if (!t->periods || one.throttled_ns > t->throttled_ns)
		*t = one;
}

void groups_take_throttling(const char *base, const char *group, struct group_throttling *t)
{
	groups_each(base, group, take_throttling, t);
}

/* Whether a list of controllers, "cpu,cpuacct", has that of quotas. */
static bool has_cpu(char *controllers)
{
	for (char *rest = NULL, *one = strtok_r(controllers, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
		if (strcmp(one, "cpu") == 0)
			return true;
	return false;
}

/* A line is HIERARCHY:CONTROLLERS:PATH; the hierarchy of cgroup v2 is 0. */
bool groups_throttling(pid_t pid, struct group_throttling *t)
{
	char path[64], line[PATH_MAX + 256], *controllers, *group;
	FILE *file;

	*t = (struct group_throttling){0};
	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		controllers = strchr(line, ':');
		group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		*group++ = '\0';
		if (!controllers[1])
			groups_take_throttling(CGROUPS, group, t);
		else if (has_cpu(controllers + 1))
			groups_take_throttling(CGROUPS "/cpu", group, t);
	}
	if (file)
		fclose(file);
	return t->periods > 0;
}
