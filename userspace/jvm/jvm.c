// SPDX-License-Identifier: Apache-2.0
#include "heap_count.h"
#include "jvm_state.h"
#include "vthread_times.h"

#include "kernel/kernel_side.h"
#include "sink/records.h"
#include "util/log.h"
#include "util/secret.h"
#include "util/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STRING_MAX 4096

struct jvm *jvm_new(struct jvms *jvms, struct process *process, uint32_t slot, uint32_t generation)
{
	struct jvm *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->jvms = jvms;
	j->process = process;
	j->slot = slot;
	j->generation = generation;
	jvm_set_enabled(j, jvms->config.enabled);
	return j;
}

int jvm_open(struct jvm **out, struct jvms *jvms, struct process *process)
{
	uint32_t generation;
	int slot;

	*out = NULL;
	if (!account_reserve(&process->account, jvms->sink, BUDGET_JVMS, 1))
		return -EDQUOT;
	slot = kernel_side_add_jvm(jvms->kernel, &jvms->config, &generation);
	if (slot >= 0)
		*out = jvm_new(jvms, process, (uint32_t)slot, generation);
	if (*out) {
		(*out)->kept = true;
		return 0;
	}
	account_release(&process->account, BUDGET_JVMS, 1);
	if (slot >= 0)
		kernel_side_remove_jvm(jvms->kernel, (uint32_t)slot);
	return slot < 0 ? slot : -ENOMEM;
}

/* Emits the losses beyond `before`, and updates that. */
static void emit_lost(struct jvms *jvms, uint32_t process, const struct braid_lost *now, struct braid_lost *before)
{
	for (uint32_t i = 0; i < BRAID_JVM_EVENTS; i++)
		if (now->events[i] > before->events[i])
			sink_loss(jvms->sink, process, "bpf", i == BRAID_LOST_HIT ? "hit" : jvm_event_name(i),
				  now->events[i] - before->events[i]);
	*before = *now;
}

void jvm_emit_lost(struct jvm *j)
{
	struct braid_request_share share;

	if (j && j->kept && kernel_side_request_share(j->jvms->kernel, j->slot, &share))
		emit_lost(j->jvms, j->process->id, &share.lost, &j->lost);
}

static void emit_lost_of_stray(void *ctx, pid_t pid, const struct braid_lost *lost)
{
	struct jvms *jvms = ctx;
	const struct process *process = processes_latest(jvms->processes, pid);

	emit_lost(jvms, process ? process->id : 0, lost, &(struct braid_lost){0});
}

void jvms_emit_lost(struct jvms *jvms)
{
	struct braid_request_share share;

	kernel_side_lost(jvms->kernel, emit_lost_of_stray, jvms);
	if (kernel_side_request_share(jvms->kernel, BRAID_MAX_JVMS, &share))
		emit_lost(jvms, 0, &share.lost, &jvms->lost);
}

static void give_back(struct jvm *j)
{
	jvm_emit_lost(j);
	if (!j->kept)
		return;
	vthread_times_end(j->jvms, j->slot, now_ns());
	kernel_side_remove_jvm(j->jvms->kernel, j->slot);
	account_release(&j->process->account, BUDGET_JVMS, 1);
	j->kept = false;
}

void jvm_rest(struct jvm *j)
{
	if (j && !j->linked && j->process->ended_ns)
		give_back(j);
}

void jvm_free(struct jvm *j)
{
	if (!j)
		return;
	give_back(j);
	code_gone(j, j->code.bytes, j->code.count);
	account_release(&j->process->account, BUDGET_JVM_BYTES, j->kept_bytes);
	account_release(&j->process->account, BUDGET_METHODS, j->named.count + j->interpreted.count);
	for (int i = 0; i < 4; i++)
		free(j->strings[i]);
	methods_free(j);
	calls_free(j);
	heap_count_free(j);
	code_map_free(&j->code);
	compilations_free(j->compilations);
	free(j->names_heap);
	free(j->types);
	free(j->pending_frames.at);
	free(j->binds.at);
	gc_free(&j->gc);
	free(j);
}

