// SPDX-License-Identifier: Apache-2.0
/* Capabilities are asked for in groups: AddCapabilities gives all or nothing, and one refusal must not cost the others.
 */
#include "agent.h"

#include <string.h>

_Static_assert(sizeof(jvmtiCapabilities) == 16, "128 one-bit fields");

/* One group each: they have nothing to do with each other. */
static const struct {
	unsigned bit;
	bool at_start_only; /* cannot be had later, and is not missed then */
} wanted[] = {
	{CAP_COMPILED_METHOD_LOAD, false},
	{CAP_GARBAGE_COLLECTION, false},
	{CAP_LINE_NUMBERS, false},
	{CAP_SOURCE_FILE_NAME, false},
	/* Java code runs before VMStart otherwise, with stacks that end where its layout would have to be known. */
	{CAP_EARLY_VM_START, true},
};

static uint64_t held[2];

/* Bit fields are laid out from the least significant bit up, on every little-endian Linux. */
static void bit_set(uint64_t bits[2], unsigned bit)
{
	bits[bit / 64] |= 1ULL << bit % 64;
}

static bool bit_test(const uint64_t bits[2], unsigned bit)
{
	return bits[bit / 64] >> bit % 64 & 1;
}

bool caps_has(unsigned bit)
{
	return bit_test(held, bit);
}

void caps_acquire(struct caps *c)
{
	jvmtiCapabilities potential;
	uint64_t possible[2] = {0, 0};

	memset(c, 0, sizeof(*c));
	memset(&potential, 0, sizeof(potential));
	if ((*agent.jvmti)->GetPotentialCapabilities(agent.jvmti, &potential) == JVMTI_ERROR_NONE)
		memcpy(possible, &potential, sizeof(possible));

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uint64_t bits[2] = {0, 0};
		jvmtiCapabilities group;
		unsigned bit = wanted[i].bit;

		if (wanted[i].at_start_only && !bit_test(possible, bit))
			continue;
		bit_set(bits, bit);
		memcpy(&group, bits, sizeof(group));
		if (bit_test(possible, bit) && (*agent.jvmti)->AddCapabilities(agent.jvmti, &group) == JVMTI_ERROR_NONE)
			bit_set(c->got, bit);
		else
			bit_set(c->refused, bit);
	}
	memcpy(held, c->got, sizeof(held));
}

/* After the events have been disabled: what happens to events of a capability that goes is not specified. */
void caps_relinquish(void)
{
	jvmtiCapabilities all;

	memcpy(&all, held, sizeof(all));
	(*agent.jvmti)->RelinquishCapabilities(agent.jvmti, &all);
	memset(held, 0, sizeof(held));
}
