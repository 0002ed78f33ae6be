// SPDX-License-Identifier: Apache-2.0
/*
 * Methods of a JVM, from three sources: the agent's definitions, the kernel side's reads at samples, and the JVM's
 * memory. It gives them ids in the trace.
 */
#include "jvm_state.h"

#include "kernel/kernel_side.h"
#include "sink/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define LINES_MAX 4096U
#define METHODS_MAX (1U << 24) /* ids are dense */

/* ---- the agent's definitions ---- */

/* Ids are dense, so one far beyond the others is invalid. */
static struct jvm_method *method_slot(struct jvm *j, uint32_t id)
{
	if (id > j->method_count + (1U << 20) || id >= METHODS_MAX ||
	    !jvm_reach(j, (void **)&j->methods, &j->method_count, id, sizeof(*j->methods)))
		return NULL;
	return &j->methods[id];
}

static void *copy_of(struct jvm *j, const void *what, size_t size)
{
	void *p = jvm_keep(j, size) ? malloc(size) : NULL;

	return p ? memcpy(p, what, size) : NULL;
}

bool methods_on_method(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_method *r = (const void *)rec;
	struct jvm_method *m;

	if (size < sizeof(*r) || !r->method ||
	    size - sizeof(*r) < (size_t)r->class_len + r->name_len + r->sig_len + r->source_len)
		return false;
	m = method_slot(j, r->method);
	if (!m || m->record)
		return false;
	/* Bytes after the strings are not needed. */
	m->record = copy_of(j, rec, sizeof(*r) + r->class_len + r->name_len + r->sig_len + r->source_len);
	j->methods_reported += m->record != NULL;
	return true;
}

bool methods_on_lines(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_lines *r = (const void *)rec;
	struct jvm_method *m;

	if (size < sizeof(*r) || r->count > (size - sizeof(*r)) / sizeof(struct braid_line) ||
	    r->method >= j->method_count)
		return false;
	m = &j->methods[r->method];
	if (!m->record || m->lines)
		return false;
	m->lines = copy_of(j, rec, sizeof(*r) + r->count * sizeof(struct braid_line));
	return true;
}

bool methods_defined(const struct jvm *j, uint32_t id)
{
	return id < j->method_count && j->methods[id].record;
}

/* `size` is the space for both names; longer ones are cut. */
bool methods_name(const struct jvm *j, uint32_t id, char *to, size_t size)
{
	const struct braid_rec_method *r;
	const char *strings;
	size_t used;

	if (!methods_defined(j, id))
		return false;
	r = j->methods[id].record;
	strings = (const char *)(r + 1);
	used = class_name_from_signature(to, size - 1, strings, r->class_len);
	to[used++] = '.';
	utf8_from_modified(to + used, size - used, strings + r->class_len, r->name_len);
	return true;
}

/* ---- ids in the trace ---- */

static uint64_t hash_names(const char *class_name, const char *name, const char *signature)
{
	uint64_t hash = XXH3_64bits(class_name, strlen(class_name));

	hash = XXH3_64bits_withSeed(name, strlen(name), hash);
	return XXH3_64bits_withSeed(signature, strlen(signature), hash);
}

/*
 * The trace's id of a method with these names and lines. Methods that differ only in their lines are versions of one
 * method, from class redefinition. Versions are numbered in the order in which they are met.
 */
static uint32_t trace_method(struct jvm *j, struct trace_method *m, const struct braid_line *lines, uint32_t count)
{
	uint64_t names = hash_names(m->class_name.str, m->name.str, m->signature.str);
	struct pair_entry *e, *versions;

	e = pair_find(&j->named, names, XXH3_64bits(lines, count * sizeof(*lines)));
	if (e)
		return e->value;
	if (!account_reserve(&j->process->account, j->jvms->sink, BUDGET_METHODS, 1))
		return 0;
	e = pair_put(&j->named, names, XXH3_64bits(lines, count * sizeof(*lines)), ++j->jvms->last_method);
	versions = pair_find(&j->versions, names, 0);
	m->version = count && versions ? versions->value : 0;
	if (m->version)
		kernel_side_redefined(j->jvms->kernel, j->slot);
	if (count)
		pair_put(&j->versions, names, 0, m->version + 1);
	m->method = j->jvms->last_method;
	m->process = j->process->id;
	sink_method(j->jvms->sink, m);
	if (count)
		sink_lines(j->jvms->sink, &(struct trace_lines){.method = m->method,
								.count = count,
								.lines = (const struct trace_line *)lines});
	return e ? e->value : m->method;
}

/*
 * For anonymous classes of JDK 8 to 14, JVM TI appends a hash code, "Foo$$Lambda$1/1283928880", which the class's own
 * name does not have. It is cut so that a class has one name.
 */
