// SPDX-License-Identifier: Apache-2.0
/*
 * Limits what files of other users may cost, for each user and for all of them together. Files that root or the
 * recording user has made are not counted, and room for them is kept free. Only modules.c calls this.
 */
#ifndef BRAID_PROCESS_MODULE_BUDGET_H
#define BRAID_PROCESS_MODULE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct module_account;

struct module_budget {
	struct module_account *by_user;
	uint64_t since_ns;
	uint64_t rows_max, pages_max; /* room for the unwind tables of all files */
	uint64_t spent_ns, rows, pages, symbols, files, bound;
};

/* The account of a user. NULL for root and the recording user, who are not counted, and without memory. */
struct module_account *module_account(struct module_budget *b, uid_t user);
void module_budget_free(struct module_budget *b);

/*
 * Whether there is room for one more module of that many bytes; if so, it is counted. module_is_for_all() takes it
 * back.
 */
bool module_may_exist(struct module_budget *b, struct module_account *a, size_t bytes);
void module_is_for_all(struct module_budget *b, struct module_account *a, size_t bytes);

/* Whether one more function may get the name of the native method that is bound to it. */
bool module_may_bind(struct module_budget *b, struct module_account *a);

/*
 * The CPU time of reading a file is counted between module_work_begin() and module_work_end(). Reading gives up after
 * half a second (util/stint.h). False: the user's files have used up their time.
 */
bool module_work_begin(struct module_budget *b, struct module_account *a);
void module_work_end(struct module_budget *b, struct module_account *a);

/* Whether there is room for an unwind table; if so, it is reserved. */
bool module_may_have_table(struct module_budget *b, struct module_account *a, uint64_t rows, uint64_t pages);

/* Whether there is room for more symbols. module_has_symbols() counts their bytes afterwards. */
bool module_may_have_symbols(const struct module_budget *b, const struct module_account *a);
void module_has_symbols(struct module_budget *b, struct module_account *a, size_t bytes);

/* True once for each user, so that it is reported once. */
bool module_first_left_out(struct module_account *a);

#endif