void jvm_joined(struct jvm *j, uint64_t since_ns)
{
	j->linked = j->joined = true;
	j->joined_ns = since_ns;
	jvm_set_enabled(j, j->jvms->config.enabled);
	named_events_phase(j, "agent", now_ns(), 0);
}

void jvm_left(struct jvm *j)
{
	j->linked = false;
	jvm_rest(j);
}

/* ---- definitions ---- */

static void emit_jvm(struct jvm *j)
{
	j->record.process = j->process->id;
	j->record.layout_flags = j->layout.flags | (j->layout_agreed ? BRAID_LAYOUT_AGREED : 0);
	j->record.vm_name = trace_str_of(j->strings[0] ? j->strings[0] : "");
	j->record.vm_version = trace_str_of(j->strings[1] ? j->strings[1] : "");
	j->record.java_version = trace_str_of(j->strings[2] ? j->strings[2] : "");
	j->record.command = trace_str_of(j->strings[3] ? j->strings[3] : "");
	sink_jvm(j->jvms->sink, &j->record);
}

/* Names of the VM, and its command line. They are cut at STRING_MAX. */
static void keep_string(char **to, const char *text, uint16_t length)
{
	jvm_replace_string(to, text, length < STRING_MAX ? length : STRING_MAX);
}

/* The command line can hold secrets. */
static void keep_command(char **to, const char *text, uint16_t length)
{
	char command[STRING_MAX], masked[STRING_MAX];

	utf8_from_modified(command, sizeof(command), text, length);
	secret_mask(masked, sizeof(masked), command);
	keep_string(to, masked, (uint16_t)strlen(masked));
}

static bool on_hello(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_hello *r = (const void *)rec;
	const char *at = (const char *)(r + 1), *end = (const char *)rec + size, *text[4];

	if (size < sizeof(*r) || !jvm_take_string(&at, end, r->vm_version_len, &text[1]) ||
	    !jvm_take_string(&at, end, r->vm_name_len, &text[0]) ||
	    !jvm_take_string(&at, end, r->java_version_len, &text[2]) ||
	    !jvm_take_string(&at, end, r->command_len, &text[3]))
		return false;
	if (r->version != BRAID_RING_VERSION) {
		account_notice(&j->process->account, j->jvms->sink, BRAID_NOTICE_WARNING,
			       "the agent in process %d has protocol version %u, this braid has %u: restart that JVM, "
			       "or use the braid of its agent",
			       j->process->pid, r->version, BRAID_RING_VERSION);
		return false;
	}
	keep_string(&j->strings[0], text[0], r->vm_name_len);
	keep_string(&j->strings[1], text[1], r->vm_version_len);
	keep_string(&j->strings[2], text[2], r->java_version_len);
	keep_command(&j->strings[3], text[3], r->command_len);
	j->record.start = r->start;
	j->record.jvmti_version = r->jvmti_version;
	j->record.caps_got_lo = r->caps_got[0];
	j->record.caps_got_hi = r->caps_got[1];
	j->record.caps_refused_lo = r->caps_refused[0];
	j->record.caps_refused_hi = r->caps_refused[1];
	emit_jvm(j);
	return true;
}

/* Compares what does not change in a JVM's life. Java objects are excluded: only the agent knows their layout. */
static bool same_layout(const struct braid_layout *a, const struct braid_layout *b)
{
	const size_t from = offsetof(struct braid_layout, heap_block_header),
		     to = offsetof(struct braid_layout, objects);

	return a->libjvm_base == b->libjvm_base && !memcmp((const char *)a + from, (const char *)b + from, to - from);
}

static bool heaps_fit(const struct braid_layout *l)
{
	if (l->heap_count > BRAID_CODE_HEAPS)
		return false;
	for (uint32_t i = 0; i < l->heap_count; i++)
		if (!braid_code_heap_fits(&l->heaps[i]))
			return false;
	return true;
}

