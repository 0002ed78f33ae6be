// SPDX-License-Identifier: Apache-2.0
/*
 * Takes out of a trace what its reader is not to know. Every string of every kind of record has its place here: what is
 * not known to be harmless goes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/hits.h>
#include <analyze/kinds.h>
#include <braid/ring.h>
#include <trace/str.h>

#include "pseudonyms.h"
#include "put.h"

struct strip {
	const struct strip_options *o;
	struct pseudonyms p;
	struct table names;   /* uint8_t: enum pseudonym_of plus one, of a TRACE_NAME that is used */
	struct table modules; /* bool: public */
	struct table kernel;  /* bool: the process is a thread of the kernel */
};

static const struct trace_str nothing = {"", 0};

/* ---- what names are used for ---- */

/* What the field of a JVM event with this title is; what is not here is the VM's own vocabulary, or a number. */
static enum pseudonym_of role_of(const char *title)
{
	static const struct {
		const char *title;
		enum pseudonym_of of;
	} roles[] = {
		{"class", PSEUDONYM_CLASS},	 {"exception", PSEUDONYM_CLASS}, {"method", PSEUDONYM_METHOD},
		{"caught_in", PSEUDONYM_METHOD}, {"name", PSEUDONYM_THREAD},	 {"group", PSEUDONYM_THREAD},
		{"object", PSEUDONYM_PATH},	 {"mapping", PSEUDONYM_PATH},	 {"reason", PSEUDONYM_PATH},
		{"loader", PSEUDONYM_CLASS},	 {"choices", PSEUDONYM_CHOICES}, {"field", PSEUDONYM_METHOD},
		{"writer", PSEUDONYM_METHOD},
	};
	static const char *const public[] = {"collector", "cause",    "phase",	 "operation", "call",
					     "fault",	  "kind",     "what",	 "heap",      "resource",
					     "device",	  "function", "vm_state"};

	for (size_t i = 0; title && i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(title, roles[i].title) == 0)
			return roles[i].of;
	for (size_t i = 0; title && i < sizeof(public) / sizeof(public[0]); i++)
		if (strcmp(title, public[i]) == 0)
			return PSEUDONYM_NONE;
	return PSEUDONYM_TEXT;
}

/* A name with several uses gets the first pseudonym that it needs. */
static int use_name(struct strip *s, uint32_t name, enum pseudonym_of of)
{
	uint8_t *at = name ? table_put(&s->names, name) : NULL;

	if (!at)
		return name ? -ENOMEM : 0;
	if (!*at || *at == PSEUDONYM_NONE + 1)
		*at = (uint8_t)(of + 1);
	return 0;
}

static int use_event(struct strip *s, const struct trace_jvm_event *e)
{
	const struct kind *k = kind_of(e->kind);
	enum pseudonym_of name = role_of(k ? k->name_is.title : NULL), detail = role_of(k ? k->detail_is.title : NULL);

	if (e->kind == BRAID_JVM_DEOPT)
		detail = PSEUDONYM_NONE; /* its reason is the VM's; that of OFFCPU is a file or an address */
	return use_name(s, e->name, name) ?: use_name(s, e->detail, detail);
}

static int mark(struct table *t, uint32_t id, bool is)
{
	bool *at = id ? table_put(t, id) : NULL;

	if (at)
		*at = *at || is;
	return at || !id ? 0 : -ENOMEM;
}

static bool is_marked(const struct table *t, uint32_t id)
{
	const bool *at = table_get(t, id);

	return at && *at;
}

static int use(struct strip *s, const struct trace_rec *rec)
{
	switch (rec->kind) {
	case TRACE_JVM_EVENT:
		return use_event(s, &rec->jvm_event);
	case TRACE_SAMPLE:
		return use_name(s, rec->sample.event, PSEUDONYM_EVENT);
	case TRACE_SETTING:
		if (rec->setting.origin == BRAID_SETTING_PROPERTY)
			return 0;
		return use_name(s, rec->setting.key, PSEUDONYM_NONE) ?: use_name(s, rec->setting.value, PSEUDONYM_TEXT);
	case TRACE_MODULE:
		return mark(&s->modules, rec->module.module, pseudonyms_path_is_public(rec->module.path));
	case TRACE_THREAD:
		return mark(&s->kernel, rec->thread.process, rec->thread.flags & TRACE_THREAD_KERNEL);
	default:
		return 0;
	}
}

