// SPDX-License-Identifier: Apache-2.0
#include "jvm.h"

#include "hotspot.h"
#include "util/log.h"
#include "util/pair_map.h"

#include <braid/frame.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SCOPE_MAX 256		       /* inlining depth; HotSpot's own limit is far lower */
#define DEFER_NS 1000000000ULL	       /* wait this long for a code record before the JVM's memory is asked */
#define UNLOADED_KEEP_NS 5000000000ULL /* samples of unloaded code arrive within this time */

/* A method as the agent told it; sent on to the trace when a sample needs it. */
struct jvm_method {
	struct braid_rec_method *told;
	struct braid_rec_lines *lines;
	uint32_t trace_id;
};

/* A frame whose code is not known yet. */
struct deferred {
	struct trace_frame frame;
	uint64_t time_ns;
};

struct jvm {
	struct session *session;
	struct process *process;
	uint32_t slot, generation;
	bool replayed;
	bool layout_told;
	struct braid_layout layout;
	struct trace_jvm told;
	char *strings[4];	    /* vm_name, vm_version, java_version, command */
	struct jvm_method *methods; /* by agent id */
	uint32_t method_count;
	struct code_map code;
	uint64_t purged_ns;
	struct pair_map interpreted; /* (Method address, 0): trace method, extra: `unloads` when it was read */
	struct pair_map named;	     /* (Method address, hash of its names): trace method */
	uint32_t unloads;
	struct deferred *deferred;
	size_t deferred_count, deferred_capacity;
	uint64_t methods_told, loads, unloaded, gc_pauses, threads_started, threads_ended, classes_unloaded, bad;
};

struct jvm *jvm_new(struct session *s, struct process *process, uint32_t slot, uint32_t generation)
{
	struct jvm *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->session = s;
	j->process = process;
	j->slot = slot;
	j->generation = generation;
	return j;
}

void jvm_free(struct jvm *j)
{
	if (!j)
		return;
	for (uint32_t i = 0; i < j->method_count; i++) {
		free(j->methods[i].told);
		free(j->methods[i].lines);
	}
	for (int i = 0; i < 4; i++)
		free(j->strings[i]);
	free(j->methods);
	code_map_free(&j->code);
	pair_map_free(&j->interpreted);
	pair_map_free(&j->named);
	free(j->deferred);
	free(j);
}

uint32_t jvm_slot(const struct jvm *j)
{
	return j->slot;
}

uint32_t jvm_generation(const struct jvm *j)
{
	return j->generation;
}

bool jvm_layout_told(const struct jvm *j)
{
	return j->layout_told;
}

bool jvm_replayed(const struct jvm *j)
{
	return j->replayed;
}

/* ---- strings of records ---- */

/* The next of a record's strings: false when it does not fit. */
static bool take(const char **at, const char *end, uint16_t length, const char **out)
{
	if ((size_t)(end - *at) < length)
		return false;
	*out = *at;
	*at += length;
	return true;
}

static void replace(char **to, const char *text, uint16_t length)
{
	free(*to);
	*to = malloc(3 * (size_t)length + 1);
	if (*to)
		utf8_from_modified(*to, 3 * (size_t)length + 1, text, length);
}

/* ---- definitions ---- */

static void emit_jvm(struct jvm *j)
{
	j->told.process = j->process->id;
	j->told.layout_flags = j->layout.flags;
	j->told.vm_name = trace_str_of(j->strings[0] ? j->strings[0] : "");
	j->told.vm_version = trace_str_of(j->strings[1] ? j->strings[1] : "");
	j->told.java_version = trace_str_of(j->strings[2] ? j->strings[2] : "");
	j->told.command = trace_str_of(j->strings[3] ? j->strings[3] : "");
	session_emit(j->session, &(struct trace_rec){.kind = TRACE_JVM, .jvm = j->told});
}

