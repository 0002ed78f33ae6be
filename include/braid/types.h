// SPDX-License-Identifier: Apache-2.0
/* Fixed-size integers under the kernel's names, and bool, for the agent, for BPF and for the host alike. */
#ifndef BRAID_TYPES_H
#define BRAID_TYPES_H

#ifndef __bpf__
#include <linux/types.h>
#include <stdbool.h>
#endif

#endif
