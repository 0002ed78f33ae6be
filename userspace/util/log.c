// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include "utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 8192

int log_verbosity;

static void log_print(const char *what, const char *fmt, va_list ap)
{
	char text[LINE_MAX_BYTES], line[LINE_MAX_BYTES];

	/* Other users choose the names of files, threads and processes. */
	vsnprintf(text, sizeof(text), fmt, ap);
	utf8_printable(line, sizeof(line), text, strlen(text));
	fprintf(stderr, "braid: %s%s\n", what, line);
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_print("", fmt, ap);
	va_end(ap);
}

void log_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_print("warning: ", fmt, ap);
	va_end(ap);
}

void log_debug(const char *fmt, ...)
{
	va_list ap;

	if (log_verbosity < 1)
		return;
	va_start(ap, fmt);
	log_print("debug: ", fmt, ap);
	va_end(ap);
}
