// SPDX-License-Identifier: Apache-2.0
/* Who owns which addresses, by the JVM's tables and threads, and by what is in memory. resident.c calls it. */
#include "resident_state.h"

#include "hotspot/hotspot.h"
#include "hotspot/vm_tables.h"
#include "proc/jvm_proc.h"
#include "proc/procfs.h"
#include "util/text.h"
#include "util/utf8.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ARENA_BYTES (64ULL << 20) /* glibc's HEAP_MAX_SIZE on 64-bit machines */
#define CHUNK_FLAGS 7U		  /* glibc's, in the size of a chunk */
#define CHUNK_MAPPED 2U
#define TURNS 20 /* how often one thread that runs is looked at again */
#define TURN_NS 2000000

/* ---- the JVM's own tracking ---- */

/*
 * "[0x7f00 - 0x7f10] reserved 16KB for Thread Stack from", or "reserved and committed"; below it are the committed
 * parts, which smaps knows.
 */
int resident_add_tracking(struct resident *r, FILE *from)
{
	char line[512];
	bool any = false;
	int err = 0;

	while (!err && fgets(line, sizeof(line), from)) {
		struct resident_range range = {.owner = RESIDENT_TRACKED};
		const char *name, *from_where;
		int at = 0;

		if (sscanf(line, "[0x%" SCNx64 " - 0x%" SCNx64 "] reserved%n", &range.start, &range.end, &at) != 2 ||
		    !at)
			continue;
		name = strstr(line + at, " for ");
		if (!name)
			continue;
		name += strlen(" for ");
		from_where = strstr(name, " from");
		utf8_printable(range.name, sizeof(range.name), name,
			       from_where ? (size_t)(from_where - name) : strcspn(name, "\n"));
		err = resident_add_range(r, &range);
		any = true;
	}
	return err ?: any ? 0 : -EINVAL;
}

/* ---- the JVM's tables ---- */

enum { F_HEAP, F_RESERVED, F_START, F_WORDS, FIELDS };

static int add_heap(struct resident *r, uint64_t libjvm, const uint64_t at[VM_SYMBOLS])
{
	struct vm_field f[FIELDS] = {[F_HEAP] = {.type = "Universe", .name = "_collectedHeap"},
				     [F_RESERVED] = {.type = "CollectedHeap", .name = "_reserved"},
				     [F_START] = {.type = "MemRegion", .name = "_start"},
				     [F_WORDS] = {.type = "MemRegion", .name = "_word_size"}};
	struct resident_range range = {.owner = RESIDENT_HEAP};
	uint64_t heap, words;

	if (vm_process_read(r->pid, libjvm, at, f, FIELDS, NULL, 0))
		return 0;
	for (int i = 0; i < FIELDS; i++)
		if (!f[i].found)
			return 0;
	if (hotspot_read_process(&r->pid, f[F_HEAP].address, &heap, sizeof(heap)) ||
	    hotspot_read_process(&r->pid, heap + f[F_RESERVED].offset + f[F_START].offset, &range.start,
				 sizeof(range.start)) ||
	    hotspot_read_process(&r->pid, heap + f[F_RESERVED].offset + f[F_WORDS].offset, &words, sizeof(words)) ||
	    words > 1ULL << 44)
		return 0;
	range.end = range.start + words * 8;
	return resident_add_range(r, &range);
}

static int add_code(struct resident *r, uint64_t libjvm, const uint64_t at[VM_SYMBOLS])
{
	struct braid_statics statics;
	struct braid_layout layout;
	int err = 0;

	if (vm_layout_read(r->pid, libjvm, at, &layout, &statics))
		return 0;
	for (uint32_t i = 0; i < layout.heap_count && i < BRAID_CODE_HEAPS && !err; i++)
		err = resident_add_range(r, &(struct resident_range){.start = layout.heaps[i].low,
								     .end = layout.heaps[i].high,
								     .owner = RESIDENT_CODE_CACHE});
	return err;
}

/* Shared libraries begin at address 0 in their files. */
static int add_tables(struct resident *r, uint64_t libjvm, uint64_t end)
{
	uint64_t at[VM_SYMBOLS];
	char path[96];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)r->pid, libjvm, end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!vm_symbols_find(fd, at)) {
		err = add_heap(r, libjvm, at);
		err = err ?: add_code(r, libjvm, at);
	}
	close(fd);
	return err;
}

/* ---- threads ---- */

