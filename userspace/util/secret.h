/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps secrets out of traces, which are handed to others: values whose key says that they are one, such as a
 * password. A secret under another key, or after its key in a word of its own ("--password x"), is not recognized.
 */
#ifndef BRAID_UTIL_SECRET_H
#define BRAID_UTIL_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#define SECRET_MASK "***"

/* Whether a key names a secret: "db.password", "API_KEY", "spring.datasource.credentials". */
bool secret_key(const char *key);

/* Copies a text of words. In words such as "-Ddb.password=x" the mask takes the value's place. */
void secret_mask(char *to, size_t size, const char *text);

#endif
