// SPDX-License-Identifier: Apache-2.0
/*
 * longtrace FILE [CPUS [SECONDS [HZ [STACKS]]]]: writes a trace as a long
 * recording of a large machine makes it, for measuring readers. By default 64
 * CPUs, an hour, 99 Hz: 22.8 million samples on 200,000 stacks, with a garbage
 * collection a second. The same arguments always give the same file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <braid/frame.h>
#include <braid/jvm_event.h>
#include <trace/trace.h>

#define START_NS 1000000000000ULL
#define SECOND_NS 1000000000ULL
#define FLUSH_NS 800000000ULL /* as a recorder does */
#define METHODS 20000U
#define FRAMES 60000U
#define THREADS_PER_CPU 4U
#define DEPTH 40U  /* of most stacks */
#define BRANCH 12U /* nodes that a new stack adds */

static struct trace_writer *writer;
static uint64_t state = 88172645463325252ULL;

/* xorshift64 */
static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static void put(const struct trace_rec *rec)
{
	int err = trace_writer_put(writer, rec);

	if (err) {
		fprintf(stderr, "longtrace: %s\n", trace_writer_why(err));
		exit(EXIT_FAILURE);
	}
}

#define PUT(k, member, ...) put(&(struct trace_rec){.kind = (k), .member = {__VA_ARGS__}})
#define TEXT(s)                                                                                                        \
	{                                                                                                              \
		(s), (uint32_t)strlen(s)                                                                               \
	}

static void define_code(void)
{
	char class_name[64], name[32];

	for (uint32_t m = 1; m <= METHODS; m++) {
		snprintf(class_name, sizeof(class_name), "com.example.module%u.Service%u", m / 400, m / 10);
		snprintf(name, sizeof(name), "operation%u", m);
		PUT(TRACE_METHOD, method, .method = m, .process = 1, .class_name = TEXT(class_name), .name = TEXT(name),
		    .signature = TEXT("()V"), .source = TEXT("Service.java"));
		PUT(TRACE_CODE, code, .code = m, .process = 1, .method = m, .tier = 4, .compile_id = m,
		    .address = 0x7f0000000000ULL + m * 0x1000ULL, .size = 0x800, .load_ns = START_NS);
	}
	for (uint32_t f = 1; f <= FRAMES; f++) {
		uint32_t m = f % METHODS + 1;
		struct trace_scope scopes[] = {{(uint32_t)draw(METHODS) + 1, 3}, {m, (int32_t)(f % 50)}};

		PUT(TRACE_FRAME, frame, .frame = f, .kind = BRAID_FRAME_CODE_CACHE, .process = 1,
		    .address = 0x7f0000000000ULL + m * 0x1000ULL + f % 0x800, .code = m, .scope_count = f % 3 ? 1 : 2,
		    .scopes = f % 3 ? scopes + 1 : scopes);
	}
}

static void define_threads(uint32_t threads)
{
	char name[32];

	PUT(TRACE_PROCESS, process, .process = 1, .pid = 1000, .comm = TEXT("java"), .exe = TEXT("/usr/bin/java"));
	for (uint32_t t = 1; t <= threads; t++) {
		snprintf(name, sizeof(name), "worker-%u", t);
		PUT(TRACE_THREAD, thread, .thread = t, .process = 1, .tid = 1000 + t, .ns_tid = 1000 + t,
		    .flags = TRACE_THREAD_JAVA, .name = TEXT(name), .group = TEXT("main"));
	}
}

/* Leaves of stacks, each a branch of an earlier one. */
struct stacks {
	uint32_t *leaf, *base; /* base: a node from which others branch */
	uint32_t count, most, nodes;
};

static uint32_t add_node(struct stacks *s, uint32_t parent)
{
	PUT(TRACE_NODE, node, .node = ++s->nodes, .parent = parent, .frame = (uint32_t)draw(FRAMES) + 1);
	return s->nodes;
}

/* One in eight stacks can be branched from one frame later than the stack that
 * it branches from. */
static void add_stack(struct stacks *s)
{
	bool first = s->count == 0;
	uint32_t base = first ? 0 : s->base[draw(s->count)], at = base;

	for (uint32_t i = 0; i < (first ? DEPTH : BRANCH); i++) {
		at = add_node(s, at);
		if (first ? i + BRANCH == DEPTH - 1 : i == 0 && draw(8) == 0)
			base = at;
	}
	s->base[s->count] = base;
	s->leaf[s->count++] = at;
}

