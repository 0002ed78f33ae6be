// SPDX-License-Identifier: Apache-2.0
/* Named events: the agent publishes them with their names as strings, without a stack. This emits them. */
#include "jvm_state.h"
#include "kernel_events.h"

#include "jvm_emit.h"
#include "sink/names.h"
#include "sink/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART_MAX 1024 /* of the names of a loader, module or source file */

static uint32_t event_name_id(struct jvm *j, const char *text)
{
	return names_id(j->jvms->names, &j->process->account, trace_str_of(text));
}

static uint32_t thread_id(struct jvm *j, uint32_t ns_tid)
{
	struct thread *t = ns_tid ? threads_java(j->jvms->threads, j->process, (pid_t)ns_tid, NULL) : NULL;

	if (t)
		threads_define(j->jvms->threads, t);
	return t ? t->id : 0;
}

static uint32_t string_id(struct jvm *j, const char *text, uint16_t length)
{
	char name[HOTSPOT_NAME_MAX];

	utf8_from_modified(name, sizeof(name), text, length);
	return event_name_id(j, name);
}

static uint32_t method_name_id(struct jvm *j, uint32_t method)
{
	char name[2 * HOTSPOT_NAME_MAX];

	return methods_name(j, method, name, sizeof(name)) ? event_name_id(j, name) : 0;
}

void named_events_phase(struct jvm *j, const char *name, uint64_t time_ns, uint64_t classes)
{
	jvm_events_emit(
		j->jvms, j->process,
		&(struct trace_jvm_event){
			.time_ns = time_ns, .kind = BRAID_JVM_PHASE, .name = event_name_id(j, name), .value = classes});
}

/* ---- native methods ---- */

#define BINDS_MAX 16384 /* that wait for a name; their bytes count for the JVM's budget */
/* The kernel reports mappings and the agent methods, in rings of their own, so a mapping's report may come later. */
#define MAPPING_LATE_NS 2000000000ULL

static void bind_emit(struct jvms *jvms, struct waiting_bind *w)
{
	if (!w->is_reported)
		return;
	w->event.text = trace_str_of(w->module ? module_function(w->module, w->vaddr) : "");
	sink_jvm_event(jvms->sink, &w->event);
}

/* Files are read one after the other. */
static bool bind_waits(const struct waiting_bind *w)
{
	return w->method || (w->is_reported && w->module && w->module->wants_symbols);
}

/* Gives the native function the Java method's name unless it has a symbol; the event gets the symbol. */
static void bind_find(struct jvm *j, struct waiting_bind *w)
{
	const struct process_mapping *m = process_mapping_at(j->process, w->event.number, w->event.time_ns);
	char name[2 * HOTSPOT_NAME_MAX];

	if (!m || !methods_name(j, w->method, name, sizeof(name)))
		return;
	w->method = 0;
	w->module = m->module;
	w->vaddr = w->event.number - m->bias;
	modules_bind(j->jvms->modules, w->module, w->vaddr, name);
}

static void bind(struct jvm *j, uint32_t method, struct trace_jvm_event *e)
{
	struct waiting_bind w = {
		.method = method,
		.is_reported = jvm_events_enabled(j->jvms, j->process) & BRAID_EVENT_TYPE(NATIVE_BIND),
		.event = *e,
	};

	w.event.process = j->process->id;
	bind_find(j, &w);
	if (!bind_waits(&w) || !jvm_has_room(j, j->binds.count, &j->binds_paid, BINDS_MAX, sizeof(w)) ||
	    VEC_PUSH(&j->binds, w))
		bind_emit(j->jvms, &w);
}

/* Emits those that have waited for long enough, and keeps the others. */
static void binds_emit(struct jvms *jvms, struct waiting_binds *binds, bool final)
{
	size_t kept = 0;

	for (size_t i = 0; i < binds->count; i++) {
		struct waiting_bind *w = &binds->at[i];

		if (final || !bind_waits(w))
			bind_emit(jvms, w);
		else
			binds->at[kept++] = *w;
	}
	binds->count = kept;
}

