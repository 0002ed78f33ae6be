// SPDX-License-Identifier: Apache-2.0
#include "memory_sums.h"

#include "attach_wait.h"
#include "util/compare.h"
#include "util/log.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAILED "its JVM cannot be asked for its native memory"

const char *memory_owner_name(const struct resident_part *p)
{
	return p->owner == RESIDENT_TRACKED ? p->name : resident_owner_name((enum resident_owner)p->owner);
}

struct memory_sum *memory_sum_find(const struct memory_sums *s, const char *name)
{
	for (size_t i = 0; i < s->all.count; i++)
		if (strcmp(s->all.at[i].name, name) == 0)
			return &s->all.at[i];
	return NULL;
}

static int by_resident(const void *x, const void *y)
{
	const struct memory_sum *a = x, *b = y;

	return compare_u64(b->resident, a->resident) ?: strcmp(a->name, b->name);
}

static int by_resident_of_parts(const void *x, const void *y)
{
	const struct resident_part *a = x, *b = y;

	return compare_u64(b->resident, a->resident) ?: compare_u64(a->start, b->start);
}

static int add_up(struct memory_sums *s, const struct resident *r)
{
	for (size_t i = 0; i < r->parts.count; i++) {
		const struct resident_part *p = &r->parts.at[i];
		struct memory_sum *sum = memory_sum_find(s, memory_owner_name(p));

		if (!sum && VEC_PUSH(&s->all, (struct memory_sum){.name = memory_owner_name(p)}))
			return -ENOMEM;
		sum = sum ?: &s->all.at[s->all.count - 1];
		sum->resident += p->resident;
		sum->swapped += p->swapped;
		sum->size += p->end - p->start;
		sum->parts++;
	}
	VEC_SORT(&s->all, by_resident);
	return 0;
}

static bool add_tracking(struct resident *r, pid_t pid)
{
	int text_fd = memfd_create("braid-memory", MFD_CLOEXEC), err;
	FILE *text = text_fd < 0 ? NULL : fdopen(text_fd, "r+");
	bool asked;

	if (!text) {
		log_error("process %d: " FAILED ": %s", (int)pid, strerror(errno));
		return false;
	}
	asked = attach_ask_text(pid, ATTACH_TEXT_MEMORY, text_fd, FAILED);
	rewind(text);
	err = asked ? resident_add_tracking(r, text) : 0;
	fclose(text);
	if (err == -EINVAL)
		log_error("process %d: " FAILED ": it must run with -XX:NativeMemoryTracking=detail", (int)pid);
	else if (err)
		log_error("process %d: " FAILED ": %s", (int)pid, strerror(-err));
	return asked && !err;
}

bool memory_read(struct resident *r, struct memory_sums *s, pid_t pid, bool ask)
{
	int err;

	if (ask && !add_tracking(r, pid))
		return false;
	err = resident_read(r, pid);
	VEC_SORT(&r->parts, by_resident_of_parts);
	err = err ?: add_up(s, r); /* its names are those of the parts, which stay where they are */
	if (err == -ESRCH && kill(pid, 0) && errno == ESRCH)
		log_error("no process %d", (int)pid);
	else if (err == -ESRCH)
		log_error("process %d has no memory: it is a kernel thread, or has just ended", (int)pid);
	else if (err)
		log_error("cannot read the memory of process %d: %s%s", (int)pid, strerror(-err),
			  err == -EACCES || err == -EPERM ? "; run braid as root, or as the process's user" : "");
	return !err;
}

void memory_sums_free(struct memory_sums *s)
{
	free(s->all.at);
	*s = (struct memory_sums){0};
}
