// SPDX-License-Identifier: Apache-2.0
/*
 * What /proc shows of a process, as far as finding JVMs and attaching to them need it: its status and mappings. It only
 * reads.
 */
#ifndef BRAID_PROC_JVM_PROC_H
#define BRAID_PROC_JVM_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Effective ids: HotSpot compares files and peers with geteuid() and getegid(). */
struct proc_status {
	pid_t tgid;
	pid_t ns_pid; /* in the innermost namespace */
	uid_t uid;
	gid_t gid;
	bool catches_sigquit;
	bool catches_sigterm;
	bool stopped; /* by a signal or a debugger */
};

/* -EINVAL when a required line is missing or is no number. */
int proc_status_parse(const char *text, struct proc_status *out);
/* -ESRCH when pid is no process, or only one of its threads. */
int proc_status_read(pid_t pid, struct proc_status *out);
/* The same through an open /proc/PID/status: it works without /proc, and reads exactly the process that was opened. */
int proc_status_reread(int fd, struct proc_status *out);

/* Reads /proc/PID/NAME, at most size - 1 bytes and a zero. Returns the length or a negative errno. */
ssize_t proc_file_read(pid_t pid, const char *name, char *to, size_t size);

/* What a process's executable mappings show. */
struct proc_maps {
	char libjvm[512]; /* "" when none is mapped executable; without " (deleted)" */
	bool openj9;
	bool musl;
	uint64_t perf_start; /* address of the hsperfdata mapping; 0: none */
	uint64_t perf_end;
};

/* Adds one line of /proc/PID/maps to *out. Malformed lines are skipped. */
void proc_maps_line(const char *line, struct proc_maps *out);
int proc_maps_read(pid_t pid, struct proc_maps *out);

/* An O_PATH descriptor of the process's root directory; pid 0: this process's. Or a negative errno. */
int proc_root_open(pid_t pid);

#endif
