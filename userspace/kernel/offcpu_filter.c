// SPDX-License-Identifier: Apache-2.0
#include "offcpu_filter.h"

#include "util/log.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* Where systemd mounts the hierarchy of cgroup v2, alone or beside those of v1. */
static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

static const char *mounted_root(void)
{
	struct statfs fs;

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (!statfs(roots[i], &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
			return roots[i];
	return NULL;
}

/* `name` is a path as /proc/PID/cgroup has it, or below the mount point. The id is the directory's inode number. */
static int find_cgroup(const char *name, __u64 *id)
{
	const char *root = mounted_root();
	size_t length = root ? strlen(root) : 0;
	char path[PATH_MAX];
	struct stat st;

	if (!root) {
		log_error("cannot find cgroup '%s': no hierarchy of cgroup v2 is mounted at /sys/fs/cgroup", name);
		return -ENOENT;
	}
	if (strncmp(name, root, length) == 0 && (!name[length] || name[length] == '/'))
		name += length;
	snprintf(path, sizeof(path), "%s/%s", root, name + (*name == '/'));
	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		log_error("no cgroup '%s': %s is no directory; /proc/PID/cgroup has the path of a process's cgroup",
			  name, path);
		return -ENOENT;
	}
	*id = st.st_ino;
	return 0;
}

int offcpu_filter_find(struct braid_offcpu_filter *to, const struct probe_spec *spec)
{
	char name[PROBE_TEXT];
	int err = 0;

	*to = (struct braid_offcpu_filter){.terms = spec ? spec->terms : 0,
					   .sums = spec ? spec->sums : BRAID_SUMS_FLOOD};
	for (uint32_t i = 0; i < to->terms && !err; i++) {
		const struct probe_term *t = &spec->term[i];

		to->term[i] = t->term;
		if (t->term.operand != BRAID_HIT_CGROUP)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)t->text_length, spec->text + t->text_at);
		err = find_cgroup(name, &to->term[i].value);
	}
	return err;
}

bool offcpu_filter_compares_files(const struct braid_offcpu_filter *f)
{
	for (uint32_t i = 0; i < f->terms; i++) {
		bool pipe = braid_hit_compare(&f->term[i], 1ULL << BRAID_OFFCPU_PIPE);

		if (f->term[i].operand == BRAID_HIT_STATE &&
		    (pipe != braid_hit_compare(&f->term[i], 1ULL << BRAID_OFFCPU_SOCKET) ||
		     pipe != braid_hit_compare(&f->term[i], 1ULL << BRAID_OFFCPU_FILE)))
			return true;
	}
	return false;
}

bool offcpu_filter_compares(const struct braid_offcpu_filter *f, enum braid_hit_operand operand)
{
	for (uint32_t i = 0; i < f->terms; i++)
		if (f->term[i].operand == operand)
			return true;
	return false;
}
