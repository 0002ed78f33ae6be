// SPDX-License-Identifier: Apache-2.0
/*
 * A heap dump is a short recording, too, whose agent copies the JVM. While the recording goes on, so that the agent
 * keeps the copy, a thread reads the copy and writes the file.
 */
#include "heap_dump.h"
#include "heap_stacks.h"
#include "heap_vm.h"

#include "attach/attach.h"
#include "heapdump/by_root.h"
#include "heapdump/heapdump.h"
#include "proc/jvm_proc.h"
#include "proc/memory_room.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/quantity.h"
#include "util/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_S 60 /* for the agent to connect and to begin */
#define ROOM_PART 8 /* a copy needs memory for what the program changes meanwhile: at least this part must be free */

struct dump_command {
	struct snapshot *snapshot;
	struct heapdump dump;
	struct by_root *by_root; /* what the copy is for; NULL: a dump */
	const char *undone;	 /* "its heap is not dumped" */
	const char *path;
	uint64_t watch_ns;   /* before the copy */
	pthread_mutex_t fed; /* of the snapshot's records, while the recording goes on */
	struct heapdump_allocated allocated;
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t changed;
	bool answered; /* the JVM has been copied, or will not be */
	bool copied;
	bool by_vm;		    /* only the JVM can write it */
	uint64_t used_bytes, vm_ns; /* what the JVM has to write, and how long it takes; 0: not known */
	bool announced;
	uint64_t pause_ns;
	atomic_bool done; /* the recording is to end */
	int err;	  /* of the dump */
};

/* ---- the thread ---- */

/* Waits until the JVM is copied. */
static bool await_copy(struct dump_command *c)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ANSWER_S + (time_t)(c->watch_ns / 1000000000U);
	pthread_mutex_lock(&c->mutex);
	while (!c->answered && !err)
		err = pthread_cond_clockwait(&c->changed, &c->mutex, CLOCK_MONOTONIC, &until);
	pthread_mutex_unlock(&c->mutex);
	return c->copied;
}

/* All allocations of objects in the copy were recorded before it was made. */
static const struct heapdump_allocated *allocated_read(void *ctx)
{
	struct dump_command *c = ctx;
	int err = -ENOMEM;

	pthread_mutex_lock(&c->fed);
	if (c->snapshot->live.analyzer)
		err = heap_stacks_read(&c->allocated, c->snapshot->live.analyzer);
	pthread_mutex_unlock(&c->fed);
	return err ? NULL : &c->allocated;
}

static void *dump_main(void *ctx)
{
	struct dump_command *c = ctx;

	if (!await_copy(c))
		c->err = -ECANCELED;
	else
		c->err = c->by_root ? by_root_read(c->by_root, &c->dump) : heapdump_write(&c->dump);
	atomic_store(&c->done, true);
	return NULL;
}

/* ---- the recording ---- */

static void answer(struct dump_command *c, bool copied)
{
	pthread_mutex_lock(&c->mutex);
	c->answered = true;
	c->copied = copied;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->mutex);
}

void heap_copy_print(const struct trace_jvm_event *e)
{
	char size[QUANTITY_TEXT], time[QUANTITY_TEXT];

	fprintf(stderr, "braid: the JVM has %s in memory: it is expected to stand still for %s while it is copied\n",
		size_text(size, e->value), duration_text(time, e->weight));
}

static void take_estimate(struct dump_command *c, const struct trace_jvm_event *e)
{
	char size[QUANTITY_TEXT], time[QUANTITY_TEXT], most[QUANTITY_TEXT];

	c->announced = true;
	if (!(e->flags & BRAID_HEAP_REFUSED)) {
		heap_copy_print(e);
		return;
	}
	log_error("process %d: %s: to copy %s of memory is expected to take %s, and --max-pause "
		  "allows %s; allow more, or use --force",
		  (int)c->snapshot->pid, c->undone, size_text(size, e->value), duration_text(time, e->weight),
		  duration_text(most, c->snapshot->selection.config.heap_max_pause_ns));
	answer(c, false);
}

