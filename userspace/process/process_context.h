/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format of OpenTelemetry's process context (OTEP 4719): what a process says of itself, in its own memory. All of
 * it is untrusted. resources.c reads it.
 */
#ifndef BRAID_PROCESS_PROCESS_CONTEXT_H
#define BRAID_PROCESS_PROCESS_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <braid/context.h>

#define PROCESS_CONTEXT_MAX (1U << 16) /* bytes of a payload; a larger one is refused */

bool process_context_is(const struct braid_process_context *h);

/* Text of the payload: not terminated, of any bytes. */
struct context_text {
	const char *at;
	size_t bytes;
};

struct process_context_reader {
	/* An attribute of the process. Numbers are given as text; values that are lists are left out. */
	void (*attribute)(void *ctx, struct context_text key, struct context_text value);
	/* The name of the attributes of threads that have this index, below 256. */
	void (*key)(void *ctx, unsigned index, struct context_text name);
	void *ctx;
};

/* Calls back for what a payload contains. 0, or -EINVAL without a call if it is not a whole message. */
int process_context_parse(const void *payload, size_t bytes, const struct process_context_reader *r);

#endif
