// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The kernel side of braid in one object: includes one file per task. The collector loads it. */
#include "maps.bpf.h"
#include "stack_request.bpf.h"
#include "drain.bpf.h"
#include "thread_life.bpf.h"
#include "waking.bpf.h"
#include "dump.bpf.h"
#include "sample.bpf.h"
#include "task.bpf.h"
#include "probes.bpf.h"
#include "hits.bpf.h"
#include "syscall.bpf.h"
#include "fault.bpf.h"
#include "block.bpf.h"
#include "tcp.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
