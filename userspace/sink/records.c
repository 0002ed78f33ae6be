// SPDX-License-Identifier: Apache-2.0
#include "records.h"

/* One name gives the kind of a record and the member of its union, so that they always agree. */
#define PUT(sink, KIND, member, ...) sink_put(sink, &(struct trace_rec){.kind = TRACE_##KIND, .member = __VA_ARGS__})

void sink_process(struct sink *k, const struct trace_process *r)
{
	PUT(k, PROCESS, process, *r);
}

void sink_thread(struct sink *k, const struct trace_thread *r)
{
	PUT(k, THREAD, thread, *r);
}

void sink_module(struct sink *k, const struct trace_module *r)
{
	PUT(k, MODULE, module, *r);
}

void sink_mapping(struct sink *k, const struct trace_mapping *r)
{
	PUT(k, MAPPING, mapping, *r);
}

void sink_symbol(struct sink *k, const struct trace_symbol *r)
{
	PUT(k, SYMBOL, symbol, *r);
}

void sink_jvm(struct sink *k, const struct trace_jvm *r)
{
	PUT(k, JVM, jvm, *r);
}

void sink_method(struct sink *k, const struct trace_method *r)
{
	PUT(k, METHOD, method, *r);
}

void sink_lines(struct sink *k, const struct trace_lines *r)
{
	PUT(k, LINES, lines, *r);
}

void sink_code(struct sink *k, const struct trace_code *r)
{
	PUT(k, CODE, code, *r);
}

void sink_frame(struct sink *k, const struct trace_frame *r)
{
	PUT(k, FRAME, frame, *r);
}

void sink_place(struct sink *k, const struct trace_place *r)
{
	PUT(k, PLACE, place, *r);
}

void sink_vthread(struct sink *k, const struct trace_vthread *r)
{
	PUT(k, VTHREAD, vthread, *r);
}

void sink_node(struct sink *k, uint32_t node, uint32_t parent, uint32_t frame)
{
	PUT(k, NODE, node, {.node = node, .parent = parent, .frame = frame});
}

void sink_name(struct sink *k, uint32_t name, struct trace_str text)
{
	PUT(k, NAME, name, {.name = name, .text = text});
}

void sink_span(struct sink *k, const struct trace_span *r)
{
	PUT(k, SPAN, span, *r);
}

void sink_resource(struct sink *k, const struct trace_resource *r)
{
	PUT(k, RESOURCE, resource, *r);
}

void sink_attribute(struct sink *k, const struct trace_attribute *r)
{
	PUT(k, ATTRIBUTE, attribute, *r);
}

void sink_setting(struct sink *k, const struct trace_setting *r)
{
	PUT(k, SETTING, setting, *r);
}

void sink_sample(struct sink *k, const struct trace_sample *r)
{
	PUT(k, SAMPLE, sample, *r);
}

void sink_code_load(struct sink *k, const struct trace_code_load *r)
{
	PUT(k, CODE_LOAD, code_load, *r);
}

void sink_jvm_event(struct sink *k, const struct trace_jvm_event *r)
{
	PUT(k, JVM_EVENT, jvm_event, *r);
}

void sink_process_state(struct sink *k, uint64_t time_ns, uint32_t process, uint32_t what)
{
	PUT(k, PROCESS_STATE, process_state, {.time_ns = time_ns, .process = process, .what = what});
}

void sink_code_unload(struct sink *k, uint64_t time_ns, uint32_t process, uint64_t address)
{
	PUT(k, CODE_UNLOAD, code_unload, {.time_ns = time_ns, .process = process, .address = address});
}

void sink_end(struct sink *k)
{
	PUT(k, END, end, {.time_ns = now_ns()});
}
