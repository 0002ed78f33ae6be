// SPDX-License-Identifier: Apache-2.0
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECE_BYTES 65536

static int temporary_file(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : _PATH_TMP, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char name[] = _PATH_TMP "braid-XXXXXX";

	if (fd >= 0)
		return fd;
	fd = mkostemp(name, O_CLOEXEC); /* the file system has no nameless files */
	if (fd < 0)
		return -errno;
	unlink(name);
	return fd;
}

static int write_all(int fd, const uint8_t *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Opened non-blocking, so the first bytes are awaited here. */
static ssize_t read_some(int fd, uint8_t *p, size_t len)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	ssize_t n;

	do {
		n = poll(&ready, 1, -1) < 0 ? -1 : read(fd, p, len);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	return n < 0 ? -errno : n;
}

int trace_spool(int stream)
{
	uint8_t *piece = malloc(PIECE_BYTES);
	int fd = piece ? temporary_file() : -ENOMEM, err = 0;
	ssize_t n = 0;

	while (fd >= 0 && !err && (n = read_some(stream, piece, PIECE_BYTES)) > 0)
		err = write_all(fd, piece, (size_t)n);
	free(piece);
	err = err ?: n < 0 ? (int)n : 0;
	if (fd < 0 || !err)
		return fd;
	close(fd);
	return err;
}
