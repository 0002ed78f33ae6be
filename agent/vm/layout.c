// SPDX-License-Identifier: Apache-2.0
/* See layout.h. What it reads may be wrong for this VM, so all reads are checked, and the self-check decides on use. */
#include "layout.h"

#include "mem.h"
#include "objects.h"
#include "vmstructs.h"
#include "core/state.h"

#include <braid/layout_fields.h>

#include "core/glibc.h"
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Number of announcements that must match before the layout counts as checked. */
#define CHECKS 16U
/* One byte of the segment map leads back at most 254 segments; no blob is longer than this many hops. */
#define SEGMENT_HOPS 4096U

static struct {
	/* Constant after layout_open */
	bool readable; /* the VM has the tables */
	struct braid_statics statics;
	struct layout_check check;

	pthread_mutex_t mutex;
	struct braid_layout now; /* the last published one */
	uint32_t agreed;
	bool refuted;
	bool complete;
} lay = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static uint64_t library_base(void *libjvm)
{
	struct link_map *map;

	return libjvm != RTLD_DEFAULT && !dlinfo(libjvm, RTLD_DI_LINKMAP, &map) ? map->l_addr : 0;
}

void layout_open(void *libjvm)
{
	struct layout_tables t;

	memcpy(t.field, layout_fields, sizeof(t.field));
	memcpy(t.type, layout_types, sizeof(t.type));
	if (vmstructs_read(libjvm, t.field, LAYOUT_FIELDS, t.type, LAYOUT_TYPES))
		return;
	lay.readable = true;
	lay.now.libjvm_base = library_base(libjvm);
	layout_take(&t, &lay.now, &lay.statics, &lay.check);
	lay.refuted = !(lay.now.flags & BRAID_LAYOUT_WALKABLE);
	objects_open(libjvm);
}

static long statics_read(void *ctx, void *to, __u32 size, __u64 address)
{
	(void)ctx;
	return mem_read(to, address, size) ? 0 : -1;
}

static uint64_t read_u64(uint64_t address)
{
	uint64_t v;

	return mem_read(&v, address, sizeof(v)) ? v : 0;
}

static int32_t read_s32(uint64_t address)
{
	int32_t v;

	return mem_read(&v, address, sizeof(v)) ? v : 0;
}

static void layout_record_publish(const struct braid_layout *l)
{
	struct braid_rec_layout r = {.layout = *l, .statics = lay.statics};

	record_init(&r.hdr, BRAID_REC_LAYOUT, 0);
	publish_definition((struct iovec[]){PART(&r, sizeof(r))}, 1);
	link_wake(&agent.link); /* walks are incomplete until the kernel side has it */
}

void layout_publish(bool force)
{
	struct braid_layout l;

	pthread_mutex_lock(&lay.mutex);
	if (lay.complete && !force)
		goto out;
	l = lay.now;
	if (lay.readable) {
		statics_heaps(NULL, &lay.statics, &l);
		statics_interpreter(NULL, &lay.statics, &l);
		lay.complete = statics_is_whole(&l);
	}
	if (lay.complete && force)
		l.flags &= ~BRAID_LAYOUT_GROWING;
	if (force || lay.complete) {
		lay.now = l;
		layout_record_publish(&l);
	}
out:
	pthread_mutex_unlock(&lay.mutex);
}

void layout_objects_set(const struct braid_objects *o)
{
	pthread_mutex_lock(&lay.mutex);
	lay.now.objects = *o;
	if (lay.complete)
		layout_record_publish(&lay.now);
	pthread_mutex_unlock(&lay.mutex);
}

void layout_vthreads_set(const struct braid_vthreads *v)
{
	pthread_mutex_lock(&lay.mutex);
	lay.now.vthreads = *v;
	if (lay.complete)
		layout_record_publish(&lay.now);
	pthread_mutex_unlock(&lay.mutex);
}

void layout_get(struct braid_layout *l)
{
	pthread_mutex_lock(&lay.mutex);
	*l = lay.now;
	pthread_mutex_unlock(&lay.mutex);
}

void layout_reset(void)
{
	pthread_mutex_lock(&lay.mutex);
	lay.now.flags &= ~BRAID_LAYOUT_CHECKED;
	lay.agreed = 0;
	pthread_mutex_unlock(&lay.mutex);
}

bool layout_agrees(const struct layout_nmethod *n, uint64_t code, uint32_t code_size)
{
	return n->found && n->code == code && (n->code_size == code_size || n->insts_size == code_size);
}

