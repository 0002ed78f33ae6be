// SPDX-License-Identifier: Apache-2.0
#include "event_config.h"

#include "counters.h"
#include "field_pattern.h"
#include "method_pattern.h"
#include "util/quantity.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The type of the value after "=". */
enum unit { NO_FIGURE, BYTES, TIME, COUNT };

/* SetHeapSamplingInterval takes an int. The agent also limits what it watches. */
#define INTERVAL_MAX INT32_MAX
#define LIVE_MAX 65536U
#define JNI_MAX 1048576U
#define TIME_MAX 3600000000000ULL

static const struct word {
	const char *name;
	const char *example; /* with a value */
	const char *help;
	enum unit unit;
	size_t at; /* offset of the value in struct braid_event_config */
	size_t bytes;
	uint64_t low, high;
} words[BRAID_EVENT_TYPES] = {
#define FIGURE(member)                                                                                                 \
	.at = offsetof(struct braid_event_config, member), .bytes = sizeof(((struct braid_event_config *)NULL)->member)
	[BRAID_EVENT_TYPE_CPU] = {.name = "cpu", .help = "samples of what runs, by cpu-clock"},
	[BRAID_EVENT_TYPE_ALLOC] = {.name = "alloc",
				    .example = "alloc=512k",
				    .help = "sampled allocations; bytes between two samples",
				    .unit = BYTES,
				    FIGURE(alloc_interval),
				    .high = INTERVAL_MAX},
	[BRAID_EVENT_TYPE_LIVE] = {.name = "live",
				   .example = "live=4096",
				   .help = "sampled objects that are alive at the end; number watched",
				   .unit = COUNT,
				   FIGURE(live_max),
				   .low = 1,
				   .high = LIVE_MAX},
	[BRAID_EVENT_TYPE_LOCK] = {.name = "lock",
				   .example = "lock=10us",
				   .help = "threads blocked on locks; shortest time",
				   .unit = TIME,
				   FIGURE(lock_min_ns),
				   .high = TIME_MAX},
	[BRAID_EVENT_TYPE_WAIT] = {.name = "wait",
				   .example = "wait=1ms",
				   .help = "waits, parks, sleeps and blocking calls; shortest time",
				   .unit = TIME,
				   FIGURE(wait_min_ns),
				   .high = TIME_MAX},
	[BRAID_EVENT_TYPE_GC] = {.name = "gc", .help = "pauses, cycles and concurrent phases of collectors"},
	[BRAID_EVENT_TYPE_SAFEPOINT] = {.name = "safepoint", .help = "operations, time to safepoint, late threads"},
	[BRAID_EVENT_TYPE_THREAD] = {.name = "thread", .help = "starts, ends, names and CPU time of threads"},
	[BRAID_EVENT_TYPE_VTHREAD] = {.name = "vthread",
				      .example = "vthread=1000",
				      .help = "starts and ends of virtual threads; limit per second",
				      .unit = COUNT,
				      FIGURE(vthread_rate),
				      .high = UINT32_MAX},
	[BRAID_EVENT_TYPE_CLASS] = {.name = "class", .help = "loading, preparing and unloading of classes"},
	[BRAID_EVENT_TYPE_JIT] = {.name = "jit", .help = "compilations, deoptimisations, code cache"},
	[BRAID_EVENT_TYPE_EXCEPTION] = {.name = "exception",
					.example = "exception=1000",
					.help = "thrown exceptions; limit per second; needs -- COMMAND",
					.unit = COUNT,
					FIGURE(exception_rate),
					.high = UINT32_MAX},
	[BRAID_EVENT_TYPE_NATIVE_BIND] = {.name = "native-bind",
					  .help = "native methods, and the functions that they are bound to"},
	[BRAID_EVENT_TYPE_RESOURCE] = {.name = "resource", .help = "exhausted heap, exhausted threads"},
	[BRAID_EVENT_TYPE_OFFCPU] = {.name = "offcpu",
				     .example = "offcpu=100us",
				     .help = "all times off the CPU, of any process; shortest time",
				     .unit = TIME,
				     FIGURE(offcpu_min_ns),
				     .high = TIME_MAX},
	[BRAID_EVENT_TYPE_HEAP] = {.name = "heap",
				   .example = "heap=60s",
				   .help = "histograms of the heap, which stop the JVM; time between two",
				   .unit = TIME,
				   FIGURE(heap_interval_ns),
				   .low = 1000000000,
				   .high = TIME_MAX},
	[BRAID_EVENT_TYPE_METHOD] = {.name = "method",
				     .example = "method=C.m>1ms",
				     .help = "calls of methods by * and ?; shortest time; /arg1,this.x/"},
	[BRAID_EVENT_TYPE_MALLOC] = {.name = "malloc",
				     .example = "malloc=512k",
				     .help = "native allocations, and those not freed; bytes between two",
				     .unit = BYTES,
				     FIGURE(malloc_interval),
				     .high = INTERVAL_MAX},
	[BRAID_EVENT_TYPE_JNI] = {.name = "jni",
				  .example = "jni=65536",
				  .help = "global and weak JNI references at the end; number watched",
				  .unit = COUNT,
				  FIGURE(jni_max),
				  .low = 1,
				  .high = JNI_MAX},
	[BRAID_EVENT_TYPE_JNI_CRITICAL] = {.name = "jni-critical",
					   .example = "jni-critical=100us",
					   .help = "critical sections of JNI; shortest time",
					   .unit = TIME,
					   FIGURE(critical_min_ns),
					   .high = TIME_MAX},
	[BRAID_EVENT_TYPE_DUMP] = {.name = "dump",
				   .example = "dump=30s",
				   .help = "thread dumps, with deadlocks; time between two",
				   .unit = TIME,
				   FIGURE(dump_interval_ns),
				   .low = 1000000000,
				   .high = TIME_MAX},
	[BRAID_EVENT_TYPE_FIELD] = {.name = "field",
				    .example = "field=C.f",
				    .help = "writes to fields by * and ?, and who writes; /old,new/"},
#undef FIGURE
};

