// SPDX-License-Identifier: Apache-2.0
/*
 * Events in the format of `perf script --ns`: a header line, one line a frame from the leaf for samples, and an empty
 * line. Readers of that format take the first number behind a blank for the pid, so blanks in names become '_'.
 */
#include <inttypes.h>
#include <string.h>

#include <braid/frame.h>

#include "report.h"
#include "info.h"
#include "script.h"

#include <analyze/spans.h>
#include <analyze/stream.h>
#include <analyze/vthreads.h>
#include <util/moment.h>

/* The process and thread of an event, and whether the filter selects it. */
struct who {
	const char *name;
	uint32_t pid, tid, container; /* the last in a->strings, 0: none */
	bool selected;
};

static struct who who_thread(const struct analysis *an, uint32_t thread)
{
	uint32_t row = table_row_of(&an->a->threads, thread);
	struct who w = {.name = analysis_thread_name(an, row), .selected = analysis_selects_thread(an, row)};

	if (row != ROW_NONE) {
		const struct thread_row *t = table_row(&an->a->threads, row);

		w.pid = analysis_process(an, t->process)->pid;
		w.container = analysis_process(an, t->process)->container;
		w.tid = t->tid;
	}
	return w;
}

/* A process's own events belong to its first thread. */
static struct who who_process(const struct analysis *an, uint32_t process)
{
	const struct process_row *p = analysis_process(an, process);
	const char *comm = strpool_get(&an->a->strings, p->comm);

	return (struct who){.name = process == 0 ? "braid"
				    : *comm	 ? comm
						 : "[unknown]",
			    .pid = p->pid,
			    .container = p->container,
			    .tid = p->pid,
			    .selected = analysis_selects_first_thread(an, p)};
}

static void print_joined(FILE *out, const char *s)
{
	for (; *s; s++)
		putc(*s == ' ' ? '_' : *s, out);
}

static void print_time(FILE *out, const struct analysis *an, uint64_t time_ns, enum script_time base)
{
	uint64_t since_ns = time_ns - an->start_ns;
	bool before = time_ns < an->start_ns;
	char text[MOMENT_TEXT];

	if (base == SCRIPT_WALL && an->start_realtime_ns) {
		fputs(moment_iso(text, an->start_realtime_ns + since_ns, 9), out);
		return;
	}
	if (base == SCRIPT_MONOTONIC)
		since_ns = time_ns;
	else if (before)
		since_ns = an->start_ns - time_ns;
	fprintf(out, "%s%" PRIu64 ".%09" PRIu64, before && base != SCRIPT_MONOTONIC ? "-" : "", since_ns / 1000000000,
		since_ns % 1000000000);
}

static void print_head(FILE *out, const struct analysis *an, const struct script_options *o, struct who w, uint32_t cpu,
		       uint64_t time_ns)
{
	print_joined(out, w.name);
	fprintf(out, " %u/%u ", w.pid, w.tid);
	if (cpu != TRACE_NO_CPU)
		fprintf(out, "[%03u] ", cpu);
	print_time(out, an, time_ns, o->time);
	putc(':', out);
}

/* ---- samples ---- */

/* Distance from the symbol's start, in the address space in which the symbol is named. */
static bool symbol_offset(const struct analysis *an, const struct frame_row *f, uint64_t *offset)
{
	const struct symbol_row *s = table_get(&an->a->symbols, f->symbol);
	const struct mapping *m;
	uint64_t address = f->address;

	if (!s)
		return false;
	if (f->kind == BRAID_FRAME_NATIVE) {
		m = analysis_mapping(an, f, f->exact || !address ? address : address - 1);
		if (!m)
			return false;
		address -= m->bias;
	}
	*offset = address - s->address;
	return address >= s->address;
}

