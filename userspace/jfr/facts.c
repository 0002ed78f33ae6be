// SPDX-License-Identifier: Apache-2.0
/* Facts about the recording, its host and its JVMs, which every chunk repeats. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/attributes.h>
#include <braid/ring.h>

#include "writer.h"

#define NS_PER_MS 1000000U

/* As the JDK names them. */
static const char *const origins[BRAID_SETTING_ORIGINS] = {
	[BRAID_SETTING_COMMAND_LINE] = "Command line", [BRAID_SETTING_ENVIRONMENT] = "Environment variable",
	[BRAID_SETTING_CONFIG_FILE] = "Config file",   [BRAID_SETTING_MANAGEMENT] = "Management",
	[BRAID_SETTING_ERGONOMIC] = "Ergonomic",       [BRAID_SETTING_ATTACH] = "Attach on demand",
	[BRAID_SETTING_INTERNAL] = "Internal",	       [BRAID_SETTING_IMAGE] = "JImage",
	[BRAID_SETTING_DEFAULT] = "Default",
};

static void put_setting(struct jfr *j, const struct attribute_row *row, uint32_t pid)
{
	const char *value = strpool_get(&j->an->a->strings, row->value);
	struct fact fact = {.name = strpool_get(&j->an->a->strings, row->key), .value = value, .pid = pid};
	char *end;

	if (!row->origin) {
		jfr_put_fact(j, JFR_PROPERTY, &fact);
		return;
	}
	fact.more = row->origin < BRAID_SETTING_ORIGINS ? origins[row->origin] : NULL;
	fact.number = strcmp(value, "true") == 0;
	if (fact.number || strcmp(value, "false") == 0) {
		jfr_put_fact(j, JFR_BOOLEAN_FLAG, &fact);
		return;
	}
	fact.number = strtoull(value, &end, 10);
	jfr_put_fact(j, *value && !*end ? JFR_LONG_FLAG : JFR_STRING_FLAG, &fact);
}

static void put_jvm(struct jfr *j, uint32_t process, const struct jvm_row *jvm)
{
	const struct analyzer *a = j->an->a;
	const struct process_row *p = analysis_process(j->an, process);
	const struct fact fact = {.name = strpool_get(&a->strings, jvm->vm_name),
				  .value = strpool_get(&a->strings, jvm->vm_version),
				  .more = strpool_get(&a->strings, jvm->command),
				  .number = (j->an->start_realtime_ns + p->start_ns - j->an->start_ns) / NS_PER_MS,
				  .pid = p->pid};

	if (!analysis_selects_process(j->an, p))
		return;
	jfr_put_fact(j, JFR_JVM_INFORMATION, &fact);
	for (const struct attribute_row *row = attributes_first(a, p->settings); row; row = attributes_next(a, row))
		put_setting(j, row, p->pid);
}

void jfr_put_facts(struct jfr *j)
{
	const struct analyzer *a = j->an->a;
	struct fact fact = {.name = "braid", .value = analyzer_info(a, "record.command"), .number = j->an->duration_ns};

	jfr_put_fact(j, JFR_ACTIVE_RECORDING, &fact);
	fact.value = analyzer_info(a, "host.kernel");
	if (*fact.value)
		jfr_put_fact(j, JFR_OS_INFORMATION, &fact);
	fact.value = analyzer_info(a, "host.machine");
	fact.number = strtoul(analyzer_info(a, "host.cpus"), NULL, 10);
	if (fact.number)
		jfr_put_fact(j, JFR_CPU_INFORMATION, &fact);
	for (size_t i = 0; i < a->jvms.count; i++)
		put_jvm(j, a->jvms.ids[i], table_row(&a->jvms, i));
}

void jfr_put_settings(struct jfr *j)
{
	uint64_t period_ns = analyzer_period_ns(j->an->a);
	char period[32];

	for (size_t i = 0; i < JFR_EVENT_TYPES; i++)
		if (j->used[i] && i != JFR_ACTIVE_SETTING)
			jfr_put_fact(j, JFR_ACTIVE_SETTING,
				     &(struct fact){.name = "enabled", .value = "true", .number = JFR_FIRST_EVENT + i});
	for (size_t i = JFR_EXECUTION_SAMPLE; period_ns && i <= JFR_NATIVE_SAMPLE; i++) {
		if (!j->used[i])
			continue;
		snprintf(period, sizeof(period), "%" PRIu64 " us", period_ns / 1000);
		jfr_put_fact(j, JFR_ACTIVE_SETTING,
			     &(struct fact){.name = "period", .value = period, .number = JFR_FIRST_EVENT + i});
	}
}