const char *event_type_name(enum braid_event_type type)
{
	return words[type].name;
}

const char *event_type_example(enum braid_event_type type)
{
	return words[type].example ?: words[type].name;
}

const char *event_type_help(enum braid_event_type type)
{
	return words[type].help;
}

void selection_init(struct event_selection *c)
{
	*c = (struct event_selection){.config = {.alloc_interval = 512 << 10,
						 .malloc_interval = 512 << 10,
						 .lock_min_ns = 10000,
						 .wait_min_ns = 1000000,
						 .offcpu_min_ns = 100000,
						 .vthread_rate = 1000,
						 .exception_rate = 1000,
						 .heap_interval_ns = 60000000000,
						 .heap_max_pause_ns = HEAP_MAX_PAUSE_NS,
						 .jni_max = 65536,
						 .critical_min_ns = 100000,
						 .dump_interval_ns = 30000000000,
						 .live_max = 4096},
				      .event = ""};
}

/* ---- parsing ---- */

static int parse_count(const char *text, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno || *end ? -EINVAL : 0;
}

static int parse_figure(enum unit unit, const char *text, uint64_t *value)
{
	switch (unit) {
	case TIME:
		return duration_parse_unit(text, value);
	case BYTES:
		return size_parse(text, value);
	default:
		return parse_count(text, value);
	}
}

static int set_figure(struct braid_event_config *c, const struct word *w, const char *text, char *why)
{
	static const char *const examples[] = {[BYTES] = "a number of bytes, such as 65536, 512k or 2m",
					       [TIME] = "a time, such as 10us, 1ms or 2s",
					       [COUNT] = "a number"};
	uint64_t value = 0;
	int err;

	if (w->unit == NO_FIGURE) {
		snprintf(why, SELECTION_WHY, "'%s' takes no value", w->name);
		return -EINVAL;
	}
	err = parse_figure(w->unit, text, &value);
	if (err == -EDOM) {
		snprintf(why, SELECTION_WHY, "'%s=%.40s': a time needs its unit: %s=%.40sms or %s=%.40ss", w->name,
			 text, w->name, text, w->name, text);
		return -EINVAL;
	}
	if (err || value < w->low || value > w->high) {
		uint64_t scale = w->unit == TIME ? 1000000000 : 1;

		snprintf(why, SELECTION_WHY, "'%s=%.40s': the value is %s, from %llu to %llu%s", w->name, text,
			 examples[w->unit], (unsigned long long)(w->low / scale), (unsigned long long)(w->high / scale),
			 w->unit == TIME ? " s" : "");
		return -EINVAL;
	}
	if (w->bytes == sizeof(uint64_t))
		memcpy((char *)c + w->at, &value, sizeof(value));
	else
		memcpy((char *)c + w->at, &(uint32_t){(uint32_t)value}, sizeof(uint32_t));
	return 0;
}

