// SPDX-License-Identifier: Apache-2.0
#include "code_cache.h"

#include "jvm_emit.h"
#include "jvm_state.h"
#include "libjvm.h"
#include "probes.h"
#include "sink/names.h"

#include <errno.h>
#include <string.h>

#define MEASURE_NS 1000000000ULL
#define MEASURE_PART 100 /* fraction of the time that measuring may take: each block is one read */
#define EMIT_PART 64	 /* of a heap's size: smaller changes are not reported */
#define CHUNK 4096U	 /* bytes of the segment map in one read */
#define BLOCKS_MAX (1U << 18)

/* Reads one block's header. The length field ends where the next field begins. */
static int block_bytes(const struct braid_code_heap *h, uint16_t length, uint16_t used, hotspot_read_fn read, void *ctx,
		       uint64_t segment, uint64_t *bytes)
{
	uint64_t at = h->low + (segment << h->log2_segment), segments = 0;
	uint8_t header[32], in_use;
	int err = read(ctx, at, header, used + 1U);

	if (err)
		return err;
	memcpy(&segments, header + length, used - length < 8 ? 4 : 8);
	in_use = header[used];
	if (in_use > 1 || segments > (h->high - at) >> h->log2_segment)
		return -EAGAIN; /* the JVM is writing it */
	*bytes += in_use ? segments << h->log2_segment : 0;
	return 0;
}

/*
 * The segment map has one byte for each segment, 0 where a block begins. It is mapped as far as the heap is, up to a
 * page's end; bytes after the heap's last segment are also 0.
 */
int code_cache_measure(const struct braid_code_heap *h, uint16_t length, uint16_t used, hotspot_read_fn read, void *ctx,
		       uint64_t *bytes)
{
	uint64_t segments;
	uint8_t map[CHUNK];
	uint32_t blocks = 0;

	*bytes = 0;
	if (used <= length || used > 24 || !braid_code_heap_fits(h))
		return -EINVAL;
	segments = (h->high - h->low) >> h->log2_segment;
	for (uint64_t from = 0; from < segments; from += CHUNK) {
		size_t n = segments - from < CHUNK ? segments - from : CHUNK;

		if (read(ctx, h->segmap + from, map, n))
			return from ? 0 : -EFAULT;
		for (size_t i = 0; i < n; i++) {
			int err = map[i] ? 0 : block_bytes(h, length, used, read, ctx, from + i, bytes);

			if (err)
				return err == -EFAULT ? 0 : err;
			blocks += !map[i];
			if (blocks > BLOCKS_MAX)
				return -E2BIG;
		}
	}
	return 0;
}

/* Names a heap by the kind of code in it. Tiers 0, 1 and 4 have no profiling. */
static const char *heap_name(const struct jvm *j, const struct braid_code_heap *h)
{
	if (j->layout.heap_count == 1)
		return "CodeCache";
	if (j->layout.interpreter_start - h->low < h->high - h->low)
		return "CodeHeap 'non-nmethods'";
	for (size_t i = 0; i < j->code.count; i++) {
		const struct code *c = j->code.by_address[i];

		if (c->address - h->low < h->high - h->low && !c->name && c->tier <= BRAID_TIER_C2)
			return c->tier == 2 || c->tier == 3 ? "CodeHeap 'profiled nmethods'"
							    : "CodeHeap 'non-profiled nmethods'";
	}
	return "CodeHeap";
}

static void heap_emit(struct jvm *j, uint32_t heap, uint64_t used, uint64_t time_ns)
{
	const struct braid_code_heap *h = &j->layout.heaps[heap];
	struct trace_jvm_event e = {
		.time_ns = time_ns,
		.kind = BRAID_JVM_CODE_CACHE,
		.name = names_id(j->jvms->names, &j->process->account, trace_str_of(heap_name(j, h))),
		.value = used,
		.weight = h->high - h->low,
		.source = BRAID_SOURCE_AGENT,
	};

	j->cache.emitted[heap] = used;
	jvm_events_emit(j->jvms, j->process, &e);
}

static bool heap_due(const struct jvm *j, uint64_t time_ns, bool final)
{
	const struct code_cache *c = &j->cache;

	if (!j->layout_reported || !j->replayed)
		return false;
	return !c->any || (c->changes != j->loads + j->unloaded && (final || time_ns > c->due_ns));
}

void code_cache_tick(struct jvm *j, uint64_t time_ns, bool final)
{
	uint64_t used, change;
	const struct libjvm_copy *l = probes_library(j->jvms->probes, j->process);
	struct code_cache *c = &j->cache;

	if (!(j->jvms->options->config.enabled & BRAID_EVENT_TYPE(JIT)) || !l || !l->field[BLOCK_LENGTH].found ||
	    !l->field[BLOCK_USED].found || !heap_due(j, time_ns, final))
		return;
	c->changes = j->loads + j->unloaded;
	for (uint32_t i = 0; i < j->layout.heap_count; i++) {
		const struct braid_code_heap *h = &j->layout.heaps[i];

		if (h->high <= h->low || code_cache_measure(h, (uint16_t)l->field[BLOCK_LENGTH].offset,
							    (uint16_t)l->field[BLOCK_USED].offset, hotspot_read_process,
							    &j->process->pid, &used))
			continue;
		change = used > c->emitted[i] ? used - c->emitted[i] : c->emitted[i] - used;
		if (!c->any || final || change > c->emitted[i] / EMIT_PART)
			heap_emit(j, i, used, time_ns);
	}
	c->any = true;
	c->due_ns = now_ns() + MEASURE_NS + (now_ns() - time_ns) * MEASURE_PART;
}
