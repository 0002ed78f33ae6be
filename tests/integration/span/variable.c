/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the variable by which a thread says which request it serves; t_span_native.sh builds it in many ways. */
#include "variable.h"

__thread const struct context *otel_thread_ctx_v1;

#ifdef BESIDE
__thread char beside[BESIDE] __attribute__((aligned(64))) = {1}; /* something else in the block */
#endif

void context_set(const struct context *c)
{
	__atomic_store_n(&otel_thread_ctx_v1, c, __ATOMIC_RELEASE);
#ifdef BESIDE
	__atomic_store_n(&beside[0], (char)1, __ATOMIC_RELAXED);
#endif
}
