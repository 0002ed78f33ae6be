// SPDX-License-Identifier: Apache-2.0
/* Separate debug files: by build-id, then by .gnu_debuglink, where GDB and elfutils look too. */
#include "set.h"

#include "util/log.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HEX_MAX 130
#define CRC_FILE_MAX (2LL << 30)

/* Links inside another process's root lead where they lead for that process, never out of it. */
static int open_in_root(int root, const char *path)
{
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, .resolve = RESOLVE_IN_ROOT};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	struct stat st;

	if (fd < 0)
		return -ENOENT;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/* zlib's and .gnu_debuglink's CRC-32 (polynomial 0xedb88320, both ends inverted). */
static int crc_of_file(int fd, uint32_t *crc)
{
	unsigned char bytes[65536];
	uint32_t table[256];
	off_t offset = 0;
	ssize_t n;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320U : 0);
	}
	*crc = ~0U;
	while ((n = pread(fd, bytes, sizeof(bytes), offset)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			*crc = *crc >> 8 ^ table[(*crc ^ bytes[i]) & 0xff];
		offset += n;
		if (offset > CRC_FILE_MAX)
			return -EFBIG;
	}
	*crc = ~*crc;
	return n < 0 ? -errno : 0;
}

/* The build-ids must agree, or where one side has none, the checksum of the link. */
static bool belongs(int fd, const char *build_id, const uint32_t *crc)
{
	char hex[HEX_MAX];
	uint32_t found;

	if (build_id[0] && build_id_of_fd(fd, hex, sizeof(hex)) == 0)
		return strcmp(hex, build_id) == 0;
	return crc && crc_of_file(fd, &found) == 0 && found == *crc;
}

static int try(int root, const char *path, const char *build_id, const uint32_t *crc)
{
	int fd = open_in_root(root, path);

	if (fd < 0)
		return fd;
	if (belongs(fd, build_id, crc))
		return fd;
	log_debug("%s is not the debug file it is taken for", path);
	close(fd);
	return -ENOENT;
}

static int by_build_id(int root, const char *build_id)
{
	char path[HEX_MAX + 64];

	if (strlen(build_id) < 4)
		return -ENOENT;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id + 2);
	return try(root, path, build_id, NULL);
}

static int by_link(int root, Elf *elf, const char *module, const char *build_id)
{
	static const char *const forms[] = {"%.*s/%s", "%.*s/.debug/%s", "/usr/lib/debug%.*s/%s"};
	GElf_Word crc;
	const char *name = dwelf_elf_gnu_debuglink(elf, &crc);
	const char *slash = module ? strrchr(module, '/') : NULL;
	uint32_t expected;
	char path[4096];
	int fd = -ENOENT;

	if (!name || !name[0] || strchr(name, '/') || !slash)
		return -ENOENT;
	expected = crc;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && fd < 0; i++) {
		int length;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		length = snprintf(path, sizeof(path), forms[i], (int)(slash - module), module, name);
#pragma GCC diagnostic pop
		if (length > 0 && length < (int)sizeof(path) && strcmp(path, module) != 0)
			fd = try(root, path, build_id, &expected);
	}
	return fd;
}

int debug_file_open(Elf *elf, const char *root, const char *path)
{
	char build_id[HEX_MAX] = "";
	int root_fd = open(root && root[0] ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = -ENOENT;

	if (root_fd < 0)
		return -ENOENT;
	if (build_id_of_elf(elf, build_id, sizeof(build_id)))
		build_id[0] = '\0';
	fd = by_build_id(root_fd, build_id);
	if (fd < 0)
		fd = by_link(root_fd, elf, path, build_id);
	close(root_fd);
	return fd;
}
