// SPDX-License-Identifier: Apache-2.0
/*
 * switch_floor: the floor of following switches, which every tool of that kind pays: empty BPF programs at
 * sched_switch and sched_waking. It prints "ready"; SIGTERM ends it.
 */
#include "switch_floor.skel.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what)
{
	fprintf(stderr, "switch_floor: %s: %s\n", what, strerror(errno));
	return EXIT_FAILURE;
}

int main(void)
{
	struct switch_floor_bpf *skel;
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	skel = switch_floor_bpf__open_and_load();
	if (!skel)
		return fail("loading");
	if (switch_floor_bpf__attach(skel))
		return fail("attaching");
	puts("ready");
	fflush(stdout);
	sigwait(&set, &number);
	switch_floor_bpf__destroy(skel);
	return EXIT_SUCCESS;
}
