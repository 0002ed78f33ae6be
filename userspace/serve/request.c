// SPDX-License-Identifier: Apache-2.0
#include "request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define STATUS_OK 200
#define STATUS_BAD 400
#define STATUS_FORBIDDEN 403
#define STATUS_UNKNOWN 404
#define STATUS_METHOD 405

const unsigned part_seconds[PARTS] = {0, 10, 60, 300, 1800};

/* Takes as long for every text of a length. */
static bool is_token(const char *text, const char token[TOKEN_DIGITS + 1])
{
	char copy[TOKEN_DIGITS] = {0};
	volatile unsigned char differs = 0;

	memcpy(copy, text, strnlen(text, TOKEN_DIGITS));
	for (size_t i = 0; i < TOKEN_DIGITS; i++)
		differs |= (unsigned char)(copy[i] ^ token[i]);
	return !differs;
}

/* The port is not compared: a tunnel has another one. */
static bool is_local(const char *host)
{
	static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);

		if (strncasecmp(host, names[i], length) == 0) {
			const char *port = host + length;
			size_t digits = *port == ':' ? strspn(port + 1, "0123456789") : 0;

			return !*port || (digits > 0 && digits <= 5 && !port[digits + 1]);
		}
	}
	return false;
}

static enum target find_target(const char *name)
{
	static const struct {
		const char *name;
		enum target target;
	} names[] = {
		{"", TARGET_PAGE},	    {"state", TARGET_STATE},	   {"data", TARGET_DATA},
		{"page.html", TARGET_FILE}, {"trace.braid", TARGET_TRACE},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i].name) == 0)
			return names[i].target;
	return TARGET_NONE;
}

/* -1: there is no such part. */
static int find_part(const char *last)
{
	char text[16];

	for (int i = 0; i < PARTS; i++) {
		snprintf(text, sizeof(text), "%u", part_seconds[i]);
		if (strcmp(last, text) == 0)
			return i;
	}
	return -1;
}

struct route request_route(const struct request *r, const char token[TOKEN_DIGITS + 1])
{
	const char *text = r->path && r->path[0] == '/' ? r->path + 1 : "";
	enum target target;
	int part = 0;

	if (!r->method || (strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0))
		return (struct route){.status = STATUS_METHOD};
	if (!r->host || !is_local(r->host) || !is_token(text, token) || text[TOKEN_DIGITS] != '/')
		return (struct route){.status = STATUS_FORBIDDEN};
	target = find_target(text + TOKEN_DIGITS + 1);
	if (target == TARGET_NONE)
		return (struct route){.status = STATUS_UNKNOWN};
	if (r->last)
		part = find_part(r->last);
	if (part < 0)
		return (struct route){.status = STATUS_BAD};
	return (struct route){.status = STATUS_OK, .target = target, .part = (unsigned)part};
}

const char *request_refusal(unsigned status)
{
	switch (status) {
	case STATUS_FORBIDDEN:
		return "This needs the whole address that braid serve has printed.\n";
	case STATUS_METHOD:
		return "Only GET and HEAD are served.\n";
	case STATUS_UNKNOWN:
		return "There is no such page.\n";
	case STATUS_BAD:
		return "There is no such part of the recording.\n";
	default:
		return "The recording cannot be shown.\n";
	}
}
