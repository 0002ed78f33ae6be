// SPDX-License-Identifier: Apache-2.0
/*
 * Finds separate debug files by build-id, then by .gnu_debuglink, in the places where GDB and elfutils look too.
 * Symbols and source lines use it.
 */
#include "set.h"

#include "util/log.h"
#include "util/owner.h"
#include "util/root_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEX_MAX 130
#define CRC_BYTES_MAX (512LL << 20)

/* Where a module's debug file is searched for, and what it must match. */
struct search {
	int root;
	uid_t owner;
	char build_id[HEX_MAX];
};

/*
 * Only modules without a build-id need checksums. A user can have as many such modules as mappings, so their sum is
 * bounded.
 */
static int64_t crc_left = CRC_BYTES_MAX;

/* .gnu_debuglink's checksum, which zlib and xz use, too. */
static int crc_of_file(int fd, uint32_t *crc)
{
	unsigned char bytes[65536];
	off_t offset = 0;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size > crc_left)
		return -EFBIG;
	*crc = 0;
	while (offset < st.st_size && (n = pread(fd, bytes, sizeof(bytes), offset)) > 0) {
		*crc = lzma_crc32(bytes, (size_t)n, *crc);
		offset += n;
		crc_left -= n;
	}
	return offset < st.st_size ? -EIO : 0;
}

/* The build-ids must be equal; for a module without one, the checksum in the link must match. */
static bool belongs(int fd, const char *build_id, const uint32_t *crc)
{
	char hex[HEX_MAX];
	uint32_t found;

	if (build_id[0])
		return build_id_of_fd(fd, hex, sizeof(hex)) == 0 && strcmp(hex, build_id) == 0;
	return crc && crc_of_file(fd, &found) == 0 && found == *crc;
}

/*
 * Other processes may have the module mapped, too, and the result counts for all of them. So the owner of what one
 * process sees below its root must be the module's owner, or trusted.
 */
static bool same_maker(const struct stat *st, uid_t owner)
{
	return owner_trusted(st) || st->st_uid == owner;
}

static int try(const struct search *s, const char *path, const uint32_t *crc)
{
	struct stat st;
	int fd = root_open_regular(s->root, path, 0, &st);

	if (fd < 0)
		return -ENOENT;
	if (same_maker(&st, s->owner) && belongs(fd, s->build_id, crc))
		return fd;
	log_debug("%s is not the debug file it is taken for", path);
	close(fd);
	return -ENOENT;
}

static int by_build_id(const struct search *s)
{
	char path[HEX_MAX + 64];

	if (strlen(s->build_id) < 4)
		return -ENOENT;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", s->build_id, s->build_id + 2);
	return try(s, path, NULL);
}

static int by_link(const struct search *s, Elf *elf, const char *module)
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
			fd = try(s, path, &expected);
	}
	return fd;
}

int debug_file_open(int fd, Elf *elf, const char *root, const char *path)
{
	struct search s = {.build_id = ""};
	struct stat st;
	int found;

	if (fstat(fd, &st))
		return -ENOENT;
	s.owner = st.st_uid;
	s.root = open(root && root[0] ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s.root < 0)
		return -ENOENT;
	if (build_id_of_elf(elf, s.build_id, sizeof(s.build_id)))
		s.build_id[0] = '\0';
	found = by_build_id(&s);
	if (found < 0)
		found = by_link(&s, elf, path);
	close(s.root);
	return found;
}