static void cut_hash_code(char *class_name)
{
	char *slash = strrchr(class_name, '/');

	if (slash && slash[1] && !slash[1 + strspn(slash + 1, "0123456789")])
		*slash = '\0';
}

/* A method that the agent reported, in the form of one that was read. */
struct agent_names {
	char class_name[3 * BRAID_STR_MAX + 1], name[3 * BRAID_STR_MAX + 1], signature[3 * BRAID_STR_MAX + 1],
		source[3 * BRAID_STR_MAX + 1];
};

static void agent_names_of(const struct braid_rec_method *r, struct agent_names *to)
{
	const char *at = (const char *)(r + 1);

	class_name_from_signature(to->class_name, sizeof(to->class_name), at, r->class_len);
	cut_hash_code(to->class_name);
	at += r->class_len;
	utf8_from_modified(to->name, sizeof(to->name), at, r->name_len);
	at += r->name_len;
	utf8_from_modified(to->signature, sizeof(to->signature), at, r->sig_len);
	at += r->sig_len;
	utf8_from_modified(to->source, sizeof(to->source), at, r->source_len);
}

static uint32_t send_method(struct jvm *j, const struct jvm_method *m, bool lines)
{
	static struct agent_names n;

	agent_names_of(m->record, &n);
	return trace_method(j,
			    &(struct trace_method){.modifiers = m->record->modifiers,
						   .class_name = trace_str_of(n.class_name),
						   .name = trace_str_of(n.name),
						   .signature = trace_str_of(n.signature),
						   .source = trace_str_of(n.source)},
			    lines && m->lines ? (const struct braid_line *)(m->lines + 1) : NULL,
			    lines && m->lines ? m->lines->count : 0);
}

uint32_t methods_trace_id(struct jvm *j, uint32_t id, bool lines)
{
	struct jvm_method *m = id < j->method_count ? &j->methods[id] : NULL;

	if (!m || !m->record)
		return 0;
	if (!m->trace_id[lines])
		m->trace_id[lines] = send_method(j, m, lines);
	return m->trace_id[lines];
}

/* ---- in the JVM's memory ---- */

static int read_word(const struct jvm *j, uint64_t address, uint64_t *to)
{
	return hotspot_read_process(&j->process->pid, address, to, sizeof(*to));
}

/* Reads the lines and the source file of a ConstMethod. */
static uint32_t read_lines(struct jvm *j, uint64_t const_method, struct braid_line *lines, char *source, size_t size)
{
	pid_t *pid = &j->process->pid;
	int count =
		hotspot_lines_read(&j->layout, &j->names, hotspot_read_process, pid, const_method, lines, LINES_MAX);

	if (hotspot_source_read(&j->layout, &j->names, hotspot_read_process, pid, const_method, source, size))
		source[0] = '\0';
	return count > 0 ? (uint32_t)count : 0;
}

static uint32_t send_read(struct jvm *j, const struct hotspot_method *m, const struct braid_line *lines, uint32_t count,
			  const char *source)
{
	return trace_method(j,
			    &(struct trace_method){.modifiers = m->modifiers,
						   .class_name = trace_str_of(m->class_name),
						   .name = trace_str_of(m->name),
						   .signature = trace_str_of(m->signature),
						   .source = trace_str_of(source)},
			    lines, count);
}

bool methods_name_at(const struct jvm *j, uint64_t method, char *to, size_t size)
{
	static struct hotspot_method m;

	if (!method || hotspot_method_read(&j->layout, hotspot_read_process, &j->process->pid, method, &m))
		return false;
	snprintf(to, size, "%s.%s", m.class_name, m.name);
	return true;
}

uint32_t methods_read(struct jvm *j, uint64_t method)
{
	static struct braid_line lines[LINES_MAX];
	static struct hotspot_method m;
	char source[HOTSPOT_NAME_MAX];
	uint64_t const_method;

	if (hotspot_method_read(&j->layout, hotspot_read_process, &j->process->pid, method, &m) ||
	    read_word(j, method + j->layout.method_const, &const_method))
		return 0;
	return send_read(j, &m, lines, read_lines(j, const_method, lines, source, sizeof(source)), source);
}

bool methods_is_at(struct jvm *j, uint32_t id, uint64_t method)
{
	static struct hotspot_method now;
	static struct agent_names reported;

	if (id >= j->method_count || !j->methods[id].record ||
	    hotspot_method_read(&j->layout, hotspot_read_process, &j->process->pid, method, &now))
		return false;
	agent_names_of(j->methods[id].record, &reported);
	return strcmp(now.class_name, reported.class_name) == 0 && strcmp(now.name, reported.name) == 0 &&
	       strcmp(now.signature, reported.signature) == 0;
}

