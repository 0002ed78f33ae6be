// SPDX-License-Identifier: Apache-2.0
/* Reads the memory of the copy, piece by piece, through a cache, or many pieces at once. */
#include "copy.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGES 1024
#define ENDING_MS 500
#define END_MS 10000

struct copy_page {
	uint64_t address; /* 0: none */
	uint8_t bytes[COPY_PAGE];
};

int copy_open(struct copy *m, pid_t pid, const atomic_bool *stop)
{
	*m = (struct copy){.pid = pid, .stop = stop, .fd = (int)syscall(SYS_pidfd_open, pid, 0)};
	if (m->fd < 0)
		return -errno;
	m->pages = calloc(PAGES, sizeof(*m->pages));
	if (m->pages)
		return 0;
	copy_close(m);
	return -ENOMEM;
}

void copy_close(struct copy *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
	free(m->pages);
	m->pages = NULL;
}

void copy_end(const struct copy *m)
{
	struct pollfd p = {.fd = m->fd, .events = POLLIN};

	if (m->fd >= 0 && !syscall(SYS_pidfd_send_signal, m->fd, SIGKILL, NULL, 0))
		(void)poll(&p, 1, END_MS);
}

static int check(const struct copy *m, int wait_ms)
{
	struct pollfd p = {.fd = m->fd, .events = POLLIN};

	if (poll(&p, 1, wait_ms) != 0)
		return -ESRCH;
	return atomic_load(m->stop) ? -EINTR : 0;
}

int copy_check(const struct copy *m)
{
	return check(m, 0);
}

int copy_check_failed(const struct copy *m)
{
	return check(m, ENDING_MS);
}

size_t copy_read_some(const struct copy *m, uint64_t address, void *to, size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	ssize_t n = process_vm_readv(m->pid, &local, 1, &remote, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}

int copy_read(const struct copy *m, uint64_t address, void *to, size_t size)
{
	return copy_read_some(m, address, to, size) == size ? 0 : -EFAULT;
}

static const struct copy_page *page_at(const struct copy *m, uint64_t address)
{
	struct copy_page *p = &m->pages[address / COPY_PAGE % PAGES];

	if (p->address == address)
		return p;
	p->address = 0;
	if (!address || copy_read(m, address, p->bytes, COPY_PAGE))
		return NULL;
	p->address = address;
	return p;
}

bool copy_peek(const struct copy *m, uint64_t address, void *to, size_t size)
{
	while (size) {
		size_t within = address % COPY_PAGE, n = COPY_PAGE - within;
		const struct copy_page *p = page_at(m, address - within);

		if (!p)
			return false;
		n = n < size ? n : size;
		memcpy(to, p->bytes + within, n);
		to = (uint8_t *)to + n;
		address += n;
		size -= n;
	}
	return true;
}

uint64_t copy_word(const struct copy *m, uint64_t address)
{
	uint64_t word;

	return copy_peek(m, address, &word, sizeof(word)) ? word : 0;
}

uint32_t copy_int(const struct copy *m, uint64_t address)
{
	uint32_t value;

	return copy_peek(m, address, &value, sizeof(value)) ? value : 0;
}

uint16_t copy_short(const struct copy *m, uint64_t address)
{
	uint16_t value;

	return copy_peek(m, address, &value, sizeof(value)) ? value : 0;
}

void copy_gather(const struct copy *m, struct copy_piece *pieces, size_t count)
{
	struct iovec local[COPY_PIECES], remote[COPY_PIECES];
	size_t first = 0;

	while (first < count) {
		ssize_t n;

		for (size_t i = first; i < count; i++) {
			local[i - first] = (struct iovec){.iov_base = pieces[i].to, .iov_len = pieces[i].size};
			remote[i - first] = (struct iovec){.iov_base = (void *)(uintptr_t)pieces[i].address,
							   .iov_len = pieces[i].size};
		}
		n = process_vm_readv(m->pid, local, count - first, remote, count - first, 0);
		for (size_t left = n < 0 ? 0 : (size_t)n; first < count && left >= pieces[first].size; first++)
			left -= pieces[first].size;
		/* The kernel stops at the first piece that it cannot read. */
		if (first < count)
			pieces[first++].to = NULL;
	}
}
