// SPDX-License-Identifier: Apache-2.0
/*
 * The client of HotSpot's attach protocol (attachListener_linux.cpp, later attachListener_posix.cpp). It runs in a
 * child process, which agents/listener.c and cli/process/heap_vm.c start.
 *
 * On SIGQUIT the JVM looks for .attach_pidN in its working directory, then in /tmp. If its own user owns that file, it
 * opens the socket /tmp/.java_pidN instead of dumping its threads. N is the process's pid in its own namespace. The JVM
 * accepts peers of its own user and group.
 *
 * The child joins no namespace: /proc/PID/root and /proc/PID/cwd lead to the right files. A UNIX socket with a path is
 * found by its inode, whatever network namespace it was bound in.
 */
#include "attach.h"
#include "as_user.h"
#include "attach_protocol.h"
#include "proc/jvm_proc.h"
#include "util/log.h"
#include "util/root_file.h"

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
#define LISTENER_TIMEOUT_MS 10000 /* from SIGQUIT to the socket; a JVM in a long pause needs this */
#define ANSWER_TIMEOUT_MS 20000	  /* includes Agent_OnAttach */
#define REPORT_AFTER_MS 700	  /* until a delay is reported */
_Static_assert(REPORT_AFTER_MS + POLL_MS < 1000, "a user learns within a second why an agent does not connect");
#define DUMP_TIMEOUT_MS 86400000 /* a heap may be large, and its disk slow */
#define GIVE_UP_S 60		 /* limit between two waits; SIGALRM ends the child */
/* how long the agent waits for its grant; meanwhile only the JVM's attach listener is blocked */
#define GRANT_WAIT_MS 10000
#define RESULT_FD 3
#define TEXT_FD 4
#define CHILD_END_MS 1000

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
	uint64_t start_ms;
	uint64_t waited_ms; /* time that the JVM was not stopped; all timeouts count it */
	bool reported;	    /* the delay was reported */
	char *why;
};

