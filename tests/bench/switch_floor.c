// SPDX-License-Identifier: Apache-2.0
/*
 * switch_floor: the floor of following switches, which every tool of that kind pays: empty BPF programs at sched_switch
 * and sched_waking. A line with "on" or "off" on standard input attaches and detaches them, and then it prints their
 * number. It begins without them.
 */
#include "switch_floor.skel.h"

#include <errno.h>
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
	struct switch_floor_bpf *skel = switch_floor_bpf__open_and_load();
	char line[16];

	if (!skel)
		return fail("loading");
	while (fgets(line, sizeof(line), stdin)) {
		switch_floor_bpf__detach(skel);
		if (strcmp(line, "on\n") == 0 && switch_floor_bpf__attach(skel))
			return fail("attaching");
		puts("2");
		fflush(stdout);
	}
	switch_floor_bpf__destroy(skel);
	return EXIT_SUCCESS;
}
