// SPDX-License-Identifier: Apache-2.0
/* What a request is for, by its text alone. Everything in it is a stranger's. */
#ifndef BRAID_SERVE_REQUEST_H
#define BRAID_SERVE_REQUEST_H

#include <stdbool.h>

#include <util/random.h>

#define TOKEN_DIGITS RANDOM_DIGITS

/* Parts of a recording that a page can show: the last seconds; 0: since the start. */
#define PARTS 5
extern const unsigned part_seconds[PARTS];

enum target {
	TARGET_NONE, /* refused, see the status */
	TARGET_PAGE,
	TARGET_STATE,
	TARGET_DATA,
	TARGET_FILE,  /* the page as one file, to be kept */
	TARGET_TRACE, /* the trace, to be kept */
};

/* NULL: the request has none. */
struct request {
	const char *method;
	const char *path; /* decoded, without what follows a question mark */
	const char *host;
	const char *last; /* the value of last=SECONDS */
};

struct route {
	unsigned status; /* of HTTP */
	enum target target;
	unsigned part; /* of part_seconds */
};

/*
 * A name that leads here from another address is refused (DNS rebinding), and everything without the token, which is
 * compared in constant time.
 */
struct route request_route(const struct request *r, const char token[TOKEN_DIGITS + 1]);

/* What to say about a status that refuses. */
const char *request_refusal(unsigned status);

#endif
