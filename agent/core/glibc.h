// SPDX-License-Identifier: Apache-2.0
/*
 * The agent is built on one system and loaded on another, whose glibc may be older. Since 2.34 the dl functions live in
 * libc.so.6 under a new version; asked for by their old one they are found in both.
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