uint64_t methods_unloads(const struct jvm *j)
{
	uint64_t unloads;

	return j->names.class_unloads && !read_word(j, j->names.class_unloads, &unloads) ? unloads : 0;
}

/*
 * Whether the Method still has the address, sizes and first line that it had at the event. Another version of it would
 * have the same names. Its names go to *m.
 */
static bool read_again(struct jvm *j, const struct braid_event_method *e, struct hotspot_method *m)
{
	uint64_t lines_at = e->const_method + j->layout.const_size + (e->sizes & 0xffff);
	uint64_t sizes, const_method, lines;

	return e->const_method && !read_word(j, e->method + j->layout.method_const, &const_method) &&
	       const_method == e->const_method && !read_word(j, const_method + j->layout.const_code_size, &sizes) &&
	       sizes == e->sizes && !read_word(j, lines_at, &lines) && (!e->lines || lines == e->lines) &&
	       !hotspot_method_read(&j->layout, hotspot_read_process, &j->process->pid, e->method, m);
}

static bool take_names(const struct braid_event_method *e, struct hotspot_method *m)
{
	if (e->class_length > sizeof(e->class_name) || e->name_length > sizeof(e->name) ||
	    e->signature_length > sizeof(e->signature) || !e->class_length || !e->name_length || !e->signature_length ||
	    e->signature[0] != '(')
		return false;
	m->modifiers = e->modifiers & HOTSPOT_MODIFIERS;
	class_name_from_signature(m->class_name, sizeof(m->class_name), e->class_name, e->class_length);
	utf8_from_modified(m->name, sizeof(m->name), e->name, e->name_length);
	utf8_from_modified(m->signature, sizeof(m->signature), e->signature, e->signature_length);
	return true;
}

/*
 * The trace's id of a method: its names are those at the sample, lines and source are added if it still exists. 0: it
 * has no name.
 */
static uint32_t method_of(struct jvm *j, const struct braid_event_method *e)
{
	static struct braid_line lines[LINES_MAX];
	static struct hotspot_method reported, now;
	char source[HOTSPOT_NAME_MAX];
	uint32_t count = read_lines(j, e->const_method, lines, source, sizeof(source));
	bool there = read_again(j, e, &now);

	/*
	 * The names were not read at the sample: they are too long, or their pages were not in memory, such as those of
	 * the JDK's archive.
	 */
	if (!(e->flags & BRAID_METHOD_READ) || !take_names(e, &reported))
		return there ? send_read(j, &now, lines, count, source) : 0;
	there = there && strcmp(reported.class_name, now.class_name) == 0 && strcmp(reported.name, now.name) == 0 &&
		strcmp(reported.signature, now.signature) == 0;
	return send_read(j, &reported, lines, there ? count : 0, there ? source : "");
}

/*
 * Nothing of the Method was readable at the sample: the kernel was about to copy its page, as it does at the first
 * write to a page of the JDK's archive. It can be read now, unless a class has been unloaded: its memory may be
 * another's then.
 */
static bool is_still_there(const struct jvm *j, const struct braid_event_method *e)
{
	return !e->const_method && j->names.class_unloads && !methods_unloads(j);
}

void jvm_method_seen(struct jvm *j, const struct braid_event_method *e)
{
	struct pair_entry *old = pair_find(&j->interpreted, e->method, 0);
	uint32_t before = old ? old->value : 0, id;

	if (is_still_there(j, e))
		return; /* jvm_resolve_interpreted() reads it if it has no name yet */
	id = method_of(j, e) ?: NO_METHOD;
	if (before && before != id)
		j->process->generation++; /* the address has another meaning now */
	if (before || account_reserve(&j->process->account, j->jvms->sink, BUDGET_METHODS, 1))
		pair_put(&j->interpreted, e->method, 0, id);
}

void jvm_resolve_interpreted(struct jvm *j, uint64_t method, uint32_t bci, struct trace_frame *f)
{
	static struct trace_scope scope;
	struct pair_entry *e = pair_find(&j->interpreted, method, 0);
	uint32_t id = e ? e->value : methods_read(j, method);

	if (!e && id && account_reserve(&j->process->account, j->jvms->sink, BUDGET_METHODS, 1))
		pair_put(&j->interpreted, method, 0, id);
	scope = (struct trace_scope){.method = id == NO_METHOD ? 0 : id,
				     .bci = bci == BRAID_FRAME_BCI_NONE ? -1 : (int32_t)bci};
	f->scopes = &scope;
	f->scope_count = 1;
}

void methods_free(struct jvm *j)
{
	for (uint32_t i = 0; i < j->method_count; i++) {
		free(j->methods[i].record);
		free(j->methods[i].lines);
	}
	free(j->methods);
	pair_map_free(&j->interpreted);
	pair_map_free(&j->named);
	pair_map_free(&j->versions);
}
