// SPDX-License-Identifier: Apache-2.0
#include "offcpu_names.h"

#include "proc/procfs.h"
#include "process/processes.h"
#include "sink/names.h"
#include "util/utf8.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* ---- what a thread waited for ---- */

#define PARTS_MAX (BRAID_TEXT_MAX / 2)

/* The components come last one first, each with a zero byte; one that is not whole is left out. */
static bool path_text(const char text[BRAID_TEXT_MAX], bool whole, char to[OBJECT_TEXT_MAX])
{
	char raw[BRAID_TEXT_MAX + 4] = "";
	const char *parts[PARTS_MAX], *end;
	size_t count = 0, used = 0;

	for (const char *at = text; count < PARTS_MAX && at < text + BRAID_TEXT_MAX && *at; at = end + 1) {
		end = memchr(at, '\0', (size_t)(text + BRAID_TEXT_MAX - at));
		if (!end)
			break;
		parts[count++] = at;
	}
	if (!count)
		return false;
	if (!whole)
		used = (size_t)snprintf(raw, sizeof(raw), "...");
	while (count-- && used < sizeof(raw))
		used += (size_t)snprintf(raw + used, sizeof(raw) - used, "/%s", parts[count]);
	return utf8_printable(to, OBJECT_TEXT_MAX, raw, strlen(raw)) > 0;
}

/* Addresses of IPv4 are written as such in sockets of IPv6, too. */
static bool address_text(const char text[BRAID_TEXT_MAX], bool v6, char to[OBJECT_TEXT_MAX])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct braid_address a;
	char host[INET6_ADDRSTRLEN];
	const uint8_t *v4 = NULL;

	memcpy(&a, text, sizeof(a));
	if (!v6)
		v4 = a.address;
	else if (memcmp(a.address, mapped, sizeof(mapped)) == 0)
		v4 = a.address + sizeof(mapped);
	if (!inet_ntop(v4 ? AF_INET : AF_INET6, v4 ?: a.address, host, sizeof(host)))
		return false;
	snprintf(to, OBJECT_TEXT_MAX, v4 ? "%s:%d" : "[%s]:%d", host, a.port[0] << 8 | a.port[1]);
	return true;
}

static bool unix_text(const char text[BRAID_TEXT_MAX], char to[OBJECT_TEXT_MAX])
{
	bool abstract = !text[0];
	size_t length = strnlen(text + abstract, BRAID_TEXT_MAX - 1);
	size_t used = (size_t)snprintf(to, OBJECT_TEXT_MAX, abstract ? "unix:@" : "unix:");

	return utf8_printable(to + used, OBJECT_TEXT_MAX - used, text + abstract, length) > 0;
}

bool object_text(uint32_t kind, const char from[BRAID_TEXT_MAX], char to[OBJECT_TEXT_MAX])
{
	switch (kind) {
	case BRAID_OBJECT_PATH:
	case BRAID_OBJECT_PATH_CUT:
		return path_text(from, kind == BRAID_OBJECT_PATH, to);
	case BRAID_OBJECT_NAME:
		return utf8_printable(to, OBJECT_TEXT_MAX, from, strnlen(from, BRAID_TEXT_MAX)) > 0;
	case BRAID_OBJECT_PIPE:
		snprintf(to, OBJECT_TEXT_MAX, "pipe");
		return true;
	case BRAID_OBJECT_INET:
		return address_text(from, false, to);
	case BRAID_OBJECT_INET6:
		return address_text(from, true, to);
	case BRAID_OBJECT_UNIX:
		return unix_text(from, to);
	default:
		return false;
	}
}

uint32_t offcpu_object(struct jvms *jvms, struct process *process, uint32_t kind, const char from[BRAID_TEXT_MAX])
{
	char text[OBJECT_TEXT_MAX];

	return object_text(kind, from, text) ? names_id(jvms->names, &process->account, trace_str_of(text)) : 0;
}

/* ---- what woke it ---- */

/* include/linux/interrupt.h */
static const char *const softirqs[] = {"hi",	   "timer",   "net_tx", "net_rx",  "block",
				       "irq_poll", "tasklet", "sched",	"hrtimer", "rcu"};

static void softirq_text(uint32_t vector, char to[WAKER_TEXT_MAX])
{
	const char *name = vector < sizeof(softirqs) / sizeof(softirqs[0]) ? softirqs[vector] : "other";

	if (strstr(name, "timer"))
		snprintf(to, WAKER_TEXT_MAX, "timer");
	else
		snprintf(to, WAKER_TEXT_MAX, "softirq %s", name);
}

#define IRQ_NAME_KEPT_NS UINT64_C(1000000000) /* a driver can be loaded meanwhile */

static void read_irq(uint32_t irq, char *name, size_t size)
{
	char path[64], line[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/irq/%u/actions", irq);
	file = fopen(path, "re");
	if (file) {
		if (!fgets(line, sizeof(line), file))
			*line = '\0';
		fclose(file);
	}
	line[strcspn(line, ",\n")] = '\0';
	if (!*line || !utf8_printable(name, size, line, strlen(line)))
		*name = '\0';
}

static bool is_kept(const struct irq_name *n, uint32_t irq, uint64_t time_ns)
{
	return n->number == irq + 1 && (time_ns <= n->read_ns || time_ns - n->read_ns <= IRQ_NAME_KEPT_NS);
}

static void device_text(struct irq_names *irqs, uint32_t irq, uint64_t time_ns, char to[WAKER_TEXT_MAX])
{
	struct irq_name *n = &irqs->at[irq % IRQ_NAMES];

	if (!is_kept(n, irq, time_ns)) {
		*n = (struct irq_name){.number = irq + 1, .read_ns = time_ns};
		read_irq(irq, n->name, sizeof(n->name));
	}
	if (*n->name)
		snprintf(to, WAKER_TEXT_MAX, "irq %s", n->name);
	else
		snprintf(to, WAKER_TEXT_MAX, "irq %u", irq);
}

static bool thread_text(pid_t pid, pid_t tid, char to[WAKER_TEXT_MAX])
{
	char comm[32], name[64];

	if (pid <= 0 || tid <= 0)
		return false;
	if (procfs_comm(pid, tid, comm, sizeof(comm)) || !utf8_printable(name, sizeof(name), comm, strlen(comm)))
		*name = '\0';
	snprintf(to, WAKER_TEXT_MAX, "%s[%d]", name, tid);
	return true;
}

bool offcpu_waker(struct irq_names *irqs, const struct braid_event_jvm_event *e, char to[WAKER_TEXT_MAX])
{
	uint32_t irq = e->event.detail, number = irq & BRAID_IRQ_NUMBER;

	switch (irq & ~BRAID_IRQ_NUMBER) {
	case BRAID_IRQ_TIMER:
		snprintf(to, WAKER_TEXT_MAX, "timer");
		return true;
	case BRAID_IRQ_SOFT:
		softirq_text(number, to);
		return true;
	case BRAID_IRQ_DEVICE:
		device_text(irqs, number, e->hdr.time_ns, to);
		return true;
	default:
		return thread_text((pid_t)e->other_pid, (pid_t)e->event.other_tid, to);
	}
}
