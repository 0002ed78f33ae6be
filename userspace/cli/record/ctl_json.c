// SPDX-License-Identifier: Apache-2.0
#include "ctl_json.h"

#include "config/event_config.h"
#include "config/field_pattern.h"
#include "config/method_pattern.h"

void ctl_json_types(struct json *j, const char *key, uint32_t bits)
{
	json_open(j, key, '[');
	for (int i = 0; i < BRAID_EVENT_TYPES; i++)
		if (bits >> i & 1)
			json_string(j, NULL, event_type_name(i));
	json_close(j, ']');
}

void ctl_json_figures(struct json *j, const struct braid_event_config *c)
{
	json_number(j, "alloc_interval", c->alloc_interval);
	json_number(j, "malloc_interval", c->malloc_interval);
	json_number(j, "live_max", c->live_max);
	json_number(j, "lock_min_ns", c->lock_min_ns);
	json_number(j, "wait_min_ns", c->wait_min_ns);
	json_number(j, "offcpu_min_ns", c->offcpu_min_ns);
	json_number(j, "heap_interval_ns", c->heap_interval_ns);
	json_number(j, "vthread_rate", c->vthread_rate);
	json_number(j, "exception_rate", c->exception_rate);
}

void ctl_json_methods(struct json *j, const struct braid_event_config *c)
{
	size_t count = c->enabled & BRAID_EVENT_TYPE(METHOD) ? method_pattern_count(c) : 0;

	json_open(j, "methods", '[');
	for (size_t i = 0; i < count; i++) {
		json_open(j, NULL, '{');
		json_string(j, "pattern", c->methods[i].text);
		json_number(j, "min_ns", c->methods[i].min_ns);
		json_number(j, "rate", c->methods[i].rate);
		json_string(j, "values", c->methods[i].values);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void ctl_json_fields(struct json *j, const struct braid_event_config *c)
{
	size_t count = c->enabled & BRAID_EVENT_TYPE(FIELD) ? field_pattern_count(c) : 0;

	json_open(j, "fields", '[');
	for (size_t i = 0; i < count; i++) {
		json_open(j, NULL, '{');
		json_string(j, "pattern", c->fields[i].text);
		json_number(j, "rate", c->fields[i].rate);
		json_string(j, "values", c->fields[i].values);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void ctl_json_threads(struct json *j, const struct braid_event_config *c)
{
	json_open(j, "threads", '[');
	for (size_t i = 0; i < BRAID_CONFIG_THREADS; i++) {
		if (!(c->threads[i].enabled & c->enabled))
			continue;
		json_open(j, NULL, '{');
		json_number(j, "tid", c->threads[i].tid);
		ctl_json_types(j, "choices", c->threads[i].enabled & c->enabled);
		json_close(j, '}');
	}
	json_close(j, ']');
}
