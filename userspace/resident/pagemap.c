// SPDX-License-Identifier: Apache-2.0
/*
 * Addresses cost a process nothing, so it may have mapped all there are. PAGEMAP_SCAN (Linux 6.7) goes over those
 * without pages at once. Before it, each address has a word in /proc/PID/pagemap, and of these a limited number is
 * read.
 */
#include "resident_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WORDS 512U	     /* that are read at once */
#define WORDS_MAX (1U << 27) /* in all: 512 GiB of addresses, about a second */
#define PRESENT (1ULL << 63)
#define REGIONS 512U /* that are asked for at once */

/* From linux/fs.h, which not every supported distribution has in this version. */
struct region {
	uint64_t start, end, categories;
};

struct scan {
	uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define SCAN _IOWR('f', 16, struct scan)
#define IS_PRESENT (1ULL << 3)

int pagemap_open(struct pagemap *p, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	*p = (struct pagemap){.fd = open(path, O_RDONLY | O_CLOEXEC), .words = WORDS_MAX};
	return p->fd >= 0 ? 0 : errno == ENOENT ? -ESRCH : -errno;
}

void pagemap_close(struct pagemap *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

bool pagemap_has(struct pagemap *p, uint64_t address)
{
	uint64_t number = address / (uint64_t)sysconf(_SC_PAGESIZE);
	ssize_t got;

	if (number - p->first >= p->count) {
		got = pread(p->fd, p->kept, sizeof(p->kept), (off_t)(number * sizeof(p->kept[0])));
		p->first = number;
		p->count = got > 0 ? (uint64_t)got / sizeof(p->kept[0]) : 0;
	}
	return p->count && p->kept[number - p->first] & PRESENT;
}

static int read_words(struct pagemap *p, uint64_t start, uint64_t end, pagemap_fn fn, void *ctx)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), words[WORDS];

	for (uint64_t at = start / page; at < (end + page - 1) / page;) {
		uint64_t want = (end + page - 1) / page - at;
		ssize_t got = pread(p->fd, words, (want < WORDS ? want : WORDS) * sizeof(words[0]),
				    (off_t)(at * sizeof(words[0])));
		size_t count = got > 0 ? (size_t)got / sizeof(words[0]) : 0;

		if (count == 0) /* no address of a process is so high */
			return got < 0 ? -errno : 0;
		if (count > p->words)
			return -EFBIG;
		p->words -= count;
		for (size_t i = 0; i < count; i++)
			if (words[i] & PRESENT)
				fn(ctx, (at + i) * page, (at + i + 1) * page);
		at += count;
	}
	return 0;
}

int pagemap_walk(struct pagemap *p, uint64_t start, uint64_t end, pagemap_fn fn, void *ctx)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct region regions[REGIONS];
	struct scan scan = {.size = sizeof(scan),
			    .start = start / page * page,
			    .end = (end + page - 1) / page * page,
			    .regions = (uintptr_t)regions,
			    .region_count = REGIONS,
			    .category_mask = IS_PRESENT,
			    .return_mask = IS_PRESENT};

	while (scan.start < scan.end) {
		int got = ioctl(p->fd, SCAN, &scan);

		if (got < 0 && (errno == ENOTTY || errno == EINVAL))
			return read_words(p, scan.start, end, fn, ctx);
		if (got < 0)
			return -errno;
		for (int i = 0; i < got; i++)
			fn(ctx, regions[i].start, regions[i].end);
		if (scan.walk_end <= scan.start)
			return -EIO;
		scan.start = scan.walk_end;
	}
	return 0;
}
