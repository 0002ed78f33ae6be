// SPDX-License-Identifier: Apache-2.0
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEAST 65536 /* smaller ones are always in memory */
#define FIRST 4096
#define SMALL 8192 /* smaller ones are of malloc(), not maps of their own */

void scratch_room(struct scratch_room *room, const char *path, uint64_t memory)
{
	const char *given = getenv("TMPDIR"), *slash = strrchr(path, '/');

	*room = (struct scratch_room){.memory = memory};
	if (given && *given)
		snprintf(room->dir, sizeof(room->dir), "%s", given);
	else if (!slash)
		snprintf(room->dir, sizeof(room->dir), ".");
	else
		snprintf(room->dir, sizeof(room->dir), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	if (!(given && *given) && access(room->dir, W_OK))
		snprintf(room->dir, sizeof(room->dir), "/tmp");
}

int scratch_file(const struct scratch_room *room)
{
	char name[sizeof(room->dir) + sizeof("/braid-XXXXXX")];
	int fd = open(room->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd >= 0 ? fd : -errno;
	/* The file system has no files without a name. */
	snprintf(name, sizeof(name), "%s/braid-XXXXXX", room->dir);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(name);
	return fd;
}

static bool is_small(const struct scratch *s)
{
	return !s->file && s->bytes <= SMALL;
}

static void *map(int file, uint64_t bytes)
{
	if (!file)
		return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file - 1, 0);
}

/* From memory to a file. */
static int to_file(struct scratch *s, struct scratch_room *room, uint64_t bytes)
{
	int fd = scratch_file(room), err = fd < 0 ? -fd : posix_fallocate(fd, 0, (off_t)bytes);
	void *at = err ? MAP_FAILED : map(fd + 1, bytes);

	if (at == MAP_FAILED) {
		err = err ? err : errno;
		if (fd >= 0)
			close(fd);
		return -err;
	}
	if (s->at)
		memcpy(at, s->at, s->bytes);
	scratch_free(s);
	*s = (struct scratch){.at = at, .bytes = bytes, .file = fd + 1, .room = room};
	return 0;
}

static bool fits(const struct scratch *s, const struct scratch_room *room, uint64_t bytes)
{
	return bytes <= LEAST || (room->used < room->memory && bytes - s->bytes <= room->memory - room->used);
}

/* To more than there is, of the same file if it has one; NULL: there is no memory. */
static void *grow(struct scratch *s, uint64_t bytes)
{
	uint8_t *at;

	if (s->at && !is_small(s)) {
		at = mremap(s->at, s->bytes, bytes, MREMAP_MAYMOVE);
		return at == MAP_FAILED ? NULL : at;
	}
	if (bytes <= SMALL) {
		at = realloc(s->at, bytes);
		if (at)
			memset(at + s->bytes, 0, bytes - s->bytes);
		return at;
	}
	at = map(0, bytes);
	if (at == MAP_FAILED)
		return NULL;
	if (s->at)
		memcpy(at, s->at, s->bytes);
	free(s->at);
	return at;
}

int scratch_resize(struct scratch *s, struct scratch_room *room, uint64_t bytes)
{
	void *at;
	int err;

	if (bytes > INT64_MAX)
		return -EFBIG;
	if (bytes <= s->bytes)
		return 0;
	if (!s->file && !fits(s, room, bytes))
		return to_file(s, room, bytes);
	if (s->file) {
		err = posix_fallocate(s->file - 1, (off_t)s->bytes, (off_t)(bytes - s->bytes));
		if (err)
			return -err;
	}
	at = grow(s, bytes);
	if (!at)
		return -errno;
	if (!s->file)
		room->used += bytes - s->bytes;
	s->at = at;
	s->bytes = bytes;
	s->room = room;
	return 0;
}

void scratch_free(struct scratch *s)
{
	if (is_small(s))
		free(s->at);
	else if (s->at)
		munmap(s->at, s->bytes);
	if (s->file)
		close(s->file - 1);
	else if (s->room)
		s->room->used -= s->bytes;
	*s = (struct scratch){0};
}

int scratch_more(struct scratch *s, struct scratch_room *room, uint64_t count, uint64_t size)
{
	uint64_t needed = (count + 1) * size;

	if (needed <= s->bytes)
		return 0;
	return scratch_resize(s, room, s->bytes ? s->bytes + s->bytes / 2 + size : FIRST + size);
}

/* ---- heap sort ---- */

struct heap {
	unsigned char *at;
	size_t size;
	int (*compare)(const void *, const void *);
};

/* Puts `item` where the item `hole` of the heap was, or below. */
static void sift(const struct heap *h, uint64_t hole, uint64_t count, const void *item)
{
	for (;;) {
		uint64_t child = 2 * hole + 1;

		if (child + 1 < count && h->compare(h->at + child * h->size, h->at + (child + 1) * h->size) < 0)
			child++;
		if (child >= count || h->compare(item, h->at + child * h->size) >= 0)
			break;
		memcpy(h->at + hole * h->size, h->at + child * h->size, h->size);
		hole = child;
	}
	memcpy(h->at + hole * h->size, item, h->size);
}

void scratch_sort(struct scratch *s, uint64_t count, size_t size, int (*compare)(const void *, const void *))
{
	const struct heap h = {.at = s->at, .size = size, .compare = compare};
	unsigned char item[SCRATCH_ITEM];

	for (uint64_t i = count / 2; i-- > 0;) {
		memcpy(item, h.at + i * size, size);
		sift(&h, i, count, item);
	}
	for (uint64_t i = count; i-- > 1;) {
		memcpy(item, h.at + i * size, size);
		memcpy(h.at + i * size, h.at, size);
		sift(&h, 0, i, item);
	}
}
