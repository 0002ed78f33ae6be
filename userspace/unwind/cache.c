// SPDX-License-Identifier: Apache-2.0
/*
 * The disk cache of compiled tables, one file per ELF file: a header, then the rows. The page index is rebuilt from the
 * rows. A cached file is used only after its size, its checksum and the order of its rows have been checked. The key is
 * the ELF file's whole content: a build-id can be copied into another file, and copies of a file, like the agent that
 * each recording lays down, have one table. Tables of files that other users can write are neither stored nor looked
 * up.
 */
#include "table.h"

#include "cfi.h"
#include "util/log.h"
#include "util/owner.h"
#include "util/pages.h"
#include "util/read_all.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

/* Must also be raised when the compiler improves, so that older tables are built again. */
#define CACHE_VERSION 7
#define CACHE_ROWS_MAX (16UL << 20)
#define CACHE_FILES_MAX 2048
#define HASHED_MAX (512LL << 20) /* tables of larger files are not stored */
#define PIECE_BYTES (64UL << 10) /* of the heap: larger ones would be mapped anew for each file */
#define NAME_BYTES 48

struct cache_key {
	uint64_t size;
	uint64_t content[2];
};

struct cache_header {
	char magic[8];
	uint32_t version;
	uint32_t row_count;
	uint64_t checksum; /* XXH3 of the rows, seeded with that of the header with this field 0 */
	struct cache_key key;
};
_Static_assert(sizeof(struct cache_header) == 48, "cache header");

static void header_fill(struct cache_header *h, const struct cache_key *key, const struct braid_unwind_row *rows,
			uint32_t count)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->magic, "braidcfi", sizeof(h->magic));
	h->version = CACHE_VERSION;
	h->row_count = count;
	h->key = *key;
	h->checksum = XXH3_64bits_withSeed(rows, count * sizeof(*rows), XXH3_64bits(h, sizeof(*h)));
}

/* ---- the ELF file ---- */

static int content_hash(int fd, uint64_t hash[2])
{
	XXH3_state_t *state = XXH3_createState();
	char *piece = malloc(PIECE_BYTES);
	XXH128_hash_t h;
	off_t at = 0;
	ssize_t n = -1;

	if (state && piece) {
		XXH3_128bits_reset(state);
		while (at <= HASHED_MAX && (n = pread(fd, piece, PIECE_BYTES, at)) > 0) {
			XXH3_128bits_update(state, piece, (size_t)n);
			at += n;
		}
		h = XXH3_128bits_digest(state);
		hash[0] = h.low64;
		hash[1] = h.high64;
	}
	XXH3_freeState(state);
	free(piece);
	return n ? -EFBIG : 0;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* 0 when tables of the file may be stored; `st` is the file's state before it was read. */
static int key_make(int fd, struct cache_key *key, struct stat *st)
{
	if (fstat(fd, st))
		return -errno;
	if (!S_ISREG(st->st_mode) || st->st_size > HASHED_MAX || !owner_trusted(st))
		return -EPERM;
	key->size = (uint64_t)st->st_size;
	return content_hash(fd, key->content);
}

/* Whether the file is unchanged since. */
static bool is_unchanged(int fd, const struct stat *before)
{
	struct stat now;

	return !fstat(fd, &now) && now.st_size == before->st_size && same_time(now.st_mtim, before->st_mtim) &&
	       same_time(now.st_ctim, before->st_ctim);
}

static void key_name(const struct cache_key *key, char name[NAME_BYTES])
{
	XXH128_hash_t h = XXH3_128bits(key, sizeof(*key));

	snprintf(name, NAME_BYTES, "%016llx%016llx.cfi", (unsigned long long)h.high64, (unsigned long long)h.low64);
}

/* ---- the directory ---- */

/* Takes ownership of `parent`. A directory that others may write to, or that belongs to another user, is not used. */
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

static bool rows_valid(const struct braid_unwind_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if ((i && rows[i].pc <= rows[i - 1].pc) || braid_rule_cfa(rows[i].rule) > BRAID_CFA_UNSUPPORTED)
			return false;
	return rows[count - 1].rule == BRAID_CFA_NONE;
}

static int cache_load_rows(int fd, const struct cache_key *key, struct braid_unwind_row **rows, size_t *count)
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
	*rows = pages_alloc(*count * sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	err = read_all(fd, *rows, *count * sizeof(**rows));
	if (err)
		return err;
	header_fill(&expected, key, *rows, (uint32_t)*count);
	return memcmp(&found, &expected, sizeof(found)) || !rows_valid(*rows, *count) ? -EBADMSG : 0;
}

static int cache_load(struct unwind_table **out, int directory, const char *name, const struct cache_key *key)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct braid_unwind_row *rows = NULL;
	size_t count = 0;
	int err;

	if (fd < 0)
		return -errno;
	err = cache_load_rows(fd, key, &rows, &count);
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

/* Removes the oldest file when there are as many as allowed. */
static void cache_make_room(int directory)
{
	char oldest[NAME_MAX + 1] = "";
	struct timespec since = {0};
	int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
	size_t count = 0;
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d))) {
		if (fstatat(directory, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		if (!count++ || st.st_mtim.tv_sec < since.tv_sec ||
		    (st.st_mtim.tv_sec == since.tv_sec && st.st_mtim.tv_nsec < since.tv_nsec)) {
			since = st.st_mtim;
			snprintf(oldest, sizeof(oldest), "%s", e->d_name);
		}
	}
	if (d)
		closedir(d);
	else if (copy >= 0)
		close(copy);
	if (count >= CACHE_FILES_MAX)
		unlinkat(directory, oldest, 0);
}

static int cache_store(const struct unwind_table *t, int directory, const char *name, const struct cache_key *key)
{
	struct cache_header header;
	struct timespec now;
	char temporary[NAME_BYTES + 64];
	int fd, err;

	cache_make_room(directory);
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(temporary, sizeof(temporary), ".%s.%ld.%lld", name, (long)getpid(),
		 now.tv_sec * 1000000000LL + now.tv_nsec);
	fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	header_fill(&header, key, t->rows, t->row_count);
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

int unwind_table_get(struct unwind_table **out, int fd)
{
	int directory = directory_open(), err;
	struct cache_key key;
	struct stat before;
	char name[NAME_BYTES];

	if (directory < 0)
		return unwind_table_build(out, fd);
	if (key_make(fd, &key, &before)) {
		err = unwind_table_build(out, fd);
		goto out;
	}
	key_name(&key, name);
	err = cache_load(out, directory, name, &key);
	if (!err)
		goto out;
	if (err != -ENOENT)
		log_debug("unwind table cache: %s is built again: %s", name, strerror(-err));
	err = unwind_table_build(out, fd);
	if (err || !is_unchanged(fd, &before))
		goto out;
	/* Without a stored copy the table is built again next time. */
	if (cache_store(*out, directory, name, &key))
		log_debug("unwind table cache: %s is not stored", name);
out:
	close(directory);
	return err;
}
