// SPDX-License-Identifier: Apache-2.0
/*
 * Traces become one by giving their objects new ids. Those of the same host and boot share its clock, its processes and
 * their threads; others are moved on the clock of the first by the time of day.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/events.h>
#include <analyze/hash.h>
#include <trace/str.h>

#include "merge_fit.h"
#include "put.h"

struct input {
	struct trace_reader *reader;
	const struct analysis *an;
	size_t host;	  /* number of the first input of the same host and boot */
	size_t identity;  /* the same, of its processes: equal ones are the same process */
	size_t recording; /* the same, of its figures: parts of one recording all have its own */
	int64_t shift_ns; /* from its clock to the new trace's */
	uint32_t first_cpu;
	uint32_t name;			   /* TRACE_NAME of its host, see put_hosts() */
	uint32_t samples_of;		   /* the same, of what took its samples, if the new trace has others; else 0 */
	struct table ids[TRACE_ID_SPACES]; /* uint32_t: the new id */
	struct trace_rec event;		   /* the next one */
	bool ended;
	bool in_order; /* it has a record of its end */
};

/* A process of a host, by its pid and start; a thread of a process, by its tid and name. */
struct known {
	uint64_t a, b;
	uint32_t id; /* new */
	size_t input;
};

struct known_objects {
	struct known *at;
	size_t count, room;
	struct u64map of; /* a and b to the place of the last one, plus one */
};

struct merge {
	struct trace_writer *w;
	struct input *in;
	size_t count, at;   /* `at`: the one whose record is being written */
	size_t base;	    /* the one whose samples are those of the new trace, see merge_base() */
	bool same_interval; /* of allocations */
	uint32_t next[TRACE_ID_SPACES];
	uint32_t numbers; /* of figures */
	struct known_objects processes, threads;
	struct strpool strings;
	VEC(uint64_t) figures;
	struct u64map figure_of; /* input (`count`: all) and number of a figure to its place, plus one */
	struct u64map number_of; /* new process id and key to the number of a figure, plus one */
	trace_scopes scopes;
	uint64_t end_ns;
	struct edit_counts *counts;
	int err;
};

/* ---- inputs ---- */

/* Returns the number of CPUs of all hosts. */
static uint32_t inputs_init(struct merge *m, const struct merge_input *in)
{
	uint32_t cpus = 0;

	for (size_t i = 0; i < m->count; i++) {
		struct input *to = &m->in[i];

		to->reader = in[i].reader;
		to->an = in[i].an;
		to->host = to->recording = i;
		for (size_t k = 0; k < i && to->recording == i; k++)
			if (merge_same_recording(&in[k], &in[i]))
				to->recording = m->in[k].recording;
		for (size_t k = 0; k < i && to->host == i; k++)
			if (m->in[k].host == k && merge_same_boot(&in[k], &in[i]))
				to->host = k;
		to->identity = merge_has_objects(&in[i]) ? i : to->host;
		to->first_cpu = to->host == i ? cpus : m->in[to->host].first_cpu;
		to->shift_ns = to->host == 0 ? 0 : merge_epoch_ns(in[to->host].an->a) - merge_epoch_ns(in[0].an->a);
		cpus += to->host == i ? merge_cpus(&in[i]) : 0;
		for (unsigned space = 0; space < TRACE_ID_SPACES; space++)
			table_init(&to->ids[space], sizeof(uint32_t));
		trace_reader_rewind(to->reader);
	}
	return cpus;
}

/* ---- ids ---- */

/* The place of an id's new id; it is 0 when it has none yet. */
static uint32_t *new_id_of(struct merge *m, enum trace_id_space space, uint32_t id)
{
	uint32_t *place = table_put(&m->in[m->at].ids[space], id);

	if (!place)
		m->err = -ENOMEM;
	return place;
}

static uint32_t new_id(void *ctx, enum trace_id_space space, enum trace_id_role role, uint32_t id)
{
	struct merge *m = ctx;
	uint32_t *place = new_id_of(m, space, id);

	(void)role;
	if (!place)
		return 0;
	if (!*place)
		*place = ++m->next[space];
	return *place;
}

/* Gives an object that another trace has defined its new id, and remembers it. */
static void join(struct merge *m, enum trace_id_space space, uint32_t id, uint64_t a, uint64_t b)
{
	struct known_objects *known = space == TRACE_ID_PROCESS ? &m->processes : &m->threads;
	uint32_t *place = new_id_of(m, space, id), *at = u64map_put(&known->of, a * UINT64_C(0x9e3779b97f4a7c15) ^ b);
	const struct known *k = at && *at ? &known->at[*at - 1] : NULL;

	if (!place || !at || m->err) {
		m->err = -ENOMEM;
		return;
	}
	if (k && !*place && k->a == a && k->b == b && k->input != m->at)
		*place = k->id;
	if (VEC_PUSH(known, (struct known){a, b, new_id(m, space, TRACE_ID_DEFINED, id), m->at}))
		m->err = -ENOMEM;
	*at = (uint32_t)known->count;
}