static uint64_t figure(const struct braid_event_config *c, const struct word *w)
{
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (w->bytes == sizeof(wide))
		memcpy(&wide, (const char *)c + w->at, sizeof(wide));
	else
		memcpy(&narrow, (const char *)c + w->at, sizeof(narrow));
	return wide + narrow;
}

static int check_room(const struct event_selection *c, const char *text, char *why)
{
	if (c->probe_count < BRAID_HITS)
		return 0;
	snprintf(why, SELECTION_WHY,
		 "'%.60s' is one too many: a recording has at most %d tracepoints, probes and counters", text,
		 BRAID_HITS);
	return -EINVAL;
}

/* A counter whose samples are hits, beside the clock's. */
static int add_counter(struct event_selection *c, const char *name, char *why)
{
	struct probe_spec *to = &c->probes[c->probe_count];

	for (uint32_t i = 0; i < c->probe_count; i++)
		if (strcmp(c->probes[i].text, name) == 0)
			return 0;
	if (check_room(c, name, why))
		return -EINVAL;
	*to = (struct probe_spec){.type = PROBE_COUNTER};
	snprintf(to->text, sizeof(to->text), "%s", name);
	snprintf(to->name, sizeof(to->name), "%s", name);
	c->probe_count++;
	return 0;
}

static bool is_time(const char *counter)
{
	return strcmp(counter, "cpu-clock") == 0 || strcmp(counter, "task-clock") == 0;
}

/* The clock is the first counter of time, and if there is none, the first counter. */
static int name_event(struct event_selection *c, const char *event, char *why)
{
	const char *other = event;

	if (!*c->event || strcmp(c->event, event) == 0) {
		c->event = event;
		return 0;
	}
	if (is_time(event) && !is_time(c->event)) {
		other = c->event;
		c->event = event;
	}
	return add_counter(c, other, why);
}

static int add_word(struct event_selection *c, const char *name, const char *value, char *why)
{
	for (size_t i = 0; i < BRAID_EVENT_TYPES; i++) {
		if (strcmp(words[i].name, name) != 0)
			continue;
		c->config.enabled |= 1U << i;
		c->kinds = true;
		if (value)
			return set_figure(&c->config, &words[i], value, why);
		return i == BRAID_EVENT_TYPE_CPU ? name_event(c, "cpu-clock", why) : 0;
	}
	snprintf(why, SELECTION_WHY, "unknown event '%.60s'; `braid record --help` lists them", name);
	return -EINVAL;
}

/* A system call is reported once, so a recording has one event of them. */
static int check_pair(const struct probe_spec *a, const struct probe_spec *b, char *why)
{
	if (a->type != PROBE_KERNEL || b->type != PROBE_KERNEL || a->event != b->event)
		return 0;
	snprintf(why, SELECTION_WHY, "'%.60s' and '%.60s' would record the same things; name one of them", a->text,
		 b->text);
	return -EINVAL;
}

static int add_probe(struct event_selection *c, const char *text, size_t length, char *why)
{
	struct probe_spec *to = &c->probes[c->probe_count];
	int err;

	_Static_assert(PROBE_WHY <= SELECTION_WHY, "reasons");
	if (check_room(c, text, why))
		return -EINVAL;
	err = probe_spec_parse(to, text, length, why);
	for (uint32_t i = 0; i < c->probe_count && !err; i++) {
		if (strcmp(c->probes[i].text, to->text) == 0)
			return 0;
		err = check_pair(&c->probes[i], to, why);
	}
	c->probe_count += !err;
	if (!err && to->type == PROBE_MALLOC) {
		c->config.enabled |= BRAID_EVENT_TYPE(MALLOC);
		c->kinds = true;
	}
	return err;
}

