// SPDX-License-Identifier: Apache-2.0
#include "facts.h"

#include "hit_events.h"
#include "version.h"
#include "config/event_config.h"
#include "kernel/kernel_side.h"
#include "sink/records.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Emits what takes samples, and the event configuration. */
static void emit_what(struct session *s, char *text, size_t size)
{
	const struct record_options *o = s->options;

	hit_events_facts(s);
	event_config_text(&o->config, text, size);
	sink_info(&s->sink, "record.choices", text);
	if (o->offcpu && *o->offcpu->text)
		sink_info(&s->sink, "record.offcpu_filter", o->offcpu->text);
	if (o->config.enabled & BRAID_EVENT_TYPE(ALLOC)) {
		snprintf(text, size, "%llu", (unsigned long long)o->config.alloc_interval);
		sink_info(&s->sink, "record.alloc_interval", text);
	}
}

void facts_emit(struct session *s)
{
	const struct record_options *o = s->options;
	char text[4096] = "";
	struct utsname u;
	size_t used = 0;

	uname(&u);
	sink_info(&s->sink, "record.braid", BRAID_VERSION);
	sink_info(&s->sink, "host.name", u.nodename);
	snprintf(text, sizeof(text), "%s %s", u.sysname, u.release);
	sink_info(&s->sink, "host.kernel", text);
	sink_info(&s->sink, "host.machine", u.machine);
	snprintf(text, sizeof(text), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	sink_info(&s->sink, "host.cpus", text);
	emit_what(s, text, sizeof(text));
	text[0] = '\0';
	for (char **a = o->command; a && *a && used < sizeof(text); a++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? " " : "", *a);
	for (int i = 0; i < o->pid_count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d", used ? "," : "-p ", o->pids[i]);
	sink_info(&s->sink, "record.target", o->system_wide ? "-a" : text);
}

void facts_counters(struct session *s, const struct braid_counters *c)
{
	sink_stat(&s->sink, 0, "bpf_cpu_ns", c->walk_ns);
	sink_stat(&s->sink, 0, "bpf_samples", c->samples);
	sink_stat(&s->sink, 0, "bpf_stacks", c->stacks);
	sink_stat(&s->sink, 0, "bpf_stacks_sent", c->stacks_sent);
	sink_stat(&s->sink, 0, "bpf_frames_java", c->frames_java);
	sink_stat(&s->sink, 0, "bpf_frames_native", c->frames_native);
	sink_stat(&s->sink, 0, "bpf_frames_kernel", c->frames_kernel);
	sink_stat(&s->sink, 0, "bpf_vthread_stacks", c->vthread_stacks);
	sink_stat(&s->sink, 0, "bpf_vthread_unidentified", c->vthread_stacks - c->vthread_known);
}
