// SPDX-License-Identifier: Apache-2.0
/* What commands ask a JVM for through the attach protocol. */
#ifndef BRAID_CLI_ATTACH_WAIT_H
#define BRAID_CLI_ATTACH_WAIT_H

#include <stdbool.h>
#include <sys/types.h>

#include <attach/attach.h>

/* Whether a signal that ends a recording has come: these are blocked. */
bool is_interrupted(void);

/*
 * Until the answer of the child of attach_start() and the like, which it ends. On failure prints why, after `failed`, a
 * sentence, or `interrupted`, and returns false.
 */
bool attach_wait(pid_t pid, int result_fd, pid_t child, const char *failed, const char *interrupted);

/* Asks a JVM for a text, which it writes into the file. On failure prints why, after `failed`, and returns false. */
bool attach_ask_text(pid_t pid, enum attach_text which, int text_fd, const char *failed);

#endif