void named_events_tick(struct jvm *j, uint64_t now_ns, bool final)
{
	struct waiting_binds *late = &j->jvms->late_binds;

	for (size_t i = 0; i < j->binds.count; i++) {
		struct waiting_bind *w = &j->binds.at[i];

		if (w->method)
			bind_find(j, w);
		if (final || now_ns > w->event.time_ns + MAPPING_LATE_NS)
			w->method = 0;
	}
	binds_emit(j->jvms, &j->binds, false);
	if (!final)
		return;
	for (size_t i = 0; i < j->binds.count; i++)
		if (late->count >= BINDS_MAX || VEC_PUSH(late, j->binds.at[i]))
			bind_emit(j->jvms, &j->binds.at[i]);
	j->binds.count = 0;
}

void jvms_tick(struct jvms *jvms, bool final)
{
	binds_emit(jvms, &jvms->late_binds, final);
	if (!final)
		return;
	free(jvms->late_binds.at);
	jvms->late_binds = (struct waiting_binds){0};
}

/* ---- events of any kind ---- */

bool named_events_on_event(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_named_event *r = (const void *)rec;
	const char *at = (const char *)(r + 1), *end = (const char *)rec + size, *name, *detail, *text;
	char clean[HOTSPOT_NAME_MAX];
	struct trace_jvm_event e;

	if (size < sizeof(*r) || !jvm_take_string(&at, end, r->name_len, &name) ||
	    !jvm_take_string(&at, end, r->detail_len, &detail) || !jvm_take_string(&at, end, r->text_len, &text) ||
	    !r->event || r->event >= BRAID_JVM_EVENTS || kernel_events_are(r->event))
		return false;
	e = (struct trace_jvm_event){.time_ns = rec->time_ns,
				     .kind = r->event,
				     .thread = thread_id(j, rec->tid),
				     .value = r->value,
				     .weight = r->weight,
				     .number = r->number,
				     .flags = r->flags};
	e.name = r->method ? method_name_id(j, r->method) : string_id(j, name, r->name_len);
	e.detail = string_id(j, detail, r->detail_len);
	utf8_from_modified(clean, sizeof(clean), text, r->text_len);
	e.text = trace_str_of(clean);
	if (r->event == BRAID_JVM_NATIVE_BIND)
		bind(j, r->method, &e);
	else
		jvm_events_emit(j->jvms, j->process, &e);
	return true;
}

/* ---- classes ---- */

