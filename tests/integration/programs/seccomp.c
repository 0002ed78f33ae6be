/*
 * seccomp kill|allow|EPERM|connect|perf PROGRAM ARGUMENT...: runs it under a filter that kills at bpf(2), allows it or
 * fails it with EPERM, as containers and services have, or fails connect(2) or perf_event_open(2) with EPERM.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	unsigned answer = !strcmp(word, "kill")	   ? SECCOMP_RET_KILL_PROCESS
			  : !strcmp(word, "allow") ? SECCOMP_RET_ALLOW
						   : SECCOMP_RET_ERRNO | EPERM;
	unsigned call = !strcmp(word, "connect") ? SYS_connect : !strcmp(word, "perf") ? SYS_perf_event_open : SYS_bpf;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	if (argc < 3)
		return 2;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("seccomp");
		return 3;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