/* The "file" of generated code is the name that perf itself uses, so that tools recognize it. */
static void print_module(FILE *out, const struct analysis *an, const struct frame_row *f, uint32_t pid)
{
	const char *path = f ? analysis_module_path(an, f->module) : "";

	fputs(" (", out);
	if (f && f->kind == BRAID_FRAME_KERNEL)
		fputs("[kernel.kallsyms]", out);
	else if (f && (f->kind == BRAID_FRAME_CODE_CACHE || f->kind == BRAID_FRAME_INTERPRETED))
		fprintf(out, "/tmp/perf-%u.map", pid);
	else if (*path)
		print_joined(out, path);
	else
		fputs("[unknown]", out);
	fputs(")\n", out);
}

/* In the format of `perf script -F +srcline`. */
static void print_line(FILE *out, const struct analysis *an, const struct xframe *x)
{
	const char *file = analysis_file(an, x), *slash = strrchr(file, '/');

	if (!x->line)
		return;
	fputs("  ", out);
	print_joined(out, *file ? (slash ? slash + 1 : file) : "?");
	fprintf(out, ":%u\n", x->line);
}

static void print_xframe(FILE *out, const struct analysis *an, const struct frame_row *f, size_t xframe, uint32_t pid,
			 const struct script_options *o)
{
	uint32_t sym = an->xframes.at[xframe].sym;
	enum stack_kind kind = (enum stack_kind)an->syms.at[sym].kind;
	uint64_t offset;

	fprintf(out, "\t%16" PRIx64 " %s", f && f->kind != BRAID_FRAME_END ? f->address : 0,
		analysis_sym_name(an, sym));
	if (f && (kind == KIND_NATIVE || kind == KIND_KERNEL) && symbol_offset(an, f, &offset))
		fprintf(out, "+0x%" PRIx64, offset);
	if (o->annotate)
		fputs(kind_suffix(kind), out);
	print_module(out, an, f, pid);
	if (o->lines)
		print_line(out, an, &an->xframes.at[xframe]);
}

static void print_stack(FILE *out, const struct analysis *an, size_t row, uint32_t pid, const struct script_options *o)
{
	for (uint32_t at = (uint32_t)row; at != ROW_NONE; at = an->stacks[at].parent) {
		const struct stack *s = &an->stacks[at];
		const struct frame_row *f = s->frame == ROW_NONE ? NULL : table_row(&an->a->frames, s->frame);

		for (uint32_t i = f ? an->expansions[s->frame].count : 0; i-- > 0;)
			print_xframe(out, an, f, an->expansions[s->frame].first + i, pid, o);
		if (s->detached || !f)
			print_xframe(out, an, NULL, XFRAME_DAMAGED, pid, &(struct script_options){0});
	}
}

static void print_vthread(FILE *out, const struct analysis *an, const struct vthread_row *v)
{
	const char *name = strpool_get(&an->a->strings, v->name);

	fprintf(out, "# virtual thread %" PRIu64, v->number);
	if (*name) {
		fputs(" \"", out);
		for (; *name; name++)
			putc((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name, out);
		putc('"', out);
	}
	putc('\n', out);
}

/* As comments, which programs that read this format skip. */
static void print_about(FILE *out, const struct analysis *an, struct who w, uint32_t vthread, uint32_t span)
{
	const struct vthread_row *v = vthreads_get(an->a, vthread);
	const struct span_row *s = spans_get(an->a, span);

	if (w.container)
		fprintf(out, "# container %s\n", strpool_get(&an->a->strings, w.container));
	if (v)
		print_vthread(out, an, v);
	if (!s)
		return;
	fprintf(out, "# trace %016" PRIx64 "%016" PRIx64 " span %016" PRIx64, s->trace_hi, s->trace_lo, s->span_id);
	text_attributes(out, an->a, spans_get(an->a, s->same)->attributes);
	putc('\n', out);
}

static void print_values(FILE *out, struct trace_str text)
{
	char clean[2048];

	if (text.len)
		fprintf(out, " %.*s",
			(int)text_clean(clean, text.str, text.len < sizeof(clean) ? text.len : sizeof(clean)), clean);
}

static bool is_everything(const struct script_options *o)
{
	return !o->events && !o->named.count;
}

static bool is_selected_sample(const struct timed *t, const struct script_options *o)
{
	if (is_everything(o) || (o->events & 1 && !t->hit))
		return true;
	for (size_t i = 0; i < o->named.count; i++)
		if (hits_named(t->name, o->named.at[i]))
			return true;
	return false;
}

static bool print_sample(FILE *out, const struct analysis *an, const struct trace_sample *r,
			 const struct script_options *o)
{
	struct who w = who_thread(an, r->thread);
	struct timed t;

	if (!stream_sample(an, r, &t))
		return false;
	if (!is_selected_sample(&t, o))
		return false;
	print_about(out, an, w, t.vthread, t.span);
	print_head(out, an, o, w, t.cpu, t.time_ns);
	fprintf(out, " %10" PRIu64 " ", t.weight);
	print_joined(out, *t.name ? t.name : "samples");
	putc(':', out);
	print_values(out, t.text);
	putc('\n', out);
	if (t.stack != ROW_NONE)
		print_stack(out, an, t.stack, w.pid, o);
	else
		print_xframe(out, an, NULL, t.xframe, w.pid, &(struct script_options){0});
	putc('\n', out);
	return true;
}

/* ---- the others ---- */

static void print_quoted(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"' || text[i] == '\\')
			putc('\\', out);
		putc(text[i], out);
	}
}

