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
	uint32_t wanted;    /* choices that need it; 0: always */
	const char *lacking;
} table[] = {
	{CAP_COMPILED_METHOD_LOAD, false, 0, NULL},
	{CAP_GARBAGE_COLLECTION, false, BRAID_WANT(GC), "GC pauses"},
	{CAP_LINE_NUMBERS, false, 0, NULL},
	{CAP_SOURCE_FILE_NAME, false, 0, NULL},
	/* Java code runs before VMStart otherwise, with stacks that end where its layout would have to be known. */
	{CAP_EARLY_VM_START, true, 0, NULL},
	{CAP_SAMPLED_OBJECT_ALLOC, false, BRAID_WANT(ALLOC) | BRAID_WANT(LIVE),
	 "sampled allocations (JDK 11 and later have them, for one agent at a time)"},
	{CAP_MONITOR_EVENTS, false, BRAID_WANT(LOCK) | BRAID_WANT(WAIT), "contended monitors and Object.wait"},
	{CAP_EXCEPTION_EVENTS, false, BRAID_WANT(EXCEPTION),
	 "exceptions to an agent that was not there when it started (start it with braid record -e exception -- java "
	 "...)"},
	{CAP_NATIVE_METHOD_BIND, false, BRAID_WANT(NATIVE_BIND), "native methods that are bound"},
	{CAP_RESOURCE_HEAP, false, BRAID_WANT(RESOURCE), "an exhausted heap"},
	{CAP_RESOURCE_THREADS, false, BRAID_WANT(RESOURCE), "exhausted threads"},
	{CAP_VIRTUAL_THREADS, false, BRAID_WANT(VTHREAD), "virtual threads (JDK 21 and later have them)"},
};

#define TABLE (sizeof(table) / sizeof(table[0]))

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

static void give_back(const uint64_t bits[2])
{
	jvmtiCapabilities group;

	memcpy(&group, bits, sizeof(group));
	(*agent.jvmti)->RelinquishCapabilities(agent.jvmti, &group);
	held[0] &= ~bits[0];
	held[1] &= ~bits[1];
}

static bool is_needed(size_t i, uint32_t wanted)
{
	return !table[i].wanted || (table[i].wanted & wanted);
}

void caps_acquire(struct caps *c, uint32_t wanted)
{
	jvmtiCapabilities potential;
	uint64_t possible[2] = {0, 0};

	memset(c, 0, sizeof(*c));
	memset(&potential, 0, sizeof(potential));
	if ((*agent.jvmti)->GetPotentialCapabilities(agent.jvmti, &potential) == JVMTI_ERROR_NONE)
		memcpy(possible, &potential, sizeof(possible));

	for (size_t i = 0; i < TABLE; i++) {
		uint64_t bits[2] = {0, 0};
		jvmtiCapabilities group;
		unsigned bit = table[i].bit;

		if (caps_has(bit) || !is_needed(i, wanted) || (table[i].at_start_only && !bit_test(possible, bit)))
			continue;
		bit_set(bits, bit);
		memcpy(&group, bits, sizeof(group));
		if (bit_test(possible, bit) && (*agent.jvmti)->AddCapabilities(agent.jvmti, &group) == JVMTI_ERROR_NONE)
			bit_set(held, bit);
		else
			bit_set(c->refused, bit);
	}
	memcpy(c->got, held, sizeof(held));
}

void caps_keep(struct caps *c, uint32_t wanted)
{
	uint64_t bits[2] = {0, 0};

	for (size_t i = 0; i < TABLE; i++)
		if (caps_has(table[i].bit) && !is_needed(i, wanted))
			bit_set(bits, table[i].bit);
	give_back(bits);
	memcpy(c->got, held, sizeof(held));
}

uint32_t caps_can(uint32_t wanted)
{
	for (size_t i = 0; i < TABLE; i++)
		if (!caps_has(table[i].bit))
			wanted &= ~table[i].wanted;
	return wanted;
}

void caps_say_refused(const struct caps *c)
{
	for (size_t i = 0; i < TABLE; i++)
		if (table[i].lacking && bit_test(c->refused, table[i].bit))
			publish_notice(BRAID_NOTICE_WARNING, "this JVM does not tell of %s", table[i].lacking);
}

void caps_relinquish(void)
{
	const uint64_t all[2] = {held[0], held[1]};

	give_back(all);
}
