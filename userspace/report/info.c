// SPDX-License-Identifier: Apache-2.0
/*
 * The figures of a trace, as `braid info` prints them. `braid info --json` is an interface: its keys and their order
 * stay.
 */
#include <inttypes.h>
#include <string.h>

#include "report.h"
#include "info.h"
#include <util/json.h>

bool source_is_damaged(const struct report_source *source, const struct analyzer *a)
{
	return source->damage && (trace_is_damaged(source->damage) || a->ignored);
}

static void quality_json(struct json *j, const char *key, const struct quality *q)
{
	json_open(j, key, '{');
	json_number(j, "total", q->total);
	json_number(j, "complete", q->by_cause[CAUSE_COMPLETE]);
	json_open(j, "by_cause", '{');
	for (uint32_t c = CAUSE_COMPLETE + 1; c < CAUSE_COUNT; c++)
		if (q->by_cause[c])
			json_number(j, cause_name(c), q->by_cause[c]);
	json_close(j, '}');
	json_close(j, '}');
}

void json_cgroup(struct json *j, const struct analysis *an, uint32_t process)
{
	const struct process_row *p = analysis_process(an, process);

	if (p->cgroup)
		json_string(j, "cgroup", strpool_get(&an->a->strings, p->cgroup));
	json_container(j, an, process);
}

void text_container(FILE *out, const struct analysis *an, uint32_t process)
{
	char label[PROCESS_LABEL_MAX];

	if (analysis_process(an, process)->container)
		fprintf(out, ", %s", analysis_label(an, process, label));
}

void json_container(struct json *j, const struct analysis *an, uint32_t process)
{
	const struct process_row *p = analysis_process(an, process);

	if (p->container)
		json_string(j, "container", strpool_get(&an->a->strings, p->container));
}

static bool bit_of(const uint64_t bits[2], unsigned bit)
{
	return bits[bit / 64] >> (bit % 64) & 1;
}

static void capabilities_json(struct json *j, const struct jvm_row *row)
{
	json_open(j, "capabilities", '{');
	for (unsigned bit = 0; bit < CAPABILITY_COUNT; bit++) {
		if (bit_of(row->got, bit))
			json_bool(j, capability_name(bit), true);
		else if (bit_of(row->refused, bit))
			json_bool(j, capability_name(bit), false);
	}
	json_close(j, '}');
}

static void jvm_json(struct json *j, const struct views *v, const struct jvm_view *jvm)
{
	const struct strpool *strings = &v->an->a->strings;
	const char *version = strpool_get(strings, jvm->row->java_version);
	bool pauses = events_recorded_of(v->an, jvm->process, BRAID_EVENT_TYPE_GC),
	     threads = events_recorded_of(v->an, jvm->process, BRAID_EVENT_TYPE_THREAD);

	json_open(j, NULL, '{');
	json_number(j, "pid", jvm->pid);
	json_string(j, "version", *version ? version : strpool_get(strings, jvm->row->vm_version));
	json_number(j, "methods", jvm->methods);
	json_number_if(j, jvm->row->start, "code_loads", jvm->code_loads);
	json_number_if(j, pauses, "gc_pauses", jvm->gc_pauses);
	json_number_if(j, threads, "threads_started", jvm->threads_started);
	json_number_if(j, threads, "threads_ended", jvm->threads_ended);
	capabilities_json(j, jvm->row);
	json_settings(j, v->an->a, analysis_process(v->an, jvm->process)->settings);
	json_close(j, '}');
}

static void losses_json(struct json *j, const struct views *v)
{
	json_open(j, "lost", '{');
	for (size_t i = 0; i < v->losses.count; i++) {
		const struct loss_view *l = &v->losses.at[i];

		if (i == 0 || strcmp(l->hop, v->losses.at[i - 1].hop) != 0)
			json_open(j, l->hop, '{');
		json_number(j, l->kind, l->count);
		if (i + 1 == v->losses.count || strcmp(l->hop, v->losses.at[i + 1].hop) != 0)
			json_close(j, '}');
	}
	json_close(j, '}');
}