/* ---- records ---- */

static void change(struct strip *s, struct trace_str *at, enum pseudonym_of of)
{
	if (s->o->anonymise)
		*at = pseudonym(&s->p, of, *at);
}

static bool is_one_of(struct trace_str s, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_equals(s, texts[i]))
			return true;
	return false;
}

static bool strip_info(struct strip *s, struct trace_info *info)
{
	static const char *const private[] = {"record.target", "record.command", "record.offcpu_filter",
					      IMPORT_FACT_FILE};
	/* Events with expressions name the program's parts. */
	static const struct {
		const char *key;
		enum pseudonym_of of;
	} events[] = {{"record.choices", PSEUDONYM_CHOICES},
		      {"record.event", PSEUDONYM_EVENT},
		      {"record.events", PSEUDONYM_EVENTS}};
	static const char *const public[] = {"record.braid",
					     "host.kernel",
					     "host.machine",
					     "host.cpus",
					     "record.period",
					     "record.frequency_hz",
					     "record.alloc_interval",
					     "record.duration_ns",
					     "merge.traces",
					     IMPORT_FACT_FORMAT,
					     IMPORT_FACT_BY,
					     IMPORT_FACT_CLOCK,
					     IMPORT_FACT_BRAID,
					     WINDOW_FROM,
					     WINDOW_TO};

	if (is_one_of(info->key, private, sizeof(private) / sizeof(private[0])))
		return false;
	if (!s->o->anonymise || is_one_of(info->key, public, sizeof(public) / sizeof(public[0])))
		return true;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (str_equals(info->key, events[i].key)) {
			change(s, &info->value, events[i].of);
			return info->value.len > 0;
		}
	return false;
}

static void strip_process(struct strip *s, struct trace_process *p)
{
	bool public = is_marked(&s->kernel, p->process) || pseudonyms_comm_is_public(p->comm, p->exe);

	change(s, &p->exe, PSEUDONYM_PATH);
	if (!public)
		change(s, &p->comm, PSEUDONYM_THREAD);
	if (s->o->anonymise)
		p->cgroup = nothing;
}

static void strip_method(struct strip *s, struct trace_method *m)
{
	/* a method whose class is not known belongs to nobody's */
	if (!m->class_name.len || !pseudonyms_class_is_public(&s->p, m->class_name)) {
		change(s, &m->name, PSEUDONYM_MEMBER);
		change(s, &m->source, PSEUDONYM_SOURCE);
	}
	change(s, &m->class_name, PSEUDONYM_CLASS);
	change(s, &m->signature, PSEUDONYM_TYPES);
}

static void strip_module(struct strip *s, struct trace_module *m)
{
	if (!is_marked(&s->modules, m->module) && s->o->anonymise)
		m->build_id = nothing;
	change(s, &m->path, PSEUDONYM_PATH);
}

/* Names that nothing uses any more were those of what has been taken out. */
static bool strip_name(struct strip *s, struct trace_name *n)
{
	const uint8_t *of = table_get(&s->names, n->name);

	if (!of || !*of)
		return false;
	change(s, &n->text, (enum pseudonym_of)(*of - 1));
	return true;
}

/* Texts of the VM, and of the kernel. */
static bool text_is_public(uint32_t kind)
{
	return kind == BRAID_JVM_GC_PAUSE || kind == BRAID_JVM_GC_CYCLE || kind == BRAID_JVM_DEOPT;
}

static bool strip_event(struct strip *s, struct trace_jvm_event *e)
{
	if (e->kind == BRAID_JVM_SYSCALL || e->kind == BRAID_JVM_METHOD || e->kind == BRAID_JVM_FIELD)
		e->text = nothing;
	else if (!text_is_public(e->kind))
		change(s, &e->text, PSEUDONYM_TEXT);
	return true;
}

