// SPDX-License-Identifier: Apache-2.0
/*
 * frames FILE FRAMES SAMPLES: writes the trace of a program with that many methods, each of which is one frame of the
 * call tree, for tests of how fast the page opens. The trace is the same each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <braid/frame.h>
#include <trace/trace.h>

#define BEGIN_NS 1000000000000ULL
#define CALLEES 4U /* of each method */

static struct trace_writer *writer;

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

static void define(void)
{
	put((struct trace_rec){.kind = TRACE_INFO, .info = {str("record.event"), str("cpu-clock")}});
	put((struct trace_rec){.kind = TRACE_INFO, .info = {str("record.frequency_hz"), str("99")}});
	put((struct trace_rec){.kind = TRACE_CLOCK, .clock = {BEGIN_NS, 1, 1767225600000000000ULL}});
	put((struct trace_rec){.kind = TRACE_PROCESS,
			       .process = {.process = 1, .pid = 1000, .start_ns = 5, .comm = str("java")}});
	put((struct trace_rec){.kind = TRACE_THREAD,
			       .thread = {.thread = 1,
					  .process = 1,
					  .tid = 1001,
					  .ns_tid = 1001,
					  .flags = TRACE_THREAD_JAVA,
					  .name = str("main")}});
}

/* A method, a frame of it, and the stack that it is called on. */
static void define_frame(uint32_t i)
{
	struct trace_scope scope = {i, 1};
	char class_name[64], name[32];

	snprintf(class_name, sizeof(class_name), "com.example.shop.part%03u.Handler%05u", i % 500, i / 20);
	snprintf(name, sizeof(name), "handle%u", i);
	put((struct trace_rec){
		.kind = TRACE_METHOD,
		.method = {.method = i, .process = 1, .class_name = str(class_name), .name = str(name)}});
	put((struct trace_rec){.kind = TRACE_FRAME,
			       .frame = {.frame = i,
					 .kind = BRAID_FRAME_INTERPRETED,
					 .process = 1,
					 .address = (uint64_t)i * 16,
					 .scope_count = 1,
					 .scopes = &scope}});
	put((struct trace_rec){.kind = TRACE_NODE,
			       .node = {.node = i, .parent = (i + CALLEES - 2) / CALLEES, .frame = i}});
}

int main(int argc, char **argv)
{
	uint32_t frames, samples;

	if (argc != 4)
		return 2;
	frames = (uint32_t)strtoul(argv[2], NULL, 10);
	samples = (uint32_t)strtoul(argv[3], NULL, 10);
	if (!frames || !samples || trace_writer_open(&writer, argv[1]))
		return 1;
	define();
	for (uint32_t i = 1; i <= frames; i++)
		define_frame(i);
	for (uint32_t i = 0; i < samples; i++)
		put((struct trace_rec){.kind = TRACE_SAMPLE,
				       .sample = {.time_ns = BEGIN_NS + (uint64_t)i * 100000,
						  .thread = 1,
						  .node = 1 + (uint32_t)((uint64_t)i * 7919 % frames),
						  .weight = 1}});
	put((struct trace_rec){.kind = TRACE_END, .end = {BEGIN_NS + (uint64_t)samples * 100000}});
	return trace_writer_close(writer) ? 1 : 0;
}
