// SPDX-License-Identifier: Apache-2.0
#include "attach_protocol.h"
#include "util/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The protocol's version, the operation and its three arguments. */
#define PARTS 5

static ssize_t format(char to[ATTACH_REQUEST_MAX], const char *const parts[PARTS])
{
	char *at = to;

	for (size_t i = 0; i < PARTS; i++) {
		size_t n = strlen(parts[i]);

		if (n > ATTACH_ARGUMENT_MAX)
			return -ENAMETOOLONG;
		memcpy(at, parts[i], n + 1);
		at += n + 1;
	}
	return at - to;
}

ssize_t attach_request(char to[ATTACH_REQUEST_MAX], const char *library, const char *options)
{
	const char *const parts[PARTS] = {"1", "load", library, library[0] == '/' ? "true" : "false", options};

	return format(to, parts);
}

ssize_t attach_dump_request(char to[ATTACH_REQUEST_MAX], const char *file, bool live)
{
	const char *const parts[PARTS] = {"1", "dumpheap", file, live ? "-live" : "-all", ""};

	return format(to, parts);
}

ssize_t attach_threads_request(char to[ATTACH_REQUEST_MAX])
{
	const char *const parts[PARTS] = {"1", "threaddump", "", "", ""};

	return format(to, parts);
}

/* Version, size of what follows, and the operation with its options. */
ssize_t attach_threads_request_2(char to[ATTACH_REQUEST_MAX])
{
	static const char operation[] = "threaddump streaming=0";

	return snprintf(to, ATTACH_REQUEST_MAX, "2%c%zu%c%s", '\0', sizeof(operation), '\0', operation) + 1;
}

/* ATTACH_ERROR_BADVERSION */
bool attach_version_refused(const char *answer, size_t length)
{
	static const char refusal[] = "101\n";

	return length == strlen(refusal) && memcmp(answer, refusal, length) == 0;
}

ssize_t attach_memory_request(char to[ATTACH_REQUEST_MAX])
{
	const char *const parts[PARTS] = {"1", "jcmd", "VM.native_memory detail", "", ""};

	return format(to, parts);
}

/* Reads the number that is the whole line at *at, and moves *at to the next line. */
static int line_number(const char **at, long *out)
{
	char *end;

	errno = 0;
	*out = strtol(*at, &end, 10);
	if (end == *at || errno)
		return -EINVAL;
	end += *end == '\r';
	if (*end != '\n' && *end != '\0')
		return -EINVAL;
	*at = end + (*end == '\n');
	return 0;
}

static int refused(long status, const char *text, char why[ATTACH_WHY_MAX])
{
	char clean[160];

	utf8_printable(clean, sizeof(clean), text, strcspn(text, "\r\n"));
	if (strstr(text, "ynamic agent loading is not enabled")) {
		snprintf(why, ATTACH_WHY_MAX,
			 "the JVM loads no agents while it runs: restart it with "
			 "-XX:+EnableDynamicAgentLoading, or start it with 'braid record -- ...'");
		return -EACCES;
	}
	if (strstr(text, "only permitted in the live phase")) {
		snprintf(why, ATTACH_WHY_MAX, "the JVM is still starting");
		return -EAGAIN;
	}
	if (strstr(text, "was not loaded")) { /* the second line is dlerror's reason */
		const char *reason = strchr(text, '\n');

		if (reason)
			utf8_printable(clean, sizeof(clean), reason + 1, strcspn(reason + 1, "\r\n"));
		snprintf(why, ATTACH_WHY_MAX, "the JVM could not load the agent: %s", clean);
		return -ELIBACC;
	}
	snprintf(why, ATTACH_WHY_MAX, "the JVM could not load the agent (status %ld)%s%s", status,
		 clean[0] ? ": " : "; its error output may have the reason", clean);
	return -ELIBACC;
}

#define ANSWER_TEXT 1024

/* Reads the first line, a status, and returns what follows it in `text`; NULL with *err and a sentence. */
static const char *answer_status(char text[ANSWER_TEXT], const char *answer, size_t length, long *status, int *err,
				 char why[ATTACH_WHY_MAX])
{
	const char *at = text;

	why[0] = '\0';
	*err = -EPROTO;
	length = length < ANSWER_TEXT - 1 ? length : ANSWER_TEXT - 1;
	memcpy(text, answer, length);
	text[length] = '\0';
	if (!length) {
		snprintf(why, ATTACH_WHY_MAX,
			 "the JVM closed the attach connection without an answer: it may be ending");
		return NULL;
	}
	if (line_number(&at, status)) {
		snprintf(why, ATTACH_WHY_MAX, "the JVM's answer to the attach request is not understood");
		return NULL;
	}
	return at;
}

/* `text` begins with the JVM's reason. */
static int failed(const char *what, long status, const char *text, char why[ATTACH_WHY_MAX])
{
	char clean[160];

	utf8_printable(clean, sizeof(clean), text, strcspn(text, "\r\n"));
	snprintf(why, ATTACH_WHY_MAX, "the JVM could not %s (status %ld)%s%s", what, status, *clean ? ": " : "", clean);
	return -EIO;
}

/* The status is 0 also after a failure; the last line says what became of the dump. */
int attach_dump_answer(const char *answer, size_t length, char why[ATTACH_WHY_MAX])
{
	char text[ANSWER_TEXT];
	const char *at, *last, *line;
	long status = 0;
	int err;

	at = answer_status(text, answer, length, &status, &err, why);
	if (!at)
		return err;
	last = at;
	for (line = at; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		last = line;
	if (!status && (!*at || strstr(last, "created")))
		return 0;
	return failed("write it", status, last, why);
}

int attach_text_answer(const char *answer, size_t length, char why[ATTACH_WHY_MAX])
{
	char text[ANSWER_TEXT];
	long status = 0;
	int err;
	const char *at = answer_status(text, answer, length, &status, &err, why);

	if (!at)
		return err;
	return status ? failed("print it", status, at, why) : 0;
}

int attach_answer(const char *answer, size_t length, char why[ATTACH_WHY_MAX])
{
	static const char code[] = "return code: "; /* JDK 9 and later; earlier ones send only the number */
	char text[ANSWER_TEXT];
	const char *at, *body;
	long status, result;
	int err;

	body = at = answer_status(text, answer, length, &status, &err, why);
	if (!body)
		return err;
	if (status)
		return refused(status, body, why);
	if (strncmp(at, code, sizeof(code) - 1) == 0)
		at += sizeof(code) - 1;
	if (line_number(&at, &result))
		return refused(status, body, why);
	if (result) {
		snprintf(why, ATTACH_WHY_MAX,
			 "the agent could not start in the JVM (code %ld): see the JVM's error output", result);
		return -ECANCELED;
	}
	return 0;
}
