// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the JVMs of the machine, and the facts about each, from outside: /proc, hsperfdata and the command line. `braid
 * list` and the recorder use it. Everything it reads is controlled by the process, so it is bounded.
 */
#include "attach.h"
#include "hsperf.h"
#include "jvm_options.h"
#include "proc/jvm_proc.h"
#include "util/root_file.h"
#include "util/utf8.h"
#include "util/vec.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CMDLINE_MAX (128U << 10)

static void user_name(uid_t uid, char *to, size_t size)
{
	struct passwd entry, *found = NULL;
	char buffer[1024];

	if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) == 0 && found)
		utf8_printable(to, size, found->pw_name, strlen(found->pw_name));
	else
		snprintf(to, size, "%u", (unsigned int)uid);
}

/* The kernel shows paths from our root directory; a process in a chroot sees them without that prefix. */
static void path_as_seen(pid_t pid, char *path, size_t size)
{
	char link[64], root[512];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/root", (int)pid);
	n = readlink(link, root, sizeof(root));
	if (n <= 1 || (size_t)n >= sizeof(root) || (size_t)n >= size)
		return;
	if (strncmp(path, root, (size_t)n) == 0 && path[n] == '/')
		memmove(path, path + n, strlen(path + n) + 1);
}

/*
 * JAVA_VERSION="17.0.15" in the `release` file of libjvm.so's directory or one above it (lib/server, or
 * jre/lib/amd64/server).
 */
static void version_from_text(const char *text, char *to, size_t size)
{
	const char *at = strstr(text, "JAVA_VERSION=\"");

	if (at) {
		at += strlen("JAVA_VERSION=\"");
		utf8_printable(to, size, at, strcspn(at, "\"\n"));
	}
}

static void version_from_release(pid_t pid, const char *libjvm, char *to, size_t size)
{
	char path[600], text[4096], *slash;
	int root = proc_root_open(pid), fd;
	struct stat st;
	ssize_t n;

	if (root < 0)
		return;
	snprintf(path, sizeof(path), "%s", libjvm);
	for (int up = 0; up < 5 && !to[0] && (slash = strrchr(path, '/')) != NULL; up++) {
		*slash = '\0';
		snprintf(slash, sizeof(path) - (size_t)(slash - path), "/release");
		fd = root_open_regular(root, path, 0, &st);
		*slash = '\0';
		if (fd < 0)
			continue;
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		if (n > 0) {
			text[n] = '\0';
			version_from_text(text, to, size);
		}
	}
	close(root);
}

/* The first word of sun.rt.javaCommand. */
static void main_from_command(const char *command, char *to, size_t size)
{
	utf8_printable(to, size, command, strcspn(command, " "));
}

static void options_from_environment(pid_t pid, struct jvm_options *o, const char *name)
{
	char *text = malloc(CMDLINE_MAX), *at, *end;
	size_t n = strlen(name);
	ssize_t length;

	if (!text)
		return;
	length = proc_file_read(pid, "environ", text, CMDLINE_MAX);
	end = text + (length > 0 ? length : 0);
	for (at = text; at < end; at += strlen(at) + 1) {
		if (strncmp(at, name, n) == 0 && at[n] == '=') {
			jvm_options_add_all(o, at + n + 1);
			break;
		}
	}
	free(text);
}

/* For JVMs without performance counters. The order is the one in which the JVM reads its options. */
static void facts_from_command_line(pid_t pid, struct jvm_process *out, struct jvm_options *o)
{
	char *text = malloc(CMDLINE_MAX), name[256];
	ssize_t length;

	if (!text)
		return;
	options_from_environment(pid, o, "JAVA_TOOL_OPTIONS");
	options_from_environment(pid, o, "JDK_JAVA_OPTIONS");
	length = proc_file_read(pid, "cmdline", text, CMDLINE_MAX);
	if (length > 0) {
		/* A command line longer than the buffer is cut within an argument. */
		text[length - 1] = '\0';
		jvm_command_line(text, (size_t)length, o, name, sizeof(name));
		utf8_printable(out->main_class, sizeof(out->main_class), name, strlen(name));
	}
	options_from_environment(pid, o, "_JAVA_OPTIONS");
	free(text);
}

static void gather_facts(pid_t pid, const struct proc_status *status, const struct proc_maps *maps,
			 struct jvm_process *out, struct jvm_options *o)
{
	struct hsperf *perf = malloc(sizeof(*perf));

	if (perf && hsperf_read(pid, status, maps, perf) == 0 && perf->command[0]) {
		main_from_command(perf->command, out->main_class, sizeof(out->main_class));
		utf8_printable(out->jdk, sizeof(out->jdk), perf->version, strlen(perf->version));
		jvm_options_add_all(o, perf->args);
		out->has_stood_still = perf->has_stopped;
		out->stood_still_ns = perf->stopped_ns;
	} else {
		facts_from_command_line(pid, out, o);
	}
	free(perf);
	if (!out->jdk[0])
		version_from_release(pid, out->libjvm, out->jdk, sizeof(out->jdk));
}

static bool is_x86_64(pid_t pid)
{
	unsigned char ident[20] = {0};
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return true; /* not refused: the attach itself will fail if it has to */
	n = pread(fd, ident, sizeof(ident), 0);
	close(fd);
	return n < (ssize_t)sizeof(ident) ||
	       (ident[EI_CLASS] == ELFCLASS64 && (ident[18] | ident[19] << 8) == EM_X86_64);
}

/* The reason why it cannot be attached to, and what to do; NULL: none. */
static const char *obstacle(const struct jvm_process *p, const struct proc_maps *maps, const struct jvm_options *o)
{
	if (maps->openj9)
		return "an OpenJ9 JVM: braid's agent needs HotSpot; record it with --no-attach";
	if (!is_x86_64(p->pid))
		return "not an x86-64 process: the agent cannot be loaded into it; record it with --no-attach";
	if (maps->musl)
		return "runs on musl, and the agent needs glibc (libc.so.6): use a glibc-based JDK, or record with "
		       "--no-attach";
	if (geteuid() != 0 && geteuid() != p->uid)
		return "belongs to another user: run braid as root or as that user";
	if (o->no_attach)
		return "started with -XX:+DisableAttachMechanism: restart it without, or start it with 'braid record "
		       "-- ...'";
	if (o->no_dynamic)
		return "started with -XX:-EnableDynamicAgentLoading: restart it without, or start it with 'braid "
		       "record -- ...'";
	return NULL;
}

int jvm_process_read(pid_t pid, struct jvm_process *out)
{
	struct jvm_options options = {0};
	struct proc_status status;
	struct proc_maps *maps;
	const char *why;
	int err;

	memset(out, 0, sizeof(*out));
	err = proc_status_read(pid, &status);
	if (err)
		return err;
	maps = malloc(sizeof(*maps));
	if (!maps)
		return -ENOMEM;
	err = proc_maps_read(pid, maps);
	if (err || !maps->libjvm[0]) {
		err = err == -EPERM ? -EACCES : err;
		goto out;
	}
	out->pid = pid;
	out->ns_pid = status.ns_pid;
	out->uid = status.uid;
	out->gid = status.gid;
	user_name(status.uid, out->user, sizeof(out->user));
	path_as_seen(pid, maps->libjvm, sizeof(maps->libjvm));
	snprintf(out->libjvm, sizeof(out->libjvm), "%s", maps->libjvm);
	gather_facts(pid, &status, maps, out, &options);
	why = obstacle(out, maps, &options);
	out->stopped = status.stopped;
	/* JDK 17 and later catch SIGQUIT before they load agents, and SIGTERM when they run Java (Terminator.setup). */
	out->starting = !(status.catches_sigquit && status.catches_sigterm) && !options.no_signals;
	out->attachable = !why;
	if (!why && status.stopped)
		snprintf(out->why, sizeof(out->why), "it is stopped; continue it with `kill -CONT %d`", (int)pid);
	else if (why)
		snprintf(out->why, sizeof(out->why), "%s", why);
	err = 1;
out:
	free(maps);
	return err;
}

int jvm_process_list(struct jvm_process **out)
{
	VEC(struct jvm_process) list = {0};
	int err = 0;
	struct dirent *e;
	DIR *d;

	*out = NULL;
	d = opendir("/proc");
	if (!d)
		return -errno;
	while ((e = readdir(d)) != NULL) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		err = VEC_RESERVE(&list, 1);
		if (err)
			break;
		/* Processes that have ended and those of other users are left out. */
		if (jvm_process_read((pid_t)strtol(e->d_name, NULL, 10), &list.at[list.count]) == 1)
			list.count++;
	}
	closedir(d);
	if (err) {
		free(list.at);
		return err;
	}
	*out = list.at;
	return (int)list.count;
}
