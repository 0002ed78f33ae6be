// SPDX-License-Identifier: Apache-2.0
/*
 * Writes a trace from what another tool recorded: gives ids to names, frames, stacks and threads, and writes each
 * definition once. The first error stays in `err`: from then on ids are 0, and nothing more is written.
 */
#ifndef BRAID_IMPORT_BUILDER_H
#define BRAID_IMPORT_BUILDER_H

#include <analyze/hash.h>
#include <braid/frame.h>
#include <trace/str.h>
#include <trace/trace.h>

#define BUILDER_TEXT_MAX 65535U /* bytes of a text; what is longer is cut */

/* What kind of code a frame is, as far as the source has it. */
enum import_code {
	IMPORT_NATIVE,
	IMPORT_KERNEL,
	IMPORT_INTERPRETED,
	IMPORT_COMPILED, /* by a compiler that is not known */
	IMPORT_C1,
	IMPORT_INLINED, /* into the frame that called it */
	IMPORT_END,	/* no frame: the stack is incomplete, because of `cause` */
};

/* Texts are as they are in the source, and empty if it does not have them. */
struct import_frame {
	enum import_code code;
	uint32_t cause;		     /* enum braid_end */
	struct trace_str class_name; /* of a Java method, with dots */
	struct trace_str name;
	struct trace_str signature;
	struct trace_str file;
	struct trace_str module;
	uint32_t modifiers;
	int32_t bci;   /* -1: not known */
	uint32_t line; /* 0: not known */
};

struct import_thread {
	uint32_t process;
	uint32_t tid;	/* 0: not known; the name distinguishes it */
	uint32_t flags; /* TRACE_THREAD_* */
	struct trace_str name;
};

/* Ids from 1 for pairs of numbers. */
struct builder_ids {
	struct u64map of;
	uint32_t count;
};

/* A frame as the source has it. */
struct builder_row {
	uint8_t code;
	bool named;
	uint32_t what; /* method, symbol, name or cause */
	uint32_t module;
	int32_t bci;
	uint32_t line, place;
};

/* A row, on those that it is inlined into. */
struct builder_form {
	uint32_t before; /* the form of these; 0: there are none */
	uint32_t row;
	uint32_t frame; /* in the trace; 0: not yet */
};

typedef VEC(uint32_t) builder_numbers;

struct builder_line {
	uint32_t method;
	struct trace_line at;
};

struct builder {
	struct trace_writer *w;
	int err;
	bool begun;	  /* the trace has an event */
	uint32_t process; /* whose methods and frames are defined from now on; 0: not known */
	bool is_realtime; /* the trace's clock is the time of day */
	struct strpool strings;
	struct builder_ids names, modules, symbols, method_names, methods, codes, places, processes, threads, vthreads,
		wheres, rows_of, forms_of, nodes, lines_of;
	builder_numbers process_names, thread_names; /* in `strings` */
	builder_numbers frames_of_texts; /* by string: what builder_frame() has made of it; 0: nothing yet */
	VEC(struct builder_row) rows;
	VEC(struct builder_form) forms;
	VEC(struct trace_scope) scopes;
	VEC(struct builder_line) lines;
	uint32_t frames;
	uint64_t weight;	    /* of the samples that are written */
	uint64_t hits, events;	    /* written: samples of other events, and events of a JVM */
	uint64_t first_ns, last_ns; /* of them; UINT64_MAX if there is none */
};

void builder_init(struct builder *b, struct trace_writer *w);
void builder_free(struct builder *b);

/* Notes an error, unless there was one before. */
void builder_fail(struct builder *b, int err);

/* Writes any record. The first event begins the trace: without one, nothing is left of it. */
void builder_put(struct builder *b, const struct trace_rec *rec);
void builder_info(struct builder *b, const char *key, struct trace_str value);
void builder_info_number(struct builder *b, const char *key, uint64_t value);
/* How often samples with this period are taken. */
void builder_frequency(struct builder *b, uint64_t period_ns);
/* A reading of the clock. */
void builder_clock(struct builder *b, uint64_t time_ns);

uint32_t builder_name(struct builder *b, struct trace_str text);
/* A text of an event, which stays valid. */
struct trace_str builder_text(struct builder *b, struct trace_str text);
/* `comm` renames it, unless empty. */
uint32_t builder_process(struct builder *b, uint32_t pid, struct trace_str comm);
uint32_t builder_thread(struct builder *b, const struct import_thread *t);
uint32_t builder_vthread(struct builder *b, uint32_t process, uint64_t number, struct trace_str name);

/* What builder_stack() is made of. */
uint32_t builder_frame(struct builder *b, const struct import_frame *f);
/* In place of frames that are left out because the stack is too deep. */
uint32_t builder_depth_end(struct builder *b);
/* Whether a frame is none, and says why the stack is incomplete. */
bool builder_is_end(const struct builder *b, uint32_t frame);
/*
 * Where to keep the frame that a text is; 0: nothing has been made of it yet. Valid until the next call; NULL: an
 * error.
 */
uint32_t *builder_frame_of_text(struct builder *b, struct trace_str text);
/* The stack of these frames, from the leaf. Of a stack that is too deep, the frames at the root are left out. */
uint32_t builder_stack(struct builder *b, const uint32_t *frames, size_t count);

/* Their texts are printable. */
void builder_sample(struct builder *b, const struct trace_sample *s);
void builder_event(struct builder *b, const struct trace_jvm_event *e);
/* What the source has lost itself. */
void builder_loss(struct builder *b, const struct trace_loss *loss);
/* What the source has and the trace has not. */
void builder_not_imported(struct builder *b, const char *kind, uint64_t count);
void builder_notice(struct builder *b, uint32_t severity, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Writes what is known only now, and the end. `timed`: events have times. */
void builder_finish(struct builder *b, bool timed);

#endif
