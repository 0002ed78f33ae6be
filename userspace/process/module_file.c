// SPDX-License-Identifier: Apache-2.0
#include "module_file.h"

#include "proc/procfs.h"
#include "util/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Compares with the device and inode that the kernel shows for this process's mapping at `address`. */
static bool mapping_is(uint64_t address, const struct mapping_fact *fact)
{
	uint64_t start, end, inode;
	unsigned int major, minor;
	size_t capacity = 0;
	char *line = NULL;
	bool is = false;
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && getline(&line, &capacity, f) > 0) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*x %x:%x %" SCNu64, &start, &end, &major, &minor,
			   &inode) != 5 ||
		    address < start || address >= end)
			continue;
		is = major == fact->major && minor == fact->minor && inode == fact->inode;
		break;
	}
	free(line);
	if (f)
		fclose(f);
	return is;
}

/*
 * On overlayfs and btrfs, stat() and mappings show a file by different numbers. A mapping made here shows the same
 * numbers as one made elsewhere. The page is never touched, since the file may have been truncated.
 */
static bool is_shown_as(int fd, const struct mapping_fact *fact)
{
	void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	bool is;

	if (page == MAP_FAILED)
		return false;
	is = mapping_is((uint64_t)page, fact);
	munmap(page, 1);
	return is;
}

static bool is_certain(const struct module_file *file, const struct mapping_fact *fact)
{
	return (file->st.st_ino == fact->inode && major(file->st.st_dev) == fact->major &&
		minor(file->st.st_dev) == fact->minor) ||
	       is_shown_as(file->fd, fact);
}

/* The library may have been unloaded, and another one mapped at its addresses. */
static bool has_the_name(const char *link, const struct mapping_fact *fact)
{
	const char *name = strrchr(fact->path, '/');
	size_t length = name ? strlen(name) : 0;
	char target[4200], *last;
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n <= 0)
		return false;
	target[n] = '\0';
	last = strrchr(target, '/');
	return last && length && strncmp(last, name, length) == 0 &&
	       (!last[length] || strcmp(last + length, " (deleted)") == 0);
}

/*
 * This opens deleted files and those of other mount namespaces, too. It needs privileges that opening a path does not.
 */
static struct module_file open_mapped(pid_t pid, const struct mapping_fact *fact)
{
	struct module_file file = {0};
	char link[96];

	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, fact->start, fact->end);
	file.fd = regular_open(link, &file.st);
	if (file.fd < 0)
		return file;
	file.certain = is_certain(&file, fact);
	if (file.certain || has_the_name(link, fact))
		return file;
	close(file.fd);
	file.fd = -ESTALE;
	return file;
}

/* The mapping's path may lead to a later file, or to another one in another mount namespace. */
static struct module_file open_path(const char *root, const struct mapping_fact *fact)
{
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct module_file file = {.fd = dir < 0 ? -errno : 0};

	if (dir < 0)
		return file;
	file.fd = root_open_regular(dir, fact->path, 0, &file.st);
	close(dir);
	if (file.fd < 0)
		return file;
	file.certain = is_certain(&file, fact);
	if (file.certain)
		return file;
	close(file.fd);
	file.fd = -ESTALE;
	return file;
}

struct module_file module_open(pid_t pid, const struct mapping_fact *fact)
{
	pid_t thread = procfs_living_thread(pid);
	struct module_file file = open_mapped(thread, fact);
	char root[64];

	if (file.fd >= 0)
		return file;
	snprintf(root, sizeof(root), "/proc/%d/root", (int)thread);
	file = open_path(root, fact);
	return file.fd >= 0 ? file : open_path("/", fact); /* the process has ended; most share the root directory */
}
