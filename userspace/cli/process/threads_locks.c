// SPDX-License-Identifier: Apache-2.0
/*
 * Which frame has locked a monitor is known to the VM only: compiled code keeps its monitors where its debug
 * information says, and JVM TI's function for it (GetOwnedMonitorStackDepthInfo) needs a capability that HotSpot gives
 * at its start. HotSpot's own thread dump has them, at any time and without an agent, at a safepoint.
 */
#include "threads_locks.h"

#include "attach_wait.h"
#include "util/clock.h"
#include "util/log.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAILED "the monitors that its threads own are not known"

/* Nobody else has the file, so it stays as it is. */
static int parse(int text_fd, struct owned *to)
{
	struct stat st;
	void *text;
	int err;

	if (fstat(text_fd, &st))
		return -errno;
	text = mmap(NULL, (size_t)st.st_size + 1, PROT_READ, MAP_PRIVATE, text_fd, 0);
	if (text == MAP_FAILED)
		return -errno;
	err = owned_parse(to, text, (size_t)st.st_size);
	munmap(text, (size_t)st.st_size + 1);
	return err;
}

bool threads_locks(pid_t pid, struct owned *to)
{
	int text_fd = memfd_create("braid-threads", MFD_CLOEXEC), err = text_fd < 0 ? -errno : 0;
	uint64_t asked_ns = now_ns();
	bool asked = !err && attach_ask_text(pid, ATTACH_TEXT_THREADS, text_fd, FAILED);

	to->asked_ns = asked_ns;
	to->spent_ns = now_ns() - asked_ns;
	if (asked)
		err = parse(text_fd, to);
	if (err)
		log_error("process %d: " FAILED ": %s", (int)pid, strerror(-err));
	if (text_fd >= 0)
		close(text_fd);
	return asked && !err;
}