static void take_copy(struct dump_command *c, const struct trace_jvm_event *e)
{
	struct timespec wall;

	if (e->flags & BRAID_HEAP_VM && c->watch_ns) {
		log_error("process %d: its heap is not dumped: --watch needs a copy of the process, and only the JVM "
			  "itself can dump this heap, without the stacks of allocations; leave --watch out",
			  (int)c->snapshot->pid);
		answer(c, false);
		return;
	}
	if (e->flags & BRAID_HEAP_VM) {
		c->by_vm = true;
		c->used_bytes = e->value;
		c->vm_ns = e->weight;
		answer(c, false);
		return;
	}
	if (e->flags & BRAID_HEAP_FAILED) {
		log_error("process %d: %s", (int)c->snapshot->pid, c->undone); /* a notice has said why */
		answer(c, false);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &wall);
	c->dump.wall_ms = (uint64_t)wall.tv_sec * 1000 + (uint64_t)wall.tv_nsec / 1000000;
	c->dump.copy = (pid_t)e->number;
	c->dump.roots = e->value;
	c->pause_ns = e->duration_ns;
	answer(c, true);
}

static void take(void *ctx, const struct trace_rec *rec)
{
	struct dump_command *c = ctx;
	const struct trace_jvm_event *e = &rec->jvm_event;

	pthread_mutex_lock(&c->fed);
	(void)snapshot_feed(c->snapshot, rec);
	pthread_mutex_unlock(&c->fed);
	if (rec->kind != TRACE_JVM_EVENT)
		return;
	if (e->kind == BRAID_JVM_HEAP_ESTIMATE)
		take_estimate(c, e);
	else if (e->kind == BRAID_JVM_HEAP_COPY)
		take_copy(c, e);
}

/* ---- the command ---- */

static bool report(const struct dump_command *c, uint64_t file_bytes)
{
	const struct heapdump *d = &c->dump;
	char size[QUANTITY_TEXT], file[QUANTITY_TEXT], time[QUANTITY_TEXT];

	fprintf(stderr,
		"braid: process %d: %" PRIu64 " objects, %s, of %" PRIu64
		" classes in %s, which takes %s; it stood still "
		"for %s\n",
		(int)c->snapshot->pid, d->objects, size_text(size, d->bytes), d->classes, c->path,
		size_text(file, file_bytes), duration_text(time, c->pause_ns));
	if (c->watch_ns)
		fprintf(stderr,
			"braid: %" PRIu64 " of %" PRIu64 " watched object%s in it have the stack that allocated them\n",
			d->allocated, d->watched, plural(d->watched));
	if (d->cut)
		log_warning("%" PRIu64 " arrays are longer than the format can have, and were cut", d->cut);
	if (d->doubtful)
		log_warning("%" PRIu64
			    " references lead to no object that braid understands; they are null in the file",
			    d->doubtful);
	return true;
}

static bool fail(const struct dump_command *c)
{
	if (c->dump.why[0])
		log_error("process %d: %s: %s", (int)c->snapshot->pid, c->undone, c->dump.why);
	else if (!c->answered)
		log_error("process %d: %s: the JVM does not answer", (int)c->snapshot->pid, c->undone);
	return false;
}

static bool record(struct dump_command *c)
{
	struct record_options *o = &c->snapshot->record;
	pthread_t thread;
	bool ok;
	int err;

	o->duration_ns = 0;
	o->done = &c->done;
	o->tap = take;
	o->tap_ctx = c;
	c->snapshot->selection.config.heap_copy = BRAID_HEAP_COPY_DUMP;
	if (c->watch_ns) {
		c->snapshot->selection.config.enabled |= BRAID_EVENT_TYPE(ALLOC) | BRAID_EVENT_TYPE(LIVE);
		c->snapshot->selection.config.heap_watch_s = (uint32_t)((c->watch_ns + 1000000000U - 1) / 1000000000U);
		c->dump.allocated_read = allocated_read;
		c->dump.ctx = c;
	}
	err = pthread_create(&thread, NULL, dump_main, c);
	if (err) {
		log_error("cannot start a thread: %s", strerror(err));
		return false;
	}
	ok = snapshot_run(c->snapshot);
	if (!c->answered)
		answer(c, false);
	if (!heapdump_end(&c->dump, thread)) {
		log_error("process %d: %s: its copy does not let itself be read", (int)c->snapshot->pid, c->undone);
		if (c->dump.output)
			output_remove(c->dump.output);
		_exit(EXIT_FAILURE);
	}
	return ok && (c->by_vm || !c->err) ? true : fail(c);
}

static bool dump_by_vm(const struct dump_command *c, struct heap_vm *v)
{
	const struct braid_event_config *config = &c->snapshot->selection.config;

	*v = (struct heap_vm){.pid = c->snapshot->pid,
			      .used_bytes = c->used_bytes,
			      .expected_ns = c->vm_ns,
			      .max_pause_ns = config->heap_max_pause_ns,
			      .live = config->heap_live,
			      .output = c->dump.output};
	return heap_vm_dump(v);
}

