// SPDX-License-Identifier: Apache-2.0
/* A thread dump as JSON: `braid threads --json`. */
#include "dump.h"

#include <braid/jvm_event.h>

#include <util/json.h>

static void json_frame(void *ctx, const struct analysis *an, const struct xframe *x)
{
	struct json *j = ctx;

	json_open(j, NULL, '{');
	json_string(j, "name", analysis_sym_name(an, x->sym));
	json_string(j, "kind", kind_name((enum stack_kind)an->syms.at[x->sym].kind));
	if (x->line)
		json_number(j, "line", x->line);
	json_close(j, '}');
}

/* A thread's id is its tid or, if it is virtual, its number. */
static void json_id(struct json *j, const struct dump_thread *t)
{
	json_string(j, "name", t->name);
	json_number_if(j, !dump_is_virtual(t), "tid", t->tid);
	json_number_if(j, dump_is_virtual(t), "vthread", t->number);
}

static void json_owner(struct json *j, const struct dump_view *v, const struct dump_thread *t)
{
	const struct dump_thread *owner = t->owner == CYCLE_NONE ? NULL : &v->threads.at[t->owner];

	json_number_if(j, owner && !dump_is_virtual(owner), "owner_tid", owner ? owner->tid : 0);
	json_number_if(j, owner && dump_is_virtual(owner), "owner_vthread", owner ? owner->number : 0);
}

static uint32_t carrier_tid(const struct dump_view *v, const struct dump_thread *t)
{
	const struct thread_row *row = t->thread == ROW_NONE ? NULL : table_row(&v->an->a->threads, t->thread);

	return dump_is_virtual(t) && row ? row->tid : 0;
}

static void json_text(struct json *j, const char *key, const char *value)
{
	if (*value)
		json_string(j, key, value);
	else
		json_null(j, key);
}

static void json_owned(struct json *j, const struct dump_view *v, const struct dump_style *style,
		       const struct dump_thread *t)
{
	const struct owned_lock *lock;
	size_t count = dump_owned(v, style, t, &lock);

	if (!style->owned) {
		json_null(j, "owns");
		return;
	}
	json_open(j, "owns", '[');
	for (; count > 0; count--, lock++) {
		json_open(j, NULL, '{');
		json_string(j, "class", strpool_get(&style->owned->names, lock->class_name));
		json_string(j, "method", strpool_get(&style->owned->names, lock->method));
		json_number(j, "depth", lock->depth);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_thread(struct json *j, const struct dump_view *v, const struct dump_style *style,
			const struct dump_thread *t)
{
	bool virtual = dump_is_virtual(t);

	json_open(j, NULL, '{');
	json_id(j, t);
	json_number(j, "count", t->count);
	json_seconds_if(j, !virtual, "cpu_s", t->row->value);
	json_seconds_if(j, !virtual, "system_s", t->row->weight);
	json_bool(j, "java", *t->java);
	json_text(j, "vm_state", t->vm);
	json_number_if(j, carrier_tid(v, t), "carrier_tid", carrier_tid(v, t));
	json_owner(j, v, t);
	json_owned(j, v, style, t);
	json_number_if(j, t->deadlock, "deadlock", t->deadlock);
	json_close(j, '}');
}

static void json_stack(struct json *j, const struct dump_view *v, const struct dump_thread *t)
{
	json_open(j, "stack", '[');
	analysis_each_frame(v->an, t->stack, json_frame, j);
	json_close(j, ']');
}

static void json_group(struct json *j, const struct dump_view *v, const struct dump_style *style,
		       const struct dump_thread *t, size_t count)
{
	json_open(j, NULL, '{');
	json_text(j, "java_state", t->java);
	json_text(j, "kernel_state", t->kernel);
	json_text(j, "mount_state", t->mount);
	json_text(j, "reason", t->reason);
	json_text(j, "class", t->class);
	json_open(j, "threads", '[');
	for (size_t i = 0; i < count; i++)
		json_thread(j, v, style, &t[i]);
	json_close(j, ']');
	json_stack(j, v, t);
	json_close(j, '}');
}

void dump_deadlock_json(struct json *j, const char *key, const struct dump_view *v, size_t number, bool stacks)
{
	const struct dump_thread *first = dump_deadlock(v, number), *t = first;

	json_open(j, key, '[');
	do {
		json_open(j, NULL, '{');
		json_id(j, t);
		json_string(j, "waits_for", t->wait->flags & BRAID_DUMP_MONITOR ? "monitor" : "lock");
		json_string(j, "class", t->class);
		json_owner(j, v, t);
		if (stacks)
			json_stack(j, v, t);
		json_close(j, '}');
		t = &v->threads.at[t->owner];
	} while (t != first);
	json_close(j, ']');
}

/* null: not known, as threads of which nothing was read may be in one. */
static void json_deadlocks(struct json *j, const struct dump_view *v)
{
	if (v->unread && !v->deadlocks) {
		json_null(j, "deadlocks");
		return;
	}
	json_open(j, "deadlocks", '[');
	for (size_t i = 1; i <= v->deadlocks; i++)
		dump_deadlock_json(j, NULL, v, i, true);
	json_close(j, ']');
}

void dump_json(FILE *out, const struct dump_view *v, const struct dump_style *style)
{
	struct json j = {.out = out};

	json_open(&j, NULL, '{');
	json_number(&j, "pid", v->pid);
	json_seconds(&j, "at_s", analysis_since(v->an, v->time_ns));
	json_deadlocks(&j, v);
	json_number(&j, "threads_unread", v->unread);
	if (!style->deadlocks) {
		json_open(&j, "groups", '[');
		for (size_t i = 0; i < v->groups.count; i++) {
			const struct dump_group *g = &v->groups.at[i];

			for (size_t k = 0; k < g->count; k += style->all ? 1 : g->count)
				json_group(&j, v, style, &v->threads.at[g->first + k], style->all ? 1 : g->count);
		}
		json_close(&j, ']');
	}
	json_number_if(&j, style->owned, "stopped_at_most_ns", style->owned ? style->owned->spent_ns : 0);
	json_close(&j, '}');
	putc('\n', out);
}