/* Prints in pieces that end at a character's border, so that a longer string needs no memory. */
void script_text(FILE *out, const char *key, struct trace_str s)
{
	char part[256];

	fprintf(out, " %s=\"", key);
	for (size_t at = 0, len; s.str && at < s.len; at += len) {
		len = s.len - at < sizeof(part) ? s.len - at : sizeof(part);
		for (int back = 0; back < 3 && at + len < s.len && (s.str[at + len] & 0xc0) == 0x80; back++)
			len--;
		print_quoted(out, part, text_clean(part, s.str + at, len));
	}
	putc('"', out);
}

/* Prints the prefix when the filter selects the event, which has no stack and belongs to no span. */
static bool script_begin(FILE *out, const struct analysis *an, const struct script_options *o, struct who w,
			 uint64_t time_ns, const char *name)
{
	if (!w.selected || an->filter->include.count || filter_has_span(an->filter) ||
	    !analysis_selects_time(an, time_ns))
		return false;
	print_head(out, an, o, w, 0, time_ns);
	fprintf(out, " braid:%s:", name);
	return true;
}

static bool print_code(FILE *out, const struct analysis *an, const struct trace_code_load *r,
		       const struct script_options *o)
{
	if (!script_begin(out, an, o, who_process(an, r->process), r->time_ns, "code_load"))
		return false;
	fprintf(out, " address=0x%" PRIx64 " size=%" PRIu64 " tier=%u compile_id=%u replay=%u\n", r->address, r->size,
		r->tier, r->compile_id, r->replay);
	return true;
}

static bool print_code_unload(FILE *out, const struct analysis *an, const struct trace_code_unload *r,
			      const struct script_options *o)
{
	if (!script_begin(out, an, o, who_process(an, r->process), r->time_ns, "code_unload"))
		return false;
	fprintf(out, " address=0x%" PRIx64 "\n", r->address);
	return true;
}

static bool print_loss(FILE *out, const struct analysis *an, const struct trace_loss *r, const struct script_options *o)
{
	if (!script_begin(out, an, o, who_process(an, r->process), r->time_ns, "loss"))
		return false;
	script_text(out, "hop", r->hop);
	script_text(out, "kind", r->kind);
	fprintf(out, " count=%" PRIu64 "\n", r->count);
	return true;
}

static bool print_stat(FILE *out, const struct analysis *an, const struct trace_stat *r, const struct script_options *o)
{
	if (!script_begin(out, an, o, who_process(an, r->process), r->time_ns, "stat"))
		return false;
	script_text(out, "key", r->key);
	fprintf(out, " value=%" PRIu64 "\n", r->value);
	return true;
}