static bool on_hello(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_hello *r = (const void *)rec;
	const char *at = (const char *)(r + 1), *end = (const char *)rec + size, *text[4];

	if (size < sizeof(*r) || !take(&at, end, r->vm_version_len, &text[1]) ||
	    !take(&at, end, r->vm_name_len, &text[0]) || !take(&at, end, r->java_version_len, &text[2]) ||
	    !take(&at, end, r->command_len, &text[3]))
		return false;
	if (r->version != BRAID_RING_VERSION) {
		session_notice(
			j->session, j->process->id, BRAID_NOTICE_WARNING,
			"the agent in process %d speaks version %u, this braid %u: restart that JVM, or use its braid",
			j->process->pid, r->version, BRAID_RING_VERSION);
		return false;
	}
	replace(&j->strings[0], text[0], r->vm_name_len);
	replace(&j->strings[1], text[1], r->vm_version_len);
	replace(&j->strings[2], text[2], r->java_version_len);
	replace(&j->strings[3], text[3], r->command_len);
	j->told.start = r->start;
	j->told.jvmti_version = r->jvmti_version;
	j->told.caps_got_lo = r->caps_got[0];
	j->told.caps_got_hi = r->caps_got[1];
	j->told.caps_refused_lo = r->caps_refused[0];
	j->told.caps_refused_hi = r->caps_refused[1];
	emit_jvm(j);
	return true;
}

static bool on_layout(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_layout *r = (const void *)rec;

	if (size < sizeof(*r))
		return false;
	j->layout = r->layout;
	j->layout_told = true;
	if (j->layout.heap_count > BRAID_CODE_HEAPS)
		j->layout.heap_count = BRAID_CODE_HEAPS;
	emit_jvm(j);
	return true;
}

/* Ids are dense; one that is far beyond the others is a lie. */
static struct jvm_method *method_slot(struct jvm *j, uint32_t id)
{
	uint32_t count = j->method_count ? j->method_count : 1024;
	struct jvm_method *bigger;

	if (id < j->method_count)
		return &j->methods[id];
	if (id > j->method_count + (1U << 20))
		return NULL;
	while (count <= id)
		count *= 2;
	bigger = realloc(j->methods, count * sizeof(*bigger));
	if (!bigger)
		return NULL;
	memset(bigger + j->method_count, 0, (count - j->method_count) * sizeof(*bigger));
	j->methods = bigger;
	j->method_count = count;
	return &j->methods[id];
}

static void *copy_of(const void *what, size_t size)
{
	void *p = malloc(size);

	return p ? memcpy(p, what, size) : NULL;
}

static bool on_method(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_method *r = (const void *)rec;
	struct jvm_method *m;

	if (size < sizeof(*r) || !r->method ||
	    size - sizeof(*r) < (size_t)r->class_len + r->name_len + r->sig_len + r->source_len)
		return false;
	m = method_slot(j, r->method);
	if (!m || m->told)
		return false;
	m->told = copy_of(rec, size);
	j->methods_told++;
	return m->told != NULL;
}

static bool on_lines(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_lines *r = (const void *)rec;
	struct jvm_method *m;

	if (size < sizeof(*r) || r->count > (size - sizeof(*r)) / sizeof(struct braid_line) ||
	    r->method >= j->method_count)
		return false;
	m = &j->methods[r->method];
	if (!m->told || m->lines)
		return false;
	m->lines = copy_of(rec, size);
	return m->lines != NULL;
}

static uint32_t emit_method(struct jvm *j, uint32_t modifiers, const char *class_name, const char *name,
			    const char *signature, const char *source)
{
	uint32_t id = ++j->session->last_method;

	session_emit(j->session, &(struct trace_rec){.kind = TRACE_METHOD,
						     .method = {.method = id,
								.process = j->process->id,
								.modifiers = modifiers,
								.class_name = trace_str_of(class_name),
								.name = trace_str_of(name),
								.signature = trace_str_of(signature),
								.source = trace_str_of(source)}});
	return id;
}

static uint32_t send_method(struct jvm *j, const struct braid_rec_method *r)
{
	static char class_name[3 * BRAID_STR_MAX + 1], name[3 * BRAID_STR_MAX + 1], sig[3 * BRAID_STR_MAX + 1],
		source[3 * BRAID_STR_MAX + 1];
	const char *at = (const char *)(r + 1);

	class_name_from_signature(class_name, sizeof(class_name), at, r->class_len);
	at += r->class_len;
	utf8_from_modified(name, sizeof(name), at, r->name_len);
	at += r->name_len;
	utf8_from_modified(sig, sizeof(sig), at, r->sig_len);
	at += r->sig_len;
	utf8_from_modified(source, sizeof(source), at, r->source_len);
	return emit_method(j, r->modifiers, class_name, name, sig, source);
}

