// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The kernel side of braid in one object: includes one file per task. The collector loads it. */
#include "maps.bpf.h"
#include "kernel_symbol.bpf.h"
#include "jvm/stack_request.bpf.h"
#include "jvm/drain.bpf.h"
#include "offcpu/thread_life.bpf.h"
#include "offcpu/offcpu_back.bpf.h"
#include "offcpu/waking.bpf.h"
#include "offcpu/dump.bpf.h"
#include "stack/sample.bpf.h"
#include "task.bpf.h"
#include "jvm/probes.bpf.h"
#include "events/hits.bpf.h"
#include "events/native_blocks.bpf.h"
#include "events/syscall.bpf.h"
#include "events/fault.bpf.h"
#include "events/block.bpf.h"
#include "events/tcp.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
