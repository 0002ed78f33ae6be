// SPDX-License-Identifier: Apache-2.0
/* Pieces that `braid info` and `braid report` share. */
#ifndef BRAID_REPORT_INFO_H
#define BRAID_REPORT_INFO_H

#include "report.h"
#include <util/json.h>

#include <util/moment.h>
#include <util/quantity.h>

/* The members of the info object, without its braces. */
void info_members(struct json *j, const struct views *v, const struct report_source *source);

/* Members "cgroup" and "container" of a process, as far as they are known. */
void json_cgroup(struct json *j, const struct analysis *an, uint32_t process);

/* ", java@0123456789ab", a process in a container; as a member "container". Of others nothing. */
void text_container(FILE *out, const struct analysis *an, uint32_t process);
void json_container(struct json *j, const struct analysis *an, uint32_t process);

/* ' key="value"' of each attribute of a process_row or span_row; as a member "attributes", if there are any. */
void text_attributes(FILE *out, const struct analyzer *a, uint32_t place);
void json_attributes(struct json *j, const struct analyzer *a, uint32_t place);
/* The attributes of all processes that have any: a section, and a member "resources". */
void text_resources(FILE *out, const struct analyzer *a);
void json_resources(struct json *j, const struct analyzer *a);

/*
 * The settings of a process_row. text_chosen_flags() prints the line of those that a person has chosen, json_settings()
 * members "flags" and "properties"; neither prints anything if no settings are known.
 */
void text_chosen_flags(FILE *out, const struct analyzer *a, uint32_t place);
void json_settings(struct json *j, const struct analyzer *a, uint32_t place);

/* The report's member "gc". */
void json_gc(struct json *j, const struct views *v, unsigned top);

/* "pid 100 or 200; from 1.500000 s": the filter's conditions. Prints nothing when there are none. filter_text.c */
void filter_text(FILE *out, const struct analysis *an);
/* The same as a member of an object; null when there are no conditions. */
void filter_json(struct json *j, const char *key, const struct analysis *an);

/* Whether some JVM never had an agent; lines with the types that are missing of each; a member "without_agent". */
bool agentless_any(const struct analysis *an);
void text_agentless(FILE *out, const struct analysis *an);
/* All types that are missing of some JVM; `count` (may be NULL) is how many JVMs miss any. */
uint32_t agentless_types(const struct analysis *an, size_t *count);
void json_agentless(struct json *j, const struct analysis *an);

/* How many rows of a table are left out, if any are; indented by that many columns. */
void text_more(FILE *out, int indent, size_t count, unsigned shown);

/*
 * Lines of summary.c in sections: samples by the kind of code, and by what threads of JVMs did. Nothing without
 * samples.
 */
void text_code(FILE *out, const struct views *v);
void text_run_states(FILE *out, const struct views *v);
/* A line of other events if the summary had no room for it. */
void text_other_events(FILE *out, const struct views *v, const struct report_source *source);

/* Sections of the text report. */
void text_methods(FILE *out, const struct views *v, unsigned top);
void text_lines(FILE *out, const struct views *v, unsigned top);
void text_threads(FILE *out, const struct views *v, unsigned top);
void text_recording(FILE *out, const struct views *v);
void text_jvms(FILE *out, const struct views *v);
void text_gc(FILE *out, const struct views *v, unsigned top);
void text_quality(FILE *out, const struct views *v);
void text_losses(FILE *out, const struct views *v);
void text_notices(FILE *out, const struct views *v);
void text_file(FILE *out, const struct views *v, const struct report_source *source);

#endif