/* Filters behind words: only times off the CPU have one. */
static int add_filter(struct event_selection *c, const char *name, const char *filter, char *why)
{
	if (strcmp(name, event_type_name(BRAID_EVENT_TYPE_OFFCPU)) != 0) {
		snprintf(why, SELECTION_WHY, "'%.60s' takes no filter; offcpu, tracepoints and probes do", name);
		return -EINVAL;
	}
	if (*c->offcpu.text && strcmp(c->offcpu.text, filter) != 0) {
		snprintf(why, SELECTION_WHY, "offcpu has two filters: '%.90s' and '%.90s'", c->offcpu.text, filter);
		return -EINVAL;
	}
	return probe_spec_offcpu(&c->offcpu, filter, why);
}

static int add_pattern(struct event_selection *c, const char *one, char *why)
{
	bool field = field_pattern_is(one);

	c->config.enabled |= field ? BRAID_EVENT_TYPE(FIELD) : BRAID_EVENT_TYPE(METHOD);
	c->kinds = true;
	return (field ? field_pattern_add : method_pattern_add)(&c->config, one, why, SELECTION_WHY);
}

static int add_one(struct event_selection *c, char *one, size_t length, char *why)
{
	char filter[PROBE_TEXT + 1] = "", *slash, *value;
	uint64_t config;
	uint32_t type;

	if (!method_pattern_is(one) && !field_pattern_is(one) && probe_spec_is(one, length))
		return add_probe(c, one, length, why);
	one[length] = '\0';
	if (method_pattern_is(one) || field_pattern_is(one))
		return add_pattern(c, one, why);
	slash = strchr(one, '/');
	if (slash) {
		snprintf(filter, sizeof(filter), "%s", slash);
		*slash = '\0';
	}
	value = strchr(one, '=');
	if (value)
		*value++ = '\0';
	if (*filter && add_filter(c, one, filter, why))
		return -EINVAL;
	if (!value && counter_find(one, &type, &config))
		return name_event(c, one, why);
	if (!value && strcmp(one, "all") == 0)
		return selection_preset(c, one, why);
	return add_word(c, one, value, why);
}

static size_t element_length(const char *list)
{
	return method_pattern_is(list)	? method_pattern_length(list)
	       : field_pattern_is(list) ? field_pattern_length(list)
					: probe_spec_length(list);
}

static int add_list(struct event_selection *c, char *list, char why[SELECTION_WHY])
{
	size_t length;
	int err = 0;

	for (const char *one = list; one; one = one[length] ? one + length + 1 : NULL) {
		length = element_length(one);
		if (!length) {
			snprintf(why, SELECTION_WHY, "'%.60s' is not a list of events", list);
			return -EINVAL;
		}
	}
	for (char *one = list, *next; one && !err; one = next) {
		length = element_length(one);
		next = one[length] ? one + length + 1 : NULL;
		err = add_one(c, one, length, why);
	}
	return err;
}

/* Types that cannot be enabled without a pattern. */
static int check_patterns(const struct braid_event_config *c, char why[SELECTION_WHY])
{
	if (c->enabled & BRAID_EVENT_TYPE(METHOD) && !method_pattern_count(c))
		snprintf(why, SELECTION_WHY,
			 "'method' needs the methods: method=com.example.Dao.find>5ms, method=com.example.*.*");
	else if (c->enabled & BRAID_EVENT_TYPE(FIELD) && !field_pattern_count(c))
		snprintf(why, SELECTION_WHY,
			 "'field' needs the fields: field=com.example.Account.balance, field=com.example.*.*");
	else
		return 0;
	return -EINVAL;
}

int selection_add(struct event_selection *c, char *list, char why[SELECTION_WHY])
{
	return add_list(c, list, why) ?: check_patterns(&c->config, why);
}

