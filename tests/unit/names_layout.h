// SPDX-License-Identifier: Apache-2.0
/* Where methods and their names are in the memory that tests make up. */
#ifndef TESTS_UNIT_NAMES_LAYOUT_H
#define TESTS_UNIT_NAMES_LAYOUT_H

#include <braid/layout.h>

#define NAMES_LAYOUT                                                                                                   \
	.method_const = 8, .method_access_flags = 40, .const_size = 56, .const_constants = 8, .const_code_size = 34,   \
	.const_name_index = 36, .const_signature_index = 38, .pool_size = 72, .pool_holder = 24, .klass_name = 24,     \
	.symbol_length = 4, .symbol_body = 6

#endif
