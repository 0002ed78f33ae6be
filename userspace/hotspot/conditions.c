// SPDX-License-Identifier: Apache-2.0
#include "conditions.h"

#include "objects.h"

bool conditions_are(const char *class)
{
	static const char condition[] = PARKED_CONDITION;

	for (size_t i = 0; i < sizeof(condition) - 1; i++)
		if (class[i] != (condition[i] == '/' ? '.' : condition[i]))
			return false;
	return true;
}

uint64_t conditions_lock(struct conditions *c, pid_t pid, const struct braid_layout *l, uint64_t object, uint64_t klass)
{
	size_t at = klass / sizeof(uint64_t) % CONDITIONS_KNOWN;
	char name[CLASS_NAME_MAX];
	uint64_t lock;

	if (!klass || !(l->objects.flags & BRAID_OBJECTS_BLOCKERS))
		return 0;
	if (c->known[at].klass != klass) {
		c->known[at].klass = klass;
		c->known[at].is_condition =
			klass_name(objects_reader(&pid), l, klass, name, sizeof(name)) && conditions_are(name);
	}
	lock = c->known[at].is_condition ? parked_lock_of(objects_reader(&pid), l, object) : 0;
	return lock ? object_klass(objects_reader(&pid), l, lock) : 0;
}
