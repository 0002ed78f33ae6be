// SPDX-License-Identifier: Apache-2.0
/*
 * HotSpot's side (attachListener_linux.cpp, later attachListener_posix.cpp): on SIGQUIT the JVM looks for .attach_pidN
 * in its working directory, then in /tmp; when its own user owns that, it opens the socket /tmp/.java_pidN instead of
 * dumping its threads. N is the process's number in its own pid namespace. It accepts peers of its own user and group.
 *
 * No namespace is joined: /proc/PID/root and /proc/PID/cwd lead to the right files, and a UNIX socket with a path is
 * found by its inode, in whatever network namespace it was bound.
 */
#include "attach/attach.h"
#include "attach/as_user.h"
#include "attach/attach_protocol.h"
#include "proc/jvm_proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_MS 10
#define READY_TIMEOUT_MS 6000	  /* until a JVM that has just been started catches SIGQUIT */
#define LISTENER_TIMEOUT_MS 10000 /* from SIGQUIT to the socket: a JVM in a long pause needs this */
#define ANSWER_TIMEOUT_MS 20000	  /* Agent_OnAttach runs in between */
#define GIVE_UP_S 60		  /* whatever happens */
#define RESULT_FD 3
#define AGENT_NAME "braid-agent" /* the loader finds a loaded library by its DT_SONAME, even when its file is gone */

struct target {
	pid_t pid;
	pid_t ns_pid;
	uid_t uid;
	gid_t gid;
	int pidfd;
	int status_fd;
	int root;
	int cwd; /* -1 when it cannot be entered */
	int tmp;
	char *why;
};