void layout_check(const struct layout_nmethod *n, uint64_t code, uint32_t code_size)
{
	bool agrees = layout_agrees(n, code, code_size);
	bool refuted = false;

	pthread_mutex_lock(&lay.mutex);
	if (!lay.complete || !(lay.now.flags & BRAID_LAYOUT_WALKABLE) || (lay.now.flags & BRAID_LAYOUT_CHECKED))
		goto out;
	if (!agrees) {
		lay.refuted = refuted = true;
		lay.now.flags &= ~BRAID_LAYOUT_WALKABLE;
		layout_record_publish(&lay.now);
	} else if (++lay.agreed == CHECKS) {
		lay.now.flags |= BRAID_LAYOUT_CHECKED;
		layout_record_publish(&lay.now);
	}
out:
	pthread_mutex_unlock(&lay.mutex);
	if (refuted)
		publish_notice(BRAID_NOTICE_WARNING,
			       "the code heap does not agree with this JVM's announcement of compiled code at %#llx "
			       "(%u bytes; found %d, code at %#llx, %u bytes): Java frames will not be walked",
			       (unsigned long long)code, code_size, n->found, (unsigned long long)n->code,
			       n->code_size);
}

/* The blob that covers pc, as CodeHeap::find_start finds it; 0: none. */
static uint64_t blob_find(const struct braid_layout *l, uint64_t pc)
{
	for (uint32_t i = 0; i < l->heap_count && i < BRAID_CODE_HEAPS; i++) {
		const struct braid_code_heap *h = &l->heaps[i];
		uint64_t segment = (pc - h->low) >> h->log2_segment;
		uint8_t hop;

		if (pc < h->low || pc >= h->high)
			continue;
		for (uint32_t n = 0; n < SEGMENT_HOPS; n++) {
			if (!mem_read(&hop, h->segmap + segment, 1) || hop == 0xff || hop > segment)
				return 0;
			if (!hop)
				return h->low + (segment << h->log2_segment) + l->heap_block_header;
			segment -= hop;
		}
		return 0;
	}
	return 0;
}

static bool layout_read(struct braid_layout *l)
{
	bool complete;

	pthread_mutex_lock(&lay.mutex);
	*l = lay.now;
	complete = lay.complete;
	pthread_mutex_unlock(&lay.mutex);
	return complete && (l->flags & BRAID_LAYOUT_WALKABLE);
}

static int level_read(const struct braid_layout *l, uint64_t blob)
{
	int8_t small;
	int32_t wide;

	if (l->nmethod_comp_level_size == 1)
		return mem_read(&small, blob + l->nmethod_comp_level, 1) ? small : -1;
	return mem_read(&wide, blob + l->nmethod_comp_level, 4) ? wide : -1;
}

/* An address inside a blob, which this VM keeps as a pointer or as an offset from the blob. */
static uint64_t blob_address(const struct braid_layout *l, uint64_t blob, uint16_t offset)
{
	if (l->flags & BRAID_LAYOUT_CODE_OFFSET)
		return blob + (uint64_t)read_s32(blob + offset);
	return read_u64(blob + offset);
}

void layout_nmethod_find(struct layout_nmethod *n, uint64_t pc)
{
	struct braid_layout l;
	char name[32];
	uint64_t blob, end;

	*n = (struct layout_nmethod){.level = -1};
	if (!layout_read(&l))
		return;
	blob = blob_find(&l, pc);
	if (!blob || !mem_read_string(name, sizeof(name), read_u64(blob + l.blob_name)))
		return;
	n->native = !strcmp(name, "native nmethod");
	if (!n->native && strcmp(name, "nmethod"))
		return;
	n->blob = blob;
	n->code = blob_address(&l, blob, l.blob_code);
	end = blob_address(&l, blob, lay.check.blob_code_end);
	n->found = n->code > blob && end > n->code && end - n->code <= INT32_MAX;
	n->code_size = n->found ? (uint32_t)(end - n->code) : 0;
	n->insts_size = n->found ? (uint32_t)(blob + (uint64_t)read_s32(blob + lay.check.stub_offset) - n->code) : 0;
	n->compile_id = (uint32_t)read_s32(blob + l.nmethod_compile_id);
	n->frame_words = (uint32_t)read_s32(blob + l.blob_frame_size);
	n->osr = read_s32(blob + lay.check.entry_bci) != -1; /* InvocationEntryBci */
	n->level = level_read(&l, blob);
}

uint32_t layout_thread_tid(uint64_t java_thread)
{
	uint64_t osthread;
	int32_t tid;

	if (!java_thread || !lay.now.thread_osthread || !lay.now.osthread_tid)
		return 0;
	osthread = read_u64(java_thread + lay.now.thread_osthread);
	tid = osthread ? read_s32(osthread + lay.now.osthread_tid) : 0;
	if (tid <= 0 || syscall(SYS_tgkill, getpid(), tid, 0))
		return 0;
	return (uint32_t)tid;
}