/* The usual names of the loaders that every JVM has. */
static const char *loader_known_as(const char *class_name)
{
	static const char *const known[][2] = {
		{"jdk.internal.loader.ClassLoaders$AppClassLoader", "app"},
		{"jdk.internal.loader.ClassLoaders$PlatformClassLoader", "platform"},
		{"sun.misc.Launcher$AppClassLoader", "app"},
		{"sun.misc.Launcher$ExtClassLoader", "platform"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(class_name, known[i][0]) == 0)
			return known[i][1];
	return class_name;
}

struct class_texts {
	const char *name, *module, *source;
};

/* The strings of a record that describe a loader. */
static bool take_loader(const char **at, const char *end, uint16_t class_len, uint16_t name_len, struct loader_texts *l)
{
	l->class_len = class_len;
	l->name_len = name_len;
	return jvm_take_string(at, end, class_len, &l->class) && jvm_take_string(at, end, name_len, &l->name);
}

/* "boot", "app", "com.example.Loader", "com.example.Loader 'plugins'", "com.example.Loader @1f2e3d" */
static uint32_t loader_id(struct jvm *j, const struct loader_texts *l)
{
	char class_name[HOTSPOT_NAME_MAX], name[PART_MAX] = "", text[sizeof(class_name) + sizeof(name) + 16];
	size_t used;

	if (!l->class_len)
		return event_name_id(j, "boot");
	class_name_from_signature(class_name, sizeof(class_name), l->class, l->class_len);
	if (loader_known_as(class_name) != class_name)
		return event_name_id(j, loader_known_as(class_name));
	used = (size_t)snprintf(text, sizeof(text), "%s", class_name);
	if (utf8_from_modified(name, sizeof(name), l->name, l->name_len))
		used += (size_t)snprintf(text + used, sizeof(text) - used, " '%s'", name);
	if (l->hash)
		snprintf(text + used, sizeof(text) - used, " @%x", l->hash);
	return event_name_id(j, text);
}

/* "java.base/String.java", "Main.java" */
static void origin(char *to, size_t size, const struct braid_rec_class *r, const struct class_texts *c)
{
	size_t used = utf8_from_modified(to, PART_MAX, c->module, r->module_len);

	if (used)
		to[used++] = '/';
	utf8_from_modified(to + used, size - used, c->source, r->source_len);
}

bool named_events_on_class(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_class *r = (const void *)rec;
	const char *at = (const char *)(r + 1), *end = (const char *)rec + size;
	struct trace_jvm_event e = {.time_ns = rec->time_ns, .kind = BRAID_JVM_CLASS_LOAD};
	char name[HOTSPOT_NAME_MAX], text[2 * PART_MAX + 1];
	struct loader_texts loader;
	struct class_texts c;

	if (size < sizeof(*r) || !jvm_take_string(&at, end, r->class_len, &c.name) ||
	    !take_loader(&at, end, r->loader_len, r->loader_name_len, &loader) ||
	    !jvm_take_string(&at, end, r->module_len, &c.module) ||
	    !jvm_take_string(&at, end, r->source_len, &c.source))
		return false;
	loader.hash = 0; /* a class is reported with its loader once */
	class_name_from_signature(name, sizeof(name), c.name, r->class_len);
	e.thread = thread_id(j, rec->tid);
	e.name = event_name_id(j, name);
	if (r->prepared) {
		e.kind = BRAID_JVM_CLASS_PREPARE;
	} else {
		j->classes_loaded++;
		e.value = r->modifiers;
		e.detail = loader_id(j, &loader);
		origin(text, sizeof(text), r, &c);
		e.text = trace_str_of(text);
	}
	jvm_events_emit(j->jvms, j->process, &e);
	return true;
}

void named_events_heap_class(struct jvm *j, struct trace_jvm_event *e, const char *class, size_t length,
			     const struct loader_texts *loader)
{
	char name[HOTSPOT_NAME_MAX];

	class_name_from_signature(name, sizeof(name), class, length);
	e->kind = BRAID_JVM_HEAP_CLASS;
	e->name = event_name_id(j, name);
	e->detail = loader_id(j, loader);
	jvm_events_emit(j->jvms, j->process, e);
}

void named_events_heap_others(struct jvm *j, struct trace_jvm_event *e, const char *what, uint32_t classes)
{
	e->kind = BRAID_JVM_HEAP_CLASS;
	e->name = event_name_id(j, what);
	e->flags = classes ?: 1;
	jvm_events_emit(j->jvms, j->process, e);
}

bool named_events_on_heap_class(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_heap_class *r = (const void *)rec;
	const char *at = (const char *)(r + 1), *end = (const char *)rec + size, *class;
	struct trace_jvm_event e = {.time_ns = rec->time_ns};
	struct loader_texts loader;

	if (size < sizeof(*r) || !jvm_take_string(&at, end, r->class_len, &class) ||
	    !take_loader(&at, end, r->loader_len, r->loader_name_len, &loader))
		return false;
	loader.hash = r->loader_hash;
	e.value = r->bytes;
	e.weight = r->objects;
	e.number = r->number;
	if (r->which == BRAID_HEAP_ROW_CLASS)
		named_events_heap_class(j, &e, class, r->class_len, &loader);
	else
		named_events_heap_others(
			j, &e, r->which == BRAID_HEAP_ROW_REST ? HEAP_REST : "[classes loaded meanwhile]", r->classes);
	return true;
}

bool named_events_on_unload(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_class_unload *r = (const void *)rec;
	char name[HOTSPOT_NAME_MAX];

	if (size < sizeof(*r) || r->name_len > size - sizeof(*r))
		return false;
	class_name_from_signature(name, sizeof(name), (const char *)(r + 1), r->name_len);
	j->classes_unloaded += r->count;
	if (jvm_enabled(j, BRAID_EVENT_TYPE_CLASS))
		jvm_events_emit(j->jvms, j->process,
				&(struct trace_jvm_event){.time_ns = rec->time_ns,
							  .kind = BRAID_JVM_CLASS_UNLOAD,
							  .name = event_name_id(j, name),
							  .value = r->count});
	return true;
}
