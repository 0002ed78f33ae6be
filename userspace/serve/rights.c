// SPDX-License-Identifier: Apache-2.0
#include "rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <util/log.h>

#define NOBODY 65534U

static int become_nobody(void)
{
	if (!setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY))
		return 0;
	if (errno != EINVAL && errno != EPERM)
		return -errno;
	log_warning("the server stays root, without capabilities: it cannot become another user (%s)", strerror(errno));
	return 0;
}

int rights_drop(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};
	int err = geteuid() == 0 ? become_nobody() : 0;

	if (err)
		return err;
	if (syscall(SYS_capset, &head, none) || prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) ||
	    prctl(PR_SET_DUMPABLE, 0L))
		return -errno;
	return 0;
}