/* False for a record that is left out. */
static bool strip_definition(struct strip *s, struct trace_rec *rec)
{
	switch (rec->kind) {
	case TRACE_INFO:
		return strip_info(s, &rec->info);
	case TRACE_PROCESS:
		strip_process(s, &rec->process);
		return true;
	case TRACE_THREAD:
		if (!(rec->thread.flags & TRACE_THREAD_KERNEL))
			change(s, &rec->thread.name, PSEUDONYM_THREAD);
		change(s, &rec->thread.group, PSEUDONYM_THREAD);
		return true;
	case TRACE_MODULE:
		strip_module(s, &rec->module);
		return true;
	case TRACE_SYMBOL:
		if (!is_marked(&s->modules, rec->symbol.module))
			change(s, &rec->symbol.name, PSEUDONYM_FUNCTION);
		return true;
	case TRACE_JVM:
		rec->jvm.command = nothing;
		return true;
	case TRACE_METHOD:
		strip_method(s, &rec->method);
		return true;
	case TRACE_PLACE:
		change(s, &rec->place.name, PSEUDONYM_FUNCTION);
		change(s, &rec->place.file, PSEUDONYM_PATH);
		return true;
	case TRACE_VTHREAD:
		change(s, &rec->vthread.name, PSEUDONYM_THREAD);
		return true;
	case TRACE_NAME:
		return strip_name(s, &rec->name);
	case TRACE_RESOURCE:
	case TRACE_ATTRIBUTE:
		return false;
	case TRACE_SETTING:
		return rec->setting.origin != BRAID_SETTING_PROPERTY;
	case TRACE_CLOCK:
	case TRACE_MAPPING:
	case TRACE_LINES:
	case TRACE_CODE: /* the names are those of the VM's stubs */
	case TRACE_FRAME:
	case TRACE_NODE:
	case TRACE_SPAN:
		return true;
	default:
		return false;
	}
}

/* The figure of a hit event has its name. */
static void strip_stat(struct strip *s, struct trace_stat *stat)
{
	struct trace_str name = str_part(stat->key, strlen(HITS_STAT), stat->key.len);

	if (!s->o->anonymise || !str_begins(stat->key, HITS_STAT))
		return;
	stat->key = pseudonym_behind(&s->p, HITS_STAT, PSEUDONYM_EVENT, name);
}

static bool strip_record(struct strip *s, struct trace_rec *rec)
{
	switch (rec->kind) {
	case TRACE_SAMPLE:
		rec->sample.text = nothing;
		return true;
	case TRACE_JVM_EVENT:
		return strip_event(s, &rec->jvm_event);
	case TRACE_NOTICE:
		change(s, &rec->notice.text, PSEUDONYM_TEXT);
		return true;
	case TRACE_PROCESS_STATE:
	case TRACE_CODE_LOAD:
	case TRACE_CODE_UNLOAD:
	case TRACE_LOSS: /* where and what: words of this program */
	case TRACE_END:
		return true;
	case TRACE_STAT:
		strip_stat(s, &rec->stat);
		return true;
	default:
		return strip_definition(s, rec);
	}
}

static int find_uses(struct strip *s, struct trace_reader *r)
{
	struct trace_rec rec;
	int got, err = 0;

	trace_reader_rewind(r);
	while (!err && (got = trace_reader_next(r, &rec)) != 0)
		err = got < 0 ? got : use(s, &rec);
	return err;
}

static int write_stripped(struct strip *s, struct trace_reader *r, struct trace_writer *w, struct edit_counts *c)
{
	struct trace_rec rec;
	int got, err = 0;

	trace_reader_rewind(r);
	while (!err && (got = trace_reader_next(r, &rec)) != 0) {
		bool kept;

		if (got < 0)
			return got;
		kept = strip_record(s, &rec);
		err = s->p.failed ? -ENOMEM : put_kept(w, &rec, kept, c);
	}
	return err ?: put_lost(w, c);
}

int edit_strip(struct trace_writer *w, struct trace_reader *r, const struct strip_options *o, struct edit_counts *c)
{
	struct strip s = {.o = o, .p = {.keep = o->keep, .keep_count = o->keep_count}};
	int err;

	*c = (struct edit_counts){0};
	table_init(&s.names, sizeof(uint8_t));
	table_init(&s.modules, sizeof(bool));
	table_init(&s.kernel, sizeof(bool));
	err = find_uses(&s, r);
	err = err ?: write_stripped(&s, r, w, c);
	table_free(&s.names);
	table_free(&s.modules);
	table_free(&s.kernel);
	pseudonyms_free(&s.p);
	return err;
}
