// SPDX-License-Identifier: Apache-2.0
/*
 * Hit events as text: a tracepoint, a function, a USDT probe, or a kernel event, with a filter. The event configuration
 * uses this; kernel/ and jvm/ find what the names mean. It touches no other state.
 *
 *   CATEGORY:NAME                      a tracepoint of the kernel
 *   uprobe:PATH:SYMBOL[+OFFSET]        a function of a program or library
 *   uretprobe:PATH:SYMBOL              its return
 *   usdt:PATH:PROVIDER:NAME            a USDT probe of a program or library
 *   usdt:libjvm:PROVIDER:NAME          one of each recorded JVM's own libjvm.so
 *   malloc:PATH:PROVIDER               USDT probes `alloc` and `free` of an allocator that samples by itself
 *   hotspot:NAME, hotspot_jni:NAME, hs_private:NAME   the same with HotSpot's providers
 *   WORD[=TIME]                        a kernel event, see kernel_event.h
 *
 * A filter follows between slashes: terms FIELD OPERATOR VALUE, joined by && and ||, of which && binds closer. The
 * event type `offcpu` takes one, too. Then follow, between braces, the fields whose values samples have: FIELD, or
 * str(FIELD) or FIELD:string where it is the address of text. Without braces they are all of a tracepoint or USDT
 * probe.
 */
#ifndef BRAID_CONFIG_PROBE_SPEC_H
#define BRAID_CONFIG_PROBE_SPEC_H

#include <braid/event.h>
#include <braid/hit.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum probe_type {
	PROBE_TRACEPOINT,
	PROBE_UPROBE,
	PROBE_URETPROBE,
	PROBE_USDT,
	PROBE_OFFCPU,
	PROBE_KERNEL,
	PROBE_COUNTER,
	PROBE_MALLOC
};

#define PROBE_TEXT 256 /* bytes of a whole spec, with the zero at its end */
#define PROBE_WHY 240  /* bytes of a reason */

struct probe_term {
	char field[64];		    /* as written; "args.NAME" is NAME with own set */
	bool own;		    /* a field of the tracepoint's record, whatever its name */
	bool number;		    /* the value is one */
	struct braid_hit_term term; /* operand, offset and size are not set for a tracepoint's own fields */
	uint16_t text_at;	    /* of a cgroup: its name, in probe_spec.text; the value is not set */
	uint16_t text_length;
};

/* A field whose value samples have. */
struct probe_field {
	char name[64];
	bool text;		    /* it was asked for as the address of text */
	struct braid_hit_term term; /* not set for a tracepoint's own fields */
};

struct probe_spec {
	enum probe_type type;
	bool in_jvms;	       /* in the libjvm.so of each JVM; `path` is empty */
	char text[PROBE_TEXT]; /* as written */
	char path[PROBE_TEXT];
	char group[PROBE_TEXT]; /* category, or provider */
	char name[PROBE_TEXT];	/* of the tracepoint, function, USDT probe or kernel event */
	uint64_t offset;	/* in the function */
	enum braid_kernel_event event;
	uint32_t flags;	 /* of a kernel event: BRAID_HIT_* */
	uint64_t min_ns; /* of a kernel event: shorter ones are not recorded */
	uint32_t terms;
	struct probe_term term[BRAID_HIT_TERMS];
	enum braid_sums sums; /* of offcpu: the words `aggregate` and `each` */
	bool braces;	      /* fields are named, be it none */
	uint32_t fields;
	struct probe_field field[BRAID_HIT_FIELDS];
};

/* The length of the spec with which a list begins; the list's next element follows behind a comma. */
size_t probe_spec_length(const char *list);

/*
 * Whether the text of that length is a spec, good or bad: it has a colon, which is not in a filter, or is of a kernel
 * event.
 */
bool probe_spec_is(const char *text, size_t length);

/* Parses one spec. Returns 0, or -EINVAL and the reason. */
int probe_spec_parse(struct probe_spec *to, const char *text, size_t length, char why[PROBE_WHY]);

/* The same for a filter of `offcpu`, with its slashes. */
int probe_spec_offcpu(struct probe_spec *to, const char *filter, char why[PROBE_WHY]);

/*
 * Completes a term with what its field is: a number, or a string if `size` is not its bytes. Returns 0, or -EINVAL and
 * the reason when the value does not fit.
 */
int probe_term_check(struct probe_term *t, char why[PROBE_WHY]);

/* Whether hits of the type can be samples. */
static inline bool probe_type_samples(enum probe_type type)
{
	return type != PROBE_KERNEL && type != PROBE_MALLOC;
}

#endif