int selection_preset(struct event_selection *c, const char *name, char why[SELECTION_WHY])
{
	for (size_t i = 0; preset_name(i); i++)
		if (strcmp(preset_name(i), name) == 0) {
			c->config.enabled |= preset_types(i);
			c->kinds = true;
			return 0;
		}
	snprintf(why, SELECTION_WHY, "unknown preset '%.60s'; use cpu, latency, memory, startup, wall or all", name);
	return -EINVAL;
}

void selection_complete(struct event_selection *c)
{
	/* Naming only the sampling event selects how to sample; it does not disable the default. */
	if (!c->kinds)
		c->config.enabled |= preset_types(0);
	if (c->config.enabled & BRAID_EVENT_TYPE(LIVE))
		c->config.enabled |= BRAID_EVENT_TYPE(ALLOC);
	if (!*c->event && c->config.enabled & BRAID_EVENT_TYPE(CPU) && (c->kinds || !c->probe_count))
		c->event = "cpu-clock";
	c->clock = *c->event;
	if (!c->clock && c->probe_count == 1 && probe_type_samples(c->probes[0].type))
		c->event = c->probes[0].text;
	if (c->clock || c->probe_count)
		c->config.enabled |= BRAID_EVENT_TYPE(CPU);
}

/* For changes during a recording, where values without a type, or types without a value, are mistakes. */
static int check_change(const struct event_selection *c, enum config_change change, const char *list,
			char why[SELECTION_WHY])
{
	size_t elements = 0, figures = 0, length;

	for (const char *one = list; one; one = one[length] ? one + length + 1 : NULL) {
		length = element_length(one);
		elements++;
		figures += memchr(one, '=', length) != NULL;
	}
	if (*c->offcpu.text)
		snprintf(why, SELECTION_WHY, "'offcpu%.60s': a filter can only be set when a recording starts",
			 c->offcpu.text);
	else if (c->probe_count)
		snprintf(why, SELECTION_WHY, "'%.60s' can only be enabled when a recording starts", c->probes[0].text);
	else if (*c->event && strcmp(c->event, "cpu-clock") != 0)
		snprintf(why, SELECTION_WHY, "'%.60s' can only be enabled when a recording starts", c->event);
	else if (change == CONFIG_DISABLE && figures)
		snprintf(why, SELECTION_WHY, "disable takes no values: '%.60s'", list);
	else if (change == CONFIG_INTERVAL && figures != elements)
		snprintf(why, SELECTION_WHY, "'%.60s': each interval needs a value, such as alloc=1m", list);
	else
		return 0;
	return -EINVAL;
}

/* Of a type that is enabled. */
static bool patterns_are_new(const struct braid_event_config *before, const struct braid_event_config *now)
{
	size_t methods = method_pattern_count(before), fields = field_pattern_count(before);

	return (methods && method_pattern_count(now) != methods) || (fields && field_pattern_count(now) != fields);
}

int event_config_change(struct braid_event_config *to, enum config_change change, char *list, uint32_t *named,
			char why[SELECTION_WHY])
{
	struct event_selection c = {.config = *to, .event = ""};
	char *whole = strdup(list);
	uint32_t before = to->enabled;
	int err;

	if (!whole) {
		snprintf(why, SELECTION_WHY, "out of memory");
		return -ENOMEM;
	}
	c.config.enabled = 0;
	err = add_list(&c, list, why);
	err = err ?: check_change(&c, change, whole, why);
	if (change == CONFIG_ENABLE)
		err = err ?: check_patterns(&c.config, why);
	if (change == CONFIG_INTERVAL && !err && patterns_are_new(to, &c.config)) {
		snprintf(why, SELECTION_WHY, "'%.60s': that pattern is not enabled; use `enable`", whole);
		err = -EINVAL;
	}
	if (change == CONFIG_DISABLE && strcmp(whole, "all") == 0)
		c.config.enabled |= BRAID_EVENT_TYPES_REWRITTEN;
	free(whole);
	if (err)
		return err;
	*named = c.config.enabled;
	if (change == CONFIG_DISABLE && *named & BRAID_EVENT_TYPE(METHOD))
		memset(c.config.methods, 0, sizeof(c.config.methods));
	if (change == CONFIG_DISABLE && *named & BRAID_EVENT_TYPE(FIELD))
		memset(c.config.fields, 0, sizeof(c.config.fields));
	if (change == CONFIG_ENABLE && *named & BRAID_EVENT_TYPE(LIVE))
		c.config.enabled |= BRAID_EVENT_TYPE(ALLOC);
	if (change == CONFIG_DISABLE && *named & BRAID_EVENT_TYPE(ALLOC))
		c.config.enabled |= BRAID_EVENT_TYPE(LIVE); /* they are sampled allocations */
	if (change == CONFIG_ENABLE)
		c.config.enabled |= before;
	else
		c.config.enabled = change == CONFIG_DISABLE ? before & ~c.config.enabled : before;
	*to = c.config;
	return 0;
}