static bool report_by_vm(const struct dump_command *c, const struct heap_vm *v, uint64_t file_bytes)
{
	char size[QUANTITY_TEXT], file[QUANTITY_TEXT], time[QUANTITY_TEXT], stood[QUANTITY_TEXT];

	fprintf(stderr, "braid: process %d: the JVM has written its heap, %s, in %s%s%s; %s takes %s\n", (int)v->pid,
		size_text(size, v->bytes), duration_text(time, v->spent_ns),
		v->has_stood_still ? ", and stood still for " : "",
		v->has_stood_still ? duration_text(stood, v->stood_still_ns) : "", c->path,
		size_text(file, file_bytes));
	return true;
}

/* The kernel ends the copy first if memory runs out, but it should not come to that. */
bool heap_copy_has_room(pid_t pid, uint64_t *need, uint64_t *room)
{
	*room = memory_room(pid);
	*need = memory_private(pid) / ROOM_PART;
	return *room >= *need;
}

static bool has_room(const struct dump_command *c)
{
	pid_t pid = c->snapshot->pid;
	char free_text[QUANTITY_TEXT], need_text[QUANTITY_TEXT];
	uint64_t room, need;

	if (heap_copy_has_room(pid, &need, &room))
		return true;
	log_error("process %d: %s: a copy of the process needs %s of memory, and %s is free for it", (int)pid,
		  c->undone, size_text(need_text, need), size_text(free_text, room));
	return false;
}

static int libjvm_open(pid_t pid)
{
	struct jvm_process jvm;
	struct stat st;
	int root, fd;

	if (jvm_process_read(pid, &jvm) != 1)
		return -ESRCH;
	root = proc_root_open(pid);
	if (root < 0)
		return root;
	fd = root_open_regular(root, jvm.libjvm, 0, &st);
	close(root);
	return fd;
}

/* Whether there can be a copy, and what is needed to read it. */
static bool prepare(struct dump_command *c)
{
	pid_t pid = c->snapshot->pid;

	c->dump.jvm = pid;
	if (!has_room(c))
		return false;
	c->dump.libjvm_fd = libjvm_open(pid);
	if (c->dump.libjvm_fd < 0)
		log_error("cannot read the library of process %d: %s", (int)pid, strerror(-c->dump.libjvm_fd));
	return c->dump.libjvm_fd >= 0;
}

#define DUMP_COMMAND(s, words)                                                                                         \
	{                                                                                                              \
		.snapshot = (s), .undone = (words), .fed = PTHREAD_MUTEX_INITIALIZER,                                  \
		.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER                                \
	}

bool heap_dump_by_root(struct snapshot *s, struct by_root *r, uint64_t *pause_ns)
{
	struct dump_command c = DUMP_COMMAND(s, "its heap is not counted by root");
	bool ok;

	c.by_root = r;
	if (!prepare(&c))
		return false;
	ok = record(&c);
	close(c.dump.libjvm_fd);
	*pause_ns = c.pause_ns;
	if (!c.by_vm)
		return ok;
	log_error("process %d: %s: that needs a copy, and this JVM's heap cannot be copied; dump it with --dump FILE, "
		  "and then use `braid heap FILE --by root`",
		  (int)s->pid, c.undone);
	return false;
}

bool heap_dump(struct snapshot *s, const char *path, uint64_t watch_ns)
{
	struct dump_command c = DUMP_COMMAND(s, "its heap is not dumped");
	struct heap_vm vm;
	uint64_t file_bytes;
	bool ok;
	int err;

	c.path = path;
	c.watch_ns = watch_ns;
	if (!prepare(&c))
		return false;
	err = output_open(&c.dump.output, path, &c.dump.stop);
	if (err) {
		if (err == -EEXIST)
			log_error("%s exists; choose another name, or remove it", path);
		else if (err == -ENOTTY)
			log_error("a heap dump is not for a terminal; give a file, or redirect standard output");
		else
			log_error("cannot write %s: %s", path, strerror(-err));
		close(c.dump.libjvm_fd);
		return false;
	}
	ok = record(&c) && (!c.by_vm || dump_by_vm(&c, &vm));
	heap_stacks_free(&c.allocated);
	err = output_close(c.dump.output, ok, &file_bytes);
	close(c.dump.libjvm_fd);
	if (ok && err)
		log_error("cannot write %s: %s", path, strerror(-err));
	return ok && !err && (c.by_vm ? report_by_vm(&c, &vm, file_bytes) : report(&c, file_bytes));
}
