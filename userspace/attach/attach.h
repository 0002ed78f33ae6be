// SPDX-License-Identifier: Apache-2.0
/* Finding JVMs and getting the agent into them. */
#ifndef BRAID_ATTACH_ATTACH_H
#define BRAID_ATTACH_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ATTACH_WHY_MAX 256

/* What is known of a process from outside. */
struct jvm_process {
	pid_t pid;    /* host's namespace */
	pid_t ns_pid; /* innermost namespace (NSpid) */
	uid_t uid;
	gid_t gid;
	char user[33];
	char main_class[256]; /* main class or jar, from hsperfdata's sun.rt.javaCommand, else the command line */
	char jdk[128];	      /* "17.0.15", from hsperfdata's java.property.java.version or the release file, else "" */
	char libjvm[512];     /* path as the process sees it */
	bool attachable;
	bool stopped;		  /* by a signal or a debugger: it can be attached to when it goes on */
	bool starting;		  /* by the look of it: the agents that it was started with may not be there yet */
	char why[ATTACH_WHY_MAX]; /* when not attachable, or stopped: why not, and what to do */
};

/* 1 and *out filled when pid is a HotSpot JVM (has libjvm.so mapped), 0 when it is not, -ESRCH, -EACCES. */
int jvm_process_read(pid_t pid, struct jvm_process *out);

/* Every JVM on the machine that this process may look at; *out is malloc'ed. Returns the count or a negative errno. */
int jvm_process_list(struct jvm_process **out);

/*
 * A private place inside a process's mount namespace: a directory of unguessable name in its /tmp (or /dev/shm,
 * /var/tmp, its working directory, when that takes no libraries), owned by its user, mode 0700, holding the agent
 * library and the collector's socket. Made through /proc/PID/root with that user's rights; whoever connects to the
 * socket sees that user's uid in SO_PEERCRED.
 */
struct staging {
	pid_t pid;
	int dir_fd;	   /* locked: nobody sweeps it while this recorder lives */
	int parent_fd;	   /* of the directory that it stands in */
	int listen_fd;	   /* SOCK_SEQPACKET, non-blocking, listening at `socket` */
	char name[64];	   /* ".braid-0123456789abcdef0123456789abcdef" */
	char path[128];	   /* of the directory, as the process sees it: "/tmp/.braid-..." */
	char library[160]; /* path/libbraid-agent.so, as the process sees it */
	char loaded[160];  /* "", or the name of a copy in the process from before: attach_start() asks for that one */
	char socket[160];  /* path/socket */
};

/*
 * Stages the agent for `pid` (0: this process's own namespace and user, for commands that are started) and writes the
 * agent library, which is linked into the program, into it. *why is a sentence on failure.
 */
int staging_create(struct staging *d, pid_t pid, char why[ATTACH_WHY_MAX]);

/* Takes it away again, as far as it still exists; works after the process has exited. Safe on a zeroed struct. */
void staging_remove(struct staging *d);

/* Takes away what killed recorders of this user have left in /tmp; staging_create() does where it makes one. */
void staging_sweep_own(void);

/* Takes away only the socket: JVMs that load the library later find nobody. */
void staging_leave(struct staging *d);

/*
 * Loads the library at `d->library` into the JVM with HotSpot's attach protocol, options "sock=<d->socket>" and a
 * time to wait for the collector plus, after a comma, `extra` when not empty (-ENAMETOOLONG beyond 1,024 bytes). Runs
 * in a forked child that works through /proc/PID/root and takes the target's uid and gid, so it neither blocks nor
 * changes the caller, and that dies with the thread that called this. The result is read from `*result_fd` (a struct
 * attach_result; end of file when the child was killed) when that becomes readable. In front of it there may be one
 * whose error is -EINPROGRESS: why it takes long. `child` is to be reaped by the caller, who closes `*result_fd`, which
 * ends the child if it still runs.
 */
struct attach_result {
	int error;		  /* 0 or a negative errno */
	char why[ATTACH_WHY_MAX]; /* what the JVM or the system said, and what to do */
};
int attach_start(const struct jvm_process *jvm, const struct staging *d, const char *extra, int *result_fd,
		 pid_t *child);

#endif