static void stat_seconds(struct json *j, const char *key, const struct analysis *an, const char *stat)
{
	json_seconds_if(j, analysis_has_stat(an, 0, stat), key, analysis_stat(an, 0, stat, 0));
}

static void file_json(struct json *j, const struct views *v, const struct report_source *source)
{
	const struct trace_damage *d = source->damage;

	if (!d)
		return;
	json_open(j, "file", '{');
	json_bool(j, "ended", v->an->a->ended);
	json_bool(j, "damaged", source_is_damaged(source, v->an->a));
	json_number(j, "bad_blocks", d->bad_blocks);
	json_number(j, "missing_blocks", d->missing_blocks);
	json_number(j, "skipped_bytes", d->skipped_bytes);
	json_number(j, "bad_records", d->bad_records + v->an->a->ignored);
	json_number(j, "unknown_records", d->unknown_records + v->an->a->newer);
	json_bool(j, "truncated", d->truncated);
	json_bool(j, "no_index", d->no_index);
	json_close(j, '}');
}

/* All other times are relative to this one. */
static void start_json(struct json *j, const struct analysis *an)
{
	char date[MOMENT_TEXT];

	json_open(j, "start", '{');
	json_seconds(j, "monotonic_s", an->start_ns);
	if (an->start_realtime_ns) {
		json_seconds(j, "realtime_s", an->start_realtime_ns);
		json_string(j, "date", moment_iso(date, an->start_realtime_ns, 3));
	} else {
		json_null(j, "realtime_s");
		json_null(j, "date");
	}
	json_close(j, '}');
}

void info_members(struct json *j, const struct views *v, const struct report_source *source)
{
	const struct analysis *an = v->an;

	json_seconds_if(j, analysis_has_duration(an), "duration_s", an->duration_ns);
	quality_json(j, "samples", &an->samples.quality);
	quality_json(j, "java_samples", &an->java);
	json_open(j, "virtual_threads", '{');
	json_number(j, "seen", an->a->vthreads_seen);
	json_number(j, "samples", an->a->vthread_weight);
	json_number_if(j, analysis_has_stat(an, 0, "bpf_vthread_unidentified"), "unidentified",
		       analysis_stat(an, 0, "bpf_vthread_unidentified", 0));
	json_close(j, '}');
	json_open(j, "frames", '{');
	json_number(j, "java", an->frames.java);
	json_number(j, "java_named", an->frames.java_named);
	json_number(j, "native", an->frames.native);
	json_number(j, "native_named", an->frames.native_named);
	json_number(j, "kernel", an->frames.kernel);
	json_close(j, '}');
	json_number(j, "stacks", an->distinct_stacks);
	json_open(j, "jvms", '[');
	for (size_t i = 0; i < v->jvms.count; i++)
		jvm_json(j, v, &v->jvms.at[i]);
	json_close(j, ']');
	losses_json(j, v);
	json_number(j, "bytes", source->bytes);
	json_open(j, "overhead", '{');
	stat_seconds(j, "collector_cpu_s", an, "collector_cpu_ns");
	stat_seconds(j, "bpf_cpu_s", an, "bpf_cpu_ns");
	if (analysis_has_stat(an, 0, "stack_renewals"))
		json_number(j, "stack_renewals", analysis_stat(an, 0, "stack_renewals", 0));
	json_close(j, '}');
	file_json(j, v, source);
	start_json(j, an);
	filter_json(j, "filter", an);
	json_resources(j, an->a);
	json_agentless(j, an);
}

void info_json(FILE *out, const struct views *v, const struct report_source *source)
{
	struct json j = {.out = out};

	json_open(&j, NULL, '{');
	info_members(&j, v, source);
	json_close(&j, '}');
	putc('\n', out);
}
