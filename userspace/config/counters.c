// SPDX-License-Identifier: Apache-2.0
#include "counters.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

#define CACHE(cache, operation, result)                                                                                \
	PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 |                    \
				    PERF_COUNT_HW_CACHE_RESULT_##result << 16
#define HARDWARE(counter) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##counter
#define SOFTWARE(counter) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##counter

static const struct counter {
	const char *name;
	uint32_t type;
	uint64_t config;
} counters[] = {
	{"cycles", HARDWARE(CPU_CYCLES)},
	{"cpu-cycles", HARDWARE(CPU_CYCLES)},
	{"instructions", HARDWARE(INSTRUCTIONS)},
	{"cache-references", HARDWARE(CACHE_REFERENCES)},
	{"cache-misses", HARDWARE(CACHE_MISSES)},
	{"branches", HARDWARE(BRANCH_INSTRUCTIONS)},
	{"branch-instructions", HARDWARE(BRANCH_INSTRUCTIONS)},
	{"branch-misses", HARDWARE(BRANCH_MISSES)},
	{"bus-cycles", HARDWARE(BUS_CYCLES)},
	{"ref-cycles", HARDWARE(REF_CPU_CYCLES)},
	{"stalled-cycles-frontend", HARDWARE(STALLED_CYCLES_FRONTEND)},
	{"stalled-cycles-backend", HARDWARE(STALLED_CYCLES_BACKEND)},
	{"L1-dcache-load-misses", CACHE(L1D, READ, MISS)},
	{"L1-icache-load-misses", CACHE(L1I, READ, MISS)},
	{"LLC-loads", CACHE(LL, READ, ACCESS)},
	{"LLC-load-misses", CACHE(LL, READ, MISS)},
	{"dTLB-load-misses", CACHE(DTLB, READ, MISS)},
	{"iTLB-load-misses", CACHE(ITLB, READ, MISS)},
	{"cpu-clock", SOFTWARE(CPU_CLOCK)},
	{"task-clock", SOFTWARE(TASK_CLOCK)},
	{"page-faults", SOFTWARE(PAGE_FAULTS)},
	{"minor-faults", SOFTWARE(PAGE_FAULTS_MIN)},
	{"major-faults", SOFTWARE(PAGE_FAULTS_MAJ)},
	{"context-switches", SOFTWARE(CONTEXT_SWITCHES)},
	{"cpu-migrations", SOFTWARE(CPU_MIGRATIONS)},
	{"alignment-faults", SOFTWARE(ALIGNMENT_FAULTS)},
	{"emulation-faults", SOFTWARE(EMULATION_FAULTS)},
};

bool counter_find(const char *name, uint32_t *type, uint64_t *config)
{
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		if (strcmp(counters[i].name, name) == 0) {
			*type = counters[i].type;
			*config = counters[i].config;
			return true;
		}
	return false;
}