static int attach_fail(const struct target *t, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static int attach_fail(const struct target *t, int err, const char *fmt, ...)
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

static bool stopped(const struct target *t)
{
	struct proc_status status;

	return proc_status_reread(t->status_fd, &status) == 0 && status.stopped;
}

/* Sent before the result. A write after the recording has ended is lost, and the next wait notices the end. */
static void report_why(struct target *t)
{
	struct attach_result r = {.error = -EINPROGRESS};
	struct proc_status status;

	t->reported = true;
	if (proc_status_reread(t->status_fd, &status))
		return;
	if (status.stopped)
		snprintf(r.why, sizeof(r.why), "it is stopped; continue it with `kill -CONT %d`", (int)t->pid);
	else if (!status.catches_sigquit)
		snprintf(r.why, sizeof(r.why),
			 "it does not catch SIGQUIT, which makes a JVM listen: it is still starting, or its program "
			 "handles that signal itself");
	else
		snprintf(r.why, sizeof(r.why), "it does not answer: it may be in a long pause, or hang");
	(void)!write(RESULT_FD, &r, sizeof(r));
}

/*
 * Waits until `fd` is readable (1) or the time has passed (0); `fd` -1 waits for the time alone. It fails when the
 * process ends, or when the recording ends, which closes the other end of the result's pipe.
 */
static int target_wait(struct target *t, int fd, int ms)
{
	struct pollfd p[] = {{.fd = RESULT_FD}, {.fd = fd, .events = POLLIN}, {.fd = t->pidfd, .events = POLLIN}};
	uint64_t before = now_ms();

	alarm(GIVE_UP_S);
	if (poll(p, sizeof(p) / sizeof(p[0]), ms) > 0) {
		if (p[0].revents)
			return attach_fail(t, -ECANCELED, "the recording has ended");
		if (p[1].revents)
			return 1;
		return attach_fail(t, -ESRCH, "process %d has ended", (int)t->pid);
	}
	if (!stopped(t))
		t->waited_ms += now_ms() - before;
	if (!t->reported && now_ms() - t->start_ms >= REPORT_AFTER_MS)
		report_why(t);
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

/* Opens everything of the process that needs braid's own rights, and checks that it is still the same process. */
static int target_open(struct target *t)
{
	struct proc_status status;
	int err;

	t->pidfd = (int)syscall(SYS_pidfd_open, (long)t->pid, 0L);
	if (t->pidfd < 0)
		return attach_fail(t, -errno, "process %d has ended", (int)t->pid);
	t->status_fd = proc_open(t->pid, "status", O_RDONLY);
	if (t->status_fd < 0)
		return attach_fail(t, t->status_fd, "process %d has ended", (int)t->pid);
	err = proc_status_reread(t->status_fd, &status);
	if (err || status.ns_pid != t->ns_pid || status.uid != t->uid)
		return attach_fail(t, -ESRCH, "process %d has been replaced by another one: try again", (int)t->pid);
	t->root = proc_root_open(t->pid);
	if (t->root < 0)
		return attach_fail(t, t->root, "cannot open the root directory of process %d: %s; run braid as root",
				   (int)t->pid, strerror(-t->root));
	t->cwd = proc_open(t->pid, "cwd", O_PATH | O_DIRECTORY);
	return 0;
}

/*
 * The change of ids clears the death signal (commit_creds). It is set again, and a death of the parent before that is
 * checked.
 */
static int target_become(struct target *t, pid_t parent)
{
	int err = as_user_forever(t->uid, t->gid);

	if (err)
		return attach_fail(t, err, "cannot act as user %u: %s; run braid as root", (unsigned int)t->uid,
				   strerror(-err));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	t->tmp = root_open(t->root, "tmp", O_PATH | O_DIRECTORY);
	if (t->tmp < 0)
		return attach_fail(t, t->tmp, "cannot open /tmp of process %d: %s; attaching to a JVM needs it",
				   (int)t->pid, strerror(-t->tmp));
	return 0;
}

/* Anyone can put a socket into /tmp, so the peer must be the JVM itself. */
static int peer_check(const struct target *t, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return attach_fail(t, -errno, "cannot read the owner of the attach socket: %s", strerror(errno));
	if (peer.pid != t->pid || peer.uid != t->uid)
		return attach_fail(t, -EPERM,
				   "the attach socket /tmp/.java_pid%d belongs to process %d of user %u: remove it",
				   (int)t->ns_pid, (int)peer.pid, (unsigned int)peer.uid);
	return 0;
}

static void listener_name(const struct target *t, char name[32])
{
	snprintf(name, 32, ".java_pid%d", (int)t->ns_pid);
}

/*
 * Returns a connected socket; -ENOENT when the JVM does not listen (yet); -ECONNREFUSED when nothing listens at the
 * socket's file; -EAGAIN when the backlog is full.
 */
static int listener_connect(const struct target *t)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat st;
	char name[32];
	int fd, err;

	listener_name(t, name);
	if (fstatat(t->tmp, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISSOCK(st.st_mode))
		return -ENOENT;
	if (st.st_uid != t->uid)
		return attach_fail(t, -EPERM, "the attach socket /tmp/%s belongs to user %u: remove it", name,
				   (unsigned int)st.st_uid);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return attach_fail(t, -errno, "cannot create a socket: %s", strerror(errno));
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", t->tmp, name);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		err = -errno;
		close(fd);
		if (err == -ECONNREFUSED || err == -ENOENT || err == -EAGAIN)
			return err;
		return attach_fail(t, err, "connecting to the attach socket /tmp/%s failed: %s", name, strerror(-err));
	}
	err = peer_check(t, fd);
	if (err)
		close(fd);
	return err ? err : fd;
}

/*
 * SIGQUIT kills a process that does not catch it yet, and a JVM may take any time to start. A JVM that never catches it
 * (-Xrs) listens from its start.
 */
static int wait_until_caught(struct target *t)
{
	struct proc_status status;
	int err;

	for (;;) {
		err = proc_status_reread(t->status_fd, &status);
		if (err)
			return attach_fail(t, -ESRCH, "process %d has ended", (int)t->pid);
		if (status.catches_sigquit)
			return 0;
		err = target_wait(t, -1, POLL_MS);
		if (err)
			return err;
	}
}

/* Creates the file that makes the JVM listen on SIGQUIT. Returns the directory that it is in (t->tmp or t->cwd). */
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
		/* An existing file serves as well, if the JVM accepts its owner. */
		if (err == -EEXIST && fstatat(dirs[i], name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == t->uid)
			return dirs[i];
	}
	return attach_fail(t, err, "cannot create %s in /tmp or the working directory of process %d: %s", name,
			   (int)t->pid, strerror(-err));
}

/*
 * A stopped JVM would handle the signal when it is continued, and dump its threads if the file is gone by then. So this
 * waits until it runs.
 */
static int sigquit_send(struct target *t)
{
	while (stopped(t)) {
		int err = target_wait(t, -1, POLL_MS);

		if (err)
			return err;
	}
	if (syscall(SYS_pidfd_send_signal, (long)t->pidfd, (long)SIGQUIT, NULL, 0L) < 0)
		return attach_fail(t, -errno, "cannot send a signal to process %d: %s", (int)t->pid, strerror(errno));
	return 0;
}

/*
 * Returns a connected socket to the listener that SIGQUIT starts. The signal is sent again at half time, as the JDK's
 * own client does.
 */
