// SPDX-License-Identifier: Apache-2.0
/* Tests of attaching that need no JVM: texts in /proc, options, messages, the staging. */
#include "attach/as_user.h"
#include "attach/attach.h"
#include "attach/attach_protocol.h"
#include "attach/jvm_options.h"
#include "proc/jvm_proc.h"
#include "proc/procfs.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char status_text[] =
	"Name:\tUid:\t7\nState:\tT (stopped)\nTgid:\t4242\nPid:\t4242\nUid:\t1\t65534\t3\t4\nGid:\t5\t6\t7\t8\n"
	"NStgid:\t4242\t17\t1\nNSpid:\t4242\t17\t1\nSigCgt:\t0000000101005ccd\n";

START_TEST(status_fields)
{
	struct proc_status s;

	ck_assert_int_eq(proc_status_parse(status_text, &s), 0);
	ck_assert_int_eq(s.tgid, 4242);
	ck_assert_int_eq(s.ns_pid, 1);
	ck_assert_uint_eq(s.uid, 65534);
	ck_assert_uint_eq(s.gid, 6);
	ck_assert(s.catches_sigquit);
	ck_assert(s.catches_sigterm);
	ck_assert(s.stopped);
	ck_assert_int_eq(proc_status_parse("", &s), -EINVAL);
	ck_assert_int_eq(proc_status_parse("Uid:\t1", &s), -EINVAL);
	ck_assert_int_eq(proc_status_parse("State:\tS\nTgid:\tx\nUid:\t1 2\nGid:\t1 2\nNSpid:\t1\nSigCgt:\t0\n", &s),
			 -EINVAL);
}
END_TEST

START_TEST(status_of_self)
{
	struct proc_status s;
	int fd;

	signal(SIGQUIT, SIG_DFL);
	ck_assert_int_eq(proc_status_read(getpid(), &s), 0);
	ck_assert_int_eq(s.tgid, getpid());
	ck_assert_uint_eq(s.uid, geteuid());
	ck_assert(!s.catches_sigquit);
	ck_assert(!s.stopped);
	fd = open("/proc/self/status", O_RDONLY);
	signal(SIGQUIT, _exit);
	ck_assert_int_eq(proc_status_reread(fd, &s), 0);
	ck_assert(s.catches_sigquit);
	signal(SIGQUIT, SIG_DFL);
	close(fd);
	ck_assert_int_eq(proc_status_read(0, &s), -ESRCH);
	ck_assert_int_eq(proc_status_read(-5, &s), -ESRCH);
	ck_assert_int_eq(proc_status_read(0x7fffffff, &s), -ESRCH);
}
END_TEST

#define GROUPS 2000

