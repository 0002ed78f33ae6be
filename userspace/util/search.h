// SPDX-License-Identifier: Apache-2.0
/* Binary search. */
#ifndef BRAID_UTIL_SEARCH_H
#define BRAID_UTIL_SEARCH_H

#include <stddef.h>

/*
 * The first index, from `from` on and below `to`, at which `is_before`, an expression of the index `i`, is false; `to`
 * if there is none. At all indices after it the expression is false, too.
 */
#define SEARCH(i, from, to, is_before)                                                                                 \
	__extension__({                                                                                                \
		size_t search_low = (from), search_high = (to);                                                        \
                                                                                                                       \
		while (search_low < search_high) {                                                                     \
			size_t i = search_low + (search_high - search_low) / 2;                                        \
                                                                                                                       \
			if (is_before)                                                                                 \
				search_low = i + 1;                                                                    \
			else                                                                                           \
				search_high = i;                                                                       \
		}                                                                                                      \
		search_low;                                                                                            \
	})

#endif
