// SPDX-License-Identifier: Apache-2.0
#include "iterator.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Opens an iterator over all threads; reading it runs the program. Returns a descriptor, or a negative errno. */
static int open_iterator(struct bpf_program *program)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	int fd;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	fd = fd < 0 ? -errno : fd;
	bpf_link__destroy(link); /* the descriptor keeps what it needs */
	return fd;
}

/* As read(), but an iterator that has used up its time goes on. */
static ssize_t read_iterator(int fd, void *to, size_t size)
{
	ssize_t n;

	do
		n = read(fd, to, size);
	while (n < 0 && (errno == EAGAIN || errno == EINTR));
	return n < 0 ? -errno : n;
}

int iterator_run(struct bpf_program *program, size_t size, iterator_fn fn, void *ctx)
{
	_Alignas(uint64_t) char records[16 * ITERATOR_RECORD_MAX];
	size_t filled = 0, at;
	ssize_t n;
	int fd;

	if (size > ITERATOR_RECORD_MAX)
		return -EINVAL;
	fd = open_iterator(program);
	if (fd < 0)
		return fd;
	while ((n = read_iterator(fd, records + filled, sizeof(records) - filled)) > 0) {
		filled += (size_t)n;
		for (at = 0; size && filled - at >= size; at += size)
			fn(ctx, records + at);
		filled = size ? filled - at : 0;
		memmove(records, records + at, filled);
	}
	close(fd);
	return (int)n;
}
