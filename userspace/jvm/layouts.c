// SPDX-License-Identifier: Apache-2.0
#include "layouts.h"

#include "jvm.h"
#include "libjvm.h"
#include "thread_names.h"
#include "util/log.h"

#include <errno.h>
#include <string.h>

#define SOON_NS 1000000000ULL  /* a library is initialised within milliseconds of its mapping */
#define SPEND_NS 1000000000ULL /* for one JVM, whose tables may be made to take long */
#define OLD_NS 2000000000ULL   /* by then a JVM has created its interpreter; a slower one is read once more */

static int read_layout(struct jvms *jvms, struct process *process, const struct process_mapping *m)
{
	struct braid_statics statics;
	struct braid_layout layout;
	struct jvm *j = process->jvm;
	int err = vm_layout_read(process->pid, m->bias, m->module->vm, &layout, &statics);

	/* A part of the tables may have been read before it was relocated. */
	if (!err && !(layout.flags & BRAID_LAYOUT_WALKABLE) && now_ns() - process->libjvm_ns < SOON_NS)
		return -EAGAIN;
	if (!err && !j)
		err = jvm_open(&j, jvms, process);
	if (err)
		return err;
	jvm_set_layout(j, &layout, &statics);
	processes_set_jvm(jvms->processes, process, j, jvm_slot(j));
	return 0;
}

void layouts_find(struct jvms *jvms, struct process *process)
{
	const struct process_mapping *m;
	uint64_t began_ns = now_ns();
	int err;

	if (!process->layout_wanted)
		return;
	m = libjvm_mapping(process);
	err = process->ended_ns || !m ? -ESRCH : read_layout(jvms, process, m);
	process->layout_spent_ns += now_ns() - began_ns;
	/* Data are mapped after code, relocated after that, and then initialised. */
	if ((err == -EAGAIN || err == -EFAULT) && process->layout_spent_ns < SPEND_NS)
		return;
	processes_layout_done(jvms->processes, process);
	if (err)
		log_debug("the layout of process %d cannot be read: %s", process->pid, strerror(-err));
}

static void layout_find(void *ctx, struct process *process)
{
	layouts_find(ctx, process);
}

static void is_soon(void *ctx, struct process *process)
{
	bool *soon = ctx;

	*soon = *soon || (process->layout_wanted && now_ns() - process->libjvm_ns < SOON_NS);
}

bool layouts_find_all(struct jvms *jvms)
{
	bool soon = false;

	if (processes_layouts_wanted(jvms->processes))
		processes_each(jvms->processes, layout_find, jvms);
	if (processes_layouts_wanted(jvms->processes))
		processes_each(jvms->processes, is_soon, &soon);
	return soon;
}

struct tick {
	uint64_t now;
	bool final;
};

static void tick(void *ctx, struct process *process)
{
	const struct tick *t = ctx;

	if (!process->jvm || jvm_had_agent(process->jvm))
		return;
	if (!process->ended_ns)
		jvm_layout_grow(process->jvm, t->now - process->libjvm_ns > OLD_NS);
	jvm_tick(process->jvm, t->now, t->final);
}

void layouts_tick(struct jvms *jvms, bool final)
{
	struct tick t = {.now = now_ns(), .final = final};

	processes_each(jvms->processes, tick, &t);
	thread_names_tick(jvms, final);
}