static int fail(const struct target *t, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static int fail(const struct target *t, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->why, ATTACH_WHY_MAX, fmt, ap);
	va_end(ap);
	return err;
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Waits that long, or less when the process ends: -ESRCH then. */
static int pause_ms(const struct target *t, int ms)
{
	struct pollfd p = {.fd = t->pidfd, .events = POLLIN};

	if (poll(&p, 1, ms) > 0)
		return fail(t, -ESRCH, "process %d has ended", (int)t->pid);
	return 0;
}

static int proc_open(pid_t pid, const char *name, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Everything of the process that needs braid's own rights, and the check that it still is the one that was looked at.
 */
static int target_open(struct target *t)
{
	struct proc_status status;
	int err;

	t->pidfd = (int)syscall(SYS_pidfd_open, (long)t->pid, 0L);
	if (t->pidfd < 0)
		return fail(t, -errno, "process %d has ended", (int)t->pid);
	t->status_fd = proc_open(t->pid, "status", O_RDONLY);
	if (t->status_fd < 0)
		return fail(t, t->status_fd, "process %d has ended", (int)t->pid);
	err = proc_status_reread(t->status_fd, &status);
	if (err || status.ns_pid != t->ns_pid || status.uid != t->uid)
		return fail(t, -ESRCH, "process %d is not the one it was: try again", (int)t->pid);
	t->root = proc_root_open(t->pid);
	if (t->root < 0)
		return fail(t, t->root, "the file system of process %d cannot be entered: %s; run braid as root",
			    (int)t->pid, strerror(-t->root));
	t->cwd = proc_open(t->pid, "cwd", O_PATH | O_DIRECTORY);
	return 0;
}

/* Taking the user's rights clears the death signal (commit_creds), so it is asked for again, and a death before that
 * seen. */
static int target_become(struct target *t, pid_t parent)
{
	int err = as_user_forever(t->uid, t->gid);

	if (err)
		return fail(t, err, "the rights of user %u cannot be taken: %s; run braid as root",
			    (unsigned int)t->uid, strerror(-err));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	t->tmp = root_open(t->root, "tmp", O_PATH | O_DIRECTORY);
	if (t->tmp < 0)
		return fail(t, t->tmp, "/tmp of process %d cannot be entered: %s; the JVM needs one to be attached to",
			    (int)t->pid, strerror(-t->tmp));
	return 0;
}

/* The one at the other end must be the JVM itself: /tmp is open to everybody. */
static int peer_check(const struct target *t, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return fail(t, -errno, "the attach socket's owner is not known: %s", strerror(errno));
	if (peer.pid != t->pid || peer.uid != t->uid)
		return fail(t, -EPERM, "the attach socket /tmp/.java_pid%d belongs to process %d of user %u: remove it",
			    (int)t->ns_pid, (int)peer.pid, (unsigned int)peer.uid);
	return 0;
}

/* A connected socket; -ENOENT when the JVM does not listen (yet). */
static int listener_connect(const struct target *t)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval limit = {.tv_sec = ANSWER_TIMEOUT_MS / 1000};
	struct stat st;
	char name[32];
	int fd, err;

	snprintf(name, sizeof(name), ".java_pid%d", (int)t->ns_pid);
	if (fstatat(t->tmp, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISSOCK(st.st_mode))
		return -ENOENT;
	if (st.st_uid != t->uid)
		return fail(t, -EPERM, "the attach socket /tmp/%s belongs to user %u: remove it", name,
			    (unsigned int)st.st_uid);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(t, -errno, "no socket: %s", strerror(errno));
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", t->tmp, name);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)); /* holds for connect too */
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		err = -errno;
		close(fd);
		if (err == -ECONNREFUSED || err == -ENOENT) /* left over from another process, or going away */
			return -ENOENT;
		return fail(t, err, "connecting to the attach socket /tmp/%s failed: %s", name, strerror(-err));
	}
	err = peer_check(t, fd);
	if (err)
		close(fd);
	return err ? err : fd;
}

/* SIGQUIT kills a process that does not catch it yet. A JVM that never will (-Xrs) listens from its start on. */
static int wait_until_caught(const struct target *t)
{
	uint64_t end = now_ms() + READY_TIMEOUT_MS;
	struct proc_status status;
	int err;

	for (;;) {
		err = proc_status_reread(t->status_fd, &status);
		if (err)
			return fail(t, -ESRCH, "process %d has ended", (int)t->pid);
		if (status.catches_sigquit)
			return 0;
		if (now_ms() >= end)
			return fail(t, -ETIMEDOUT, "the JVM of process %d is still starting: try again later",
				    (int)t->pid);
		err = pause_ms(t, POLL_MS);
		if (err)
			return err;
	}
}

/* The file that turns SIGQUIT into "start listening". Returns the directory that it was made in (t->tmp or t->cwd). */
static int trigger_create(const struct target *t, const char *name)
{
	const int dirs[] = {t->tmp, t->cwd};
	int err = -ENOENT;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		struct stat st;
		int fd;

		if (dirs[i] < 0)
			continue;
		fd = openat(dirs[i], name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0) {
			close(fd);
			return dirs[i];
		}
		err = -errno;
		/* One that is there already does as well, when the JVM will accept it. */
		if (err == -EEXIST && fstatat(dirs[i], name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == t->uid)
			return dirs[i];
	}
	return fail(t, err, "/tmp and the working directory of process %d take no file %s: %s", (int)t->pid, name,
		    strerror(-err));
}

static int sigquit_send(const struct target *t)
{
	if (syscall(SYS_pidfd_send_signal, (long)t->pidfd, (long)SIGQUIT, NULL, 0L) < 0)
		return fail(t, -errno, "process %d takes no signal: %s", (int)t->pid, strerror(errno));
	return 0;
}

/* A connected socket to the listener that SIGQUIT starts. The signal is sent again at half time, as the JDK's own
 * client does. */
static int listener_start(const struct target *t)
{
	uint64_t start = now_ms(), waited;
	bool again = true;
	int err = sigquit_send(t);

	while (!err) {
		err = listener_connect(t);
		if (err != -ENOENT)
			return err;
		waited = now_ms() - start;
		if (waited >= LISTENER_TIMEOUT_MS)
			return fail(t, -ETIMEDOUT,
				    "the JVM opened no attach socket within %d s: it hangs, is stopped, or was started "
				    "with "
				    "-XX:+DisableAttachMechanism",
				    LISTENER_TIMEOUT_MS / 1000);
		err = pause_ms(t, POLL_MS);
		if (!err && again && waited >= LISTENER_TIMEOUT_MS / 2) {
			again = false;
			err = sigquit_send(t);
		}
	}
	return err;
}

static int listener_reach(const struct target *t)
{
	char name[32];
	int dir, fd = listener_connect(t);

	if (fd != -ENOENT)
		return fd;
	fd = wait_until_caught(t);
	if (fd < 0)
		return fd;
	snprintf(name, sizeof(name), ".attach_pid%d", (int)t->ns_pid);
	dir = trigger_create(t, name);
	if (dir < 0)
		return dir;
	fd = listener_start(t);
	unlinkat(dir, name, 0);
	return fd;
}

static int request_send(const struct target *t, int fd, const char *request, size_t length)
{
	while (length) {
		ssize_t n = send(fd, request, length, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(t, -errno, "the JVM takes no attach request: %s", strerror(errno));
		request += n;
		length -= (size_t)n;
	}
	return 0;
}

/* The answer ends with the connection. What does not fit is read and dropped. */
static int answer_read(const struct target *t, int fd, char *to, size_t size, size_t *length)
{
	uint64_t end = now_ms() + ANSWER_TIMEOUT_MS, now;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char rest[512];

	*length = 0;
	while ((now = now_ms()) < end) {
		bool room = *length < size;
		ssize_t n;

		if (poll(&p, 1, (int)(end - now)) <= 0)
			continue;
		n = room ? recv(fd, to + *length, size - *length, 0) : recv(fd, rest, sizeof(rest), 0);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return fail(t, -errno, "the JVM's answer to the attach request cannot be read: %s",
				    strerror(errno));
		if (n > 0 && room)
			*length += (size_t)n;
	}
	return fail(t, -ETIMEDOUT, "the JVM did not answer the attach request within %d s: it may hang",
		    ANSWER_TIMEOUT_MS / 1000);
}

static int attach_run(struct target *t, pid_t parent, const char *request, size_t length)
{
	char answer[4096];
	int fd, err = target_open(t);

	if (!err)
		err = target_become(t, parent);
	if (err)
		return err;
	fd = listener_reach(t);
	if (fd < 0)
		return fd;
	err = request_send(t, fd, request, length);
	if (!err)
		err = answer_read(t, fd, answer, sizeof(answer), &length);
	if (!err)
		err = attach_answer(answer, length, t->why);
	close(fd);
	return err;
}

/* The parent may have threads and any signal set-up: nothing of it is used, and only the result's descriptor is kept.
 */
static void child_main(const struct jvm_process *jvm, pid_t parent, int result_fd, const char *request, size_t length)
{
	struct attach_result result = {0};
	struct target t = {
		.pid = jvm->pid, .ns_pid = jvm->ns_pid, .uid = jvm->uid, .gid = jvm->gid, .cwd = -1, .why = result.why};
	sigset_t set;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "braid-attach");
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	alarm(GIVE_UP_S);
	if ((result_fd != RESULT_FD && dup2(result_fd, RESULT_FD) < 0) ||
	    syscall(SYS_close_range, (long)RESULT_FD + 1, (long)~0U, 0L) < 0)
		_exit(1);
	result.error = attach_run(&t, parent, request, length);
	_exit(write(RESULT_FD, &result, sizeof(result)) == (ssize_t)sizeof(result) ? 0 : 1);
}

int attach_start(const struct jvm_process *jvm, const struct drop *d, const char *extra, int *result_fd, pid_t *child)
{
	char options[ATTACH_ARGUMENT_MAX + 1], request[ATTACH_REQUEST_MAX];
	bool more = extra && extra[0];
	pid_t parent = getpid(), pid;
	int fds[2], n, err;
	ssize_t length;

	*result_fd = -1;
	*child = -1;
	n = snprintf(options, sizeof(options), "sock=%s%s%s", d->socket, more ? "," : "", more ? extra : "");
	if (n < 0 || (size_t)n >= sizeof(options))
		return -ENAMETOOLONG;
	length = attach_request(request, d->loaded ? AGENT_NAME : d->library, options);
	if (length < 0)
		return (int)length;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		child_main(jvm, parent, fds[1], request, (size_t)length);
	err = pid < 0 ? -errno : 0;
	close(fds[1]);
	if (err) {
		close(fds[0]);
		return err;
	}
	*result_fd = fds[0];
	*child = pid;
	return 0;
}