/* Uses the largest unit that divides the value. */
static size_t figure_text(char *to, size_t size, char sign, enum unit unit, uint64_t value)
{
	static const struct scale {
		uint64_t of;
		const char *suffix;
	} bytes[] = {{1 << 20, "m"}, {1 << 10, "k"}, {1, ""}},
	  times[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}}, counts[] = {{1, ""}};
	const struct scale *scale = unit == BYTES ? bytes : unit == TIME ? times : counts;

	while (scale->of > 1 && (value % scale->of || !value))
		scale++;
	return (size_t)snprintf(to, size, "%c%llu%s", sign, (unsigned long long)(value / scale->of), scale->suffix);
}

static size_t thread_text(const struct braid_thread_config *t, uint32_t types, char *to, size_t size)
{
	size_t used = 0;

	if (!(t->enabled & types) || !size)
		return 0;
	used = (size_t)snprintf(to, size, " thread=%u:", t->tid);
	for (size_t i = 0, any = 0; i < BRAID_EVENT_TYPES && used < size; i++)
		if (t->enabled & types & 1U << i)
			used += (size_t)snprintf(to + used, size - used, "%s%s", any++ ? "," : "", words[i].name);
	return used < size ? used : size;
}

static size_t methods_text(const struct braid_event_config *c, char *to, size_t size)
{
	size_t used = 0, count = method_pattern_count(c);

	for (size_t i = 0; i < count && used < size; i++) {
		used += (size_t)snprintf(to + used, size - used, "%smethod=%.*s", i ? "," : "", BRAID_METHOD_TEXT,
					 c->methods[i].text);
		if (used < size)
			used += figure_text(to + used, size - used, '>', TIME, c->methods[i].min_ns);
		if (used < size)
			used += method_pattern_words(&c->methods[i], to + used, size - used);
	}
	return used;
}

void event_config_text(const struct braid_event_config *c, char *to, size_t size)
{
	size_t used = 0;

	if (size)
		*to = '\0';
	for (size_t i = 0; i < BRAID_EVENT_TYPES && used < size; i++) {
		if (!(c->enabled >> i & 1))
			continue;
		if (i == BRAID_EVENT_TYPE_METHOD && method_pattern_count(c)) {
			used += (size_t)snprintf(to + used, size - used, "%s", used ? "," : "");
			used += used < size ? methods_text(c, to + used, size - used) : 0;
			continue;
		}
		if (i == BRAID_EVENT_TYPE_FIELD && field_pattern_count(c)) {
			used += (size_t)snprintf(to + used, size - used, "%s", used ? "," : "");
			used += used < size ? field_patterns_text(c, to + used, size - used) : 0;
			continue;
		}
		used += (size_t)snprintf(to + used, size - used, "%s%s", used ? "," : "", words[i].name);
		if (words[i].unit != NO_FIGURE && used < size)
			used += figure_text(to + used, size - used, '=', words[i].unit, figure(c, &words[i]));
	}
	for (size_t i = 0; i < BRAID_CONFIG_THREADS && used < size; i++)
		used += thread_text(&c->threads[i], c->enabled, to + used, size - used);
}
