// SPDX-License-Identifier: Apache-2.0
/*
 * One function for each kind of record in the trace; trace/record.h defines the fields. Everything that emits calls
 * these, except for notices, losses, statistics and clocks, which sink.h has. The record is written before the call
 * returns.
 */
#ifndef BRAID_SINK_RECORDS_H
#define BRAID_SINK_RECORDS_H

#include "sink.h"

/* ---- definitions ---- */

void sink_process(struct sink *k, const struct trace_process *r);
void sink_thread(struct sink *k, const struct trace_thread *r);
void sink_module(struct sink *k, const struct trace_module *r);
void sink_mapping(struct sink *k, const struct trace_mapping *r);
void sink_symbol(struct sink *k, const struct trace_symbol *r);
void sink_jvm(struct sink *k, const struct trace_jvm *r);
void sink_method(struct sink *k, const struct trace_method *r);
void sink_lines(struct sink *k, const struct trace_lines *r);
void sink_code(struct sink *k, const struct trace_code *r);
void sink_frame(struct sink *k, const struct trace_frame *r);
void sink_place(struct sink *k, const struct trace_place *r);
void sink_vthread(struct sink *k, const struct trace_vthread *r);
void sink_node(struct sink *k, uint32_t node, uint32_t parent, uint32_t frame);
void sink_span(struct sink *k, const struct trace_span *r);
void sink_resource(struct sink *k, const struct trace_resource *r);
void sink_attribute(struct sink *k, const struct trace_attribute *r);
void sink_setting(struct sink *k, const struct trace_setting *r);
void sink_name(struct sink *k, uint32_t name, struct trace_str text);

/* ---- events ---- */

void sink_sample(struct sink *k, const struct trace_sample *r);
void sink_code_load(struct sink *k, const struct trace_code_load *r);
void sink_jvm_event(struct sink *k, const struct trace_jvm_event *r);
void sink_process_state(struct sink *k, uint64_t time_ns, uint32_t process, uint32_t what);
void sink_code_unload(struct sink *k, uint64_t time_ns, uint32_t process, uint64_t address);
void sink_end(struct sink *k); /* the last record */

#endif
