// SPDX-License-Identifier: Apache-2.0
/* Numbers in the files of control groups, and in files like these. */
#ifndef BRAID_PROC_GROUPS_H
#define BRAID_PROC_GROUPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUPS "/sys/fs/cgroup"

/* The number after `name` in a file, or at its start; false: there is none, as in "max". */
bool groups_number(const char *dir, const char *file, const char *name, uint64_t *to);

/* Calls back with a group's directory below `base`, and then with those of all groups around it. Some may not exist. */
typedef void (*groups_fn)(void *ctx, const char *dir);
void groups_each(const char *base, const char *group, groups_fn fn, void *ctx);

/* How a process's groups were kept from the CPU by their quotas. */
struct group_throttling {
	uint64_t periods, throttled; /* periods of the quota, and those in which it was used up */
	uint64_t throttled_ns;
};

/* Of the group below `base`, or one around it, with the most such time; `t` is zeroed, or has that of others. */
void groups_take_throttling(const char *base, const char *group, struct group_throttling *t);
/* The same of a process's groups. False: none has a quota. */
bool groups_throttling(pid_t pid, struct group_throttling *t);

#endif