static bool on_layout(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_layout *r = (const void *)rec;

	if (size < sizeof(*r) || !heaps_fit(&r->layout))
		return false;
	if (j->layout_known && !j->layout_reported)
		j->layout_agreed = same_layout(&j->layout, &r->layout);
	if (j->layout_known && !j->layout_reported && !j->layout_agreed)
		account_notice(&j->process->account, j->jvms->sink, BRAID_NOTICE_WARNING,
			       "the agent in process %d and its libjvm.so disagree about the JVM's layout",
			       j->process->pid);
	j->layout = r->layout;
	j->statics = r->statics;
	j->layout_reported = j->layout_known = true;
	emit_jvm(j);
	return true;
}

/* ---- other records ---- */

static bool on_names(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_names *r = (const void *)rec;

	if (size < sizeof(*r))
		return false;
	j->names = r->names;
	return true;
}

static const char *const kind_names[BRAID_REC_KINDS] = {
	[BRAID_REC_HELLO] = "hello",
	[BRAID_REC_LAYOUT] = "layout",
	[BRAID_REC_METHOD] = "method",
	[BRAID_REC_LINES] = "lines",
	[BRAID_REC_CODE_LOAD] = "code_load",
	[BRAID_REC_CODE_SCOPES] = "code_scopes",
	[BRAID_REC_CODE_UNLOAD] = "code_unload",
	[BRAID_REC_STUB] = "stub",
	[BRAID_REC_THREAD] = "thread",
	[BRAID_REC_THREAD_END] = "thread_end",
	[BRAID_REC_GC_START] = "gc_start",
	[BRAID_REC_GC_FINISH] = "gc_finish",
	[BRAID_REC_CLASS_UNLOAD] = "class_unload",
	[BRAID_REC_VM_INIT] = "vm_init",
	[BRAID_REC_VM_DEATH] = "vm_death",
	[BRAID_REC_LOSS] = "loss",
	[BRAID_REC_REPLAYED] = "replayed",
	[BRAID_REC_NOTICE] = "notice",
	[BRAID_REC_NAMES] = "names",
	[BRAID_REC_TYPE] = "type",
	[BRAID_REC_NAMED_EVENT] = "event",
	[BRAID_REC_CLASS] = "class",
	[BRAID_REC_JVM_EVENT] = "jvm_event",
	[BRAID_REC_HEAP_CLASS] = "heap_class",
	[BRAID_REC_SETTING] = "setting",
	[BRAID_REC_CALL] = "call",
	[BRAID_REC_PATTERN] = "pattern",
};

static bool on_loss(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_loss *r = (const void *)rec;
	const struct braid_loss *l = (const void *)(r + 1);

	if (size < sizeof(*r) || r->count > (size - sizeof(*r)) / sizeof(*l))
		return false;
	for (uint32_t i = 0; i < r->count; i++) {
		const char *kind = l[i].kind < BRAID_REC_KINDS ? kind_names[l[i].kind] : NULL;

		sink_loss(j->jvms->sink, j->process->id, "agent", kind ? kind : "unknown", l[i].lost);
	}
	return true;
}

static bool on_notice(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_notice *r = (const void *)rec;
	char text[1024];

	if (size < sizeof(*r) || r->text_len > size - sizeof(*r))
		return false;
	utf8_printable(text, sizeof(text), r + 1, r->text_len);
	account_notice(&j->process->account, j->jvms->sink, r->severity ? BRAID_NOTICE_WARNING : BRAID_NOTICE_INFO,
		       "agent in process %d: %s", j->process->pid, text);
	return true;
}

static bool on_phase(struct jvm *j, const struct braid_rec *rec, const char *name)
{
	named_events_phase(j, name, rec->time_ns, 0);
	return true;
}

static bool on_replayed(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_replayed *r = (const void *)rec;

	if (size < sizeof(*r))
		return false;
	j->replayed = true;
	named_events_phase(j, "replayed", rec->time_ns, r->classes);
	return true;
}

