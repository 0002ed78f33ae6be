// SPDX-License-Identifier: Apache-2.0
/* Threads that begin before the main thread has decided which signals it waits for. */
#ifndef BRAID_UTIL_QUIET_THREAD_H
#define BRAID_UTIL_QUIET_THREAD_H

#include <pthread.h>

/* Starts a thread that handles no signal: the main thread handles all. Returns 0 or a negative errno. */
int quiet_thread_start(pthread_t *thread, void *(*run)(void *), void *ctx);

#endif