/* The stack pointer of a thread that does not run: the last number but one of "NUMBER ARGUMENTS... SP PC"; else 0. */
static uint64_t stack_pointer(struct resident *r, pid_t tid)
{
	const struct timespec turn = {.tv_nsec = TURN_NS};
	char name[48], text[256];
	uint64_t sp = 0;

	snprintf(name, sizeof(name), "task/%d/syscall", (int)tid);
	for (int i = 0; i < TURNS && !sp; i++) {
		ssize_t length = proc_file_read(r->pid, name, text, sizeof(text));
		char *last = length > 0 ? strrchr(text, ' ') : NULL, *before;

		if (length <= 0)
			return 0;
		if (!last) { /* "running" */
			if (!r->turns)
				return 0;
			r->turns--;
			nanosleep(&turn, NULL);
			continue;
		}
		*last = '\0';
		before = strrchr(text, ' ');
		if (!before)
			return 0;
		sp = strtoull(before + 1, NULL, 16);
	}
	return sp;
}

struct threads {
	struct resident *r;
	int err;
};

/* The stack is the whole mapping that has this byte. */
static void add_thread(void *ctx, pid_t pid, pid_t tid)
{
	struct threads *t = ctx;
	uint64_t sp = t->err ? 0 : stack_pointer(t->r, tid);

	(void)pid;

	if (sp)
		t->err = resident_add_range(
			t->r, &(struct resident_range){
				      .start = sp, .end = sp + 1, .owner = RESIDENT_STACK, .tid = (uint32_t)tid});
}

int resident_find_ranges(struct resident *r, uint64_t libjvm, uint64_t libjvm_end)
{
	struct threads t = {.r = r};
	int err = libjvm ? add_tables(r, libjvm, libjvm_end) : 0;

	if (err)
		return err;
	err = procfs_threads(r->pid, add_thread, &t);
	return err < 0 ? err : t.err;
}

/* ---- what is in no range ---- */

static bool words_at(const struct resident *r, uint64_t address, uint64_t *words, size_t count)
{
	pid_t pid = r->pid;

	return !hotspot_read_process(&pid, address, words, count * sizeof(*words));
}

/* One of glibc's further arenas: it begins with struct heap_info: the arena, the heap before, the bytes in use. */
static bool is_arena(const struct resident *r, const struct resident_mapping *m)
{
	uint64_t info[3];

	return m->start % ARENA_BYTES == 0 && m->end - m->start <= ARENA_BYTES && words_at(r, m->start, info, 3) &&
	       info[0] && info[1] % ARENA_BYTES == 0 && info[2] % 4096 == 0 && info[2] && info[2] <= ARENA_BYTES &&
	       (info[1] || info[0] - m->start < 4096);
}

uint64_t resident_block(const struct resident *r, uint64_t at, uint64_t end)
{
	uint64_t chunk[2], bytes;

	if (!words_at(r, at, chunk, 2))
		return 0;
	bytes = chunk[1] & ~(uint64_t)CHUNK_FLAGS;
	return (chunk[1] & CHUNK_FLAGS) == CHUNK_MAPPED && !chunk[0] && bytes % 4096 == 0 && bytes <= end - at ? bytes
													       : 0;
}

static enum resident_owner guess_file(const struct resident *r, const struct resident_mapping *m)
{
	if (strstr(m->path, "java_heap"))
		return RESIDENT_HEAP;
	if (text_ends_with(m->path, ".jsa"))
		return RESIDENT_ARCHIVE;
	if (strstr(m->path, ".so") || strcmp(m->path, r->exe) == 0 || m->permissions[2] == 'x')
		return RESIDENT_LIBRARY;
	return strncmp(m->path, "/dev/shm/", 9) == 0 || strncmp(m->path, "/memfd:", 7) == 0 ||
			       strncmp(m->path, "/dev/zero", 9) == 0 || strncmp(m->path, "/SYSV", 5) == 0
		       ? RESIDENT_SHARED
		       : RESIDENT_FILE;
}

enum resident_owner resident_guess(const struct resident *r, const struct resident_mapping *m)
{
	if (m->path[0] == '/')
		return guess_file(r, m);
	if (strcmp(m->path, "[stack]") == 0)
		return RESIDENT_STACK;
	if (strcmp(m->path, "[heap]") == 0)
		return RESIDENT_MALLOC;
	if (m->path[0] == '[' && strncmp(m->path, "[anon", 5) != 0)
		return RESIDENT_LIBRARY; /* the kernel's: vdso, vvar */
	if (m->shared)
		return RESIDENT_SHARED;
	return is_arena(r, m) ? RESIDENT_MALLOC : RESIDENT_UNKNOWN;
}
