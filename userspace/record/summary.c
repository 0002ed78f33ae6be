// SPDX-License-Identifier: Apache-2.0
#include "summary.h"

#include "stacks.h"
#include "agents/agents.h"
#include "util/log.h"
#include "util/quantity.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#define PROGRESS_NS 1000000000ULL

typedef unsigned long long ull;

uint64_t own_cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000000ULL +
	       ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000ULL;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

void summary_start(struct summary *p, bool progress, uint64_t now)
{
	p->progress = progress;
	p->start_ns = p->shown_ns = now;
	p->began_cpu = p->shown_cpu = own_cpu_ns();
}

void summary_progress(struct summary *p, struct session *s, uint64_t now)
{
	uint64_t cpu, stacks = stacks_count(s->stacks), jvms = agents_connected(s->agents);
	char size[QUANTITY_TEXT];

	if (!p->progress || now - p->shown_ns < PROGRESS_NS)
		return;
	cpu = own_cpu_ns();
	fprintf(stderr,
		"\rbraid: %.0f s, %llu sample%s, %llu stack%s, %llu JVM%s, %llu lost, %s, %.1f %% of one CPU \033[K",
		(double)(now - p->start_ns) / 1e9, (ull)s->samples, plural(s->samples), (ull)stacks, plural(stacks),
		(ull)jvms, plural(jvms), (ull)s->sink.lost, size_text(size, trace_writer_bytes(s->sink.writer)),
		share(cpu - p->shown_cpu, now - p->shown_ns));
	p->shown_ns = now;
	p->shown_cpu = cpu;
}

static void print_refusal(const char *text)
{
	fprintf(stderr, "braid: %s\n", text);
}

void summary_print(const struct summary *p, struct session *s, uint64_t walk_ns)
{
	uint64_t until = s->jvms.stopped_ns ?: now_ns(), stacks = stacks_count(s->stacks), cpu = own_cpu_ns();
	char size[QUANTITY_TEXT], own[QUANTITY_TEXT], walk[QUANTITY_TEXT];

	if (p->progress)
		fputc('\n', stderr);
	if (s->options->quiet)
		return;
	fprintf(stderr, "braid: %s: %.1f s, %llu sample%s", output_name(s->options),
		(double)(until - p->start_ns) / 1e9, (ull)s->samples, plural(s->samples));
	if (s->samples)
		fprintf(stderr, " (%.2f %% whole stacks)", share(s->complete, s->samples));
	fprintf(stderr, ", %llu distinct stack%s, %s, ", (ull)stacks, plural(stacks),
		size_text(size, trace_writer_bytes(s->sink.writer)));
	if (s->added_up)
		fprintf(stderr, "%llu time%s off the CPU added up by stack, ", (ull)s->added_up, plural(s->added_up));
	if (s->sink.lost)
		fprintf(stderr, "%llu lost (see `braid report`)", (ull)s->sink.lost);
	else
		fprintf(stderr, "nothing lost");
	fprintf(stderr, "; CPU time: braid %s (%.1f %% of one CPU since sampling began), its eBPF programs %s\n",
		duration_text(own, cpu), share(cpu - p->began_cpu, now_ns() - p->start_ns),
		duration_text(walk, walk_ns));
	agents_each_refusal(s->agents, print_refusal);
}

void summary_failure(struct session *s, int err)
{
	uint64_t kept = trace_writer_samples(s->sink.writer);
	const char *output = output_name(s->options);
	char size[QUANTITY_TEXT];

	size_text(size, trace_writer_bytes(s->sink.writer));
	if (trace_writer_streams(s->sink.writer))
		log_error("%s: %s; the recording ends, %s were written", output, trace_writer_why(err), size);
	else if (kept)
		log_error("%s: %s; the recording ends, its first %s with %llu of %llu sample%s can be read", output,
			  trace_writer_why(err), size, (ull)kept, (ull)s->samples, plural(s->samples));
	else
		log_error("%s: %s; the recording ends, and no sample could be written", output, trace_writer_why(err));
}
