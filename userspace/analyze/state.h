// SPDX-License-Identifier: Apache-2.0
/*
 * The state of an analyzer: everything that was fed. Only userspace/analyze writes it; others may read it. Names are
 * in a->strings.
 */
#ifndef BRAID_ANALYZE_STATE_H
#define BRAID_ANALYZE_STATE_H

#include <trace/record.h>

#include "analyzer.h"
#include "hash.h"
#include "stack_sums.h"

#include <braid/event.h>

/*
 * HotSpot inlines fewer scopes at one instruction, and the walk yields smaller stacks. Larger ones are truncated or
 * refused.
 */
#define SCOPES_MAX 256U
#define STACK_DEPTH_MAX (2U * BRAID_MAX_FRAMES)

struct info_row {
	uint32_t key;
	uint32_t value;
};

/* An attribute of a process or a span, or a setting of a JVM. */
struct attribute_row {
	uint32_t key, value; /* in a->strings */
	uint32_t was;	     /* the first value of a setting that has changed; 0: it has not, or that was empty */
	uint32_t origin;     /* of a setting, enum braid_setting_origin; else 0 */
	uint32_t next;	     /* place of the next one in a->attributes, plus one; 0: it is the last */
};

struct process_row {
	bool defined;
	uint32_t pid;
	uint32_t parent;
	uint64_t start_ns;
	uint32_t comm;
	uint32_t exe;
	uint32_t cgroup;
	uint32_t container; /* what cgroup_container() makes of it */
	uint64_t code_loads;
	uint64_t classes_unloaded;
	uint32_t attributes; /* the first one, as in struct attribute_row */
	uint32_t settings;   /* the same */
};

struct thread_row {
	bool defined;
	uint32_t process;
	uint32_t tid;
	uint32_t ns_tid;
	uint32_t flags;
	uint32_t name;
	bool virtual; /* a group: virtual threads whose names differ only in numbers */
	uint64_t started;
	uint64_t ended;
};

struct vthread_row {
	bool seen; /* a sample has it */
	uint32_t process;
	uint32_t name;
	uint64_t number;
	uint32_t group; /* id of the row of `threads` under which its samples are counted */
};

struct span_row {
	uint32_t process;
	uint32_t same; /* id of the first definition with the same process and ids */
	uint64_t trace_hi, trace_lo;
	uint64_t span_id;
	uint32_t attributes; /* as of a process; of the first definition */
};

struct module_row {
	uint32_t kind;
	uint32_t path;
};

struct symbol_row {
	uint32_t module;
	uint64_t address;
	uint32_t name;
};

struct jvm_row {
	uint32_t start;
	uint64_t got[2];
	uint64_t refused[2];
	uint32_t vm_name;
	uint32_t vm_version;
	uint32_t java_version;
	uint32_t command;
};

struct method_row {
	uint32_t process;
	uint32_t class_name;
	uint32_t name;
	uint32_t signature;
	uint32_t modifiers;
	uint32_t source;
};

struct place_row {
	uint32_t name;
	uint32_t file;
};

struct lines_row {
	size_t first; /* in a->lines */
	uint32_t count;
};

struct code_row {
	uint32_t process;
	uint32_t kind;
	uint32_t method;
	uint32_t tier;
	uint32_t name;
	uint64_t address;
	uint64_t size;
	uint64_t load_ns;
};

struct frame_row {
	uint32_t kind;
	uint32_t process;
	uint64_t address;
	uint32_t exact;
	uint32_t module;
	uint32_t symbol;
	uint32_t code;
	uint32_t scope_count;
	size_t first_scope; /* in a->scopes */
};

struct node_row {
	uint32_t parent;
	uint32_t frame;
};

struct mapping {
	uint32_t process;
	uint32_t module;
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	uint64_t time_ns;
};

struct sample {
	uint64_t time_ns;
	uint64_t weight;
	uint32_t thread;
	uint32_t node;
	uint32_t span; /* spans_same() of it */
	uint32_t cpu;
	uint32_t vthread; /* id; 0: none */
};

/* Adds a sample to those of its thread and stack. 0 or -ENOMEM. */
int sample_sums_add(struct stack_sums *s, const struct sample *one);

/* The values that a sample of a hit event has. */
struct hit_values {
	struct sample sample;
	uint32_t text; /* in a->strings */
};