static void join_process(struct merge *m, const struct trace_process *p)
{
	const struct input *in = &m->in[m->at];

	if (p->process)
		join(m, TRACE_ID_PROCESS, p->process, (uint64_t)in->identity << 32 | p->pid, p->start_ns);
}

static void join_thread(struct merge *m, const struct trace_thread *t)
{
	uint32_t process = t->process ? new_id(m, TRACE_ID_PROCESS, TRACE_ID_USED, t->process) : 0;
	uint32_t name = strpool_add(&m->strings, t->name.str, t->name.str ? t->name.len : 0);

	if (name == STRPOOL_FAILED)
		m->err = -ENOMEM;
	else if (t->thread)
		join(m, TRACE_ID_THREAD, t->thread, (uint64_t)process << 32 | t->tid, name);
}

/* ---- records ---- */

/* The place of an input's figure, plus one, or of all inputs' (`count`); 0: no memory. */
static uint32_t figure_of(struct merge *m, size_t input, uint32_t number)
{
	uint32_t *at = u64map_put(&m->figure_of, (uint64_t)input << 32 | number);

	if (at && !*at && !VEC_PUSH(&m->figures, 0))
		*at = (uint32_t)m->figures.count;
	return at ? *at : 0;
}

/* The number of a process's figure, or of the recorder's, plus one; 0: no memory. */
static uint32_t number_of(struct merge *m, uint32_t process, struct trace_str name)
{
	uint32_t key = strpool_add(&m->strings, name.str, name.str ? name.len : 0);
	uint32_t *at = key == STRPOOL_FAILED ? NULL : u64map_put(&m->number_of, (uint64_t)process << 32 | key);

	if (at && !*at)
		*at = ++m->numbers;
	return at ? *at : 0;
}

/* What is counted adds up: a record has the last value of its own trace, and gets that of all so far. */
static int add_up(struct merge *m, struct trace_stat *s)
{
	uint32_t process = s->process ? new_id(m, TRACE_ID_PROCESS, TRACE_ID_USED, s->process) : 0;
	uint32_t number = number_of(m, process, s->key), own, all;

	if (!number || m->err)
		return -ENOMEM;
	own = figure_of(m, m->in[m->at].recording, number);
	all = figure_of(m, m->count, number);
	if (!own || !all)
		return -ENOMEM;
	m->figures.at[all - 1] += s->value - m->figures.at[own - 1];
	m->figures.at[own - 1] = s->value;
	s->value = m->figures.at[all - 1];
	return 0;
}

/* Whether it says how long the thread, that is off the CPU, could have run at the end. */
static bool has_tail(const struct trace_jvm_event *e)
{
	return e->kind == BRAID_JVM_OFFCPU ||
	       (e->kind == BRAID_JVM_LOCK && e->flags & BRAID_LOCK_PARKED && e->source == BRAID_SOURCE_KERNEL);
}

/*
 * A part of a trace may have more than its window: what began before it or ended behind it, and threads that lived on.
 * Another part has the rest. False: nothing of the event is in the window.
 */
static bool clip(const struct analysis *an, struct trace_jvm_event *e)
{
	uint64_t end_ns = add_saturating(e->time_ns, e->duration_ns);
	const struct kind *k = kind_of(e->kind);

	if (!analysis_has_window(an))
		return true;
	switch (e->kind) {
	case BRAID_JVM_CONFIG:
	case BRAID_JVM_JNI_STACK:
	/* what an allocation in the window became */
	case BRAID_JVM_LIVE:
	case BRAID_JVM_UNCOLLECTED:
	case BRAID_JVM_DIED:
	case BRAID_JVM_UNFREED:
		return true;
	default:
		break;
	}
	if (k && k->weight == WEIGHT_VALUE) /* it has no parts; the last moment of its time has it */
		return analysis_selects_time(an, end_ns - (e->duration_ns != 0));
	if (!analysis_clip(an, &e->time_ns, &e->duration_ns))
		return false;
	end_ns -= add_saturating(e->time_ns, e->duration_ns);
	if (has_tail(e))
		e->value -= end_ns < e->value ? end_ns : e->value;
	return true;
}

/* With several sampling intervals, each event has its own weight. */
static void weigh(const struct analysis *an, struct trace_jvm_event *e)
{
	const struct kind *k = kind_of(e->kind);

	if (k && k->weight == WEIGHT_ESTIMATE)
		e->weight = events_estimate(an, e->value, e->weight);
}

