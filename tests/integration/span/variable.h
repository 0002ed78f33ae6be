/* SPDX-License-Identifier: Apache-2.0 */
/* The record of OpenTelemetry's thread context (OTEP 4947), without attributes. */
#include <stdint.h>

struct context {
	uint8_t trace[16], span[8];
	volatile uint8_t valid;
	uint8_t flags;
	uint16_t attrs_size;
};

extern __thread const struct context *otel_thread_ctx_v1;
void context_set(const struct context *c);
