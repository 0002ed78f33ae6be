// SPDX-License-Identifier: Apache-2.0
/*
 * program_time NAME...: prints how often BPF programs with these names ran and how long, by the kernel's own
 * accounting. It waits until they are loaded, and holds them so that their figures outlive their owner. When it is
 * ended it prints "NAME runs nanoseconds ID", one program a line. It prints "ready" as soon as the accounting is on.
 */
#include <bpf/bpf.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRAMS_MAX 64

struct program {
	uint32_t id;
	int fd;
};

static struct program programs[PROGRAMS_MAX];
static int program_count;
static volatile sig_atomic_t ended;

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

static int program_info(int fd, struct bpf_prog_info *info)
{
	uint32_t size = sizeof(*info);

	memset(info, 0, size);
	return bpf_obj_get_info_by_fd(fd, info, &size) ? -errno : 0;
}

static bool program_known(uint32_t id)
{
	for (int i = 0; i < program_count; i++)
		if (programs[i].id == id)
			return true;
	return false;
}

/* The kernel keeps 15 characters of a name. */
static bool name_wanted(const char *name, char **names)
{
	for (; *names; names++)
		if (strncmp(name, *names, BPF_OBJ_NAME_LEN - 1) == 0)
			return true;
	return false;
}

/* Opens the programs that were loaded since the last call; `last` is the highest id seen. */
static void programs_look(uint32_t *last, char **names)
{
	struct bpf_prog_info info;
	uint32_t id = *last;
	int fd;

	while (!bpf_prog_get_next_id(id, &id)) {
		*last = id;
		if (program_known(id) || program_count == PROGRAMS_MAX)
			continue;
		fd = bpf_prog_get_fd_by_id(id);
		if (fd < 0) /* gone again */
			continue;
		if (!program_info(fd, &info) && name_wanted(info.name, names))
			programs[program_count++] = (struct program){.id = id, .fd = fd};
		else
			close(fd);
	}
}

static int programs_print(void)
{
	struct bpf_prog_info info;

	for (int i = 0; i < program_count; i++) {
		int err = program_info(programs[i].fd, &info);

		if (err) {
			fprintf(stderr, "program_time: program %u: %s\n", programs[i].id, strerror(-err));
			return 1;
		}
		printf("%s %llu %llu %u\n", info.name, (unsigned long long)info.run_cnt,
		       (unsigned long long)info.run_time_ns, programs[i].id);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct timespec nap = {.tv_nsec = 20000000};
	const struct sigaction action = {.sa_handler = on_signal};
	uint32_t last = 0;
	int stats;

	if (argc < 2) {
		fprintf(stderr, "usage: program_time NAME...\n");
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME); /* the accounting lasts as long as this is open */
	if (stats < 0) {
		fprintf(stderr, "program_time: cannot switch on the kernel's accounting of eBPF run time: %s\n",
			strerror(errno));
		return 1;
	}
	/* Skips programs that existed before. */
	while (!bpf_prog_get_next_id(last, &last))
		;
	puts("ready");
	fflush(stdout);
	while (!ended) {
		programs_look(&last, argv + 1);
		nanosleep(&nap, NULL);
	}
	return programs_print();
}