static int put(struct merge *m, struct trace_rec *rec)
{
	struct input *in = &m->in[m->at];

	if (rec->kind == TRACE_JVM_EVENT && !clip(in->an, &rec->jvm_event))
		return put_kept(m->w, rec, false, m->counts);
	trace_times_shift(rec, in->shift_ns);
	if (rec->kind == TRACE_PROCESS)
		join_process(m, &rec->process);
	if (rec->kind == TRACE_THREAD)
		join_thread(m, &rec->thread);
	if (rec->kind == TRACE_SAMPLE)
		rec->sample.cpu += rec->sample.cpu == TRACE_NO_CPU ? 0 : in->first_cpu;
	if (rec->kind == TRACE_STAT && add_up(m, &rec->stat))
		return -ENOMEM;
	if (rec->kind == TRACE_JVM_EVENT && !m->same_interval)
		weigh(in->an, &rec->jvm_event);
	if (trace_ids_replace(rec, &m->scopes, new_id, m) || m->err)
		return -ENOMEM;
	if (rec->kind == TRACE_SAMPLE && !rec->sample.event)
		rec->sample.event = in->samples_of;
	return put_kept(m->w, rec, true, m->counts);
}

/* Reads an input up to its next event, and writes the definitions in front of it. */
static int advance(struct merge *m, size_t at)
{
	struct input *in = &m->in[at];
	int got, err = 0;

	m->at = at;
	while (!err && (got = trace_reader_next(in->reader, &in->event)) != 0) {
		if (got < 0)
			return got;
		if (in->event.kind == TRACE_END) {
			in->in_order = true;
			trace_times_shift(&in->event, in->shift_ns);
			if (in->event.end.time_ns > m->end_ns)
				m->end_ns = in->event.end.time_ns;
		} else if (in->event.kind >= TRACE_FIRST_EVENT) {
			return 0;
		} else if (in->event.kind != TRACE_INFO) {
			err = put(m, &in->event);
		}
	}
	in->ended = true;
	return err;
}

static uint64_t next_ns(const struct input *in)
{
	return (uint64_t)((int64_t)event_time_ns(&in->event) + in->shift_ns);
}

/* All events, nearly in the order of time, as each input has them. */
static int write_events(struct merge *m)
{
	int err = 0;

	for (size_t i = 0; i < m->count && !err; i++)
		err = advance(m, i);
	while (!err) {
		size_t first = m->count;

		for (size_t i = 0; i < m->count; i++)
			if (!m->in[i].ended && (first == m->count || next_ns(&m->in[i]) < next_ns(&m->in[first])))
				first = i;
		if (first == m->count)
			break;
		m->at = first;
		err = put(m, &m->in[first].event);
		err = err ?: advance(m, first);
	}
	return err;
}

/* ---- facts ---- */

/* A list without repetitions. */
struct list {
	FILE *out;
	char *text;
	size_t size;
	struct strpool seen;
	bool any;
};

/* `key_length`: the part that distinguishes items; of lock=10us and lock=1ms, the first one counts. */
static int list_add(struct list *l, const char *item, size_t length, size_t key_length, const char *between)
{
	size_t before = l->seen.strings.count;

	if (!length)
		return 0;
	if (strpool_add(&l->seen, item, key_length) == STRPOOL_FAILED)
		return -ENOMEM;
	if (l->seen.strings.count == before)
		return 0;
	fprintf(l->out, "%s%.*s", l->any ? between : "", (int)length, item);
	l->any = true;
	return 0;
}

/* What the inputs say under a key, in a list; `between`, if it is one character, separates their own items, too. */
static int put_list(struct merge *m, const struct merge_input *in, const char *key, const char *between)
{
	struct list l = {0};
	int err;

	l.out = open_memstream(&l.text, &l.size);
	err = l.out ? 0 : -ENOMEM;
	for (size_t i = 0; i < m->count && !err; i++) {
		const char *text = merge_fact(&in[i], key);
		bool items = !between[1];

		for (size_t n; *text && !err; text += n + (text[n] != 0)) {
			n = items ? strcspn(text, between) : strlen(text);
			err = list_add(&l, text, n, items ? strcspn(text, "=,") : n, between);
		}
	}
	if (l.out && fclose(l.out) && !err)
		err = -ENOMEM;
	if (!err && *l.text)
		err = put_info(m->w, key, l.text);
	free(l.text);
	strpool_free(&l.seen);
	return err;
}

/* The facts that are the same in all, and those of the first that are of no other. */
static int put_first(struct merge *m, const struct analyzer *a)
{
	static const char *const own[] = {"record.duration_ns", "record.choices", "record.target", "record.command",
					  "host.name",		"host.cpus",	  WINDOW_FROM,	   WINDOW_TO};
	static const char interval[] = "record.alloc_interval";
	int err = 0;

	for (size_t i = 0; i < a->infos.count && !err; i++) {
		const char *key = strpool_get(&a->strings, a->infos.at[i].key);
		bool skip = false;

		for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
			skip = skip || strcmp(key, own[k]) == 0;
		if (!skip && (m->same_interval || strcmp(key, interval) != 0))
			err = put_info(m->w, key, strpool_get(&a->strings, a->infos.at[i].value));
	}
	return err;
}

