// SPDX-License-Identifier: Apache-2.0
/*
 * Limits what files of other users may cost: they take from the pools of sink/pools.h for the user whose processes map
 * them. Files that root or the recording user has made, and those that their processes map, are not counted, and room
 * for them is kept free. Only modules.c calls this.
 */
#ifndef BRAID_PROCESS_MODULE_BUDGET_H
#define BRAID_PROCESS_MODULE_BUDGET_H

#include "sink/pools.h"

#include <stddef.h>

/* What pays for files that processes of the user map; NULL: nobody, they are not counted. */
struct share *module_share(struct share *user);

/*
 * Whether there is room for one more module of that many bytes; if so, it is counted. module_is_for_all() takes it
 * back.
 */
bool module_may_exist(struct share *s, size_t bytes);
void module_is_for_all(struct share *s, size_t bytes);

/* Whether one more function may get the name of the native method that is bound to it. */
bool module_may_bind(struct share *s);

/*
 * The CPU time of reading a file is counted between module_work_begin() and module_work_end(). Reading gives up after
 * half a second (util/stint.h). `since_ns`: the recording's start. False: the user's files have used up their time.
 */
struct module_work {
	struct share *share;
	uint64_t began_ns;
};
bool module_work_begin(struct module_work *w, struct share *s, uint64_t since_ns);
void module_work_end(const struct module_work *w);

/* Whether there is room for an unwind table; if so, it is reserved. */
bool module_may_have_table(struct share *s, uint64_t rows, uint64_t pages);

/* Whether there is room for more symbols. module_has_symbols() counts their bytes afterwards. */
bool module_may_have_symbols(const struct share *s);
void module_has_symbols(struct share *s, size_t bytes);

/* True once for each user, so that it is reported once. */
bool module_first_left_out(struct share *s);

#endif
