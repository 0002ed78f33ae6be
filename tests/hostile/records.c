// SPDX-License-Identifier: Apache-2.0
/*
 * Modes of the hostile program that write well-formed records with false or excessive contents. They use client.h's
 * ring; main.c starts them.
 */
#include "hostile.h"

#include <braid/layout.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096UL
#define NOTICES 20000
#define CROWD 3000
#define SMALL_STACK 16384
#define YEAR_NS (365ULL * 86400 * 1000000000)

static void put_event(struct grip *g, uint32_t kind, const char *name, uint64_t time_ns)
{
	struct braid_rec_named_event e = {
		.hdr = head(BRAID_REC_NAMED_EVENT, 0), .event = kind, .name_len = (uint16_t)strlen(name)};

	if (time_ns)
		e.hdr.time_ns = time_ns;
	put_strings(g, &e, sizeof(e), &name, 1);
}

static void put_thread(struct grip *g, uint32_t tid, const char *name)
{
	const struct braid_rec_thread t = {
		.hdr = head(BRAID_REC_THREAD, 0), .thread_tid = tid, .name_len = (uint16_t)strlen(name)};

	put_strings(g, &t, sizeof(t), &name, 1);
}

/* The blocks have no length, wherever a reader looks. */
void say_heap(struct grip *g)
{
	const uint64_t bytes = 1ULL << 43;
	struct braid_rec_layout r = {.hdr = head(BRAID_REC_LAYOUT, sizeof(r))};
	struct braid_rec_code_load load = {.code_size = 16, .compile_id = 1, .tier = BRAID_TIER_C2};
	void *low = mmap(NULL, 2 * bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (low == MAP_FAILED)
		die("mmap");
	put_hello(g);
	r.layout.flags = BRAID_LAYOUT_NAMES;
	r.layout.heap_count = 1;
	r.layout.heaps[0] = (struct braid_code_heap){.low = (uint64_t)(uintptr_t)low,
						     .high = (uint64_t)(uintptr_t)low + bytes,
						     .segmap = (uint64_t)(uintptr_t)low + bytes,
						     .log2_segment = 4};
	put(g, &r, sizeof(r));
	r.layout.heaps[0].log2_segment = 77;
	put(g, &r, sizeof(r));
	r.layout.heap_count = UINT32_MAX;
	put(g, &r, sizeof(r));
	load.address = (uint64_t)(uintptr_t)low;
	load.hdr = head(BRAID_REC_CODE_LOAD, sizeof(load));
	put(g, &load, sizeof(load));
	under_way();
	for (;;) /* so that it has samples */
		;
}

void say_loads(struct grip *g)
{
	struct braid_rec_code_load load = {.code_size = UINT32_MAX, .tier = BRAID_TIER_C2};

	put_hello(g);
	for (uint32_t i = 1;; i++) {
		load.hdr = head(BRAID_REC_CODE_LOAD, sizeof(load));
		load.compile_id = i;
		load.address = 0x600000000000ULL + i * 16ULL;
		load.code_size = i % 2 ? UINT32_MAX : 1U << 20;
		put(g, &load, sizeof(load));
	}
}

void say_methods(struct grip *g)
{
	static char class[3000];
	const char *strings[] = {class, "method", "()V", "Hostile.java"};
	struct braid_rec_method m = {0};

	put_hello(g);
	memset(class, 'a', sizeof(class) - 1);
	for (uint32_t i = 1;; i++) {
		m = (struct braid_rec_method){.hdr = head(BRAID_REC_METHOD, 0),
					      .method = i,
					      .class_len = (uint16_t)strlen(strings[0]),
					      .name_len = (uint16_t)strlen(strings[1]),
					      .sig_len = (uint16_t)strlen(strings[2]),
					      .source_len = (uint16_t)strlen(strings[3])};
		put_strings(g, &m, sizeof(m), strings, 4);
	}
}

static _Noreturn void *sleep_always(void *ctx)
{
	(void)ctx;
	rest();
}

/* Starts as many threads as the machine allows. */
static void gather_crowd(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, SMALL_STACK);
	for (int i = 0; i < CROWD && !pthread_create(&thread, &attr, sleep_always, NULL); i++)
		;
	pthread_attr_destroy(&attr);
}