/* A sixteenth of the stacks has half of the samples. New ones come all the time, and fewer and
 * fewer. */
static uint32_t stack_at(struct stacks *s, uint64_t number, uint64_t all)
{
	uint64_t u;

	while (s->count < s->most &&
	       (double)s->count * (double)s->count * (double)all <= (double)number * s->most * (double)s->most)
		add_stack(s);
	u = draw(1 << 16);
	u = u * u >> 16;
	return s->leaf[(u * u >> 16) * s->count >> 16];
}

static uint32_t number(char **argv, int argc, int at, uint32_t otherwise)
{
	return argc > at ? (uint32_t)strtoul(argv[at], NULL, 10) : otherwise;
}

static void add_pause(uint64_t time_ns, uint32_t pause)
{
	PUT(TRACE_JVM_EVENT, jvm_event, .time_ns = time_ns, .kind = BRAID_JVM_GC_PAUSE, .process = 1,
	    .duration_ns = 1000000 + draw(5000000), .name = 1, .detail = 2, .value = 1U << 30, .weight = 1U << 28,
	    .number = pause);
}

int main(int argc, char **argv)
{
	uint32_t cpus = number(argv, argc, 2, 64), seconds = number(argv, argc, 3, 3600),
		 hz = number(argv, argc, 4, 99);
	struct stacks s = {.most = number(argv, argc, 5, 200000)};
	uint64_t all = (uint64_t)cpus * seconds * hz, n = 0, flushed = START_NS;
	char text[24];

	s.leaf = calloc(s.most + 1, sizeof(*s.leaf));
	s.base = calloc(s.most + 1, sizeof(*s.base));
	if (argc < 2 || !cpus || !seconds || !hz || !s.most || !s.leaf || !s.base ||
	    trace_writer_open(&writer, argv[1])) {
		fprintf(stderr, "usage: longtrace FILE [CPUS [SECONDS [HZ [STACKS]]]]\n");
		return EXIT_FAILURE;
	}
	snprintf(text, sizeof(text), "%u", hz);
	PUT(TRACE_INFO, info, TEXT("record.event"), TEXT("cpu-clock"));
	PUT(TRACE_INFO, info, TEXT("record.frequency_hz"), TEXT(text));
	PUT(TRACE_CLOCK, clock, START_NS, START_NS, 1767225600ULL * SECOND_NS);
	PUT(TRACE_NAME, name, 1, TEXT("G1 young"));
	PUT(TRACE_NAME, name, 2, TEXT("G1 Evacuation Pause"));
	define_threads(cpus * THREADS_PER_CPU);
	define_code();
	for (uint64_t tick = 0; tick < (uint64_t)seconds * hz; tick++) {
		uint64_t time_ns = START_NS + tick * SECOND_NS / hz;

		for (uint32_t cpu = 0; cpu < cpus; cpu++, n++)
			PUT(TRACE_SAMPLE, sample, .time_ns = time_ns + cpu * 1000 + draw(1000), .cpu = cpu, .weight = 1,
			    .thread = (uint32_t)(cpu * THREADS_PER_CPU + draw(THREADS_PER_CPU) + 1),
			    .node = stack_at(&s, n, all));
		if (tick % hz == 0)
			add_pause(time_ns, (uint32_t)(tick / hz) + 1);
		if (time_ns - flushed >= FLUSH_NS && trace_writer_flush(writer) == 0)
			flushed = time_ns;
	}
	PUT(TRACE_CLOCK, clock, START_NS + seconds * SECOND_NS, START_NS + seconds * SECOND_NS,
	    (1767225600ULL + seconds) * SECOND_NS);
	PUT(TRACE_END, end, START_NS + seconds * SECOND_NS);
	if (trace_writer_close(writer)) {
		fprintf(stderr, "longtrace: cannot write %s\n", argv[1]);
		return EXIT_FAILURE;
	}
	printf("%" PRIu64 " samples, %u stacks, %u nodes\n", n, s.count, s.nodes);
	free(s.leaf);
	free(s.base);
	return EXIT_SUCCESS;
}
