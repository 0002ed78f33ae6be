// SPDX-License-Identifier: Apache-2.0
#include "doctor_checks.h"
#include "attach/attach.h"
#include "proc/procfs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define BTF_MAGIC 0xeb9fU

static bool doctor_report(char *text, size_t size, bool ok, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static bool doctor_report(char *text, size_t size, bool ok, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, size, fmt, ap);
	va_end(ap);
	return ok;
}

/* The first line of a small file, without its line end; "" and false when it cannot be read. */
static bool file_line(const char *path, char *to, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(to, (int)size, f);

	if (f)
		fclose(f);
	if (!ok)
		to[0] = '\0';
	to[strcspn(to, "\n")] = '\0';
	return ok;
}

/* The value of "NAME:" in /proc/self/status as a number. */
static bool self_status(const char *name, int base, uint64_t *out)
{
	FILE *f = fopen("/proc/self/status", "re");
	size_t n = strlen(name);
	bool found = false;
	char line[256];

	while (f && !found && fgets(line, sizeof(line), f)) {
		found = strncmp(line, name, n) == 0 && line[n] == ':';
		if (found)
			*out = strtoull(line + n + 1, NULL, base);
	}
	if (f)
		fclose(f);
	return found;
}

/* ---- the machine ---- */

static bool check_kernel(char *text, size_t size)
{
	struct utsname u;

	if (uname(&u) < 0)
		return doctor_report(text, size, false, "uname: %s", strerror(errno));
	if (strcmp(u.machine, "x86_64") != 0)
		return doctor_report(text, size, false, "%s %s on %s: braid runs on x86_64", u.sysname, u.release,
				     u.machine);
	return doctor_report(text, size, true, "%s %s, %s", u.sysname, u.release, u.machine);
}

static bool check_pid_namespace(char *text, size_t size)
{
	const char *obstacle = procfs_pids_obstacle();

	return doctor_report(text, size, !obstacle, "%s", obstacle ? obstacle : "the machine's own");
}

static bool check_privileges(char *text, size_t size)
{
	static const struct {
		const char *name;
		unsigned int bit;
	} wanted[] = {{"CAP_BPF", CAP_BPF}, {"CAP_PERFMON", CAP_PERFMON}, {"CAP_SYS_PTRACE", CAP_SYS_PTRACE}};
	uint64_t caps = 0;
	size_t used = 0;

	text[0] = '\0';
	if (!self_status("CapEff", 16, &caps))
		return doctor_report(text, size, false, "/proc/self/status cannot be read; mount /proc");
	if (caps >> CAP_SYS_ADMIN & 1) /* includes the first two (capabilities(7)) */
		caps |= 1ULL << CAP_BPF | 1ULL << CAP_PERFMON;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!(caps >> wanted[i].bit & 1) && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "lacks ",
						 wanted[i].name);
	if (used && used < size)
		snprintf(text + used, size - used, ": run braid as root (sudo)");
	return used ? false
		    : doctor_report(text, size, true, "%s",
				    geteuid() == 0 ? "root" : "CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE");
}

static bool check_attach_rights(char *text, size_t size)
{
	uint64_t caps = 0;

	self_status("CapEff", 16, &caps);
	if ((caps >> CAP_SETUID & 1) && (caps >> CAP_SETGID & 1) && geteuid() == 0)
		return doctor_report(text, size, true, "JVMs of every user");
	return doctor_report(text, size, false,
			     "only this user's JVMs: run braid as root to attach to those of other users");
}

static bool check_lockdown(char *text, size_t size)
{
	char line[128];

	if (!file_line("/sys/kernel/security/lockdown", line, sizeof(line)))
		return doctor_report(text, size, true, "not in this kernel, or securityfs is not mounted");
	if (strstr(line, "[confidentiality]"))
		return doctor_report(
			text, size, false,
			"confidentiality: eBPF must not read memory; boot with lockdown=integrity or none");
	return doctor_report(text, size, true, "%s", line);
}

static bool check_seccomp(char *text, size_t size)
{
	uint64_t mode = 0;

	self_status("Seccomp", 10, &mode);
	return doctor_report(text, size, mode == 0, "%s",
			     mode ? "a filter is active (a container's?): it may refuse bpf(2) and perf_event_open(2)"
				  : "no filter");
}