static int put_facts(struct merge *m, const struct merge_input *in, uint32_t cpus)
{
	int err = put_first(m, in[m->base].an->a);

	if (cpus && !err)
		err = put_info_number(m->w, "host.cpus", cpus);
	err = err ?: put_info_number(m->w, "merge.traces", m->count);
	err = err ?: put_list(m, in, "record.choices", ",");
	err = err ?: put_list(m, in, "record.target", "; ");
	err = err ?: put_list(m, in, "record.command", "; ");
	return err ?: put_list(m, in, "host.name", ", ");
}

/* The time between the first moment of any and the last one; a trace whose end is missing lasts as long as it says. */
static int put_duration(struct merge *m, const struct merge_input *in)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct filter all = {0};
		struct window w;

		if (analysis_window(&w, in[i].an->a, &all))
			continue;
		trace_time_shift(&w.start_ns, m->in[i].shift_ns);
		trace_time_shift(&w.end_ns, m->in[i].shift_ns);
		first_ns = w.start_ns < first_ns ? w.start_ns : first_ns;
		last_ns = w.end_ns > last_ns ? w.end_ns : last_ns;
	}
	return put_info_number(m->w, "record.duration_ns", last_ns > first_ns ? last_ns - first_ns : 0);
}

static int put_name(struct merge *m, const char *text, uint32_t *name)
{
	*name = ++m->next[TRACE_ID_NAME];
	return trace_writer_put(m->w, &(struct trace_rec){.kind = TRACE_NAME, .name = {*name, str_of(text)}});
}

/* Samples that do not count like those of the new trace are events of their own, by the name of what took them. */
static int name_samples(struct merge *m, const struct merge_input *in)
{
	int err = 0;

	for (size_t i = 0; i < m->count && !err; i++) {
		const char *event = merge_fact(&in[i], "record.event");

		if (merge_differs(&in[m->base], &in[i]))
			err = put_name(m, *event ? event : "samples", &m->in[i].samples_of);
	}
	return err;
}

/* Processes of several hosts have the name of theirs as an attribute, as OpenTelemetry calls it. */
static int put_hosts(struct merge *m, const struct merge_input *in)
{
	bool several = false;
	uint32_t key = 0;
	int err = 0;

	for (size_t i = 1; i < m->count; i++)
		several = several || m->in[i].host != 0;
	if (!several)
		return 0;
	err = put_name(m, "host.name", &key);
	for (size_t i = 0; i < m->count && !err; i++)
		err = put_name(m, merge_fact(&in[i], "host.name"), &m->in[i].name);
	for (size_t i = 0; i < m->processes.count && !err; i++) {
		const struct known *p = &m->processes.at[i];

		err = trace_writer_put(m->w, &(struct trace_rec){.kind = TRACE_RESOURCE,
								 .resource = {p->id, key, m->in[p->input].name}});
	}
	return err;
}

static int put_end(struct merge *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (!m->in[i].in_order)
			return 0;
	return trace_writer_put(m->w, &(struct trace_rec){.kind = TRACE_END, .end = {m->end_ns}});
}

int edit_merge(struct trace_writer *w, const struct merge_input *in, size_t count, struct edit_counts *c)
{
	struct merge m = {.w = w,
			  .count = count,
			  .base = merge_base(in, count),
			  .same_interval = true,
			  .counts = c,
			  .in = calloc(count, sizeof(*m.in))};
	int err = m.in ? 0 : -ENOMEM;

	*c = (struct edit_counts){0};
	for (size_t i = 1; i < count; i++)
		m.same_interval = m.same_interval && strcmp(merge_fact(&in[0], "record.alloc_interval"),
							    merge_fact(&in[i], "record.alloc_interval")) == 0;
	err = err ?: put_facts(&m, in, inputs_init(&m, in));
	err = err ?: put_duration(&m, in);
	err = err ?: name_samples(&m, in);
	err = err ?: write_events(&m);
	err = err ?: put_hosts(&m, in);
	err = err ?: put_lost(w, c);
	err = err ?: put_end(&m);
	for (size_t i = 0; m.in && i < count; i++)
		for (unsigned space = 0; space < TRACE_ID_SPACES; space++)
			table_free(&m.in[i].ids[space]);
	free(m.in);
	free(m.processes.at);
	free(m.threads.at);
	u64map_free(&m.processes.of);
	u64map_free(&m.threads.of);
	u64map_free(&m.figure_of);
	u64map_free(&m.number_of);
	free(m.figures.at);
	free(m.scopes.at);
	strpool_free(&m.strings);
	return err;
}
