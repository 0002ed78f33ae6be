// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzzes what the recorder reads from an agent's ring. The input is a sequence of records: the kind in one byte, the
 * thread in another, the length of the rest in two, and the rest. Its trace goes to /dev/null. `make fuzz` builds and
 * runs it.
 */
#include <stdint.h>
#include <string.h>

#include "jvm/jvm.h"
#include "jvm/vthreads.h"
#include "sink/names.h"

#include "input.h"

#define INPUT_MAX (64U << 10)
#define TID 4000000U /* higher than the kernel's default maximum */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct recording {
	struct sink sink;
	struct jvms jvms;
	struct process process;
};

static void begin(struct recording *r)
{
	static const struct record_options options;
	struct jvms *j = &r->jvms;

	*j = (struct jvms){.sink = &r->sink, .options = &options, .config.enabled = (1U << BRAID_EVENT_TYPES) - 1};
	r->process = (struct process){.id = 7, .pid = getpid()};
	must(!trace_writer_open(&r->sink.writer, "/dev/null"), "no trace");
	must(!modules_new(&j->modules, &r->sink, NULL, false), "no modules");
	must(!threads_new(&j->threads, &r->sink), "no threads");
	must(!processes_new(&j->processes, &r->sink, NULL, j->modules, j->threads, j->options), "no processes");
	must(!vthreads_new(&j->vthreads, &r->sink), "no virtual threads");
	must(!names_new(&j->names, &r->sink), "no names");
	r->process.jvm = jvm_new(j, &r->process, 0, 1);
	must(r->process.jvm != NULL, "no JVM");
}

static void end(struct recording *r)
{
	jvm_free(r->process.jvm);
	threads_forget(r->jvms.threads, &r->process);
	pair_map_free(&r->process.vthreads);
	account_close(&r->process.account);
	names_free(r->jvms.names);
	vthreads_free(r->jvms.vthreads);
	processes_free(r->jvms.processes);
	threads_free(r->jvms.threads);
	modules_free(r->jvms.modules);
	must(!trace_writer_close(r->sink.writer), "the trace is not complete");
}

/* In its own memory, so that a read beyond its end is detected. */
static void send(struct recording *r, const struct braid_rec *head, const uint8_t *rest, size_t length)
{
	uint8_t *record = malloc(sizeof(*head) + length);

	must(record != NULL, "no memory");
	memcpy(record, head, sizeof(*head));
	memcpy(record + sizeof(*head), rest, length);
	jvm_record(r->process.jvm, (const struct braid_rec *)(const void *)record, sizeof(*head) + length);
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recording r = {0};
	uint64_t time = 1;

	if (size > INPUT_MAX)
		return 0;
	begin(&r);
	while (size >= 4) {
		size_t length = data[2] | (size_t)data[3] << 8;
		struct braid_rec head = {.kind = data[0], .tid = TID + data[1], .time_ns = time++};

		data += 4;
		size -= 4;
		length = length < size ? length : size;
		if (sizeof(head) + length > BRAID_REC_MAX)
			length = BRAID_REC_MAX - sizeof(head);
		head.size = (uint32_t)(sizeof(head) + length);
		send(&r, &head, data, length);
		data += length;
		size -= length;
	}
	jvm_tick(r.process.jvm, time, true);
	end(&r);
	return 0;
}
