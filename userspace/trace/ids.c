// SPDX-License-Identifier: Apache-2.0
#include "ids.h"

#include <errno.h>
#include <string.h>

#include <braid/frame.h>

#include "codec.h"

#define FIELDS_MAX 10

struct id_field {
	uint16_t offset; /* of a uint32_t in struct trace_rec */
	uint8_t space;	 /* enum trace_id_space */
	uint8_t role;	 /* enum trace_id_role */
};

#define ID(member, space_, role_)                                                                                      \
	{                                                                                                              \
		.offset = offsetof(struct trace_rec, member), .space = TRACE_ID_##space_, .role = TRACE_ID_##role_     \
	}
#define KIND(number, ...)                                                                                              \
	[TRACE_##number] = {.count = sizeof((struct id_field[]){__VA_ARGS__}) / sizeof(struct id_field),               \
			    .fields = {__VA_ARGS__}}

static const struct {
	uint8_t count;
	struct id_field fields[FIELDS_MAX];
} kinds[TRACE_KINDS] = {
	KIND(PROCESS, ID(process.process, PROCESS, DEFINED), ID(process.parent, PROCESS, USED)),
	KIND(THREAD, ID(thread.thread, THREAD, DEFINED), ID(thread.process, PROCESS, USED)),
	KIND(MODULE, ID(module.module, MODULE, DEFINED)),
	KIND(MAPPING, ID(mapping.process, PROCESS, DESCRIBED), ID(mapping.module, MODULE, USED)),
	KIND(SYMBOL, ID(symbol.symbol, SYMBOL, DEFINED), ID(symbol.module, MODULE, USED)),
	KIND(JVM, ID(jvm.process, PROCESS, DESCRIBED)),
	KIND(METHOD, ID(method.method, METHOD, DEFINED), ID(method.process, PROCESS, USED)),
	KIND(LINES, ID(lines.method, METHOD, DESCRIBED)),
	KIND(CODE, ID(code.code, CODE, DEFINED), ID(code.process, PROCESS, USED), ID(code.method, METHOD, USED)),
	KIND(FRAME, ID(frame.frame, FRAME, DEFINED), ID(frame.process, PROCESS, USED), ID(frame.module, MODULE, USED),
	     ID(frame.symbol, SYMBOL, USED), ID(frame.code, CODE, USED)),
	KIND(NODE, ID(node.node, NODE, DEFINED), ID(node.parent, NODE, USED), ID(node.frame, FRAME, USED)),
	KIND(PLACE, ID(place.place, PLACE, DEFINED)),
	KIND(VTHREAD, ID(vthread.vthread, VTHREAD, DEFINED), ID(vthread.process, PROCESS, USED)),
	KIND(NAME, ID(name.name, NAME, DEFINED)),
	KIND(SPAN, ID(span.span, SPAN, DEFINED), ID(span.process, PROCESS, USED)),
	KIND(RESOURCE, ID(resource.process, PROCESS, DESCRIBED), ID(resource.key, NAME, USED),
	     ID(resource.value, NAME, USED)),
	KIND(ATTRIBUTE, ID(attribute.span, SPAN, DESCRIBED), ID(attribute.key, NAME, USED),
	     ID(attribute.value, NAME, USED)),
	KIND(SETTING, ID(setting.process, PROCESS, DESCRIBED), ID(setting.key, NAME, USED),
	     ID(setting.value, NAME, USED)),
	KIND(SAMPLE, ID(sample.thread, THREAD, USED), ID(sample.node, NODE, USED), ID(sample.vthread, VTHREAD, USED),
	     ID(sample.event, NAME, USED), ID(sample.span, SPAN, USED)),
	KIND(PROCESS_STATE, ID(process_state.process, PROCESS, USED)),
	KIND(CODE_LOAD, ID(code_load.process, PROCESS, USED)),
	KIND(CODE_UNLOAD, ID(code_unload.process, PROCESS, USED)),
	KIND(LOSS, ID(loss.process, PROCESS, USED)),
	KIND(STAT, ID(stat.process, PROCESS, USED)),
	KIND(NOTICE, ID(notice.process, PROCESS, USED)),
	KIND(JVM_EVENT, ID(jvm_event.process, PROCESS, USED), ID(jvm_event.thread, THREAD, USED),
	     ID(jvm_event.node, NODE, USED), ID(jvm_event.name, NAME, USED), ID(jvm_event.detail, NAME, USED),
	     ID(jvm_event.vthread, VTHREAD, USED), ID(jvm_event.other, THREAD, USED),
	     ID(jvm_event.other_node, NODE, USED), ID(jvm_event.span, SPAN, USED),
	     ID(jvm_event.other_vthread, VTHREAD, USED)),
};

