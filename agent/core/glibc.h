// SPDX-License-Identifier: Apache-2.0
/*
 * The dl functions by their old symbol versions, for the agent's files that use them. The agent may load into a process
 * with an older glibc than the one it was built with: since 2.34 these functions are in libc.so.6 under a new version,
 * but both libraries provide the old one.
 */
#ifndef BRAID_AGENT_GLIBC_H
#define BRAID_AGENT_GLIBC_H

#include <dlfcn.h>

#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver dladdr, dladdr@GLIBC_2.2.5");
__asm__(".symver dlinfo, dlinfo@GLIBC_2.3.3");
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#endif

#endif