static int listener_start(struct target *t)
{
	uint64_t start = t->waited_ms, waited;
	bool again = true;
	int err = sigquit_send(t);

	while (!err) {
		err = listener_connect(t);
		if (err != -ENOENT && err != -ECONNREFUSED && err != -EAGAIN)
			return err;
		waited = t->waited_ms - start;
		if (waited >= LISTENER_TIMEOUT_MS)
			return attach_fail(t, -ETIMEDOUT,
					   "the JVM opened no attach socket within %d s: it hangs, or was started with "
					   "-XX:+DisableAttachMechanism",
					   LISTENER_TIMEOUT_MS / 1000);
		err = target_wait(t, -1, POLL_MS);
		if (!err && again && waited >= LISTENER_TIMEOUT_MS / 2) {
			again = false;
			err = sigquit_send(t);
		}
	}
	return err;
}

/*
 * A stale socket file keeps a JVM that has listened before from listening again: it only checks that a file exists
 * (check_socket_file).
 */
static void listener_clear(const struct target *t)
{
	char name[32];

	listener_name(t, name);
	if (unlinkat(t->tmp, name, 0) == 0)
		log_debug("process %d: removed the stale attach socket /tmp/%s", (int)t->pid, name);
}

static int listener_reach(struct target *t)
{
	char name[32];
	int dir, fd = listener_connect(t), err;

	while (fd == -EAGAIN) {
		err = target_wait(t, -1, POLL_MS);
		fd = err ? err : listener_connect(t);
	}
	if (fd == -ECONNREFUSED)
		listener_clear(t);
	else if (fd != -ENOENT)
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
			return attach_fail(t, -errno, "cannot send the attach request to the JVM: %s", strerror(errno));
		request += n;
		length -= (size_t)n;
	}
	return 0;
}

/* What the JVM is asked for. */
struct order {
	char request[ATTACH_REQUEST_MAX];
	size_t length;
	const struct order *older; /* for a JVM that does not know the version of this one; or NULL */
	uint64_t wait_ms;	   /* for the answer */
	bool text;		   /* all of the answer is wanted: it goes to TEXT_FD */
	int (*answer)(const char *answer, size_t length, char why[ATTACH_WHY_MAX]);
};

static int text_write(const struct target *t, const char *text, size_t size, uint64_t *written)
{
	*written += size;
	if (*written > ATTACH_TEXT_MAX)
		return attach_fail(t, -EFBIG, "the JVM's answer is larger than %u MiB", ATTACH_TEXT_MAX >> 20);
	if (write(TEXT_FD, text, size) != (ssize_t)size)
		return attach_fail(t, -EIO, "the JVM's answer cannot be kept: %s", strerror(errno));
	return 0;
}

/* The answer ends with the connection. `to` gets its beginning; the rest goes to TEXT_FD, too, or is discarded. */
static int answer_read(struct target *t, int fd, const struct order *o, char *to, size_t size, size_t *length)
{
	uint64_t start = t->waited_ms, written = 0;
	char part[4096];
	int err = 0;

	*length = 0;
	while (t->waited_ms - start < o->wait_ms && !err) {
		int ready = target_wait(t, fd, 10 * POLL_MS);
		size_t room = size - *length;
		ssize_t n;

		if (ready < 0)
			return ready;
		if (!ready)
			continue;
		n = recv(fd, part, sizeof(part), 0);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return attach_fail(t, -errno, "the JVM's answer to the attach request cannot be read: %s",
					   strerror(errno));
		if (n < 0)
			continue;
		room = (size_t)n < room ? (size_t)n : room;
		memcpy(to + *length, part, room);
		*length += room;
		err = o->text ? text_write(t, part, (size_t)n, &written) : 0;
	}
	return err
		       ?: attach_fail(t, -ETIMEDOUT,
				      "the JVM did not answer the attach request within %u s: it may hang",
				      (unsigned int)(o->wait_ms / 1000));
}

static int order_give(struct target *t, const struct order *o)
{
	char answer[4096];
	size_t length;
	int fd = listener_reach(t), err;

	if (fd < 0)
		return fd;
	t->reported = t->reported || o->wait_ms > ANSWER_TIMEOUT_MS; /* that delay is no news */
	err = request_send(t, fd, o->request, o->length);
	if (!err)
		err = answer_read(t, fd, o, answer, sizeof(answer), &length);
	close(fd);
	if (err)
		return err;
	if (!o->older || !attach_version_refused(answer, length))
		return o->answer(answer, length, t->why);
	if (ftruncate(TEXT_FD, 0) || lseek(TEXT_FD, 0, SEEK_SET))
		return attach_fail(t, -errno, "the JVM's answer cannot be discarded: %s", strerror(errno));
	return order_give(t, o->older);
}

