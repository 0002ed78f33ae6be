// SPDX-License-Identifier: Apache-2.0
/*
 * Finds JVMs, and loads the agent into them: facts about a JVM, staging of the agent's files, and the attach protocol.
 * agents/, `braid list` and `braid doctor` use it.
 */
#ifndef BRAID_ATTACH_ATTACH_H
#define BRAID_ATTACH_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ATTACH_WHY_MAX 256

/* What is known of a JVM's process from outside. */
struct jvm_process {
	pid_t pid;    /* host's namespace */
	pid_t ns_pid; /* innermost namespace (NSpid) */
	uid_t uid;
	gid_t gid;
	char user[33];
	char main_class[256]; /* main class or jar, from hsperfdata's sun.rt.javaCommand, else the command line */
	char jdk[128];	      /* "17.0.15", from hsperfdata's java.property.java.version or the release file, else "" */
	char libjvm[512];     /* path as the process sees it */
	bool has_stood_still;
	uint64_t stood_still_ns; /* at all its safepoints so far, from hsperfdata's sun.rt.safepointTime */
	bool attachable;
	bool stopped;		  /* by a signal or a debugger; attaching works when it is continued */
	bool starting;		  /* it looks as if it is still starting: agents of its options may not be loaded yet */
	char why[ATTACH_WHY_MAX]; /* when not attachable or stopped: the reason, and what to do */
};

/* Returns 1 and fills *out when pid is a HotSpot JVM (has libjvm.so mapped), 0 when it is not, or -ESRCH or -EACCES. */
int jvm_process_read(pid_t pid, struct jvm_process *out);

/* Lists every JVM that this process may inspect; *out is malloc'ed. Returns the count or a negative errno. */
int jvm_process_list(struct jvm_process **out);

/*
 * Staged files of the agent, in a process's mount namespace: a directory with an unguessable name in its /tmp (or in
 * /dev/shm, /var/tmp or its working directory, where /tmp takes no libraries). Its owner is the process's user, its
 * mode 0700. It holds the agent library and the collector's socket. It is made through /proc/PID/root with that user's
 * rights; SO_PEERCRED shows that user's uid for each connection.
 */
struct staging {
	pid_t pid;
	int dir_fd;	   /* locked, so that no sweep removes it while this recorder lives */
	int parent_fd;	   /* the directory around it */
	int listen_fd;	   /* SOCK_SEQPACKET, non-blocking, listening at `socket` */
	char name[64];	   /* ".braid-0123456789abcdef0123456789abcdef" */
	char path[128];	   /* the directory's, as the process sees it: "/tmp/.braid-..." */
	char library[160]; /* path/libbraid-agent.so, as the process sees it */
	char loaded[160];  /* "", or the name of a copy loaded earlier, which attach_start() then uses */
	char socket[160];  /* path/socket */
};

/*
 * Stages the agent library, which is linked into the program, for `pid`; 0 means this process's own namespace and user,
 * for launched commands. On failure *why is a sentence.
 */
int staging_create(struct staging *d, pid_t pid, char why[ATTACH_WHY_MAX]);

/* Removes what still exists of it, even after the process has ended. Safe on a zeroed struct. */
void staging_remove(struct staging *d);

/*
 * Removes what killed recorders of this user have left in /tmp. staging_create() sweeps the directories that it uses.
 */
void staging_sweep_own(void);

/*
 * For a launched command. Removes the socket, so JVMs that load the library later find no collector, and unless it is
 * `needed`, also the rest, if no process mentions it in its environment or command line. Returns whether that stays.
 */
bool staging_leave(struct staging *d, bool needed);

/*
 * Loads the library at `d->library` into the JVM with HotSpot's attach protocol. The options are "sock=<d->socket>", a
 * time to wait for the collector and, after a comma, `extra` when it is not empty (-ENAMETOOLONG beyond 1,024 bytes). A
 * forked child does this through /proc/PID/root with the target's uid and gid, so it neither blocks nor changes the
 * caller. The child ends with the thread that called this.
 *
 * When `*result_fd` is readable, the caller takes the result with attach_result_read(). An earlier one with the error
 * -EINPROGRESS gives the reason of a delay. The caller then calls attach_end(), or closes it and
 * reaps the child when that has ended.
 */
struct attach_result {
	int error;		  /* 0 or a negative errno */
	char why[ATTACH_WHY_MAX]; /* the JVM's or the system's reason, and what to do */
};
int attach_start(const struct jvm_process *jvm, const struct staging *d, const char *extra, int *result_fd,
		 pid_t *child);

#define STAGING_DUMP "heap.hprof" /* staging_remove() removes it */

/*
 * The same, but the JVM writes its heap to the file STAGING_DUMP in the staged directory, for as long as that takes.
 * `live`: it collects garbage first.
 */
int attach_dump_start(const struct jvm_process *jvm, const struct staging *d, bool live, int *result_fd, pid_t *child);

#define ATTACH_TEXT_MAX (64U << 20)

enum attach_text {
	ATTACH_TEXT_THREADS, /* its threads and the monitors that they own */
	ATTACH_TEXT_MEMORY,  /* its native memory, in detail */
};

/*
 * The same, but the JVM prints: the answer is written to `text_fd`, an empty file of the caller's. Its first line is a
 * number. -EFBIG: it is larger than ATTACH_TEXT_MAX.
 */
int attach_text_start(const struct jvm_process *jvm, enum attach_text text, int text_fd, int *result_fd, pid_t *child);

/* End of file, which means that the child was killed, is a result with an error, too. */
void attach_result_read(int result_fd, struct attach_result *r);

/*
 * Closes `result_fd`, which ends a child that still runs, and removes the file that it has left in the JVM's /tmp;
 * reaps it.
 */
void attach_end(int result_fd, pid_t child);

#endif
