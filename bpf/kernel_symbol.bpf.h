// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Names of the kernel's functions. The kernel finds one in less time than a line of /proc/kallsyms takes to read, and
 * that file has more than 100,000; it knows its modules and eBPF programs as they are now, and does not hide names
 * (kptr_restrict hides addresses).
 */
#ifndef BRAID_KERNEL_SYMBOL_BPF_H
#define BRAID_KERNEL_SYMBOL_BPF_H

#include "maps.bpf.h"

char kernel_symbol_text[BRAID_KERNEL_SYMBOL_MAX]; /* the last answer */

SEC("syscall")
int kernel_symbol(__u64 *arg)
{
	static const char format[] = "%pS";
	__u64 address = *arg;
	long written = bpf_snprintf(kernel_symbol_text, sizeof(kernel_symbol_text), format, &address, sizeof(address));

	return written < 0 ? (int)written : 0;
}

#endif
