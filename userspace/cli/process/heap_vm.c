// SPDX-License-Identifier: Apache-2.0
/*
 * The JVM writes its dump to a new file in a directory that only its user can enter, since it can write no descriptor.
 * From there it is copied to where it is wanted, and removed.
 */
#include "heap_vm.h"

#include "attach/attach.h"
#include "attach_wait.h"
#include "config/event_config.h"
#include "proc/cpu_share.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/quantity.h"
#include "util/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BYTES_PER_S 130000000.0 /* small objects, by one thread */
#define FILE_PART 1.5		/* of the file to the heap: small objects are larger in it */
#define CHUNK (256U << 10)

/* Without an estimate of the agent, as if all objects were small. */
static uint64_t expected(const struct heap_vm *v)
{
	if (!v->used_bytes)
		return UINT64_MAX;
	return v->expected_ns ?: (uint64_t)((double)v->used_bytes / BYTES_PER_S * 1e9);
}

static bool announce(const struct heap_vm *v)
{
	char used[QUANTITY_TEXT], time[QUANTITY_TEXT], most[QUANTITY_TEXT];
	uint64_t expected_ns = expected(v);

	size_text(used, v->used_bytes);
	duration_text(time, expected_ns);
	if (expected_ns > v->max_pause_ns && v->max_pause_ns < HEAP_ANY_PAUSE_NS) {
		log_error(
			"process %d: its heap is not dumped: the JVM itself has to write %s, for which it may stand still "
			"for %s, and --max-pause allows %s; allow more, or use --force",
			(int)v->pid, v->used_bytes ? used : "it", v->used_bytes ? time : "any time",
			duration_text(most, v->max_pause_ns));
		return false;
	}
	if (v->used_bytes)
		fprintf(stderr,
			"braid: %s of heap in use: the JVM writes it itself, and is expected to stand still for %s%s\n",
			used, v->expected_ns ? "" : "up to ", time);
	return true;
}

/* Its user may fill the file system with it, but not this program. */
static bool has_room(const struct heap_vm *v, const struct staging *d)
{
	char need_text[QUANTITY_TEXT], room_text[QUANTITY_TEXT];
	uint64_t need = (uint64_t)((double)v->used_bytes * FILE_PART), room;
	struct statvfs fs;

	if (fstatvfs(d->dir_fd, &fs))
		return true;
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (room >= need)
		return true;
	log_error(
		"process %d: its heap is not dumped: the JVM writes it to %s first, where it may take %s, and %s are free",
		(int)v->pid, d->path, size_text(need_text, need), size_text(room_text, room));
	return false;
}

/* A JVM without performance counters does not say it. */
static void take_stood_still(struct heap_vm *v, const struct jvm_process *before)
{
	struct jvm_process now;

	v->has_stood_still = before->has_stood_still && jvm_process_read(v->pid, &now) == 1 && now.has_stood_still &&
			     now.stood_still_ns >= before->stood_still_ns;
	if (v->has_stood_still)
		v->stood_still_ns = now.stood_still_ns - before->stood_still_ns;
}

static bool have_written(struct heap_vm *v, const struct jvm_process *jvm, const struct staging *d)
{
	uint64_t began = now_ns();
	int result_fd, err;
	pid_t child;
	bool ok;

	err = attach_dump_start(jvm, d, v->live, &result_fd, &child);
	if (err) {
		log_error("process %d: its heap is not dumped: %s", (int)v->pid, strerror(-err));
		return false;
	}
	ok = attach_wait(v->pid, result_fd, child, "its heap is not dumped",
			 "interrupted; the JVM goes on until its dump is complete, and then deletes it");
	v->spent_ns = now_ns() - began;
	take_stood_still(v, jvm);
	return ok;
}

/* What the JVM's user appends meanwhile is not taken. */
static int take(struct heap_vm *v, int fd, uint64_t size)
{
	static uint8_t chunk[CHUNK];
	int err = 0;

	while (!err && v->bytes < size) {
		size_t want = size - v->bytes < CHUNK ? (size_t)(size - v->bytes) : CHUNK;
		ssize_t n = read(fd, chunk, want);

		if (is_interrupted())
			return -EINTR;
		err = n > 0 ? output_write(v->output, chunk, (size_t)n) : n ? -errno : -EIO;
		v->bytes += n > 0 ? (uint64_t)n : 0;
	}
	return err;
}

static bool copy_file(struct heap_vm *v, const struct jvm_process *jvm, const struct staging *d)
{
	struct stat st;
	int fd = root_open_regular(d->dir_fd, STAGING_DUMP, O_NOFOLLOW, &st), err = fd < 0 ? fd : 0;

	if (!err && st.st_uid != jvm->uid)
		err = -EPERM;
	err = err ?: take(v, fd, (uint64_t)st.st_size);
	if (fd >= 0)
		close(fd);
	if (err)
		log_error("process %d: its heap is not dumped: the file of the JVM cannot be copied: %s", (int)v->pid,
			  strerror(-err));
	return !err;
}

bool heap_vm_dump(struct heap_vm *v)
{
	char why[ATTACH_WHY_MAX] = "";
	struct staging d = {0};
	struct jvm_process jvm;
	bool ok;

	if (v->expected_ns) /* on CPUs that nothing else uses */
		v->expected_ns = (uint64_t)((double)v->expected_ns * cpu_share_factor());
	if (!announce(v))
		return false;
	if (jvm_process_read(v->pid, &jvm) != 1) {
		log_error("process %d has ended", (int)v->pid);
		return false;
	}
	if (staging_create(&d, v->pid, why)) {
		log_error("process %d: its heap is not dumped: %s", (int)v->pid, why);
		return false;
	}
	ok = has_room(v, &d) && have_written(v, &jvm, &d) && copy_file(v, &jvm, &d);
	staging_remove(&d);
	return ok;
}