static bool check_memlock(char *text, size_t size)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_MEMLOCK, &r) < 0)
		return doctor_report(text, size, false, "getrlimit: %s", strerror(errno));
	if (r.rlim_cur == RLIM_INFINITY)
		return doctor_report(text, size, true, "unlimited");
	return doctor_report(text, size, true, "%llu KiB; eBPF maps do not count since Linux 5.11",
			     (unsigned long long)r.rlim_cur >> 10);
}

/* ---- eBPF ---- */

static bool check_btf(char *text, size_t size)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	uint16_t magic = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, &magic, sizeof(magic));

	if (fd >= 0)
		close(fd);
	if (n != (ssize_t)sizeof(magic) || magic != BTF_MAGIC)
		return doctor_report(text, size, false,
				     "%s does not exist: use a kernel built with CONFIG_DEBUG_INFO_BTF=y", path);
	return doctor_report(text, size, true, "%s", path);
}

static bool map_probe(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries, int *err)
{
	int fd = bpf_map_create(type, "braid_probe", key, value, entries, NULL);

	*err = fd < 0 ? -fd : 0;
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool check_bpf(char *text, size_t size)
{
	int err;

	if (map_probe(BPF_MAP_TYPE_ARRAY, 4, 8, 1, &err))
		return doctor_report(text, size, true, "maps can be created");
	if (err == ENOSYS)
		return doctor_report(text, size, false,
				     "not in this kernel: use a kernel built with CONFIG_BPF_SYSCALL=y");
	return doctor_report(text, size, false, "%s: %s", strerror(err),
			     err == EPERM ? "run braid as root; in a container, allow bpf(2)"
					  : "no map can be created");
}

static bool check_ring(char *text, size_t size, enum bpf_map_type type, const char *name, const char *since)
{
	int err;

	if (map_probe(type, 0, 0, (uint32_t)sysconf(_SC_PAGESIZE), &err))
		return doctor_report(text, size, true, "%s", name);
	if (err == EPERM)
		return doctor_report(text, size, false, "%s: %s; run braid as root", name, strerror(err));
	return doctor_report(text, size, false, "no %s (%s): use Linux %s or newer", name, strerror(err), since);
}

static bool check_ringbuf(char *text, size_t size)
{
	return check_ring(text, size, BPF_MAP_TYPE_RINGBUF, "BPF_MAP_TYPE_RINGBUF", "5.8");
}

static bool check_user_ringbuf(char *text, size_t size)
{
	return check_ring(text, size, BPF_MAP_TYPE_USER_RINGBUF, "BPF_MAP_TYPE_USER_RINGBUF", "6.1");
}

/* Loads "return 0". libbpf's own probe of tracing programs recognizes only some kernels' messages. */
static int program_probe(enum bpf_prog_type type, enum bpf_attach_type attach, uint32_t btf_id, uint32_t flags)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach, .attach_btf_id = btf_id,
		    .prog_flags = flags);
	int fd = bpf_prog_load(type, "braid_probe", "GPL", insns, sizeof(insns) / sizeof(insns[0]), &opts);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -fd : 0;
}

static bool program_output(char *text, size_t size, int err, const char *name, const char *since)
{
	if (!err)
		return doctor_report(text, size, true, "%s", name);
	if (err == EPERM)
		return doctor_report(text, size, false, "%s: %s; run braid as root", name, strerror(err));
	return doctor_report(text, size, false, "no %s programs (%s): use Linux %s or newer", name, strerror(err),
			     since);
}

static bool check_perf_program(char *text, size_t size)
{
	return program_output(text, size, program_probe(BPF_PROG_TYPE_PERF_EVENT, 0, 0, 0), "perf_event", "4.9");
}

static bool check_tracing_program(char *text, size_t size)
{
	int id = libbpf_find_vmlinux_btf_id("sched_process_fork", BPF_TRACE_RAW_TP);

	if (id < 0)
		return doctor_report(text, size, false,
				     "no sched_process_fork in the kernel's BTF (%s): use Linux 5.5 or newer with "
				     "CONFIG_DEBUG_INFO_BTF=y",
				     strerror(-id));
	return program_output(text, size, program_probe(BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, (uint32_t)id, 0),
			      "tp_btf", "5.5");
}

