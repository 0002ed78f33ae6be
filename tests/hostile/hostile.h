// SPDX-License-Identifier: Apache-2.0
/*
 * Declarations that the parts of the hostile program share; main.c describes the program. No mode spares the collector,
 * but every mode spares the machine: its memory, files and time are bounded and end with the process.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "client.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Prints "under way" once: from here on the mode misbehaves. */
void under_way(void);
_Noreturn void rest(void);
uint32_t random_number(void);

/* ---- link.c: how a JVM comes to a ring ---- */

/* Looks like a JVM whose attach socket listens. Prints "ready" and the pid. */
void listen_as_jvm(pid_t host_pid);
enum attach_answer { ANSWER_AND_CONNECT, ANSWER_ALONE, ANSWER_NEVER, STOP_THE_ASKER };
/* Waits for the collector's request to load the agent. */
void answer_attach(enum attach_answer how, struct grip *g);
/* A record whose strings follow its fixed part. The caller sets their lengths. */
void put_strings(struct grip *g, const void *record, size_t size, const char *const *strings, int count);
void put_hello(struct grip *g);

/* ---- the modes ---- */

/* ring.c */
void ring_again(struct grip *g);
void ring_shared(struct grip *g);
void ring_ahead(struct grip *g);
void ring_full(struct grip *g);
void ring_garbage(struct grip *g);
void ring_messages(struct grip *g);
void ring_requests(struct grip *g);
void ring_mounts(struct grip *g);

/* records.c */
void say_heap(struct grip *g);
void say_loads(struct grip *g);
void say_methods(struct grip *g);
void say_tids(struct grip *g);
void say_renames(struct grip *g);
void say_names(struct grip *g);
void say_rows(struct grip *g);
void say_calls(struct grip *g);
void say_times(struct grip *g);
void say_notices(struct grip *g);
void say_losses(struct grip *g);
void say_tables(struct grip *g);
void tables_change(void);

/* programs.c */
void run_deep(void);
void run_forks(void);
void run_leader(void);

/* elf.c */
void map_sparse(void);
void map_sections(void);
void map_names(void);
void map_debuglink(void);
void map_impostor(void);

#endif
