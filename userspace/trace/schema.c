// SPDX-License-Identifier: Apache-2.0
/* The table of kinds and fields, and its text form in a file. */
#include "codec.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <xxhash.h>

#define AT(kind, field) offsetof(struct trace_rec, kind.field)
#define SIZE(kind, field) sizeof(((struct trace_rec *)0)->kind.field)
#define NUM(kind, field, t)                                                                                            \
	{                                                                                                              \
		.name = #field, .type = TRACE_TYPE_##t, .size = SIZE(kind, field), .offset = AT(kind, field)           \
	}
#define HEX(kind, field, t)                                                                                            \
	{                                                                                                              \
		.name = #field, .type = TRACE_TYPE_##t, .size = SIZE(kind, field), .hex = true,                        \
		.offset = AT(kind, field)                                                                              \
	}
#define STR(kind, field)                                                                                               \
	{                                                                                                              \
		.name = #field, .type = TRACE_TYPE_STR, .size = 1, .offset = AT(kind, field)                           \
	}
#define ARRAY(kind, field, n, t)                                                                                       \
	{                                                                                                              \
		.name = #field, .type = TRACE_TYPE_##t, .size = 1, .offset = AT(kind, field),                          \
		.count_offset = AT(kind, n)                                                                            \
	}

#define KIND(number, member, ...)                                                                                      \
	[TRACE_##number] = {                                                                                           \
		.name = #member,                                                                                       \
		.rec_size = offsetof(struct trace_rec, member) + sizeof(((struct trace_rec *)0)->member),              \
		.count = sizeof((struct trace_field[]){__VA_ARGS__}) / sizeof(struct trace_field),                     \
		.fields = {__VA_ARGS__},                                                                               \
	}

_Static_assert(sizeof(struct trace_line) == 8 && sizeof(struct trace_scope) == 8, "arrays are pairs of 32-bit numbers");

/*
 * The order of fields is the file's. Those that are mostly 0 when coded come last, where they take no space. Those that
 * are mostly as in the record before are side by side, also across the end of a record, as zstd finds long matches
 * only. Orders and types give the smallest size after zstd, on a compiler's run of half a minute (7 new nodes a
 * sample).
 */