/* The collector looks up each of these tids among all threads, because the process is in a pid namespace. */
void say_tids(struct grip *g)
{
	struct braid_rec_thread_end end = {0};

	if (getpid() == 1)
		gather_crowd();
	put_hello(g);
	for (uint32_t tid = 5000;; tid++) {
		end.hdr = head(BRAID_REC_THREAD_END, sizeof(end));
		end.hdr.tid = tid;
		put(g, &end, sizeof(end));
		put_thread(g, tid + 1, "a thread that is none");
		put_event(g, BRAID_JVM_RESOURCE, "of nobody", 0);
	}
}

void say_renames(struct grip *g)
{
	char name[64];

	put_hello(g);
	for (uint64_t i = 0;; i++) {
		snprintf(name, sizeof(name), "the thread's name number %llu", (unsigned long long)i);
		put_thread(g, (uint32_t)getpid(), name);
	}
}

void say_names(struct grip *g)
{
	static char name[BRAID_STR_MAX + 1];

	put_hello(g);
	memset(name, 'n', sizeof(name) - 1);
	for (uint32_t i = 0;; i++) {
		/* One long name, then many short ones. */
		size_t length = i % 64 ? 32 : sizeof(name) - 1;

		name[0] = (char)('A' + (char)(i % 26));
		for (int digit = 0; digit < 8; digit++)
			name[1 + digit] = "0123456789abcdef"[i >> (4 * digit) & 15];
		name[length] = '\0';
		put_event(g, BRAID_JVM_CLASS_PREPARE, name, 0);
		name[length] = 'n';
	}
}

/* Rows of histograms with ever new classes and loaders, results without rows, and numbers that come again. */
void say_rows(struct grip *g)
{
	struct braid_rec_jvm_event result = {
		.event = {.kind = BRAID_JVM_HEAP, .value = UINT64_MAX, .weight = UINT64_MAX}};
	char class[32], loader[32];
	const char *strings[] = {class, loader, loader};

	put_hello(g);
	for (uint64_t i = 0;; i++) {
		struct braid_rec_heap_class row = {.hdr = head(BRAID_REC_HEAP_CLASS, 0),
						   .number = i % 7,
						   .bytes = UINT64_MAX,
						   .objects = i,
						   .which = (uint32_t)(i % 5),
						   .loader_hash = (uint32_t)i};

		row.class_len = (uint16_t)snprintf(class, sizeof(class), "Lr/C%llu;", (unsigned long long)i);
		row.loader_len = row.loader_name_len =
			(uint16_t)snprintf(loader, sizeof(loader), "Lr/L%llu;", (unsigned long long)(i % 1000));
		put_strings(g, &row, sizeof(row), strings, 3);
		result.hdr = head(BRAID_REC_JVM_EVENT, sizeof(result));
		result.event.number = i;
		result.event.start_ns = result.event.end_ns = result.hdr.time_ns;
		put(g, &result, sizeof(result));
	}
}

/* Values in control sequences, exceptions of ever new classes, and calls of which one in three has a record. */
void say_calls(struct grip *g)
{
	struct braid_rec_jvm_event ended = {.event = {.kind = BRAID_JVM_METHOD}};
	static char values[BRAID_STR_MAX];
	char class[32];
	const char *strings[] = {class, values};

	put_hello(g);
	memset(values, '\033', sizeof(values));
	for (uint64_t i = 1;; i++) {
		struct braid_rec_call call = {.hdr = head(BRAID_REC_CALL, 0), .number = i * i};

		call.exception_len = (uint16_t)snprintf(class, sizeof(class), "Lx/E%llu;", (unsigned long long)i);
		call.values_len = (uint16_t)(i % sizeof(values));
		put_strings(g, &call, sizeof(call), strings, 2);
		ended.hdr = head(BRAID_REC_JVM_EVENT, sizeof(ended));
		ended.event.number = i % 3 ? i : call.number;
		ended.event.start_ns = ended.event.end_ns = ended.hdr.time_ns;
		put(g, &ended, sizeof(ended));
	}
}

