// SPDX-License-Identifier: Apache-2.0
/*
 * The parts of HotSpot's memory that the agent reads: performance counters and the heap's size, which its tables lead
 * to. fake_vm.c lays them out.
 */
#ifndef TESTS_UNIT_AGENT_FAKE_VM_H
#define TESTS_UNIT_AGENT_FAKE_VM_H

#include <stdint.h>

enum fake_counter {
	FAKE_FREQUENCY, /* ticks of the VM's clock per second */
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

/* From here on this VM has performance counters, with collectors of these names. */
void fake_vm_count(const char *young, const char *full);
/* The values of the counters, valid at any time. */
volatile uint64_t *fake_vm_number(enum fake_counter c);
void fake_vm_text(enum fake_counter c, const char *text);
/* A counter's entry in the VM's shared memory, for tests that damage it. */
int32_t *fake_vm_entry(int number);
/* Bytes that G1 reports as used. */
void fake_vm_heap(uint64_t used);

#endif
