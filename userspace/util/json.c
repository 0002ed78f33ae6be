// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void quote(FILE *out, const char *s)
{
	putc('"', out);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		/* U+2028 and U+2029 end a line in JavaScript before 2019 */
		if (c == 0xe2 && (unsigned char)s[1] == 0x80 && ((unsigned char)s[2] & 0xfe) == 0xa8) {
			fprintf(out, "\\u20%02x", 0x28 + (s[2] & 1));
			s += 2;
		} else if (c == '"' || c == '\\') {
			putc('\\', out);
			putc(c, out);
		} else if (c < 0x20 || c == 0x7f || c == '<' || c == '>' || c == '&') {
			fprintf(out, "\\u%04x", c);
		} else {
			putc(c, out);
		}
	}
	putc('"', out);
}

static void json_key(struct json *j, const char *key)
{
	if (j->more)
		putc(',', j->out);
	j->more = true;
	if (!key)
		return;
	quote(j->out, key);
	putc(':', j->out);
}

void json_open(struct json *j, const char *key, char bracket)
{
	json_key(j, key);
	putc(bracket, j->out);
	j->more = false;
}

void json_close(struct json *j, char bracket)
{
	putc(bracket, j->out);
	j->more = true;
}

void json_string(struct json *j, const char *key, const char *value)
{
	json_key(j, key);
	quote(j->out, value);
}

void json_number(struct json *j, const char *key, uint64_t value)
{
	json_key(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

void json_signed(struct json *j, const char *key, int64_t value)
{
	json_key(j, key);
	fprintf(j->out, "%" PRId64, value);
}

void json_real(struct json *j, const char *key, double value)
{
	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	json_key(j, key);
	fprintf(j->out, "%.17g", value);
}

void json_fixed(struct json *j, const char *key, uint64_t value, int digits)
{
	uint64_t one = 1;
	char part[24];
	size_t len;

	for (int i = 0; i < digits; i++)
		one *= 10;
	json_key(j, key);
	fprintf(j->out, "%" PRIu64, value / one);
	snprintf(part, sizeof(part), ".%0*" PRIu64, digits, value % one);
	for (len = strlen(part); len > 1 && part[len - 1] == '0';)
		part[--len] = '\0';
	if (len > 1)
		fputs(part, j->out);
}

void json_seconds(struct json *j, const char *key, uint64_t ns)
{
	json_fixed(j, key, ns, 9);
}

void json_decimal(struct json *j, const char *key, double value)
{
	json_key(j, key);
	fprintf(j->out, "%.6f", value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	json_key(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	json_key(j, key);
	fputs("null", j->out);
}

void json_raw(struct json *j, const char *key, const char *json, size_t length)
{
	json_key(j, key);
	fwrite(json, 1, length, j->out);
}

void json_number_if(struct json *j, bool recorded, const char *key, uint64_t value)
{
	if (recorded)
		json_number(j, key, value);
	else
		json_null(j, key);
}

void json_seconds_if(struct json *j, bool recorded, const char *key, uint64_t ns)
{
	if (recorded)
		json_seconds(j, key, ns);
	else
		json_null(j, key);
}
