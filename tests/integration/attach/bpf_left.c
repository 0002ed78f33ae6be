/*
 * bpf_left: prints the kernel's BPF programs, maps and links that no process holds, one a line: "prog ID NAME". Objects
 * of control groups are omitted, because they exist without a holder.
 */
#include <bpf/bpf.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OBJECTS_MAX 65536
#define MAPS_MAX 256 /* of one program */

struct objects {
	const char *what;
	const char *field; /* in a descriptor's fdinfo */
	int (*next)(__u32 id, __u32 *next);
	__u32 ids[OBJECTS_MAX];
	bool held[OBJECTS_MAX];
	size_t count;
};

enum { PROGS, MAPS, LINKS, KINDS };

static struct objects all[KINDS] = {
	{.what = "prog", .field = "prog_id:", .next = bpf_prog_get_next_id},
	{.what = "map", .field = "map_id:", .next = bpf_map_get_next_id},
	{.what = "link", .field = "link_id:", .next = bpf_link_get_next_id},
};

static void hold(struct objects *o, __u32 id)
{
	for (size_t i = 0; i < o->count; i++)
		o->held[i] = o->held[i] || o->ids[i] == id;
}

static void list(struct objects *o)
{
	__u32 id = 0;

	while (o->count < OBJECTS_MAX && !o->next(id, &id))
		o->ids[o->count++] = id;
}

static void read_descriptor(const char *path)
{
	FILE *f = fopen(path, "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		for (int kind = 0; kind < KINDS; kind++)
			if (!strncmp(line, all[kind].field, strlen(all[kind].field)))
				hold(&all[kind], (__u32)strtoul(line + strlen(all[kind].field), NULL, 10));
	if (f)
		fclose(f);
}

static void read_process(const char *pid)
{
	char dir[64], path[512];
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%.16s/fdinfo", pid);
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		read_descriptor(path);
	}
	if (d)
		closedir(d);
}

static bool is_of_cgroup(__u32 type)
{
	return type == BPF_PROG_TYPE_CGROUP_SKB || type == BPF_PROG_TYPE_CGROUP_SOCK ||
	       type == BPF_PROG_TYPE_CGROUP_DEVICE || type == BPF_PROG_TYPE_CGROUP_SOCK_ADDR ||
	       type == BPF_PROG_TYPE_CGROUP_SYSCTL || type == BPF_PROG_TYPE_CGROUP_SOCKOPT;
}

/* Whether it still exists without a holder. An existing program holds its maps. */
static void read_program(size_t i)
{
	__u32 maps[MAPS_MAX], size = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = {.nr_map_ids = MAPS_MAX, .map_ids = (__u64)(unsigned long)maps};
	int fd = bpf_prog_get_fd_by_id(all[PROGS].ids[i]);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size)) {
		all[PROGS].held[i] = true;
		return;
	}
	for (__u32 m = 0; m < info.nr_map_ids && m < MAPS_MAX; m++)
		hold(&all[MAPS], maps[m]);
	if (!all[PROGS].held[i] && !is_of_cgroup(info.type))
		printf("prog %u %s\n", info.id, info.name);
	close(fd);
}

static void read_map(size_t i)
{
	struct bpf_map_info info = {0};
	__u32 size = sizeof(info);
	int fd = all[MAPS].held[i] ? -1 : bpf_map_get_fd_by_id(all[MAPS].ids[i]);

	if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size))
		printf("map %u %s\n", info.id, info.name);
	if (fd >= 0)
		close(fd);
}

static void read_link(size_t i)
{
	int fd = all[LINKS].held[i] ? -1 : bpf_link_get_fd_by_id(all[LINKS].ids[i]);

	if (fd < 0)
		return;
	printf("link %u\n", all[LINKS].ids[i]);
	close(fd);
}

int main(void)
{
	struct dirent *e;
	DIR *proc;

	for (int kind = 0; kind < KINDS; kind++)
		list(&all[kind]);
	proc = opendir("/proc");
	while (proc && (e = readdir(proc)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			read_process(e->d_name);
	if (!proc || closedir(proc))
		return 1;
	for (size_t i = 0; i < all[PROGS].count; i++)
		read_program(i);
	for (size_t i = 0; i < all[MAPS].count; i++)
		read_map(i);
	for (size_t i = 0; i < all[LINKS].count; i++)
		read_link(i);
	return 0;
}