static bool apply(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	switch (rec->kind) {
	case BRAID_REC_HELLO:
		return on_hello(j, rec, size);
	case BRAID_REC_LAYOUT:
		return on_layout(j, rec, size);
	case BRAID_REC_NAMES:
		return on_names(j, rec, size);
	case BRAID_REC_JVM_EVENT:
		return events_on_jvm_event(j, rec, size);
	case BRAID_REC_TYPE:
		return events_on_type(j, rec, size);
	case BRAID_REC_METHOD:
		return methods_on_method(j, rec, size);
	case BRAID_REC_LINES:
		return methods_on_lines(j, rec, size);
	case BRAID_REC_CODE_LOAD:
		return code_on_load(j, rec, size);
	case BRAID_REC_CODE_SCOPES:
		return code_on_scopes(j, rec, size);
	case BRAID_REC_CODE_UNLOAD:
		return code_on_unload(j, rec, size);
	case BRAID_REC_STUB:
		return code_on_stub(j, rec, size);
	case BRAID_REC_THREAD:
		return threads_on_thread(j, rec, size);
	case BRAID_REC_THREAD_END:
		return threads_on_end(j, rec, size);
	case BRAID_REC_NAMED_EVENT:
		return named_events_on_event(j, rec, size);
	case BRAID_REC_CLASS:
		return named_events_on_class(j, rec, size);
	case BRAID_REC_HEAP_CLASS:
		return named_events_on_heap_class(j, rec, size);
	case BRAID_REC_SETTING:
		return settings_on_setting(j, rec, size);
	case BRAID_REC_CALL:
		return calls_on_call(j, rec, size);
	case BRAID_REC_PATTERN:
		return patterns_on_pattern(j, rec, size);
	case BRAID_REC_GC_START:
	case BRAID_REC_GC_FINISH:
		return gc_on_record(j, rec, size);
	case BRAID_REC_CLASS_UNLOAD:
		return named_events_on_unload(j, rec, size);
	case BRAID_REC_VM_INIT:
		gc_on_live(j, rec->time_ns);
		return on_phase(j, rec, "init");
	case BRAID_REC_VM_DEATH:
		j->dies = true;
		jvm_resolve_pending(j, now_ns(), false);
		return on_phase(j, rec, "death");
	case BRAID_REC_LOSS:
		return on_loss(j, rec, size);
	case BRAID_REC_REPLAYED:
		return on_replayed(j, rec, size);
	case BRAID_REC_NOTICE:
		return on_notice(j, rec, size);
	default:
		return true; /* from a newer agent */
	}
}

/* Replaces an impossible time: no report is from before the agent was loaded, or from after the record was read. */
static const struct braid_rec *in_its_time(const struct jvm *j, const struct braid_rec *rec, size_t size)
{
	static union {
		struct braid_rec rec;
		uint8_t bytes[BRAID_REC_MAX];
	} copy;
	uint64_t now = now_ns();

	if ((rec->time_ns >= j->joined_ns && rec->time_ns <= now) || size > sizeof(copy))
		return rec;
	memcpy(&copy, rec, size);
	copy.rec.time_ns = rec->time_ns > now ? now : j->joined_ns;
	return &copy.rec;
}

void jvm_record(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	if (!apply(j, in_its_time(j, rec, size), size))
		j->bad++;
}

void jvm_emit_stats(struct jvm *j)
{
	uint32_t p = j->process->id;

	sink_stat(j->jvms->sink, p, "methods", j->methods_reported);
	sink_stat(j->jvms->sink, p, "code_loads", j->loads);
	sink_stat(j->jvms->sink, p, "code_unloads", j->unloaded);
	sink_stat(j->jvms->sink, p, "gc_pauses", j->gc.pauses + (j->gc.open != 0));
	sink_stat(j->jvms->sink, p, "threads_started", j->threads_started);
	sink_stat(j->jvms->sink, p, "threads_ended", j->threads_ended);
	sink_stat(j->jvms->sink, p, "classes_unloaded", j->classes_unloaded);
	if (j->classes_loaded)
		sink_stat(j->jvms->sink, p, "classes_loaded", j->classes_loaded);
	if (j->bad)
		sink_stat(j->jvms->sink, p, "records_bad", j->bad);
}
