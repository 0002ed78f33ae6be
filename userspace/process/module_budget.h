// SPDX-License-Identifier: Apache-2.0
/*
 * What files of strangers may cost: each user's, and those of all together. Files that root or the recording user has
 * made are not counted, and what they need is kept free.
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
	uint64_t rows_max, pages_max; /* of unwind tables, of all files */
	uint64_t spent_ns, rows, pages, symbols, files, bound;
};

/* The account of a user; NULL: nobody counts what root and the recording user have mapped, or there is no memory. */
struct module_account *module_account(struct module_budget *b, uid_t user);
void module_budget_free(struct module_budget *b);

/* May it have one more module, of so many bytes? It is counted, until it is found to be everybody's. */
bool module_may_exist(struct module_budget *b, struct module_account *a, size_t bytes);
void module_is_for_all(struct module_budget *b, struct module_account *a, size_t bytes);

/* May one more of its functions be named by the native method that was bound to it? */
bool module_may_bind(struct module_budget *b, struct module_account *a);

/*
 * The CPU time that reading a file takes is counted between module_work_begin() and module_work_end(), and must be less
 * than half a second: what reads it gives up then (util/stint.h). False: what the user's files may take so far is used
 * up.
 */
bool module_work_begin(struct module_budget *b, struct module_account *a);
void module_work_end(struct module_budget *b, struct module_account *a);

/* Is there room for an unwind table? It is taken. */
bool module_may_have_table(struct module_budget *b, struct module_account *a, uint64_t rows, uint64_t pages);

/* Is there room for more symbols, of which module_has_symbols() says how many bytes they were? */
bool module_may_have_symbols(const struct module_budget *b, const struct module_account *a);
void module_has_symbols(struct module_budget *b, struct module_account *a, size_t bytes);

/* True once for each user: that something of theirs was left out is to be said. */
bool module_first_left_out(struct module_account *a);

#endif