/* The trace's id of an agent's method; 0 when the agent never defined it. */
static uint32_t trace_method(struct jvm *j, uint32_t id)
{
	struct jvm_method *m = id < j->method_count ? &j->methods[id] : NULL;

	if (!m || !m->told)
		return 0;
	if (m->trace_id)
		return m->trace_id;
	m->trace_id = send_method(j, m->told);
	if (m->lines)
		session_emit(j->session,
			     &(struct trace_rec){.kind = TRACE_LINES,
						 .lines = {.method = m->trace_id,
							   .count = m->lines->count,
							   .lines = (const struct trace_line *)(m->lines + 1)}});
	return m->trace_id;
}

/* ---- code ---- */

static void settle_deferred(struct jvm *j, const struct code *c);

static void add_code(struct jvm *j, struct code *c)
{
	if (code_map_add(&j->code, c)) {
		code_free(c);
		return;
	}
	j->process->generation++;
}

static bool on_code_load(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_code_load *r = (const void *)rec;
	struct code *old, *c;

	if (size < sizeof(*r) || r->address >> 47 || !r->code_size)
		return false;
	old = code_map_at(&j->code, r->address);
	if (old && !old->unload_ns && (rec->flags & BRAID_REC_REPLAY) && old->method == r->method &&
	    old->size == r->code_size && old->compile_id == r->compile_id)
		return true; /* told twice: live and by the replay */
	c = calloc(1, sizeof(*c));
	if (!c)
		return false;
	*c = (struct code){.address = r->address,
			   .size = r->code_size,
			   .load_ns = rec->time_ns,
			   .method = r->method,
			   .tier = r->tier,
			   .compile_id = r->compile_id,
			   .is_osr = r->is_osr != 0,
			   .replay = (rec->flags & BRAID_REC_REPLAY) != 0};
	add_code(j, c);
	j->loads++;
	session_emit(j->session, &(struct trace_rec){.kind = TRACE_CODE_LOAD,
						     .code_load = {.time_ns = rec->time_ns,
								   .process = j->process->id,
								   .address = r->address,
								   .size = r->code_size,
								   .tier = r->tier,
								   .compile_id = r->compile_id,
								   .replay = c->replay}});
	if (!r->scope_rows)
		settle_deferred(j, c);
	return true;
}

static bool on_code_scopes(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_code_scopes *r = (const void *)rec;
	struct code *c;

	if (size < sizeof(*r) || r->bytes > size - sizeof(*r))
		return false;
	c = code_map_at(&j->code, r->address);
	if (!c || c->name)
		return false;
	if ((rec->flags & BRAID_REC_REPLAY) && !c->replay)
		return true; /* had them from the live record */
	if (!code_add_scopes(c, r + 1, r->bytes, r->rows))
		return false;
	settle_deferred(j, c);
	return true;
}

static bool on_code_unload(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_code_unload *r = (const void *)rec;
	struct code *c;

	if (size < sizeof(*r))
		return false;
	c = code_map_at(&j->code, r->address);
	if (c && !c->unload_ns)
		c->unload_ns = rec->time_ns;
	j->process->generation++;
	j->unloaded++;
	session_emit(j->session, &(struct trace_rec){.kind = TRACE_CODE_UNLOAD,
						     .code_unload = {.time_ns = rec->time_ns,
								     .process = j->process->id,
								     .address = r->address}});
	return true;
}

static bool on_stub(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_stub *r = (const void *)rec;
	struct code *c, *old;

	if (size < sizeof(*r) || r->name_len > size - sizeof(*r) || r->address >> 47 || !r->size)
		return false;
	old = code_map_at(&j->code, r->address);
	if (old && old->name && old->size == r->size)
		return true;
	c = calloc(1, sizeof(*c));
	if (!c)
		return false;
	*c = (struct code){.address = r->address,
			   .size = r->size,
			   .load_ns = rec->time_ns,
			   .tier = BRAID_TIER_UNKNOWN,
			   .replay = true};
	replace(&c->name, (const char *)(r + 1), r->name_len);
	if (!c->name) {
		free(c);
		return false;
	}
	add_code(j, c);
	settle_deferred(j, c);
	return true;
}

/* ---- threads, GC, the rest ---- */