/* What follows the groups is read however many there are. */
START_TEST(status_of_many_groups)
{
	struct proc_status s;
	char text[512];
	gid_t list[GROUPS];
	int fd = memfd_create("status", MFD_CLOEXEC), status;
	FILE *f = fdopen(fd, "w");
	pid_t child, here;

	fputs("Name:\tGroups:\nState:\tS\nTgid:\t42\nUid:\t1\t2\nGid:\t1\t2\nFDSize:\t64\nGroups:\t", f);
	for (int i = 0; i < GROUPS; i++) {
		list[i] = 1000000U + (gid_t)i;
		fprintf(f, "%u ", list[i]);
	}
	fputs("\nNSpid:\t42\t7\nVmRSS:\t 12 kB\nSigCgt:\t0000000000000004\n", f);
	ck_assert_int_eq(fflush(f), 0);
	ck_assert_int_eq(proc_status_reread(fd, &s), 0);
	ck_assert_int_eq(s.ns_pid, 7);
	ck_assert(s.catches_sigquit);
	ck_assert_int_gt(procfs_status_text(fd, text, sizeof(text)), 0);
	ck_assert_ptr_nonnull(strstr(text, "\nFDSize:\t64\nNSpid:\t42\t7\nVmRSS:\t 12 kB\n"));
	ck_assert_int_eq(procfs_status_text(fd, text, 10), 9);
	ck_assert_str_eq(text, "Name:\tGro");
	fclose(f);

	ck_assert_int_lt(procfs_status(0x7fffffff, 0x7fffffff, text, sizeof(text)), 0);
	child = fork();
	if (child == 0) {
		here = procfs_ns_tid(getpid(), getpid());
		if (setgroups(GROUPS, list)) /* no right to: then this part is not tested */
			_exit(0);
		_exit(proc_status_read(getpid(), &s) || s.ns_pid != here || procfs_ns_tid(getpid(), getpid()) != here);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(maps_lines)
{
	struct proc_maps m = {0};
	char longer[6000];

	proc_maps_line("nonsense\n", &m);
	proc_maps_line("7f00-7f10 r-xp 00000000 fe:00 1 /tmp/notlibjvm.so\n", &m);
	proc_maps_line("7f00-7f10 r--p 00000000 fe:00 1    /opt/java/libjvm.so\n", &m);
	ck_assert_str_eq(m.libjvm, ""); /* a process that has only opened the file is no JVM */
	proc_maps_line("7f13f77ab000-7f13f77b3000 rw-s 00000000 fe:00 10 /tmp/hsperfdata_me/7\n", &m);
	ck_assert_uint_eq(m.perf_start, 0x7f13f77ab000);
	ck_assert_uint_eq(m.perf_end, 0x7f13f77b3000);
	proc_maps_line("7f00-7f10 r-xp 00000000 fe:00 1    /opt/my java/libjvm.so (deleted)\n", &m);
	ck_assert_str_eq(m.libjvm, "/opt/my java/libjvm.so");
	ck_assert(!m.openj9 && !m.musl);
	proc_maps_line("7f00-7f10 r-xp 00000000 fe:00 1 /j/libj9vm29.so\n", &m);
	proc_maps_line("7f00-7f10 r-xp 00000000 fe:00 1 /lib/ld-musl-x86_64.so.1\n", &m);
	ck_assert(m.openj9 && m.musl);
	memset(&m, 0, sizeof(m));
	snprintf(longer, sizeof(longer), "7f00-7f10 r-xp 00000000 fe:00 1 /%0700d/libjvm.so\n", 0);
	proc_maps_line(longer, &m);
	snprintf(longer, sizeof(longer), "7f00-7f10 r-xp 00000000 fe:00 1 /%05000d/libjvm.so\n", 0);
	proc_maps_line(longer, &m);
	ck_assert_str_eq(m.libjvm, "");
}
END_TEST

START_TEST(option_flags)
{
	struct jvm_options o = {0};
	char text[] = " -Xmx1g\t-XX:+DisableAttachMechanism\n-XX:-EnableDynamicAgentLoading ";

	jvm_options_add_all(&o, text);
	ck_assert(o.no_attach && o.no_dynamic);
	jvm_options_add(&o, "-XX:-DisableAttachMechanism"); /* the last one counts */
	jvm_options_add(&o, "-XX:+EnableDynamicAgentLoading");
	ck_assert(!o.no_attach && !o.no_dynamic);
	jvm_options_add(&o, "-XX:DisableAttachMechanism");
	jvm_options_add(&o, "-XX:+DisableAttachMechanismX");
	jvm_options_add(&o, "-XX:");
	jvm_options_add(&o, "");
	ck_assert(!o.no_attach);
}
END_TEST

#define ARGS(text) (text), sizeof(text)
static const struct {
	const char *line;
	size_t length;
	const char *main_class;
	bool no_attach;
} lines[] = {
	{ARGS("java\0-cp\0-XX:+DisableAttachMechanism\0Main\0-jar\0x.jar"), "Main", false},
	{ARGS("/opt/j/bin/java\0-XX:+DisableAttachMechanism\0-jar\0/a/b.jar\0x"), "/a/b.jar", true},
	{ARGS("java\0Main\0-XX:+DisableAttachMechanism"), "Main", false}, /* the program's argument */
	{ARGS("java\0--add-modules\0a.b\0-m\0mod/cls\0y"), "mod/cls", false},
	{ARGS("java\0--module=mod\0y"), "mod", false},
	{ARGS("java\0@args\0-Dx=y\0Main"), "Main", false},
	{ARGS("/usr/bin/jsvc\0-cp\0x\0Main"), "jsvc", false},
	{ARGS("java\0-cp"), "", false},
	{ARGS("java\0-jar"), "", false},
	{ARGS("java"), "", false},
	{"java", 4, "", false}, /* not zero-terminated */
	{"", 0, "", false},
};

START_TEST(command_lines)
{
	struct jvm_options o = {0};
	char name[64], *exact = malloc(lines[_i].length + 1);

	ck_assert_ptr_nonnull(exact);
	memcpy(exact, lines[_i].line, lines[_i].length);
	jvm_command_line(exact, lines[_i].length, &o, name, sizeof(name));
	ck_assert_str_eq(name, lines[_i].main_class);
	ck_assert_int_eq(o.no_attach, lines[_i].no_attach);
	free(exact);
}
END_TEST

START_TEST(request_bytes)
{
	char to[ATTACH_REQUEST_MAX], big[ATTACH_ARGUMENT_MAX + 2];

	ck_assert_int_eq(attach_request(to, "/l.so", "sock=/s"), 26);
	ck_assert_mem_eq(to, "1\0load\0/l.so\0true\0sock=/s", 26);
	memset(big, 'x', sizeof(big));
	big[ATTACH_ARGUMENT_MAX + 1] = '\0';
	ck_assert_int_eq(attach_request(to, "/l.so", big), -ENAMETOOLONG);
	ck_assert_int_eq(attach_request(to, big, ""), -ENAMETOOLONG);
	big[ATTACH_ARGUMENT_MAX] = '\0';
	ck_assert_int_gt(attach_request(to, big, big), 0);
	ck_assert_int_eq(attach_dump_request(to, "/d", true), 21);
	ck_assert_mem_eq(to, "1\0dumpheap\0/d\0-live\0", 21);
	ck_assert_int_eq(attach_dump_request(to, "/d", false), 20);
	ck_assert_mem_eq(to, "1\0dumpheap\0/d\0-all\0", 20);
	ck_assert_int_eq(attach_threads_request(to), 16);
	ck_assert_mem_eq(to, "1\0threaddump\0\0\0", 16);
	ck_assert_int_eq(attach_threads_request_2(to), 28);
	ck_assert_mem_eq(to,
			 "2\0"
			 "23\0threaddump streaming=0",
			 28);
	ck_assert(attach_version_refused("101\n", 4));
	ck_assert(!attach_version_refused("101\n2026", 8));
	ck_assert(!attach_version_refused("0\n", 2));
	ck_assert_int_eq(attach_memory_request(to), 33);
	ck_assert_mem_eq(to, "1\0jcmd\0VM.native_memory detail\0\0", 33);
}
END_TEST

static const struct {
	const char *answer;
	int error;
	const char *says; /* a part of the explanation */
} answers[] = {
	{"0\nreturn code: 0\n", 0, ""}, /* JDK 9 and later */
	{"0\n0\n", 0, ""},		/* JDK 8 */
	{"0\n0", 0, ""},
	{"0\nreturn code: -4\n", -ECANCELED, "code -4"},
	{"0\n7\n", -ECANCELED, "code 7"},
	{"-1\n", -ELIBACC, "status -1"}, /* JDK 8, library cannot be loaded */
	{"100\n", -ELIBACC, "status 100"},
	{"0\n/t/l.so was not loaded.\nl.so: file too short\n", -ELIBACC, ": l.so: file too short"},
	{"-1\n/t/l.so was not loaded.\n", -ELIBACC, "could not load"},
	{"0\nDynamic agent loading is not enabled. Use ...\n", -EACCES, "-XX:+EnableDynamicAgentLoading"},
	{"0\nDynamic agent loading is only permitted in the live phase\n", -EAGAIN, "still starting"},
	{"0\n", -ELIBACC, "could not load"},
	{"0\nwhat\x1b[31m\n", -ELIBACC, "what?[31m"}, /* control characters are replaced */
	{"", -EPROTO, "without an answer"},
	{"\n", -EPROTO, "not understood"},
	{"hello\n", -EPROTO, "not understood"},
	{"99999999999999999999\n", -EPROTO, "not understood"},
};

START_TEST(answer_meaning)
{
	char why[ATTACH_WHY_MAX];

	ck_assert_int_eq(attach_answer(answers[_i].answer, strlen(answers[_i].answer), why), answers[_i].error);
	ck_assert_msg(strstr(why, answers[_i].says) != NULL, "\"%s\"", why);
	ck_assert_int_eq(why[0] == '\0', answers[_i].error == 0);
}
END_TEST

static const struct {
	const char *answer;
	int error;
	const char *says;
} dump_answers[] = {
	{"0\nDumping heap to /d ...\nHeap dump file created [59 bytes in 0.148 secs]\n", 0, ""},
	{"0\nHeap dump file created\n", 0, ""}, /* JDK 8 */
	{"0\n", 0, ""},
	{"0\nDumping heap to /d ...\nUnable to create /d: File exists\n", -EIO, ": Unable to create /d: File exists"},
	{"0\nDumping heap to /d ...\nDump file is incomplete: No space left\x1b\n", -EIO, "No space left?"},
	{"101\nNo\n", -EIO, "status 101): No"},
	{"", -EPROTO, "without an answer"},
	{"hello\n", -EPROTO, "not understood"},
};

START_TEST(dump_answer_meaning)
{
	char why[ATTACH_WHY_MAX];

	ck_assert_int_eq(attach_dump_answer(dump_answers[_i].answer, strlen(dump_answers[_i].answer), why),
			 dump_answers[_i].error);
	ck_assert_msg(strstr(why, dump_answers[_i].says) != NULL, "\"%s\"", why);
	ck_assert_int_eq(why[0] == '\0', dump_answers[_i].error == 0);
}
END_TEST

START_TEST(answer_with_threads)
{
	static const char refusal[] = "101\nno such operation\033[2J\nmore";
	char why[ATTACH_WHY_MAX];

	ck_assert_int_eq(attach_text_answer("0\n", 2, why), 0);
	ck_assert_int_eq(attach_text_answer("0\n\"main\" #1", 11, why), 0);
	ck_assert_int_eq(attach_text_answer("", 0, why), -EPROTO);
	ck_assert_int_eq(attach_text_answer(refusal, sizeof(refusal) - 1, why), -EIO);
	ck_assert_str_eq(why, "the JVM could not print it (status 101): no such operation?[2J");
}
END_TEST

START_TEST(answer_long)
{
	char why[ATTACH_WHY_MAX], big[5000];

	memset(big, 'y', sizeof(big));
	ck_assert_int_eq(attach_answer(big, sizeof(big), why), -EPROTO);
	memcpy(big, "0\n", 2);
	ck_assert_int_eq(attach_answer(big, sizeof(big), why), -ELIBACC);
	ck_assert_uint_lt(strlen(why), sizeof(why));
}
END_TEST

/* Other users can load the library of a command that root starts, and do not reach its socket. */
static void staging_check_files(const struct staging *d, bool launched)
{
	bool shared = launched && geteuid() == 0;
	struct stat st;

	ck_assert_int_eq(stat(d->path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, shared ? 0711 : 0700);
	ck_assert_uint_eq(st.st_uid, geteuid());
	ck_assert_int_eq(stat(d->library, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0755);
	ck_assert_int_gt(st.st_size, 0);
	ck_assert_int_eq(stat(d->socket, &st), 0);
	ck_assert(S_ISSOCK(st.st_mode));
	ck_assert(!shared || !(st.st_mode & 0077));
}

START_TEST(drop_own)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct staging d, other, zero = {0};
	char why[ATTACH_WHY_MAX], path[128], file[192];
	int fd;

	ck_assert_msg(staging_create(&d, 0, why) == 0, "%s", why);
	ck_assert_msg(staging_create(&other, getpid(), why) == 0, "%s", why);
	ck_assert_str_ne(d.name, other.name);
	ck_assert_uint_eq(strlen(d.name), strlen(".braid-") + 32);
	staging_check_files(&d, true);
	staging_check_files(&other, false);
	fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	ck_assert_uint_lt(strlen(d.socket), sizeof(address.sun_path));
	memcpy(address.sun_path, d.socket, strlen(d.socket));
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	ck_assert_int_eq(accept(other.listen_fd, NULL, NULL), -1);
	ck_assert_int_eq(errno, EAGAIN);

	strcpy(path, d.path);
	staging_remove(&d);
	ck_assert_int_eq(access(path, F_OK), -1);
	staging_remove(&d); /* twice, a zeroed one, an absent one */
	staging_remove(&zero);
	staging_remove(NULL);
	ck_assert_int_eq(fcntl(0, F_GETFD), 0); /* a zeroed struct's descriptors were left alone */

	strcpy(path, other.path); /* what somebody else put there stays */
	snprintf(file, sizeof(file), "%s/precious", path);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	staging_remove(&other);
	ck_assert_int_eq(access(file, F_OK), 0);
	unlink(file);
	rmdir(path);
}
END_TEST

/* A recorder's own directory goes with it even while others sweep, who lock what they find. */
START_TEST(drop_beside_sweeps)
{
	pid_t sweeps = fork();

	while (!sweeps)
		staging_sweep_own();
	for (int i = 0; i < 100; i++) {
		char why[ATTACH_WHY_MAX], path[128];
		struct staging d;

		ck_assert_msg(staging_create(&d, 0, why) == 0, "%s", why);
		strcpy(path, d.path);
		ck_assert(!staging_leave(&d, false));
		ck_assert_int_eq(access(path, F_OK), -1);
	}
	kill(sweeps, SIGKILL);
	ck_assert_int_eq(waitpid(sweeps, NULL, 0), sweeps);
}
END_TEST

START_TEST(drop_of_another_user)
{
	char why[ATTACH_WHY_MAX];
	struct stat st;
	struct staging d;
	pid_t pid;
	int err;

	if (geteuid() != 0)
		return; /* only root may do this */
	pid = fork();
	if (pid == 0) {
		if (as_user_forever(12345, 23456) || geteuid() != 12345 || getegid() != 23456 || setuid(0) == 0)
			_exit(1);
		alarm(20); /* even if the test hangs */
		pause();
	}
	while (proc_status_read(pid, &(struct proc_status){0}) == 0 && stat("/proc/self", &st) == 0) {
		struct proc_status s;

		if (proc_status_read(pid, &s) || s.uid == 12345)
			break;
		usleep(1000);
	}
	err = staging_create(&d, pid, why);
	ck_assert_msg(err == 0, "%s", why);
	ck_assert_uint_eq(geteuid(), 0);
	ck_assert_int_eq(fstat(d.dir_fd, &st), 0);
	ck_assert_uint_eq(st.st_uid, 12345);
	ck_assert_uint_eq(st.st_gid, 23456);
	ck_assert_int_eq(fstatat(d.dir_fd, "libbraid-agent.so", &st, AT_SYMLINK_NOFOLLOW), 0);
	ck_assert_uint_eq(st.st_uid, 12345);
	ck_assert_int_eq(fstatat(d.dir_fd, "socket", &st, AT_SYMLINK_NOFOLLOW), 0);
	ck_assert_uint_eq(st.st_uid, 12345);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(fstatat(d.parent_fd, d.name, &st, AT_SYMLINK_NOFOLLOW), 0);
	err = dup(d.parent_fd);
	strcpy(why, d.name);
	staging_remove(&d); /* after the process's end */
	ck_assert_int_eq(fstatat(err, why, &st, AT_SYMLINK_NOFOLLOW), -1);
	close(err);
}
END_TEST

START_TEST(no_jvm)
{
	struct attach_result result;
	struct jvm_process jvm;
	struct staging d = {.socket = "/nowhere/socket", .library = "/nowhere/l.so"};
	char why[ATTACH_WHY_MAX];
	int fd, status;
	pid_t child;

	ck_assert_int_eq(jvm_process_read(getpid(), &jvm), 0);
	ck_assert_int_eq(jvm_process_read(0x7fffffff, &jvm), -ESRCH);
	ck_assert_int_eq(staging_create(&d, 0x7fffffff, why), -ESRCH);
	ck_assert_str_ne(why, "");
	staging_remove(&d);

	/* one that has ended since it was read */
	child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	jvm = (struct jvm_process){.pid = child, .ns_pid = child, .uid = geteuid(), .gid = getegid()};
	strcpy(d.socket, "/nowhere/socket");
	strcpy(d.library, "/nowhere/l.so");
	ck_assert_int_eq(attach_start(&jvm, &d, "a=b", &fd, &child), 0);
	ck_assert_int_eq(read(fd, &result, sizeof(result)), sizeof(result));
	ck_assert_int_eq(result.error, -ESRCH);
	ck_assert_str_ne(result.why, "");
	close(fd);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

static const struct staging nowhere = {.socket = "/nowhere/socket", .library = "/nowhere/l.so"};

/* A process that is to be attached to, although it is no JVM. */
static struct jvm_process target(void (*run)(void))
{
	struct jvm_process jvm = {.uid = geteuid(), .gid = getegid(), .pid = fork()};

	if (jvm.pid == 0) {
		alarm(20); /* even if the test hangs */
		run();
		_exit(0);
	}
	jvm.ns_pid = jvm.pid;
	return jvm;
}

/* It still runs. */
static void target_end(const struct jvm_process *jvm)
{
	ck_assert_int_eq(waitpid(jvm->pid, NULL, WNOHANG), 0);
	kill(jvm->pid, SIGKILL);
	waitpid(jvm->pid, NULL, 0);
}

static void wait_with_default(void)
{
	signal(SIGQUIT, SIG_DFL);
	pause();
}

static void stop_self(void)
{
	raise(SIGSTOP);
}

/* A process that does not catch SIGQUIT gets no signal, and its end is noticed at once. */
START_TEST(never_kills)
{
	struct jvm_process jvm = target(wait_with_default);
	struct attach_result result;
	pid_t child;
	int fd;

	ck_assert_int_eq(attach_start(&jvm, &nowhere, NULL, &fd, &child), 0);
	usleep(300000);
	target_end(&jvm);
	do
		ck_assert_int_eq(read(fd, &result, sizeof(result)), sizeof(result));
	while (result.error == -EINPROGRESS);
	ck_assert_int_eq(result.error, -ESRCH);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	close(fd);
}
END_TEST

/* The attach reports what it waits for, and ends when nobody waits for its result any more. */
START_TEST(says_why_it_waits)
{
	struct jvm_process jvm = target(stop_self);
	struct attach_result result;
	pid_t child;
	int fd;

	ck_assert_int_eq(waitpid(jvm.pid, NULL, WUNTRACED), jvm.pid);
	ck_assert_int_eq(attach_start(&jvm, &nowhere, NULL, &fd, &child), 0);
	ck_assert_int_eq(read(fd, &result, sizeof(result)), sizeof(result));
	ck_assert_int_eq(result.error, -EINPROGRESS);
	ck_assert_ptr_nonnull(strstr(result.why, "stopped"));
	close(fd);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	target_end(&jvm);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

Suite *test_attach(void);
Suite *test_attach(void)
{
	Suite *s = suite_create("attach");
	TCase *t = tcase_create("texts");
	TCase *d = tcase_create("processes");

	tcase_add_test(t, status_fields);
	tcase_add_test(t, status_of_self);
	tcase_add_test(t, status_of_many_groups);
	tcase_add_test(t, maps_lines);
	tcase_add_test(t, option_flags);
	tcase_add_loop_test(t, command_lines, 0, COUNT(lines));
	tcase_add_test(t, request_bytes);
	tcase_add_loop_test(t, answer_meaning, 0, COUNT(answers));
	tcase_add_loop_test(t, dump_answer_meaning, 0, COUNT(dump_answers));
	tcase_add_test(t, answer_with_threads);
	tcase_add_test(t, answer_long);
	suite_add_tcase(s, t);
	tcase_add_test(d, drop_own);
	tcase_add_test(d, drop_beside_sweeps);
	tcase_add_test(d, drop_of_another_user);
	tcase_add_test(d, no_jvm);
	tcase_add_test(d, never_kills);
	tcase_add_test(d, says_why_it_waits);
	suite_add_tcase(s, d);
	return s;
}
