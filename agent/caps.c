// SPDX-License-Identifier: Apache-2.0
/* Asks the JVM for the capabilities of the kinds and gives them back. It requests each one separately: AddCapabilities
 * grants all or none, and one refusal must not cost the others. */
#include "agent.h"

#include <string.h>

_Static_assert(sizeof(jvmtiCapabilities) == 16, "128 one-bit fields");

struct cap_place {
	size_t kind, cap;
};

/* Bit fields start at the least significant bit on every little-endian Linux. */
static void bit_set(uint64_t bits[2], unsigned bit)
{
	bits[bit / 64] |= 1ULL << bit % 64;
}

static bool bit_test(const uint64_t bits[2], unsigned bit)
{
	return bits[bit / 64] >> bit % 64 & 1;
}

static void give_back(const uint64_t bits[2])
{
	jvmtiCapabilities group;

	memcpy(&group, bits, sizeof(group));
	(*agent.jvmti)->RelinquishCapabilities(agent.jvmti, &group);
	agent.held[0] &= ~bits[0];
	agent.held[1] &= ~bits[1];
}

static bool is_needed(const struct kind_cap *c, uint32_t types)
{
	return !c->types || ((c->types | c->users) & types);
}

/* The next capability of all kinds; NULL after the last. */
static const struct kind_cap *cap_next(struct cap_place *at)
{
	const struct kind *k;

	for (; (k = kind_at(at->kind)); at->kind++, at->cap = 0)
		if (at->cap < KIND_CAPS && k->caps[at->cap].bit)
			return &k->caps[at->cap++];
	return NULL;
}

void caps_acquire(struct caps *c, uint32_t types)
{
	struct cap_place at = {0};
	const struct kind_cap *k;
	jvmtiCapabilities potential;
	uint64_t possible[2] = {0, 0};

	memset(c, 0, sizeof(*c));
	memset(&potential, 0, sizeof(potential));
	if ((*agent.jvmti)->GetPotentialCapabilities(agent.jvmti, &potential) == JVMTI_ERROR_NONE)
		memcpy(possible, &potential, sizeof(possible));

	while ((k = cap_next(&at))) {
		uint64_t bits[2] = {0, 0};
		jvmtiCapabilities group;
		unsigned bit = k->bit;

		bool optional = k->at_start_only || (k->types && !(k->types & types));

		if (caps_has(bit) || !is_needed(k, types) || (optional && !bit_test(possible, bit)))
			continue;
		bit_set(bits, bit);
		memcpy(&group, bits, sizeof(group));
		if (bit_test(possible, bit) && (*agent.jvmti)->AddCapabilities(agent.jvmti, &group) == JVMTI_ERROR_NONE)
			bit_set(agent.held, bit);
		else
			bit_set(c->refused, bit);
	}
	memcpy(c->got, agent.held, sizeof(agent.held));
}

void caps_keep(struct caps *c, uint32_t types)
{
	struct cap_place at = {0};
	const struct kind_cap *k;
	uint64_t bits[2] = {0, 0};

	while ((k = cap_next(&at)))
		if (caps_has(k->bit) && !is_needed(k, types))
			bit_set(bits, k->bit);
	give_back(bits);
	memcpy(c->got, agent.held, sizeof(agent.held));
}

uint32_t caps_can(uint32_t types)
{
	struct cap_place at = {0};
	const struct kind_cap *k;

	while ((k = cap_next(&at)))
		if (!caps_has(k->bit))
			types &= ~k->types;
	return types;
}

void caps_report_refused(const struct caps *c)
{
	struct cap_place at = {0};
	const struct kind_cap *k;

	while ((k = cap_next(&at)))
		if (k->lacking && bit_test(c->refused, k->bit))
			publish_notice(BRAID_NOTICE_WARNING, "this JVM does not report %s", k->lacking);
}

void caps_relinquish(void)
{
	const uint64_t all[2] = {agent.held[0], agent.held[1]};

	give_back(all);
}