void say_times(struct grip *g)
{
	struct braid_rec_gc gc = {.sequence = 1, .start_ns = 5};

	put_hello(g);
	put_event(g, BRAID_JVM_CLASS_PREPARE, "long.Ago", 1);
	put_event(g, BRAID_JVM_CLASS_PREPARE, "in.a.Year", now_ns() + YEAR_NS);
	put_event(g, BRAID_JVM_GC_PAUSE, "Never", UINT64_MAX - 5);
	gc.hdr = head(BRAID_REC_GC_FINISH, sizeof(gc));
	gc.hdr.time_ns = UINT64_MAX - 7;
	put(g, &gc, sizeof(gc));
	wake(g);
}

void say_notices(struct grip *g)
{
	static const char text[] =
		"\033[2J\033]0;mine\007 one line\nanother \xe2\x80\xae and from right to left \xc2\x9b"
		"31m";
	const char *strings[] = {text};
	const struct braid_rec_notice n = {.severity = BRAID_NOTICE_WARNING, .text_len = sizeof(text) - 1};

	put_hello(g);
	for (int i = 0; i < NOTICES; i++) {
		struct braid_rec_notice one = n;

		one.hdr = head(BRAID_REC_NOTICE, 0);
		put_strings(g, &one, sizeof(one), strings, 1);
	}
}

void say_losses(struct grip *g)
{
	struct {
		struct braid_rec_loss fixed;
		struct braid_loss pairs[1000];
	} r;

	put_hello(g);
	for (;;) {
		memset(&r, 0, sizeof(r));
		r.fixed.hdr = head(BRAID_REC_LOSS, sizeof(r));
		r.fixed.count = 1000;
		for (uint32_t i = 0; i < r.fixed.count; i++)
			r.pairs[i] = (struct braid_loss){.kind = i, .lost = UINT32_MAX};
		put(g, &r, sizeof(r));
	}
}

/* ---- a libjvm.so that is everybody's, with other contents in this process ---- */

static void writable(void *at, size_t size)
{
	uintptr_t from = (uintptr_t)at & ~(PAGE - 1), to = ((uintptr_t)at + size + PAGE - 1) & ~(PAGE - 1);

	if (mprotect((void *)from, to - from, PROT_READ | PROT_WRITE))
		die("mprotect");
}

/*
 * Environment: HOSTILE_LIBJVM is the library; HOSTILE_NAMES is ADDRESS:COUNT of its array of operation names, both
 * hexadecimal.
 */
void tables_change(void)
{
	const char *library = getenv("HOSTILE_LIBJVM"), *names = getenv("HOSTILE_NAMES");
	void *handle = library ? dlopen(library, RTLD_NOW | RTLD_GLOBAL) : NULL;
	struct {
		char *type, *field, *type_string;
		int is_static;
		uint64_t offset;
		void *address;
	} **entries = handle ? dlsym(handle, "gHotSpotVMStructs") : NULL, *e;
	Dl_info where;
	char *end = NULL, **name;

	if (!entries || !dladdr((void *)entries, &where))
		die("HOSTILE_LIBJVM");
	for (e = *entries; e->type; e++) {
		if (strcmp(e->type, "CompileTask") != 0 && strcmp(e->type, "HeapBlock::Header") != 0)
			continue;
		writable(e, sizeof(*e));
		e->offset += 8;
	}
	if (!names)
		return;
	name = (char **)((char *)where.dli_fbase + strtoull(names, &end, 16));
	for (uint64_t left = strtoull(end + 1, NULL, 16) / sizeof(*name); left; left--, name++) {
		writable(name, sizeof(*name));
		*name = "Lies";
	}
}

void say_tables(struct grip *g)
{
	put_hello(g);
	wake(g);
}
