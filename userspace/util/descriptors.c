// SPDX-License-Identifier: Apache-2.0
#include "descriptors.h"

#include <sys/resource.h>

#define WANTED 65536

static struct rlimit before, now;

void descriptors_raise(void)
{
	if (getrlimit(RLIMIT_NOFILE, &before))
		return;
	now = before;
	if (now.rlim_max < WANTED) /* root may raise the hard limit, too */
		now.rlim_max = WANTED;
	if (now.rlim_cur < WANTED)
		now.rlim_cur = WANTED;
	if (setrlimit(RLIMIT_NOFILE, &now) == 0)
		return;
	now = before;
	now.rlim_cur = now.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &now))
		now = before;
}

void descriptors_restore(void)
{
	if (before.rlim_max)
		(void)setrlimit(RLIMIT_NOFILE, &before);
}

bool descriptors_scarce(int fd)
{
	return now.rlim_cur && (rlim_t)fd >= now.rlim_cur / 2;
}
