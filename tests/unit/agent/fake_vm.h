// SPDX-License-Identifier: Apache-2.0
/* What HotSpot says about itself in its memory: performance counters and the heap's size, as its tables lead there. */
#ifndef TESTS_UNIT_AGENT_FAKE_VM_H
#define TESTS_UNIT_AGENT_FAKE_VM_H

#include <stdint.h>

enum fake_counter {
	FAKE_FREQUENCY, /* of the VM's clock */
	FAKE_CAUSE,
	FAKE_LAST_CAUSE,
	FAKE_YOUNG_NAME,
	FAKE_YOUNG_RUNS,
	FAKE_YOUNG_ENTRY,
	FAKE_YOUNG_EXIT,
	FAKE_FULL_NAME,
	FAKE_FULL_RUNS,
	FAKE_FULL_ENTRY,
	FAKE_FULL_EXIT,
	FAKE_COUNTERS,
};

/* From here on this VM counts, with collectors of these names. */
void fake_vm_count(const char *young, const char *full);
/* Numbers and texts, at any time. */
volatile uint64_t *fake_vm_number(enum fake_counter c);
void fake_vm_text(enum fake_counter c, const char *text);
/* Its entry in the memory that the VM shares: to be damaged. */
int32_t *fake_vm_entry(int number);
/* Bytes that G1 says are in use. */
void fake_vm_heap(uint64_t used);

#endif