static bool on_thread(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_thread *r = (const void *)rec;
	const char *at = (const char *)(r + 1);
	char name[sizeof(((struct thread *)0)->name)], group[256];
	struct thread *t;

	if (size < sizeof(*r) || size - sizeof(*r) < (size_t)r->name_len + r->group_len)
		return false;
	if (!(r->flags & BRAID_THREAD_INITIAL))
		j->threads_started++;
	if (!r->thread_tid)
		return true;
	utf8_from_modified(name, sizeof(name), at, r->name_len);
	utf8_from_modified(group, sizeof(group), at + r->name_len, r->group_len);
	t = processes_java_thread(j->session->processes, j->process, (pid_t)r->thread_tid,
				  r->flags & BRAID_THREAD_INITIAL ? NULL : name);
	if (!t)
		return true; /* ended already, and never seen running */
	t->flags = TRACE_THREAD_JAVA | (r->flags & BRAID_THREAD_DAEMON ? TRACE_THREAD_DAEMON : 0);
	memcpy(t->name, name, sizeof(name));
	processes_emit_thread(j->session->processes, t, trace_str_of(group));
	if (!(r->flags & BRAID_THREAD_INITIAL))
		session_emit(
			j->session,
			&(struct trace_rec){.kind = TRACE_THREAD_STATE,
					    .thread_state = {.time_ns = rec->time_ns, .thread = t->id, .what = 0}});
	return true;
}

static bool on_thread_end(struct jvm *j, const struct braid_rec *rec)
{
	struct thread *t = processes_java_thread(j->session->processes, j->process, (pid_t)rec->tid, NULL);

	j->threads_ended++;
	if (t && t->id && (t->flags & TRACE_THREAD_JAVA))
		session_emit(
			j->session,
			&(struct trace_rec){.kind = TRACE_THREAD_STATE,
					    .thread_state = {.time_ns = rec->time_ns, .thread = t->id, .what = 1}});
	return true;
}

static bool on_gc(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_gc *r = (const void *)rec;
	bool finish = rec->kind == BRAID_REC_GC_FINISH;

	if (size < sizeof(*r))
		return false;
	j->gc_pauses += finish;
	session_emit(j->session, &(struct trace_rec){.kind = TRACE_GC,
						     .gc = {.time_ns = rec->time_ns,
							    .process = j->process->id,
							    .what = finish,
							    .sequence = r->sequence}});
	return true;
}

static bool on_class_unload(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_class_unload *r = (const void *)rec;
	char name[HOTSPOT_NAME_MAX];

	if (size < sizeof(*r) || r->name_len > size - sizeof(*r))
		return false;
	class_name_from_signature(name, sizeof(name), (const char *)(r + 1), r->name_len);
	j->unloads++;
	j->classes_unloaded += r->count;
	j->process->generation++;
	session_emit(j->session, &(struct trace_rec){.kind = TRACE_CLASS_UNLOAD,
						     .class_unload = {.time_ns = rec->time_ns,
								      .process = j->process->id,
								      .count = r->count,
								      .name = trace_str_of(name)}});
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
};

static bool on_loss(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_loss *r = (const void *)rec;
	const struct braid_loss *l = (const void *)(r + 1);

	if (size < sizeof(*r) || r->count > (size - sizeof(*r)) / sizeof(*l))
		return false;
	for (uint32_t i = 0; i < r->count; i++) {
		const char *kind = l[i].kind < BRAID_REC_KINDS ? kind_names[l[i].kind] : NULL;

		session_loss(j->session, j->process->id, "agent", kind ? kind : "unknown", l[i].lost);
	}
	return true;
}

static bool on_notice(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_notice *r = (const void *)rec;
	char text[1024];

	if (size < sizeof(*r) || r->text_len > size - sizeof(*r))
		return false;
	utf8_from_modified(text, sizeof(text), r + 1, r->text_len);
	session_notice(j->session, j->process->id, r->severity ? BRAID_NOTICE_WARNING : BRAID_NOTICE_INFO,
		       "agent in process %d: %s", j->process->pid, text);
	return true;
}

static bool on_state(struct jvm *j, const struct braid_rec *rec, uint32_t what)
{
	session_emit(j->session,
		     &(struct trace_rec){
			     .kind = TRACE_PROCESS_STATE,
			     .process_state = {.time_ns = rec->time_ns, .process = j->process->id, .what = what}});
	return true;
}

