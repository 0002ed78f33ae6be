// SPDX-License-Identifier: Apache-2.0
#include "attach_wait.h"

#include "util/log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#define LOOK_MS 100

bool is_interrupted(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (sigismember(&pending, ending[i]) == 1)
			return true;
	return false;
}

bool attach_wait(pid_t pid, int result_fd, pid_t child, const char *failed, const char *interrupted)
{
	struct pollfd p = {.fd = result_fd, .events = POLLIN};
	struct attach_result r = {.error = -EINPROGRESS};

	while (r.error == -EINPROGRESS) {
		if (is_interrupted()) {
			log_error("%s", interrupted);
			break;
		}
		if (poll(&p, 1, LOOK_MS) <= 0)
			continue;
		attach_result_read(result_fd, &r);
		if (r.error == -EINPROGRESS)
			log_warning("process %d: %s", (int)pid, r.why);
	}
	attach_end(result_fd, child);
	if (r.error && r.error != -EINPROGRESS)
		log_error("process %d: %s: %s", (int)pid, failed, r.why);
	return !r.error;
}

bool attach_ask_text(pid_t pid, enum attach_text which, int text_fd, const char *failed)
{
	struct jvm_process jvm;
	int result_fd, err;
	pid_t child;

	if (jvm_process_read(pid, &jvm) != 1) {
		log_error("process %d is not a JVM; `braid list` shows the JVMs", (int)pid);
		return false;
	}
	if (!jvm.attachable) {
		log_error("process %d: %s: %s", (int)pid, failed, jvm.why);
		return false;
	}
	err = attach_text_start(&jvm, which, text_fd, &result_fd, &child);
	if (err)
		log_error("process %d: %s: %s", (int)pid, failed, strerror(-err));
	return !err && attach_wait(pid, result_fd, child, failed, "interrupted");
}