/* Leaves RESULT_FD, and TEXT_FD if there is a text. Each may be where the other one belongs. */
static bool keep_only(int result_fd, int text_fd)
{
	int last = text_fd < 0 ? RESULT_FD : TEXT_FD;

	if (text_fd >= 0) {
		result_fd = fcntl(result_fd, F_DUPFD, TEXT_FD + 1);
		text_fd = fcntl(text_fd, F_DUPFD, TEXT_FD + 1);
		if (text_fd < 0 || dup2(text_fd, TEXT_FD) < 0)
			return false;
	}
	return result_fd >= 0 && (result_fd == RESULT_FD || dup2(result_fd, RESULT_FD) >= 0) &&
	       syscall(SYS_close_range, (long)last + 1, (long)~0U, 0L) == 0;
}

/*
 * The parent may have threads and any signal settings: the child relies on none of them, and keeps only the result's
 * descriptor, and the text's.
 */
static void child_main(const struct jvm_process *jvm, pid_t parent, int result_fd, int text_fd, const struct order *o)
{
	struct attach_result result = {0};
	struct target t = {.pid = jvm->pid,
			   .ns_pid = jvm->ns_pid,
			   .uid = jvm->uid,
			   .gid = jvm->gid,
			   .cwd = -1,
			   .start_ms = now_ms(),
			   .why = result.why};
	sigset_t set;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "braid-attach");
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	alarm(GIVE_UP_S);
	if (!keep_only(result_fd, text_fd))
		_exit(1);
	result.error = target_open(&t) ?: target_become(&t, parent) ?: order_give(&t, o);
	_exit(write(RESULT_FD, &result, sizeof(result)) == (ssize_t)sizeof(result) ? 0 : 1);
}

/* Starts the child; `length` is the request's, or a negative errno; `text_fd` -1: the answer is no text. */
static int start(const struct jvm_process *jvm, struct order *o, ssize_t length, int text_fd, int *result_fd,
		 pid_t *child)
{
	pid_t parent = getpid(), pid;
	int fds[2], err;

	if (length < 0)
		return (int)length;
	o->length = (size_t)length;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		child_main(jvm, parent, fds[1], text_fd, o);
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

int attach_start(const struct jvm_process *jvm, const struct staging *d, const char *extra, int *result_fd,
		 pid_t *child)
{
	struct order o = {.wait_ms = ANSWER_TIMEOUT_MS, .answer = attach_answer};
	char options[ATTACH_ARGUMENT_MAX + 1];
	bool more = extra && extra[0];
	int n;

	*result_fd = -1;
	*child = -1;
	n = snprintf(options, sizeof(options), "sock=%s,wait_ms=%d%s%s", d->socket, GRANT_WAIT_MS, more ? "," : "",
		     more ? extra : "");
	if (n < 0 || (size_t)n >= sizeof(options))
		return -ENAMETOOLONG;
	return start(jvm, &o, attach_request(o.request, d->loaded[0] ? d->loaded : d->library, options), -1, result_fd,
		     child);
}

int attach_dump_start(const struct jvm_process *jvm, const struct staging *d, bool live, int *result_fd, pid_t *child)
{
	struct order o = {.wait_ms = DUMP_TIMEOUT_MS, .answer = attach_dump_answer};
	char file[sizeof(d->path) + sizeof(STAGING_DUMP) + 1];

	*result_fd = -1;
	*child = -1;
	snprintf(file, sizeof(file), "%s/%s", d->path, STAGING_DUMP);
	return start(jvm, &o, attach_dump_request(o.request, file, live), -1, result_fd, child);
}

int attach_text_start(const struct jvm_process *jvm, enum attach_text text, int text_fd, int *result_fd, pid_t *child)
{
	struct order older = {.wait_ms = ANSWER_TIMEOUT_MS, .text = true, .answer = attach_text_answer}, o = older;
	ssize_t length = attach_memory_request(o.request);

	if (text == ATTACH_TEXT_THREADS) {
		older.length = (size_t)attach_threads_request(older.request);
		length = attach_threads_request_2(o.request);
		o.older = &older;
	}
	*result_fd = -1;
	*child = -1;
	return start(jvm, &o, length, text_fd, result_fd, child);
}

void attach_result_read(int result_fd, struct attach_result *r)
{
	if (read(result_fd, r, sizeof(*r)) != (ssize_t)sizeof(*r))
		*r = (struct attach_result){.error = -EIO, .why = "the attaching child died"};
	r->why[sizeof(r->why) - 1] = '\0';
}

void attach_end(int result_fd, pid_t child)
{
	uint64_t until = now_ms() + CHILD_END_MS;
	bool ended;

	close(result_fd);
	while (!(ended = waitpid(child, NULL, WNOHANG) != 0) && now_ms() < until)
		poll(NULL, 0, 1);
	if (!ended) /* it hangs in a file system */
		kill(child, SIGKILL);
}