static bool apply(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	switch (rec->kind) {
	case BRAID_REC_HELLO:
		return on_hello(j, rec, size);
	case BRAID_REC_LAYOUT:
		return on_layout(j, rec, size);
	case BRAID_REC_METHOD:
		return on_method(j, rec, size);
	case BRAID_REC_LINES:
		return on_lines(j, rec, size);
	case BRAID_REC_CODE_LOAD:
		return on_code_load(j, rec, size);
	case BRAID_REC_CODE_SCOPES:
		return on_code_scopes(j, rec, size);
	case BRAID_REC_CODE_UNLOAD:
		return on_code_unload(j, rec, size);
	case BRAID_REC_STUB:
		return on_stub(j, rec, size);
	case BRAID_REC_THREAD:
		return on_thread(j, rec, size);
	case BRAID_REC_THREAD_END:
		return on_thread_end(j, rec);
	case BRAID_REC_GC_START:
	case BRAID_REC_GC_FINISH:
		return on_gc(j, rec, size);
	case BRAID_REC_CLASS_UNLOAD:
		return on_class_unload(j, rec, size);
	case BRAID_REC_VM_INIT:
		return on_state(j, rec, 4);
	case BRAID_REC_VM_DEATH:
		return on_state(j, rec, 5);
	case BRAID_REC_LOSS:
		return on_loss(j, rec, size);
	case BRAID_REC_REPLAYED:
		j->replayed = true;
		return on_state(j, rec, 6);
	case BRAID_REC_NOTICE:
		return on_notice(j, rec, size);
	default:
		return true; /* of a newer agent */
	}
}

void jvm_record(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	if (!apply(j, rec, size))
		j->bad++;
}

/* ---- frames ---- */

/* The code's definition in the trace, sent when the first sample hits it. */
static uint32_t trace_code(struct jvm *j, struct code *c)
{
	uint32_t method;

	if (c->trace_id)
		return c->trace_id;
	method = c->trace_method ? c->trace_method : trace_method(j, c->method);
	c->trace_id = ++j->session->last_code;
	session_emit(j->session, &(struct trace_rec){.kind = TRACE_CODE,
						     .code = {.code = c->trace_id,
							      .process = j->process->id,
							      .kind = c->name ? TRACE_CODE_STUB : TRACE_CODE_METHOD,
							      .method = method,
							      .tier = c->tier,
							      .compile_id = c->compile_id,
							      .is_osr = c->is_osr,
							      .address = c->address,
							      .size = c->size,
							      .load_ns = c->load_ns,
							      .name = trace_str_of(c->name ? c->name : "")}});
	return c->trace_id;
}

/* Where look-ups of a frame's pc go: return addresses belong to the instruction before. */
static uint64_t lookup_pc(uint64_t pc, bool exact)
{
	return exact ? pc : pc - 1;
}

static void fill_code(struct jvm *j, struct code *c, uint64_t pc, bool exact, struct trace_frame *f)
{
	static struct trace_scope scopes[SCOPE_MAX];
	const struct braid_scope *told;
	uint32_t depth;

	f->code = trace_code(j, c);
	f->scope_count = 0;
	f->scopes = scopes;
	if (c->name)
		return;
	depth = code_scopes_at(c, pc - c->address, exact, &told);
	for (uint32_t i = 0; i < depth && i < SCOPE_MAX; i++)
		scopes[f->scope_count++] =
			(struct trace_scope){.method = trace_method(j, told[i].method), .bci = told[i].bci};
	if (!f->scope_count)
		scopes[f->scope_count++] = (struct trace_scope){
			.method = c->trace_method ? c->trace_method : trace_method(j, c->method), .bci = -1};
}

bool jvm_resolve_code(struct jvm *j, uint64_t pc, bool exact, uint64_t time_ns, struct trace_frame *f)
{
	struct code *c = code_map_find(&j->code, lookup_pc(pc, exact), time_ns);

	if (!c)
		return false;
	fill_code(j, c, pc, exact, f);
	return true;
}

/* The method at an address now. Classes come and go, and with them what an address means: the names tell. */
static uint32_t read_method(struct jvm *j, uint64_t method)
{
	static struct hotspot_method m;
	struct pair_entry *e;
	uint64_t hash;

	if (hotspot_method_read(&j->layout, hotspot_read_process, &j->process->pid, method, &m))
		return 0;
	hash = XXH3_64bits(m.class_name, strlen(m.class_name));
	hash = XXH3_64bits_withSeed(m.name, strlen(m.name), hash);
	hash = XXH3_64bits_withSeed(m.signature, strlen(m.signature), hash);
	e = pair_find(&j->named, method, hash);
	if (!e)
		e = pair_put(&j->named, method, hash,
			     emit_method(j, m.modifiers, m.class_name, m.name, m.signature, ""));
	return e ? e->value : 0;
}

