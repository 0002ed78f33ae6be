// SPDX-License-Identifier: Apache-2.0
#include "quiet_thread.h"

#include <signal.h>

int quiet_thread_start(pthread_t *thread, void *(*run)(void *), void *ctx)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(thread, NULL, run, ctx);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}