static bool check_syscall_program(char *text, size_t size)
{
	return program_output(text, size, program_probe(BPF_PROG_TYPE_SYSCALL, 0, 0, BPF_F_SLEEPABLE), "syscall",
			      "5.14");
}

static bool check_helpers(char *text, size_t size)
{
	static const struct {
		enum bpf_func_id id;
		const char *name;
		const char *since;
	} wanted[] = {
		{BPF_FUNC_loop, "bpf_loop", "5.17"},
		{BPF_FUNC_get_stack, "bpf_get_stack", "4.18"},
		{BPF_FUNC_probe_read_user, "bpf_probe_read_user", "5.5"},
		{BPF_FUNC_get_current_task_btf, "bpf_get_current_task_btf", "5.11"},
		{BPF_FUNC_task_pt_regs, "bpf_task_pt_regs", "5.15"},
		{BPF_FUNC_ringbuf_output, "bpf_ringbuf_output", "5.8"},
		{BPF_FUNC_user_ringbuf_drain, "bpf_user_ringbuf_drain", "6.1"},
	};

	/* Without a program libbpf takes every helper for available. */
	if (program_probe(BPF_PROG_TYPE_PERF_EVENT, 0, 0, 0))
		return doctor_report(text, size, false, "cannot be checked without a sampling program: see above");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, wanted[i].id, NULL) != 1)
			return doctor_report(text, size, false, "no %s: use Linux %s or newer, as root", wanted[i].name,
					     wanted[i].since);
	return doctor_report(text, size, true, "bpf_loop, bpf_task_pt_regs, bpf_user_ringbuf_drain and all others");
}

static bool check_jit(char *text, size_t size)
{
	char line[16];

	/* Unreadable without CAP_SYS_ADMIN in the initial user namespace, and absent where the JIT is always on. */
	if (!file_line("/proc/sys/net/core/bpf_jit_enable", line, sizeof(line)))
		return doctor_report(text, size, true, "cannot be read, so presumably on");
	if (line[0] == '0')
		return doctor_report(text, size, false,
				     "off, so sampling is slow: run sysctl net.core.bpf_jit_enable=1");
	return doctor_report(text, size, true, "on");
}

static bool check_statistics(char *text, size_t size)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	if (fd < 0)
		return doctor_report(text, size, false, "%s: benchmarks cannot measure the kernel side", strerror(-fd));
	close(fd);
	return doctor_report(text, size, true, "run times of eBPF programs, for benchmarks");
}

static bool check_unprivileged_bpf(char *text, size_t size)
{
	char line[16];

	if (!file_line("/proc/sys/kernel/unprivileged_bpf_disabled", line, sizeof(line)))
		return doctor_report(text, size, true, "kernel.unprivileged_bpf_disabled does not exist");
	return doctor_report(text, size, true,
			     "kernel.unprivileged_bpf_disabled = %s; braid needs no unprivileged bpf(2)", line);
}

/* ---- perf events ---- */

static int perf_probe(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type, .config = config, .size = sizeof(attr), .sample_freq = 99, .freq = 1, .disabled = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1L, 0L, -1L, (long)PERF_FLAG_FD_CLOEXEC);
	int err = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return err;
}

static bool check_cpu_clock(char *text, size_t size)
{
	int err = perf_probe(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

	if (!err)
		return doctor_report(text, size, true, "cpu-clock on every process");
	if (err == EACCES || err == EPERM)
		return doctor_report(text, size, false,
				     "cpu-clock: %s: run braid as root; in a container, allow perf_event_open(2)",
				     strerror(err));
	return doctor_report(text, size, false, "cpu-clock: %s: use a kernel built with CONFIG_PERF_EVENTS=y",
			     strerror(err));
}

static bool check_cycles(char *text, size_t size)
{
	int err = perf_probe(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	if (!err)
		return doctor_report(text, size, true, "cycles can be sampled");
	return doctor_report(text, size, false, "no cycle counter (%s): use -e cpu-clock, the default, not -e cycles",
			     strerror(err));
}

static bool check_paranoid(char *text, size_t size)
{
	char line[16];

	if (!file_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line)))
		return doctor_report(text, size, false, "kernel.perf_event_paranoid does not exist");
	return doctor_report(text, size, true, "kernel.perf_event_paranoid = %s; CAP_PERFMON overrides it", line);
}

