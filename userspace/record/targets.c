// SPDX-License-Identifier: Apache-2.0
#include "targets.h"

#include "agents/agents.h"
#include "proc/jvm_proc.h"
#include "proc/procfs.h"
#include "process/processes.h"
#include "util/log.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool may_trace(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> CAP_SYS_PTRACE & 1);
}

/* Reports the failure and returns `err`. */
static int explain(pid_t pid, int err)
{
	if (err == -ESRCH)
		log_error("no process %d", pid);
	else if (err != -EACCES && err != -EPERM)
		log_error("cannot read process %d: %s", pid, strerror(-err));
	else if (geteuid() != 0)
		log_error("cannot read process %d: %s; run braid as root", pid, strerror(-err));
	else if (!may_trace())
		log_error("cannot read process %d: %s; root lacks CAP_SYS_PTRACE here: run braid outside of the "
			  "container, or give it that capability",
			  pid, strerror(-err));
	else
		log_error("cannot read process %d: %s, even for root; the kernel or a security module protects this "
			  "process, so it cannot be recorded by its pid",
			  pid, strerror(-err));
	return err;
}

static int check_pid(pid_t pid)
{
	struct proc_status status = {0};
	char byte[2], comm[16];
	ssize_t n;
	int err = proc_status_read(pid, &status);

	if (err == -ESRCH && status.tgid && procfs_comm(status.tgid, status.tgid, comm, sizeof(comm)) == 0) {
		log_error("%d is a thread of process %d (%s): record the process with -p %d, and look at the thread "
			  "with `braid report --tid %d`",
			  pid, status.tgid, comm, status.tgid, pid);
		return err;
	}
	if (err)
		return explain(pid, err);
	/*
	 * Reading maps can be refused although status can be read. Kernel threads have empty maps, which is no failure.
	 */
	n = proc_file_read(pid, "maps", byte, sizeof(byte));
	return n == -EACCES || n == -EPERM ? explain(pid, (int)n) : 0;
}

int targets_check(const struct record_options *o)
{
	const char *obstacle = procfs_pids_obstacle();
	int err = 0;

	if (obstacle) {
		log_error("cannot record: %s", obstacle);
		return -EXDEV;
	}
	if (o->command && command_find(o->command[0])) {
		err = -errno;
		log_error("cannot run %s: %s", o->command[0], strerror(-err));
	}
	for (int i = 0; i < o->pid_count && !err; i++)
		err = check_pid(o->pids[i]);
	return err;
}

int targets_add(struct processes *p, const struct record_options *o)
{
	int err = 0;

	for (int i = 0; i < o->pid_count && !err; i++) {
		err = processes_add(p, o->pids[i]);
		if (err)
			explain(o->pids[i], err);
	}
	return err;
}

/* Whether the caller has what the recording was for, or no agent is left that could report it. */
static bool is_done(const struct session *s)
{
	return atomic_load(s->options->done) || (!agents_connected(s->agents) && !agents_expected(s->agents));
}

bool targets_gone(const struct session *s, const struct command *command)
{
	const struct record_options *o = s->options;

	if (o->done && is_done(s))
		return true;
	if (o->system_wide || (command->pid && !command->ended))
		return false;
	return command->pid ? true : processes_running(s->processes) == 0;
}

void targets_leave(const struct session *s, struct command *command)
{
	const char *name = s->options->command ? s->options->command[0] : "";
	char library[PATH_MAX] = "";
	bool runs = command_runs(command), left;

	if (!command->pid)
		return;
	left = agents_leave(s->agents, command->pid, !runs, command->in_environment, library, sizeof(library));
	if (s->options->quiet)
		return;
	if (runs)
		fprintf(stderr, "braid: %s continues as process %d%s\n", name, (int)command->pid,
			s->interrupted || s->options->kill ? ", although it was sent SIGTERM"
							   : "; --kill would end it with the recording");
	else if (left)
		fprintf(stderr, "braid: processes that %s has started go on without the recording\n", name);
	if (left)
		fprintf(stderr, "braid: %s stays in place: JVMs that %s load it\n", library,
			runs ? "the command starts" : "they start");
}
