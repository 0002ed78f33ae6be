// SPDX-License-Identifier: Apache-2.0
/* Fixed-size integers with the kernel's names, and bool, for the agent, BPF and the host. */
#ifndef BRAID_TYPES_H
#define BRAID_TYPES_H

#ifndef __bpf__
#include <linux/types.h>
#include <stdbool.h>
#endif

#endif
