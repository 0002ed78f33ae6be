// SPDX-License-Identifier: Apache-2.0
#include "agentless.h"

#include "native_blocks.h"
#include "config/event_config.h"
#include "jvm/jvm.h"
#include "process/processes.h"
#include "trace/record.h"

void agentless_no_jvm(struct session *s, pid_t pid)
{
	uint32_t types = s->options->config.enabled & BRAID_EVENT_TYPES_JVM & ~BRAID_EVENT_TYPE(MALLOC);
	const struct process *p = processes_latest(s->processes, pid);
	char text[EVENT_TYPES_TEXT];

	if (p && p->libjvm_ns)
		return;
	sink_notice(&s->sink, 0, types & ~BRAID_EVENT_TYPES_UNASKED ? BRAID_NOTICE_WARNING : BRAID_NOTICE_INFO,
		    "process %d is not a JVM: native frames only%s%s", pid, types ? ", and nothing of " : "",
		    event_types_text(types, text, sizeof(text)));
	if (s->options->config.enabled & BRAID_EVENT_TYPE(MALLOC) && !native_blocks_followed(s->options))
		sink_notice(
			&s->sink, 0, BRAID_NOTICE_WARNING,
			"process %d is not a JVM, and has no agent to sample its native allocations: record large ones "
			"with -e 'uprobe:LIBC:malloc/arg0>=65536/{arg0}', or, if the program has OpenTelemetry's probes, "
			"-e malloc:PROGRAM:otel_memory",
			pid);
}

static bool is_agentless(const struct process *p)
{
	return p->libjvm_ns && !(p->jvm && jvm_had_agent(p->jvm));
}

static void note(void *ctx, struct process *p)
{
	struct session *s = ctx;
	uint32_t types = s->jvms.config.enabled & BRAID_EVENT_TYPES_AGENT;
	char text[EVENT_TYPES_TEXT];

	s->jvm_seen = s->jvm_seen || p->libjvm_ns;
	if (s->options->attach || p->agentless || !is_agentless(p))
		return;
	p->agentless = true;
	account_notice(
		&p->account, &s->sink, types & ~BRAID_EVENT_TYPES_UNASKED ? BRAID_NOTICE_WARNING : BRAID_NOTICE_INFO,
		"the JVM in process %d has no agent (--no-attach): it is recorded without %s%sits inlined methods",
		p->pid, event_types_text(types, text, sizeof(text)), types ? ", and without " : "");
}

void agentless_tick(struct session *s)
{
	processes_each(s->processes, note, s);
}

static void emit(void *ctx, struct process *p)
{
	struct session *s = ctx;

	if (p->libjvm_ns)
		sink_stat(&s->sink, p->id, TRACE_STAT_AGENT, !is_agentless(p));
}

void agentless_stats(struct session *s)
{
	processes_each(s->processes, emit, s);
}

void agentless_end(struct session *s)
{
	uint32_t types = s->options->config.enabled & BRAID_EVENT_TYPES_JVM;
	char text[EVENT_TYPES_TEXT];

	if (native_blocks_followed(s->options))
		types &= ~BRAID_EVENT_TYPE(MALLOC);
	agentless_tick(s);
	if (!s->jvm_seen && !s->options->pid_count && types & ~BRAID_EVENT_TYPES_UNASKED)
		sink_notice(&s->sink, 0, BRAID_NOTICE_WARNING, "no JVM was recorded, so there is nothing of %s",
			    event_types_text(types, text, sizeof(text)));
}
