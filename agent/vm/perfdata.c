// SPDX-License-Identifier: Apache-2.0
/* Iterates over the VM's counter memory with checked reads; see perfdata.h. */
#include "perfdata.h"

#include "mem.h"
#include "vmstructs.h"

#define MAGIC 0xc0c0fecaU
#define ENTRIES_MAX 4096
#define BYTES_MAX (1 << 20)

/* perfMemory.hpp: PerfDataPrologue and PerfDataEntry, the same in every JDK. */
struct prologue {
	uint32_t magic;
	uint8_t order, major, minor, accessible;
	int32_t used, overflow;
	int64_t modified;
	int32_t entry_offset, entries;
};

struct entry {
	int32_t length, name_offset, vector_length;
	uint8_t type, flags, units, variability;
	int32_t data_offset;
};

static struct vm_field start_field = {.type = "PerfMemory", .name = "_start"};

void perfdata_open(void *libjvm)
{
	vmstructs_read(libjvm, &start_field, 1, NULL, 0);
}

static bool counter_read(struct perf_counter *c, uint64_t at, const struct entry *e)
{
	c->type = e->type;
	c->bytes = e->vector_length ? (uint32_t)e->vector_length : sizeof(uint64_t);
	c->data = at + (uint64_t)e->data_offset;
	return e->vector_length >= 0 && e->name_offset > 0 && e->data_offset > 0 &&
	       (int64_t)e->data_offset + c->bytes <= e->length &&
	       mem_read_string(c->name, sizeof(c->name), at + (uint64_t)e->name_offset);
}

bool perfdata_each(bool (*each)(const struct perf_counter *c, void *arg), void *arg)
{
	struct perf_counter c;
	struct prologue p;
	struct entry e;
	uint64_t start, at;

	if (!start_field.found || !mem_read(&start, start_field.address, sizeof(start)) || !start ||
	    !mem_read(&p, start, sizeof(p)) || p.magic != MAGIC || p.entry_offset <= 0)
		return false;
	at = start + (uint64_t)p.entry_offset;
	for (int32_t i = 0; i < p.entries && i < ENTRIES_MAX; i++, at += (uint64_t)e.length) {
		if (!mem_read(&e, at, sizeof(e)) || e.length < (int32_t)sizeof(e) || e.length > BYTES_MAX)
			break;
		if (counter_read(&c, at, &e) && !each(&c, arg))
			break;
	}
	return true;
}
