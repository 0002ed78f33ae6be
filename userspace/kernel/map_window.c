// SPDX-License-Identifier: Apache-2.0
#include "map_window.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* How much of the array one system call makes resident. */
#define STEP_BYTES (128UL << 10)

int map_window_open(struct map_window *w, const struct bpf_map *map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*w = (struct map_window){.fd = bpf_map__fd(map), .value_bytes = bpf_map__value_size(map)};
	w->bytes = (w->value_bytes * bpf_map__max_entries(map) + page - 1) / page * page;
	w->base = mmap(NULL, w->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->base == MAP_FAILED) {
		w->base = NULL;
		return -ENOMEM;
	}
	return 0;
}

int map_window_reach(struct map_window *w, size_t count)
{
	size_t end = count * w->value_bytes;
	void *at;

	if (end <= w->mapped)
		return 0;
	if (end > w->bytes)
		return -ENOSPC;
	end = (end + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
	if (end > w->bytes)
		end = w->bytes;
	at = mmap((char *)w->base + w->mapped, end - w->mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, w->fd,
		  (off_t)w->mapped);
	if (at == MAP_FAILED)
		return -errno;
	w->mapped = end;
	return 0;
}

void map_window_close(struct map_window *w)
{
	if (w->base)
		munmap(w->base, w->bytes);
	w->base = NULL;
}

void map_window_clear(const struct bpf_map *map)
{
	struct map_window w;

	if (!map_window_open(&w, map) && !map_window_reach(&w, bpf_map__max_entries(map)))
		memset(w.base, 0, w.bytes);
	map_window_close(&w);
}
