// SPDX-License-Identifier: Apache-2.0
/* Messages for people: on stderr, one line each, after "braid: ". Data goes to stdout, never through here. */
#ifndef BRAID_UTIL_LOG_H
#define BRAID_UTIL_LOG_H

/* What failed, on what, and what to do about it. Without a trailing newline. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Only with -v. */
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

extern int log_verbosity; /* 0 by default; 1 with -v; 2 with -v -v, which includes libbpf's messages */

#endif