static bool print_notice(FILE *out, const struct analysis *an, const struct trace_notice *r,
			 const struct script_options *o)
{
	if (!script_begin(out, an, o, who_process(an, r->process), r->time_ns, "notice"))
		return false;
	fprintf(out, " severity=%u", r->severity);
	script_text(out, "text", r->text);
	putc('\n', out);
	return true;
}

/*
 * An event with a stack gets a second header in the format of a sample's, so that readers of that format can
 * distinguish its stack from samples' by the event's name.
 */
static void print_event_stack(FILE *out, const struct analysis *an, const struct event *e, struct who w,
			      const char *name, const struct script_options *o)
{
	if (e->stack == ROW_NONE && !e->row->node)
		return;
	print_about(out, an, w, e->row->vthread, e->row->span);
	print_head(out, an, o, w, 0, e->row->time_ns);
	fprintf(out, " %10" PRIu64 " braid:%s:\n", e->weight, name);
	if (e->k->leaf)
		fprintf(out, "\t%16x %s ([class])\n", 0, *e->name ? e->name : "[unknown]");
	if (e->stack != ROW_NONE)
		print_stack(out, an, e->stack, w.pid, o);
	else
		print_xframe(out, an, NULL, XFRAME_DAMAGED, w.pid, &(struct script_options){0});
	putc('\n', out);
}

static bool print_jvm_event(FILE *out, const struct analysis *an, const struct jvm_event_row *row,
			    const struct script_options *o)
{
	const char *name = row ? jvm_event_name(row->kind) : NULL;
	struct event e;
	struct who w;

	if (!name || !events_of_row(an, row, &e))
		return false;
	w = row->thread ? who_thread(an, row->thread) : who_process(an, row->process);
	print_about(out, an, w, row->vthread, row->span);
	print_head(out, an, o, w, 0, row->time_ns);
	fprintf(out, " braid:%s:", name);
	script_fields(out, an, &e);
	putc('\n', out);
	print_event_stack(out, an, &e, w, name, o);
	return true;
}

static bool print_process_state(FILE *out, const struct analysis *an, const struct trace_process_state *r,
				const struct script_options *o)
{
	if (!script_begin(out, an, o, who_process(an, r->process), r->time_ns, process_state_name(r->what)))
		return false;
	fprintf(out, " process=%u\n", r->process);
	return true;
}

static bool print_end(FILE *out, const struct analysis *an, const struct trace_end *r, const struct script_options *o)
{
	if (!script_begin(out, an, o, who_process(an, 0), r->time_ns, "end"))
		return false;
	fputs(" recording=ended\n", out);
	return true;
}

/* Samples are looked at where their event's name is known. */
static bool is_selected(const struct trace_rec *rec, const struct script_options *o)
{
	uint32_t kind = rec->jvm_event.kind;

	if (is_everything(o) || rec->kind == TRACE_SAMPLE)
		return true;
	return rec->kind == TRACE_JVM_EVENT && kind < 64 && o->events >> kind & 1;
}

bool script_print(FILE *out, const struct analysis *an, const struct trace_rec *rec, const struct jvm_event_row *jvm,
		  const struct script_options *o)
{
	if (!is_selected(rec, o))
		return false;
	switch (rec->kind) {
	case TRACE_SAMPLE:
		return print_sample(out, an, &rec->sample, o);
	case TRACE_PROCESS_STATE:
		return print_process_state(out, an, &rec->process_state, o);
	case TRACE_CODE_LOAD:
		return print_code(out, an, &rec->code_load, o);
	case TRACE_CODE_UNLOAD:
		return print_code_unload(out, an, &rec->code_unload, o);
	case TRACE_JVM_EVENT:
		return print_jvm_event(out, an, jvm, o);
	case TRACE_LOSS:
		return print_loss(out, an, &rec->loss, o);
	case TRACE_STAT:
		return print_stat(out, an, &rec->stat, o);
	case TRACE_NOTICE:
		return print_notice(out, an, &rec->notice, o);
	case TRACE_END:
		return print_end(out, an, &rec->end, o);
	default:
		return false;
	}
}