static const struct trace_layout layouts[TRACE_KINDS] = {
	KIND(INFO, info, STR(info, key), STR(info, value)),
	KIND(CLOCK, clock, NUM(clock, monotonic_ns, D), NUM(clock, boottime_ns, R), NUM(clock, realtime_ns, D)),
	KIND(PROCESS, process, NUM(process, process, N), NUM(process, pid, D), NUM(process, parent, U),
	     NUM(process, start_ns, D), STR(process, comm), STR(process, exe), STR(process, cgroup)),
	KIND(THREAD, thread, NUM(thread, thread, N), NUM(thread, process, D), NUM(thread, tid, D),
	     NUM(thread, ns_tid, R), HEX(thread, flags, U), NUM(thread, start_ns, D), STR(thread, name),
	     STR(thread, group)),
	KIND(MODULE, module, NUM(module, module, N), NUM(module, kind, U), STR(module, path), STR(module, build_id)),
	KIND(MAPPING, mapping, NUM(mapping, process, D), NUM(mapping, module, D), HEX(mapping, start, D),
	     HEX(mapping, end, R), HEX(mapping, file_offset, U), HEX(mapping, bias, D), NUM(mapping, time_ns, D)),
	KIND(SYMBOL, symbol, NUM(symbol, module, U), STR(symbol, name), NUM(symbol, size, U), HEX(symbol, address, U),
	     NUM(symbol, symbol, N)),
	KIND(JVM, jvm, NUM(jvm, process, D), NUM(jvm, start, U), HEX(jvm, jvmti_version, U), HEX(jvm, layout_flags, U),
	     HEX(jvm, caps_got_lo, U), HEX(jvm, caps_got_hi, U), HEX(jvm, caps_refused_lo, U),
	     HEX(jvm, caps_refused_hi, U), STR(jvm, vm_name), STR(jvm, vm_version), STR(jvm, java_version),
	     STR(jvm, command)),
	KIND(METHOD, method, STR(method, name), STR(method, signature), STR(method, source), STR(method, class_name),
	     HEX(method, modifiers, U), NUM(method, method, N), NUM(method, process, D), NUM(method, version, U)),
	KIND(LINES, lines, NUM(lines, method, D), ARRAY(lines, lines, count, DD)),
	KIND(CODE, code, NUM(code, process, D), NUM(code, kind, U), NUM(code, tier, U), NUM(code, is_osr, U),
	     NUM(code, code, N), NUM(code, method, D), NUM(code, compile_id, D), HEX(code, address, D),
	     NUM(code, size, U), NUM(code, load_ns, D), STR(code, name)),
	KIND(FRAME, frame, HEX(frame, address, U), NUM(frame, module, U), NUM(frame, kind, U), NUM(frame, process, U),
	     NUM(frame, exact, U), NUM(frame, symbol, U), NUM(frame, code, U), ARRAY(frame, scopes, scope_count, US),
	     NUM(frame, frame, N)),
	KIND(NODE, node, NUM(node, frame, N), NUM(node, node, N), NUM(node, parent, B)),
	KIND(PLACE, place, NUM(place, place, N), STR(place, name), STR(place, file)),
	KIND(VTHREAD, vthread, NUM(vthread, vthread, N), NUM(vthread, process, D), NUM(vthread, number, D),
	     STR(vthread, name)),
	KIND(NAME, name, STR(name, text), NUM(name, name, N)),
	KIND(SPAN, span, NUM(span, span, N), NUM(span, process, D), HEX(span, trace_hi, D), HEX(span, trace_lo, D),
	     HEX(span, span_id, D)),
	KIND(RESOURCE, resource, NUM(resource, process, D), NUM(resource, key, D), NUM(resource, value, D)),
	KIND(ATTRIBUTE, attribute, NUM(attribute, span, D), NUM(attribute, key, D), NUM(attribute, value, D)),
	KIND(SETTING, setting, NUM(setting, process, D), NUM(setting, origin, U), NUM(setting, key, D),
	     NUM(setting, value, D)),
	KIND(SAMPLE, sample, NUM(sample, thread, N), NUM(sample, cpu, N), NUM(sample, node, D), NUM(sample, time_ns, T),
	     NUM(sample, weight, D), NUM(sample, vthread, U), NUM(sample, event, U), NUM(sample, span, U),
	     STR(sample, text)),
	KIND(PROCESS_STATE, process_state, NUM(process_state, time_ns, T), NUM(process_state, process, U),
	     NUM(process_state, what, U)),
	KIND(CODE_LOAD, code_load, NUM(code_load, time_ns, T), HEX(code_load, address, D), NUM(code_load, size, U),
	     NUM(code_load, compile_id, N), NUM(code_load, tier, D), NUM(code_load, process, D),
	     NUM(code_load, replay, U)),
	KIND(CODE_UNLOAD, code_unload, NUM(code_unload, time_ns, T), NUM(code_unload, process, U),
	     HEX(code_unload, address, D)),
	KIND(LOSS, loss, NUM(loss, time_ns, T), NUM(loss, process, U), STR(loss, hop), STR(loss, kind),
	     NUM(loss, count, U)),
	KIND(STAT, stat, NUM(stat, time_ns, T), NUM(stat, process, U), STR(stat, key), NUM(stat, value, U)),
	KIND(NOTICE, notice, NUM(notice, time_ns, T), NUM(notice, process, U), NUM(notice, severity, U),
	     STR(notice, text)),
	KIND(END, end, NUM(end, time_ns, T)),
	KIND(JVM_EVENT, jvm_event, NUM(jvm_event, kind, D), NUM(jvm_event, process, D), NUM(jvm_event, thread, D),
	     NUM(jvm_event, duration_ns, U), NUM(jvm_event, time_ns, T), NUM(jvm_event, value, U),
	     NUM(jvm_event, number, N), NUM(jvm_event, name, N), HEX(jvm_event, flags, D), NUM(jvm_event, node, U),
	     NUM(jvm_event, source, D), NUM(jvm_event, detail, D), NUM(jvm_event, weight, D),
	     NUM(jvm_event, vthread, U), NUM(jvm_event, other, U), NUM(jvm_event, other_node, U), STR(jvm_event, text),
	     NUM(jvm_event, span, U), NUM(jvm_event, other_vthread, U)),
};

static const char *const type_names[TRACE_TYPES] = {
	[TRACE_TYPE_U] = "u",	[TRACE_TYPE_S] = "s",	[TRACE_TYPE_T] = "t", [TRACE_TYPE_D] = "d",
	[TRACE_TYPE_N] = "n",	[TRACE_TYPE_R] = "r",	[TRACE_TYPE_B] = "b", [TRACE_TYPE_STR] = "str",
	[TRACE_TYPE_US] = "us", [TRACE_TYPE_DD] = "dd",
};

const struct trace_layout *trace_layout(uint32_t kind)
{
	return kind < TRACE_KINDS && layouts[kind].name ? &layouts[kind] : NULL;
}

