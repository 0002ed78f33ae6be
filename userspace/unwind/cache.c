// SPDX-License-Identifier: Apache-2.0
/*
 * Compiled tables on disk, one file per build-id: a header, then the rows. The page index is made anew from the rows.
 * What a file says about itself is compared with its size, its checksum and the order of its rows before any of it is
 * used.
 */
#include "table.h"

#include "cfi.h"
#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

/* Also to be raised when the compiler learns something, so that older tables are made again. */
#define CACHE_VERSION 4
#define BUILD_ID_MAX 64
#define CACHE_ROWS_MAX (16UL << 20)

struct cache_header {
	char magic[8];
	uint32_t version;
	uint32_t row_count;
	uint64_t checksum; /* XXH3 of the rows, seeded with that of the header up to here and the build-id */
	char build_id[BUILD_ID_MAX];
};
_Static_assert(sizeof(struct cache_header) == 88, "cache header");

static bool build_id_usable(const char *build_id)
{
	size_t length = build_id ? strlen(build_id) : 0;

	return length && length < BUILD_ID_MAX && strspn(build_id, "0123456789abcdef") == length;
}

static void header_fill(struct cache_header *h, const char *build_id, const struct braid_unwind_row *rows,
			uint32_t count)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->magic, "braidcfi", sizeof(h->magic));
	h->version = CACHE_VERSION;
	h->row_count = count;
	snprintf(h->build_id, sizeof(h->build_id), "%s", build_id);
	h->checksum = XXH3_64bits_withSeed(rows, count * sizeof(*rows), XXH3_64bits(h, sizeof(*h)));
}

/* ---- the directory ---- */

/* Takes over `parent`. A directory that others may write to, or that is not ours, is not used. */
static int directory_enter(int parent, const char *name, bool ours)
{
	struct stat st;
	int fd, err = 0;

	if (parent < 0)
		return parent;
	if (mkdirat(parent, name, 0700) && errno != EEXIST)
		err = -errno;
	fd = err ? err : openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (ours ? O_NOFOLLOW : 0));
	if (fd < 0 && !err)
		err = -errno;
	close(parent);
	if (!err && ours && (fstat(fd, &st) || st.st_uid != geteuid() || (st.st_mode & 022)))
		err = -EPERM;
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

static int directory_open(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int fd;

	if (xdg && xdg[0] == '/') {
		fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fd = directory_enter(fd < 0 ? -errno : fd, xdg, false);
	} else if (home && home[0] == '/') {
		fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fd = directory_enter(fd < 0 ? -errno : fd, ".cache", false);
	} else {
		return -ENOENT;
	}
	return directory_enter(fd, "braid", true);
}

/* ---- reading ---- */

static int read_all(int fd, void *to, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = read(fd, (char *)to + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EBADMSG;
		done += (size_t)n;
	}
	return 0;
}

static bool rows_valid(const struct braid_unwind_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if ((i && rows[i].pc <= rows[i - 1].pc) || braid_rule_cfa(rows[i].rule) > BRAID_CFA_UNSUPPORTED)
			return false;
	return rows[count - 1].rule == BRAID_CFA_NONE;
}

static int cache_load_rows(int fd, const char *build_id, struct braid_unwind_row **rows, size_t *count)
{
	struct cache_header found, expected;
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_size <= (off_t)sizeof(found))
		return -EBADMSG;
	*count = ((size_t)st.st_size - sizeof(found)) / sizeof(**rows);
	if (!*count || *count > CACHE_ROWS_MAX)
		return -EBADMSG;
	err = read_all(fd, &found, sizeof(found));
	if (err)
		return err;
	if (found.row_count != *count)
		return -EBADMSG;
	*rows = malloc(*count * sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	err = read_all(fd, *rows, *count * sizeof(**rows));
	if (err)
		return err;
	header_fill(&expected, build_id, *rows, (uint32_t)*count);
	return memcmp(&found, &expected, sizeof(found)) || !rows_valid(*rows, *count) ? -EBADMSG : 0;
}

static int cache_load(struct unwind_table **out, int directory, const char *name, const char *build_id)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct braid_unwind_row *rows = NULL;
	size_t count = 0;
	int err;

	if (fd < 0)
		return -errno;
	err = cache_load_rows(fd, build_id, &rows, &count);
	close(fd);
	if (err) {
		free(rows);
		return err;
	}
	return table_from_rows(out, rows, count);
}

/* ---- writing ---- */

static int write_all(int fd, const void *from, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, (const char *)from + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

static int cache_store(const struct unwind_table *t, int directory, const char *name, const char *build_id)
{
	struct cache_header header;
	struct timespec now;
	char temporary[BUILD_ID_MAX + 64];
	int fd, err;

	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(temporary, sizeof(temporary), ".%s.%ld.%lld", name, (long)getpid(),
		 now.tv_sec * 1000000000LL + now.tv_nsec);
	fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	header_fill(&header, build_id, t->rows, t->row_count);
	err = write_all(fd, &header, sizeof(header));
	if (!err)
		err = write_all(fd, t->rows, t->row_count * sizeof(*t->rows));
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(directory, temporary, directory, name))
		err = -errno;
	if (err)
		unlinkat(directory, temporary, 0);
	return err;
}

int unwind_table_get(struct unwind_table **out, int fd, const char *build_id)
{
	int directory = build_id_usable(build_id) ? directory_open() : -ENOENT;
	char name[BUILD_ID_MAX + 8];
	int err;

	if (directory < 0)
		return unwind_table_build(out, fd);
	snprintf(name, sizeof(name), "%s.cfi", build_id);
	err = cache_load(out, directory, name, build_id);
	if (!err)
		goto out;
	if (err != -ENOENT)
		log_debug("unwind table cache: %s made again: %s", name, strerror(-err));
	err = unwind_table_build(out, fd);
	if (err)
		goto out;
	/* Without a copy on disk the table only has to be made again next time. */
	if (cache_store(*out, directory, name, build_id))
		log_debug("unwind table cache: %s not kept", name);
out:
	close(directory);
	return err;
}
