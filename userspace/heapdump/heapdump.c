// SPDX-License-Identifier: Apache-2.0
#include "heapdump.h"

#include "by_root.h"
#include "copy.h"
#include "histogram.h"
#include "writer.h"

#include "hotspot/vm_tables.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define END_S 30 /* for a thread to notice that it is to end */

/* When the copy has ended, or somebody wants to stop, any step can fail, for any reason. */
__attribute__((format(printf, 3, 4))) static int fail(struct writer *w, int err, const char *fmt, ...)
{
	struct heapdump *d = w->d;
	int state = w->copy.fd >= 0 ? copy_check_failed(&w->copy) : 0;
	va_list args;

	if (d->why[0])
		return err;
	if (state)
		err = state;
	if (err == -ESRCH) {
		snprintf(
			d->why, sizeof(d->why),
			"the copy of process %d ended before it was read: the program has ended, memory has run out, or "
			"braid was interrupted",
			(int)d->jvm);
	} else if (err == -EINTR) {
		snprintf(d->why, sizeof(d->why), "interrupted");
	} else {
		va_start(args, fmt);
		vsnprintf(d->why, sizeof(d->why), fmt, args);
		va_end(args);
	}
	return err;
}

static const char *text_of(int err)
{
	return err == -EFBIG ? "its objects take more memory than the process has" : strerror(-err);
}

static int find(struct writer *w)
{
	struct heapdump *d = w->d;
	pid_t pid = copy_find(d->jvm, d->copy);
	int err = pid ? copy_open(&w->copy, pid, &d->stop) : -ESRCH;

	if (err)
		return fail(w, err, "cannot open the copy: %s", strerror(-err));
	err = copy_wait(&w->copy, d->roots, &w->head);
	if (err == -ETIMEDOUT)
		return fail(w, err, "the JVM's walk over its roots does not end");
	if (err == -E2BIG)
		return fail(w, err, "the JVM has more than %u roots", BRAID_ROOTS_MAX);
	return err ? fail(w, err, "cannot read the roots: %s", strerror(-err)) : 0;
}

static int understand(struct writer *w, uint64_t at[VM_SYMBOLS])
{
	int err = 0;

	if (w->d->symbols)
		memcpy(at, w->d->symbols, VM_SYMBOLS * sizeof(*at));
	else
		err = vm_symbols_find(w->d->libjvm_fd, at);
	err = err ?: vm_open(&w->vm, &w->copy, &w->head, at);
	if (err)
		return fail(w, err, "this JVM does not say where it keeps its classes and objects");
	klasses_open(&w->classes, &w->vm);
	err = reach_open(&w->reach, &w->vm, &w->classes, copy_bytes(w->copy.pid));
	return err ? fail(w, err, "cannot go through the heap: %s", strerror(-err)) : 0;
}

static int reach(struct writer *w, const uint64_t at[VM_SYMBOLS])
{
	int err = roots_mark(w);

	if (err == -EPROTO)
		return fail(w, err, "this JVM's roots are not where braid expects them");
	err = err ?: stacks_read(w, at);
	if (w->reach.by_root) /* the turn of each root comes later */
		return err ? fail(w, err, "cannot read the threads: %s", text_of(err)) : 0;
	err = err ?: reach_close_over(&w->reach);
	err = err ?: allocations_read(w);
	return err ? fail(w, err, "cannot go through the heap: %s", text_of(err)) : 0;
}

static int put(struct writer *w)
{
	int err = records_open(&w->out, w->d->output, w->d->wall_ms);

	err = err ?: content_classes(w);
	err = err ?: stacks_write(w);
	err = err ?: allocations_write(w);
	err = err ?: roots_write(w);
	err = err ?: content_heap(w);
	err = err ?: records_end(&w->out);
	if (w->out.error)
		return fail(w, err, "cannot write: %s", strerror(-err));
	return err ? fail(w, err, "cannot read the heap: %s", text_of(err)) : 0;
}

static int count(struct writer *w, struct histogram *h, struct by_root *r)
{
	int err = r ? by_root_count(w, r) : histogram_count(w, h);

	return err ? fail(w, err, "cannot read the heap: %s", text_of(err)) : 0;
}

/* Finds what is reachable, and has it written or, with `h` or `r`, counted. */
static int go_through(struct heapdump *d, struct histogram *h, struct by_root *r)
{
	struct writer w = {.d = d, .copy = {.fd = -1}};
	uint64_t at[VM_SYMBOLS];
	int err = find(&w);

	err = err ?: understand(&w, at);
	if (!err && r && (err = reach_by_root(&w.reach, copy_bytes(w.copy.pid))))
		err = fail(&w, err, "cannot go through the heap: %s", strerror(-err));
	err = err ?: reach(&w, at);
	if (!err)
		err = h || r ? count(&w, h, r) : put(&w);
	/* What was read of a copy that has ended meanwhile may be another process's. */
	if (!err && (err = copy_check(&w.copy)))
		err = fail(&w, err, "cannot read the heap");
	copy_end(&w.copy);
	d->threads = w.threads.count;
	d->doubtful += w.reach.bad;
	records_close(&w.out);
	reach_free(&w.reach);
	klasses_free(&w.classes);
	copy_close(&w.copy);
	pair_map_free(&w.names);
	pair_map_free(&w.thread_of);
	pair_map_free(&w.frame_of);
	pair_map_free(&w.stack_of);
	pair_map_free(&w.site_of);
	free(w.sites.at);
	free(w.frozen.at);
	free(w.threads.at);
	free(w.frames.at);
	return err;
}

int heapdump_write(struct heapdump *d)
{
	return go_through(d, NULL, NULL);
}

bool heapdump_end(struct heapdump *d, pthread_t thread)
{
	struct timespec until;

	atomic_store(&d->stop, true);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_S;
	return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

int histogram_read(struct histogram *h, struct heapdump *d)
{
	*h = (struct histogram){0};
	return go_through(d, h, NULL);
}

int by_root_read(struct by_root *r, struct heapdump *d)
{
	*r = (struct by_root){0};
	return go_through(d, NULL, r);
}