int trace_schema_text(char *buf, size_t capacity)
{
	FILE *out = fmemopen(buf, capacity, "w");
	long len;

	if (!out)
		return -errno;
	for (uint32_t kind = 0; kind < TRACE_KINDS; kind++) {
		const struct trace_layout *l = trace_layout(kind);

		if (!l)
			continue;
		fprintf(out, "%u %s", kind, l->name);
		for (unsigned i = 0; i < l->count; i++)
			fprintf(out, " %s:%s", l->fields[i].name, type_names[l->fields[i].type]);
		fputc('\n', out);
	}
	fflush(out);
	len = ferror(out) || (size_t)ftell(out) >= capacity ? -ENOSPC : ftell(out);
	fclose(out);
	return (int)len;
}

uint16_t trace_schema_id(const char *text, size_t len)
{
	return (uint16_t)XXH3_64bits(text, len);
}

/* ---- reading ---- */

static bool take_word(const char **at, const char *end, char *word)
{
	size_t len = 0;

	while (*at < end && len < TRACE_NAME_MAX &&
	       ((**at >= 'a' && **at <= 'z') || (**at >= '0' && **at <= '9') || **at == '_'))
		word[len++] = *(*at)++;
	word[len] = 0;
	return len > 0;
}

static bool take_char(const char **at, const char *end, char c)
{
	if (*at >= end || **at != c)
		return false;
	(*at)++;
	return true;
}

static bool take_number(const char **at, const char *end, uint32_t limit, uint32_t *number)
{
	const char *start = *at;
	uint32_t n = 0;

	for (; *at < end && **at >= '0' && **at <= '9' && n < limit; (*at)++)
		n = n * 10 + (uint32_t)(**at - '0');
	*number = n;
	return *at > start && n < limit;
}

static bool type_is_number(unsigned type)
{
	return type < TRACE_TYPE_STR;
}

/* This program's field of that name, when it has one that can store the file's type. */
static const struct trace_field *field_known(const struct trace_layout *own, const char *name, unsigned type)
{
	for (unsigned i = 0; own && i < own->count; i++) {
		const struct trace_field *f = &own->fields[i];

		if (strcmp(f->name, name) == 0)
			return f->type == type || (type_is_number(f->type) && type_is_number(type)) ? f : NULL;
	}
	return NULL;
}

static bool take_field(const char **at, const char *end, const struct trace_layout *own, struct trace_layout *l)
{
	char name[TRACE_NAME_MAX + 1], type_name[TRACE_NAME_MAX + 1];
	struct trace_field *f = &l->fields[l->count];
	const struct trace_field *known;
	unsigned type = 0;

	if (l->count >= TRACE_FIELDS_MAX || !take_word(at, end, name) || !take_char(at, end, ':') ||
	    !take_word(at, end, type_name))
		return false;
	while (type < TRACE_TYPES && strcmp(type_names[type], type_name) != 0)
		type++;
	if (type == TRACE_TYPES)
		return false;
	known = field_known(own, name, type);
	for (unsigned i = 0; known && i < l->count; i++)
		if (l->fields[i].size && l->fields[i].name == known->name)
			return false;
	if (known)
		*f = *known;
	else
		l->newer = true;
	f->type = (uint8_t)type;
	l->has_array |= known && type >= TRACE_TYPE_US;
	l->count++;
	return true;
}

static bool take_kind(const char **at, const char *end, struct trace_schema *schema)
{
	char name[TRACE_NAME_MAX + 1];
	const struct trace_layout *own;
	const char *line = *at;
	struct trace_layout *l;
	uint32_t kind;

	if (!take_number(at, end, TRACE_KIND_LIMIT, &kind) || kind == 0 || !take_char(at, end, ' ') ||
	    !take_word(at, end, name))
		return false;
	l = &schema->layouts[kind];
	if (l->defined)
		return false;
	own = trace_layout(kind);
	if (own && strcmp(own->name, name) != 0)
		own = NULL;
	l->defined = true;
	l->newer = !own;
	l->name = own ? own->name : NULL;
	l->rec_size = own ? own->rec_size : 0;
	while (take_char(at, end, ' '))
		if (!take_field(at, end, own, l))
			return false;
	l->frequent = trace_line_is_frequent(kind, line, (size_t)(*at - line));
	return take_char(at, end, '\n');
}

int trace_schema_parse(struct trace_schema *schema, const char *text, size_t len)
{
	const char *at = text, *end = text + len;

	memset(schema, 0, sizeof(*schema));
	schema->id = trace_schema_id(text, len);
	while (at < end)
		if (!take_kind(&at, end, schema))
			return -EINVAL;
	return 0;
}

static struct trace_schema_own own_schema;

static void own_make(void)
{
	int len = trace_schema_text(own_schema.text, sizeof(own_schema.text));

	own_schema.len = len < 0 ? 0 : (size_t)len;
	own_schema.err = len < 0 ? len : trace_schema_parse(&own_schema.schema, own_schema.text, own_schema.len);
}

const struct trace_schema_own *trace_schema_own(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, own_make);
	return &own_schema;
}
