// SPDX-License-Identifier: Apache-2.0
#include "owner.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static bool id_of(const char *name, unsigned int *id)
{
	const char *text = getenv(name);
	unsigned long value;
	char *end;

	if (!text)
		return false;
	value = strtoul(text, &end, 10);
	*id = (unsigned int)value;
	return end != text && !*end && value < UINT32_MAX;
}

bool owner_sudo(uid_t *uid, gid_t *gid)
{
	return geteuid() == 0 && id_of("SUDO_UID", uid) && id_of("SUDO_GID", gid);
}

bool owner_known(const struct stat *st)
{
	uid_t caller;
	gid_t group;

	return st->st_uid == 0 || st->st_uid == geteuid() || (owner_sudo(&caller, &group) && st->st_uid == caller);
}

bool owner_trusted(const struct stat *st)
{
	return owner_known(st) && !(st->st_mode & S_IWOTH) && !(st->st_mode & S_IWGRP && st->st_gid != 0);
}
