// SPDX-License-Identifier: Apache-2.0
/*
 * Limits what the files that processes of other users map may cost: they take from the pools of sink/pools.h for the
 * user who maps them first. Those that processes of root or of the recording user map are not counted, and room for
 * them is kept free. modules.c and module_load.c call this.
 */
#ifndef BRAID_PROCESS_MODULE_BUDGET_H
#define BRAID_PROCESS_MODULE_BUDGET_H

#include "sink/pools.h"

#include <stddef.h>

/* What pays for files that processes of the user map; NULL: nothing, they are not counted. */
struct share *module_share(struct share *user);

/*
 * Whether there is room for one more module of that many bytes; if so, it is counted. module_is_for_all() takes it
 * back.
 */
bool module_may_exist(struct share *s, size_t bytes);
void module_is_for_all(struct share *s, size_t bytes);

/* Whether one more function may get the name of the native method that is bound to it. */
bool module_may_bind(struct share *s);

/* Whether one more file may wait to be read; if so, it is counted until module_waits_no_more(). */
bool module_may_wait(struct share *s);
void module_waits_no_more(struct share *s);

/*
 * Whether files of others may take more CPU time; `since_ns` is the recording's start. module_spent() counts what one
 * has taken. module_work_limit() is the most that one file may take.
 */
bool module_may_work(struct share *s, uint64_t since_ns);
void module_spent(struct share *s, uint64_t cpu_ns);
uint64_t module_work_limit(bool foreign);
/* Files of the user with the lowest number are read first. */
uint64_t module_user_turn(const struct share *s);

/* Whether there is room for an unwind table; if so, it is reserved. */
bool module_may_have_table(struct share *s, uint64_t rows, uint64_t pages);

/* Whether there is room for more symbols. module_has_symbols() counts their bytes afterwards. */
bool module_may_have_symbols(const struct share *s);
void module_has_symbols(struct share *s, size_t bytes);

/* True once for each user, so that it is reported once. */
bool module_first_left_out(struct share *s);

#endif