const char *trace_id_space_name(enum trace_id_space space)
{
	static const char *const names[TRACE_ID_SPACES] = {"process", "thread", "module", "symbol",  "method", "code",
							   "frame",   "node",	"place",  "vthread", "name",   "span"};

	return names[space];
}

static enum trace_id_space scopes_of(const struct trace_frame *f)
{
	return f->kind == BRAID_FRAME_NATIVE || f->kind == BRAID_FRAME_KERNEL ? TRACE_ID_PLACE : TRACE_ID_METHOD;
}

void trace_ids_visit(const struct trace_rec *rec, trace_id_fn fn, void *ctx)
{
	for (unsigned i = 0; i < kinds[rec->kind].count; i++) {
		const struct id_field *f = &kinds[rec->kind].fields[i];
		uint32_t id;

		memcpy(&id, (const char *)rec + f->offset, sizeof(id));
		if (id)
			(void)fn(ctx, f->space, f->role, id);
	}
	if (rec->kind != TRACE_FRAME || !rec->frame.scopes)
		return;
	for (uint32_t i = 0; i < rec->frame.scope_count; i++)
		if (rec->frame.scopes[i].method)
			(void)fn(ctx, scopes_of(&rec->frame), TRACE_ID_USED, rec->frame.scopes[i].method);
}

static int scopes_replace(struct trace_frame *frame, trace_scopes *scopes, trace_id_fn fn, void *ctx)
{
	enum trace_id_space space = scopes_of(frame);

	scopes->count = 0;
	if (!frame->scopes || !frame->scope_count)
		return 0;
	if (VEC_RESERVE(scopes, frame->scope_count))
		return -ENOMEM;
	for (uint32_t i = 0; i < frame->scope_count; i++) {
		struct trace_scope s = frame->scopes[i];

		if (s.method)
			s.method = fn(ctx, space, TRACE_ID_USED, s.method);
		scopes->at[i] = s;
	}
	scopes->count = frame->scope_count;
	frame->scopes = scopes->at;
	return 0;
}

int trace_ids_replace(struct trace_rec *rec, trace_scopes *scopes, trace_id_fn fn, void *ctx)
{
	for (unsigned i = 0; i < kinds[rec->kind].count; i++) {
		const struct id_field *f = &kinds[rec->kind].fields[i];
		uint32_t id;

		memcpy(&id, (const char *)rec + f->offset, sizeof(id));
		if (id)
			id = fn(ctx, f->space, f->role, id);
		memcpy((char *)rec + f->offset, &id, sizeof(id));
	}
	return rec->kind == TRACE_FRAME ? scopes_replace(&rec->frame, scopes, fn, ctx) : 0;
}

void trace_time_shift(uint64_t *time_ns, int64_t by_ns)
{
	if (*time_ns)
		*time_ns += (uint64_t)by_ns;
}

/* The time of an event is its field of type T. */
static void event_shift(struct trace_rec *rec, int64_t by_ns)
{
	const struct trace_layout *l = trace_layout(rec->kind);

	for (unsigned i = 0; i < l->count; i++)
		if (l->fields[i].type == TRACE_TYPE_T)
			trace_time_shift((uint64_t *)((char *)rec + l->fields[i].offset), by_ns);
}

void trace_times_shift(struct trace_rec *rec, int64_t by_ns)
{
	switch (rec->kind) {
	case TRACE_CLOCK:
		trace_time_shift(&rec->clock.monotonic_ns, by_ns);
		return trace_time_shift(&rec->clock.boottime_ns, by_ns);
	case TRACE_PROCESS:
		return trace_time_shift(&rec->process.start_ns, by_ns);
	case TRACE_THREAD:
		return trace_time_shift(&rec->thread.start_ns, by_ns);
	case TRACE_MAPPING:
		return trace_time_shift(&rec->mapping.time_ns, by_ns);
	case TRACE_CODE:
		return trace_time_shift(&rec->code.load_ns, by_ns);
	default:
		if (rec->kind >= TRACE_FIRST_EVENT)
			event_shift(rec, by_ns);
	}
}
