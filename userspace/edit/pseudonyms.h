// SPDX-License-Identifier: Apache-2.0
/*
 * Names that replace others. The same name has the same pseudonym throughout a trace, and what is public keeps its
 * own: names of the JDK, of the kernel and of system libraries. Pseudonyms are numbered in the order of their first
 * use, so that nothing can be computed back from them.
 */
#ifndef BRAID_EDIT_PSEUDONYMS_H
#define BRAID_EDIT_PSEUDONYMS_H

#include <stdbool.h>

#include <analyze/hash.h>
#include <trace/record.h>

enum pseudonym_of {
	PSEUDONYM_CLASS,  /* java.util.HashMap, com.acme.Order[], [Lcom/acme/Order; */
	PSEUDONYM_METHOD, /* a method with its class: com.acme.Order.price */
	PSEUDONYM_MEMBER, /* a method without */
	PSEUDONYM_TYPES,  /* a descriptor: (Lcom/acme/Order;I)V */
	PSEUDONYM_SOURCE, /* Order.java */
	PSEUDONYM_THREAD, /* digits at its end stay, so that pools stay pools */
	PSEUDONYM_PATH,
	PSEUDONYM_FUNCTION, /* native */
	PSEUDONYM_CHOICES,  /* an event configuration: it loses events with expressions */
	PSEUDONYM_EVENT,    /* a hit event: a tracepoint stays, a function of a library does not */
	PSEUDONYM_EVENTS,   /* a list of them: it loses those that do not stay */
	PSEUDONYM_TEXT,	    /* all else, but for numbers */
	PSEUDONYM_NONE,	    /* public: it stays */
};

struct pseudonyms {
	struct strpool texts, made;
	struct u64map of; /* kind and text to a number of `made`, plus one */
	uint32_t next[PSEUDONYM_NONE];
	const char *const *keep; /* more prefixes of classes that are public */
	size_t keep_count;
	bool failed; /* no memory */
};

void pseudonyms_free(struct pseudonyms *p);

/* The pseudonym of `s`, which is valid as long as the table; `s` if it is public. */
struct trace_str pseudonym(struct pseudonyms *p, enum pseudonym_of of, struct trace_str s);
/* The same with a text in front of it. */
struct trace_str pseudonym_behind(struct pseudonyms *p, const char *before, enum pseudonym_of of, struct trace_str s);

/* Whether a class, by its name with dots, and what is in a file are public. */
bool pseudonyms_class_is_public(const struct pseudonyms *p, struct trace_str name);
bool pseudonyms_path_is_public(struct trace_str path);
/* Whether a process has the name of its program, which is public; a script has another one. */
bool pseudonyms_comm_is_public(struct trace_str comm, struct trace_str exe);

#endif
