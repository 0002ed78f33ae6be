// SPDX-License-Identifier: Apache-2.0
/*
 * lanes FILE SECONDS CPUS THREADS INTERVALS SAMPLES: writes the trace of a machine on which that many threads of two
 * JVMs take turns on that many CPUs, for tests of the page's timeline. Times are simulated; the trace is the same each
 * time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <braid/frame.h>
#include <braid/jvm_event.h>
#include <trace/trace.h>

#define BEGIN_NS 1000000000000ULL
#define METHODS 60U
#define STACKS 2000U

struct cpu {
	uint64_t now_ns;
};

static struct trace_writer *writer;
static uint64_t state = 88172645463325252ULL;

static uint64_t random_below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

static struct trace_str str(const char *s)
{
	return (struct trace_str){s, (uint32_t)strlen(s)};
}

static void put(struct trace_rec rec)
{
	if (trace_writer_put(writer, &rec)) {
		perror("trace_writer_put");
		exit(1);
	}
}

static void define_stacks(void)
{
	char name[32];

	for (uint32_t i = 1; i <= METHODS; i++) {
		struct trace_scope scope = {i, 1};

		snprintf(name, sizeof(name), "method%02u", i);
		put((struct trace_rec){
			.kind = TRACE_METHOD,
			.method = {.method = i, .process = 1, .class_name = str("demo.Shop"), .name = str(name)}});
		put((struct trace_rec){.kind = TRACE_FRAME,
				       .frame = {.frame = i,
						 .kind = BRAID_FRAME_INTERPRETED,
						 .process = 1,
						 .address = i * 16,
						 .scope_count = 1,
						 .scopes = &scope}});
	}
	for (uint32_t i = 1; i <= STACKS; i++)
		put((struct trace_rec){.kind = TRACE_NODE,
				       .node = {.node = i,
						.parent = i < 20 ? i - 1 : (uint32_t)(1 + random_below(i - 1)),
						.frame = (uint32_t)(1 + random_below(METHODS))}});
}

static void define(uint32_t threads)
{
	char name[32];

	put((struct trace_rec){.kind = TRACE_INFO, .info = {str("record.event"), str("cpu-clock")}});
	put((struct trace_rec){.kind = TRACE_INFO, .info = {str("record.frequency_hz"), str("99")}});
	put((struct trace_rec){.kind = TRACE_CLOCK, .clock = {BEGIN_NS, 1, 1767225600000000000ULL}});
	for (uint32_t p = 1; p <= 2; p++)
		put((struct trace_rec){.kind = TRACE_PROCESS,
				       .process = {.process = p, .pid = p * 1000, .start_ns = 5, .comm = str("java")}});
	for (uint32_t t = 1; t <= threads; t++) {
		snprintf(name, sizeof(name), t % 5 ? "http-worker-%u" : "pool-thread-%u", t);
		put((struct trace_rec){.kind = TRACE_THREAD,
				       .thread = {.thread = t,
						  .process = 1 + t % 2,
						  .tid = 10000 + t,
						  .ns_tid = 10000 + t,
						  .flags = TRACE_THREAD_JAVA,
						  .name = str(name)}});
	}
	define_stacks();
}

/* Each thread has a few. */
static uint32_t stack_of(uint32_t thread)
{
	return (uint32_t)(1 + (thread * 31 + random_below(8)) % STACKS);
}

static void put_interval(uint32_t thread, uint64_t start_ns, uint64_t end_ns, uint32_t cpu, uint32_t threads)
{
	static const uint8_t classes[] = {BRAID_OFFCPU_FUTEX,	BRAID_OFFCPU_FUTEX, BRAID_OFFCPU_SOCKET,
					  BRAID_OFFCPU_POLL,	BRAID_OFFCPU_SLEEP, BRAID_OFFCPU_BLOCK,
					  BRAID_OFFCPU_RUNNABLE};
	uint64_t ns = end_ns - start_ns;
	struct trace_jvm_event e = {.time_ns = start_ns,
				    .kind = BRAID_JVM_OFFCPU,
				    .process = 1 + thread % 2,
				    .thread = thread,
				    .duration_ns = ns,
				    .node = stack_of(thread),
				    .value = random_below(ns < 200000 ? ns : 200000),
				    .weight = cpu | (uint64_t)cpu << 32,
				    .flags = (uint32_t)classes[random_below(7)] << BRAID_OFFCPU_CLASS_SHIFT,
				    .other = (uint32_t)(1 + (thread + random_below(5)) % threads),
				    .other_node = stack_of(thread + 1)};

	put((struct trace_rec){.kind = TRACE_JVM_EVENT, .jvm_event = e});
}

/* Which of the CPU's threads comes next: some are busy, most are not. */
static uint32_t choose(uint32_t cpu, uint32_t cpus, uint32_t threads)
{
	uint64_t each = threads / cpus, n = random_below(4) ? random_below(1 + each / 10) : random_below(each);

	return (uint32_t)(1 + cpu + n * cpus);
}

int main(int argc, char **argv)
{
	uint64_t seconds, intervals, samples, end_ns, step_ns, sample_ns, next_ns[4096] = {0};
	uint32_t cpus, threads;
	uint64_t *since;

	if (argc != 7)
		return 2;
	seconds = strtoull(argv[2], NULL, 10);
	cpus = (uint32_t)strtoul(argv[3], NULL, 10);
	threads = (uint32_t)strtoul(argv[4], NULL, 10);
	intervals = strtoull(argv[5], NULL, 10);
	samples = strtoull(argv[6], NULL, 10);
	if (!seconds || !cpus || cpus > 4096 || threads < cpus || !intervals || !samples)
		return 2;
	end_ns = BEGIN_NS + seconds * 1000000000;
	step_ns = seconds * 1000000000 / (intervals / cpus + 1) + 1;
	sample_ns = seconds * 1000000000 / (samples / cpus + 1) + 1;
	since = calloc(threads + 1, sizeof(*since));
	if (!since || trace_writer_open(&writer, argv[1]))
		return 1;
	define(threads);
	for (uint64_t now_ns = BEGIN_NS; now_ns < end_ns; now_ns += step_ns)
		for (uint32_t cpu = 0; cpu < cpus; cpu++) {
			uint32_t thread = choose(cpu, cpus, threads);
			uint64_t at_ns = now_ns + random_below(1 + step_ns / 2);

			if (since[thread] && since[thread] < at_ns)
				put_interval(thread, since[thread], at_ns, cpu, threads);
			since[thread] = at_ns + step_ns / 3;
			if (now_ns < next_ns[cpu])
				continue;
			next_ns[cpu] = now_ns + sample_ns;
			put((struct trace_rec){.kind = TRACE_SAMPLE,
					       .sample = {.time_ns = at_ns + step_ns / 6,
							  .thread = thread,
							  .cpu = cpu,
							  .node = stack_of(thread),
							  .weight = 1}});
		}
	for (uint32_t t = 1; t <= threads; t++)
		put((struct trace_rec){.kind = TRACE_JVM_EVENT,
				       .jvm_event = {.time_ns = BEGIN_NS,
						     .kind = BRAID_JVM_THREAD_TIME,
						     .process = 1 + t % 2,
						     .thread = t,
						     .duration_ns = end_ns - BEGIN_NS,
						     .value = (end_ns - BEGIN_NS) / 100}});
	put((struct trace_rec){.kind = TRACE_END, .end = {end_ns}});
	free(since);
	return trace_writer_close(writer) ? 1 : 0;
}