static bool check_rate(char *text, size_t size)
{
	static const char name[] = "kernel.perf_event_max_sample_rate";
	char line[32];
	long rate;

	if (!file_line("/proc/sys/kernel/perf_event_max_sample_rate", line, sizeof(line)))
		return doctor_report(text, size, false, "%s does not exist", name);
	rate = strtol(line, NULL, 10);
	if (rate < 1000)
		return doctor_report(text, size, false, "%s = %ld limits -F: run sysctl %s=10000 to raise it", name,
				     rate, name);
	return doctor_report(text, size, true, "%s = %ld", name, rate);
}

/* ---- files, programs ---- */

static bool check_cache(char *text, size_t size)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char path[400], *slash;

	if (xdg && xdg[0] == '/')
		snprintf(path, sizeof(path), "%s/braid", xdg);
	else if (home && home[0] == '/')
		snprintf(path, sizeof(path), "%s/.cache/braid", home);
	else
		return doctor_report(
			text, size, false,
			"neither XDG_CACHE_HOME nor HOME is set: every recording builds its unwind tables again");
	/* A directory that does not exist yet is created on demand, so its nearest existing parent counts. */
	while (access(path, F_OK) < 0 && (slash = strrchr(path, '/')) != NULL && slash != path)
		*slash = '\0';
	if (access(path, W_OK) < 0)
		return doctor_report(text, size, false, "%s: %s: set XDG_CACHE_HOME to a writable directory", path,
				     strerror(errno));
	return doctor_report(text, size, true, "%s", path);
}

static bool check_jvms(char *text, size_t size)
{
	struct jvm_process *list;
	int count = jvm_process_list(&list), attachable = 0;

	if (count < 0)
		return doctor_report(text, size, false, "/proc: %s", strerror(-count));
	for (int i = 0; i < count; i++)
		attachable += list[i].attachable;
	free(list);
	return doctor_report(text, size, count > 0, "%d running, %d attachable ('braid list' shows them)", count,
			     attachable);
}

const struct doctor_check doctor_checks[] = {
	{"kernel", DOCTOR_REQUIRED, check_kernel},
	{"privileges", DOCTOR_REQUIRED, check_privileges},
	{"pid namespace", DOCTOR_REQUIRED, check_pid_namespace},
	{"kernel BTF", DOCTOR_REQUIRED, check_btf},
	{"lockdown", DOCTOR_REQUIRED, check_lockdown},
	{"bpf", DOCTOR_REQUIRED, check_bpf},
	{"ring to user space", DOCTOR_REQUIRED, check_ringbuf},
	{"ring from user space", DOCTOR_REQUIRED, check_user_ringbuf},
	{"sampling programs", DOCTOR_REQUIRED, check_perf_program},
	{"tracepoint programs", DOCTOR_REQUIRED, check_tracing_program},
	{"drain programs", DOCTOR_REQUIRED, check_syscall_program},
	{"helpers", DOCTOR_REQUIRED, check_helpers},
	{"perf events", DOCTOR_REQUIRED, check_cpu_clock},
	{"hardware counters", DOCTOR_OPTIONAL, check_cycles},
	{"sample rate", DOCTOR_OPTIONAL, check_rate},
	{"eBPF JIT", DOCTOR_OPTIONAL, check_jit},
	{"attaching", DOCTOR_OPTIONAL, check_attach_rights},
	{"cache directory", DOCTOR_OPTIONAL, check_cache},
	{"perf restrictions", DOCTOR_INFO, check_paranoid},
	{"eBPF statistics", DOCTOR_INFO, check_statistics},
	{"unprivileged eBPF", DOCTOR_INFO, check_unprivileged_bpf},
	{"seccomp", DOCTOR_INFO, check_seccomp},
	{"locked memory", DOCTOR_INFO, check_memlock},
	{"JVMs", DOCTOR_INFO, check_jvms},
};
const size_t doctor_check_count = sizeof(doctor_checks) / sizeof(doctor_checks[0]);
