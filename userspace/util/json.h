// SPDX-License-Identifier: Apache-2.0
/*
 * Writes compact JSON to a stream. Strings are escaped so that they can also be inside an HTML <script> element: '<',
 * '>', '&' and everything beyond printable ASCII's controls appear as \uXXXX only. Write errors stay in the stream.
 */
#ifndef BRAID_UTIL_JSON_H
#define BRAID_UTIL_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool more; /* a comma is due before the next item */
};

void json_open(struct json *j, const char *key, char bracket); /* '{' or '['; key NULL inside arrays */
void json_close(struct json *j, char bracket);		       /* '}' or ']' */
void json_string(struct json *j, const char *key, const char *value);
void json_number(struct json *j, const char *key, uint64_t value);
void json_signed(struct json *j, const char *key, int64_t value);
void json_fixed(struct json *j, const char *key, uint64_t value, int digits); /* value / 10^digits, exact */
void json_seconds(struct json *j, const char *key, uint64_t ns);
void json_decimal(struct json *j, const char *key, double value); /* six places */
void json_real(struct json *j, const char *key, double value);	  /* exact; infinite: null */
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
void json_raw(struct json *j, const char *key, const char *json, size_t length); /* what is JSON already */
/* A figure that was not recorded is null, not zero. */
void json_number_if(struct json *j, bool recorded, const char *key, uint64_t value);
void json_seconds_if(struct json *j, bool recorded, const char *key, uint64_t ns);

#endif