/* The samples of a hit event beside the clock's. */
struct hit_event {
	uint32_t name;		    /* in a->strings */
	VEC(struct sample) samples; /* with keep_samples */
	struct stack_sums sums;	    /* without: by ids of threads and nodes */
	VEC(struct hit_values) values;
};

/* Strings are in a->strings; threads and nodes are ids. */
struct jvm_event_row {
	uint64_t time_ns;
	uint64_t duration_ns;
	uint64_t value;
	uint64_t weight;
	uint64_t number;
	uint32_t kind; /* enum braid_jvm_event_kind */
	uint32_t process;
	uint32_t thread;
	uint32_t node;
	uint32_t name;
	uint32_t detail;
	uint32_t text;
	uint32_t flags;
	uint32_t vthread;
	uint32_t other;
	uint32_t other_node;
	uint32_t source;
	uint32_t span;
	uint32_t other_vthread;
};

/* A time of a thread that is a span made by the reader: span_make.h. */
struct span_stretch {
	uint64_t from_ns, to_ns;
	uint64_t owner; /* span_owner() */
	uint32_t span;	/* id, which span_make() sets */
};

/* When something was seen of a span. */
struct span_time {
	uint64_t first_ns, last_ns; /* first_ns is above last_ns: nothing was */
};

struct span_stretches { /* with the members of a VEC; by owner and time, not overlapping */
	struct span_stretch *at;
	size_t count, room;
};

/* A weight that is still to be added to those of its stack: by then, memory has come. */
struct late_weight {
	uint32_t row;	 /* of `nodes` */
	uint64_t weight; /* 0: nothing */
};

#define LATE_WEIGHTS 16U

struct loss_row {
	uint32_t hop;
	uint32_t kind;
	uint64_t count;
};

struct stat_row {
	uint32_t process;
	uint32_t key;
	uint64_t time_ns;
	uint64_t value;
};

struct notice {
	uint64_t time_ns;
	uint32_t process;
	uint32_t severity;
	uint32_t text;
};

struct analyzer {
	bool keep_samples, sum_stacks;
	uint64_t keep_from_ns, keep_to_ns; /* of the clock's samples */
	bool ended;			   /* the recording ended in order */
	struct strpool strings;
	VEC(struct info_row) infos;
	struct u64map info_of; /* key to infos' index + 1 */
	uint64_t clock_first_ns, clock_last_ns;
	uint64_t realtime_first_ns; /* at clock_first_ns */
	uint64_t first_ns, last_ns; /* of the events; first is UINT64_MAX when there are none */
	struct table processes, threads, modules, symbols, jvms, methods, method_lines, codes, frames, nodes, places,
		vthreads, spans, names, /* ids to a->strings */
		seen;			/* threads to the first known time of each */
	VEC(struct mapping) mappings;
	VEC(struct trace_scope) scopes;
	VEC(struct trace_line) lines;
	VEC(struct sample) samples;  /* with keep_samples */
	struct stack_sums sums;	     /* without: by ids of threads and nodes */
	VEC(uint64_t) stack_weights; /* with sum_stacks: of rows of `nodes`; sums have those that are in none */
	struct late_weight late[LATE_WEIGHTS];
	unsigned late_next;
	VEC(struct sample) carried_samples; /* those of virtual threads by their carriers, the same way */
	struct stack_sums carried;
	uint64_t sample_weight;
	VEC(struct attribute_row) attributes;
	struct u64map span_of;		  /* a hash of process and ids to a span's id */
	VEC(struct span_time) span_times; /* of rows of `spans`, if spans_measure() was called */
	struct span_stretches made;	  /* spans that take the place of the recorded ones */
	VEC(struct hit_event) hits;	  /* in the order of their first samples */
	struct hit_event sampling;	  /* only the values of the recording's sampling event */
	struct u64map hit_of;		  /* name to hits' index + 1 */
	struct u64map vgroup_of;	  /* process and name to the number of a group of virtual threads */
	uint32_t vgroups;
	uint64_t vthreads_seen;
	uint64_t vthread_weight;
	VEC(struct jvm_event_row) events;
	VEC(struct loss_row) losses;
	struct u64map loss_of; /* hop and kind to losses' index + 1 */
	uint64_t lost;
	VEC(struct stat_row) stats;
	struct u64map stat_of; /* process and key to stats' index + 1 */
	VEC(struct notice) notices;
	uint64_t ignored; /* meaningless records */
	uint64_t newer;	  /* of kinds that only a newer recorder knows */
};

#endif