void jvm_resolve_interpreted(struct jvm *j, uint64_t method, uint32_t bci, struct trace_frame *f)
{
	static struct trace_scope scope;
	struct pair_entry *e = pair_find(&j->interpreted, method, 0);
	uint32_t id = e ? e->value : 0; /* when the process is gone, the method that was there is the best answer */

	if (!e || e->extra != j->unloads) {
		id = read_method(j, method) ?: id;
		e = id ? pair_put(&j->interpreted, method, 0, id) : NULL;
		if (e)
			e->extra = j->unloads;
	}
	scope = (struct trace_scope){.method = id, .bci = bci == BRAID_FRAME_BCI_NONE ? -1 : (int32_t)bci};
	f->scopes = &scope;
	f->scope_count = 1;
}

void jvm_defer(struct jvm *j, const struct trace_frame *f, uint64_t time_ns)
{
	if (j->deferred_count == j->deferred_capacity) {
		size_t capacity = j->deferred_capacity ? j->deferred_capacity * 2 : 64;
		struct deferred *bigger = realloc(j->deferred, capacity * sizeof(*bigger));

		if (!bigger)
			return;
		j->deferred = bigger;
		j->deferred_capacity = capacity;
	}
	j->deferred[j->deferred_count++] = (struct deferred){.frame = *f, .time_ns = time_ns};
}

static void send_deferred(struct jvm *j, struct deferred *d, struct code *c)
{
	fill_code(j, c, d->frame.address, d->frame.exact, &d->frame);
	session_emit(j->session, &(struct trace_rec){.kind = TRACE_FRAME, .frame = d->frame});
}

/* New code: what was sampled in it before its record came can now be named. */
static void settle_deferred(struct jvm *j, const struct code *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->deferred_count; i++) {
		struct deferred *d = &j->deferred[i];
		uint64_t pc = lookup_pc(d->frame.address, d->frame.exact);
		struct code *found = pc - c->address < c->size ? code_map_find(&j->code, pc, d->time_ns) : NULL;

		if (found)
			send_deferred(j, d, found);
		else
			j->deferred[kept++] = *d;
	}
	j->deferred_count = kept;
}

/* Asks the JVM's own code heap, for code whose record was lost or never came. */
static struct code *code_from_memory(struct jvm *j, uint64_t pc)
{
	static struct hotspot_method m;
	struct hotspot_blob b;
	struct code *c;

	if (hotspot_blob_find(&j->layout, hotspot_read_process, &j->process->pid, pc, &b))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	*c = (struct code){.address = b.address,
			   .size = b.size,
			   .load_ns = now_ns(),
			   .tier = b.tier,
			   .compile_id = b.compile_id,
			   .replay = true};
	if (b.method && !hotspot_method_read(&j->layout, hotspot_read_process, &j->process->pid, b.method, &m))
		c->trace_method = emit_method(j, m.modifiers, m.class_name, m.name, m.signature, "");
	else
		c->name = strdup(b.name);
	if ((!c->trace_method && !c->name) || code_map_add(&j->code, c)) {
		code_free(c);
		return NULL;
	}
	return c;
}

void jvm_tick(struct jvm *j, uint64_t time_ns, bool final)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->deferred_count; i++) {
		struct deferred *d = &j->deferred[i];
		uint64_t pc = lookup_pc(d->frame.address, d->frame.exact);
		struct code *c = code_map_find(&j->code, pc, d->time_ns);

		if (!c && (final || time_ns - d->time_ns > DEFER_NS)) {
			c = code_from_memory(j, pc);
			if (!c)
				continue; /* stays without a name */
		}
		if (c)
			send_deferred(j, d, c);
		else
			j->deferred[kept++] = *d;
	}
	j->deferred_count = kept;
	if (time_ns - j->purged_ns > UNLOADED_KEEP_NS) {
		code_map_purge(&j->code, time_ns - UNLOADED_KEEP_NS);
		j->purged_ns = time_ns;
	}
}

void jvm_emit_stats(struct jvm *j)
{
	uint32_t p = j->process->id;

	session_stat(j->session, p, "methods", j->methods_told);
	session_stat(j->session, p, "code_loads", j->loads);
	session_stat(j->session, p, "code_unloads", j->unloaded);
	session_stat(j->session, p, "gc_pauses", j->gc_pauses);
	session_stat(j->session, p, "threads_started", j->threads_started);
	session_stat(j->session, p, "threads_ended", j->threads_ended);
	session_stat(j->session, p, "classes_unloaded", j->classes_unloaded);
	if (j->bad)
		session_stat(j->session, p, "records_bad", j->bad);
}
