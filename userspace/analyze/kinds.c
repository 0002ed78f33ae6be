// SPDX-License-Identifier: Apache-2.0
#include "kinds.h"

#include <stddef.h>
#include <string.h>

#include <collect/choices.h>
#include <trace/record.h>

#define NS(t)                                                                                                          \
	{                                                                                                              \
		t, UNIT_NS                                                                                             \
	}
#define BYTES(t)                                                                                                       \
	{                                                                                                              \
		t, UNIT_BYTES                                                                                          \
	}
#define PLAIN(t)                                                                                                       \
	{                                                                                                              \
		t, UNIT_COUNT                                                                                          \
	}

static const struct kind kinds[BRAID_JVM_EVENTS] = {
	[BRAID_JVM_ALLOC] = {.title = "Allocations",
			     .choice = BRAID_WANT_ALLOC,
			     .unit = UNIT_BYTES,
			     .weight = WEIGHT_ESTIMATE,
			     .stack = true,
			     .leaf = true,
			     .tables = true,
			     .name_is = PLAIN("class"),
			     .value_is = BYTES("size"),
			     .weight_is = BYTES("bytes"),
			     .number_is = PLAIN("object")},
	[BRAID_JVM_LIVE] = {.title = "Live objects",
			    .choice = BRAID_WANT_LIVE,
			    .unit = UNIT_BYTES,
			    .weight = WEIGHT_ESTIMATE,
			    .stack = true,
			    .leaf = true,
			    .tables = true,
			    .name_is = PLAIN("class"),
			    .number_is = PLAIN("object")},
	[BRAID_JVM_LOCK] = {.title = "Contended monitors",
			    .choice = BRAID_WANT_LOCK,
			    .unit = UNIT_NS,
			    .weight = WEIGHT_DURATION,
			    .stack = true,
			    .leaf = true,
			    .tables = true,
			    .name_is = PLAIN("class"),
			    .number_is = PLAIN("monitor"),
			    .other_is = PLAIN("owner")},
	[BRAID_JVM_WAIT] = {.title = "Object.wait",
			    .choice = BRAID_WANT_WAIT,
			    .unit = UNIT_NS,
			    .weight = WEIGHT_DURATION,
			    .stack = true,
			    .leaf = true,
			    .tables = true,
			    .flagged = true,
			    .name_is = PLAIN("class"),
			    .value_is = PLAIN("timeout_ms"),
			    .number_is = PLAIN("monitor"),
			    .other_is = PLAIN("waker")},
	[BRAID_JVM_BLOCKED] = {.title = "Blocked threads",
			       .choice = BRAID_WANT_WAIT,
			       .unit = UNIT_NS,
			       .weight = WEIGHT_DURATION,
			       .stack = true,
			       .tables = true,
			       .flagged = true,
			       .name_is = PLAIN("reason"),
			       .other_is = PLAIN("waker")},
	[BRAID_JVM_GC_PAUSE] = {.title = "GC pauses",
				.choice = BRAID_WANT_GC,
				.unit = UNIT_NS,
				.weight = WEIGHT_DURATION,
				.leaf = true,
				.name_is = PLAIN("collector"),
				.detail_is = PLAIN("cause"),
				.value_is = BYTES("before"),
				.weight_is = BYTES("after"),
				.number_is = PLAIN("number"),
				.text_is = PLAIN("what"),
				.flagged = true},
	[BRAID_JVM_GC_CYCLE] = {.title = "GC cycles",
				.choice = BRAID_WANT_GC,
				.unit = UNIT_NS,
				.weight = WEIGHT_DURATION,
				.leaf = true,
				.name_is = PLAIN("collector"),
				.detail_is = PLAIN("cause"),
				.value_is = BYTES("before"),
				.weight_is = BYTES("after"),
				.number_is = PLAIN("number"),
				.text_is = PLAIN("what"),
				.flagged = true},
	[BRAID_JVM_GC_PHASE] = {.title = "Concurrent GC phases",
				.choice = BRAID_WANT_GC,
				.unit = UNIT_NS,
				.weight = WEIGHT_DURATION,
				.leaf = true,
				.name_is = PLAIN("phase"),
				.number_is = PLAIN("cycle")},
	[BRAID_JVM_SAFEPOINT] = {.title = "Safepoints",
				 .choice = BRAID_WANT_SAFEPOINT,
				 .unit = UNIT_NS,
				 .weight = WEIGHT_DURATION,
				 .leaf = true,
				 .tables = true,
				 .name_is = PLAIN("operation"),
				 .value_is = NS("to_safepoint"),
				 .number_is = PLAIN("number")},
	[BRAID_JVM_SAFEPOINT_STOP] = {.title = "Late at safepoints",
				      .choice = BRAID_WANT_SAFEPOINT,
				      .unit = UNIT_NS,
				      .weight = WEIGHT_VALUE,
				      .stack = true,
				      .tables = true,
				      .value_is = NS("late"),
				      .number_is = PLAIN("number")},
	[BRAID_JVM_THREAD_START] = {.title = "Threads started",
				    .choice = BRAID_WANT_THREAD,
				    .flagged = true,
				    .leaf = true,
				    .name_is = PLAIN("name"),
				    .detail_is = PLAIN("group"),
				    .value_is = PLAIN("priority")},
	[BRAID_JVM_THREAD_END] = {.title = "Threads ended",
				  .choice = BRAID_WANT_THREAD,
				  .leaf = true,
				  .name_is = PLAIN("name"),
				  .value_is = NS("cpu"),
				  .weight_is = NS("system")},
	[BRAID_JVM_VTHREAD_START] = {.title = "Virtual threads started",
				     .choice = BRAID_WANT_VTHREAD,
				     .weight = WEIGHT_VALUE,
				     .stack = true,
				     .tables = true,
				     .name_is = PLAIN("name"),
				     .value_is = PLAIN("count"),
				     .number_is = PLAIN("id")},
	[BRAID_JVM_VTHREAD_END] = {.title = "Virtual threads ended",
				   .choice = BRAID_WANT_VTHREAD,
				   .weight = WEIGHT_VALUE,
				   .name_is = PLAIN("name"),
				   .value_is = PLAIN("count"),
				   .number_is = PLAIN("id")},
	[BRAID_JVM_CLASS_LOAD] = {.title = "Classes loaded",
				  .choice = BRAID_WANT_CLASS,
				  .leaf = true,
				  .name_is = PLAIN("class"),
				  .detail_is = PLAIN("loader"),
				  .value_is = PLAIN("modifiers"),
				  .text_is = PLAIN("source")},
	[BRAID_JVM_CLASS_PREPARE] = {.title = "Classes prepared",
				     .choice = BRAID_WANT_CLASS,
				     .leaf = true,
				     .name_is = PLAIN("class")},
	[BRAID_JVM_CLASS_UNLOAD] = {.title = "Classes unloaded",
				    .choice = BRAID_WANT_CLASS,
				    .weight = WEIGHT_VALUE,
				    .leaf = true,
				    .name_is = PLAIN("class"),
				    .value_is = PLAIN("count")},
	[BRAID_JVM_COMPILE] = {.title = "Compilations",
			       .choice = BRAID_WANT_JIT,
			       .unit = UNIT_NS,
			       .weight = WEIGHT_DURATION,
			       .leaf = true,
			       .flagged = true,
			       .name_is = PLAIN("method"),
			       .value_is = BYTES("size"),
			       .number_is = PLAIN("id")},
	[BRAID_JVM_DEOPT] = {.title = "Deoptimisations",
			     .choice = BRAID_WANT_JIT,
			     .stack = true,
			     .leaf = true,
			     .tables = true,
			     .name_is = PLAIN("method"),
			     .detail_is = PLAIN("reason")},
	[BRAID_JVM_EXCEPTION] = {.title = "Exceptions",
				 .choice = BRAID_WANT_EXCEPTION,
				 .weight = WEIGHT_VALUE,
				 .stack = true,
				 .leaf = true,
				 .tables = true,
				 .name_is = PLAIN("class"),
				 .detail_is = PLAIN("caught_in"),
				 .value_is = PLAIN("count")},
	[BRAID_JVM_NATIVE_BIND] = {.title = "Native methods bound",
				   .choice = BRAID_WANT_NATIVE_BIND,
				   .leaf = true,
				   .name_is = PLAIN("method"),
				   .number_is = PLAIN("address"),
				   .text_is = PLAIN("symbol")},
	[BRAID_JVM_RESOURCE] = {.title = "Exhausted resources",
				.choice = BRAID_WANT_RESOURCE,
				.leaf = true,
				.tables = true,
				.flagged = true,
				.name_is = PLAIN("resource")},
	[BRAID_JVM_CODE_CACHE] = {.title = "Code cache",
				  .choice = BRAID_WANT_JIT,
				  .name_is = PLAIN("heap"),
				  .value_is = BYTES("used"),
				  .weight_is = BYTES("reserved")},
	[BRAID_JVM_COUNTED] = {.title = "Counted only",
			       .choice = BRAID_WANTS,
			       .weight = WEIGHT_VALUE,
			       .value_is = PLAIN("count"),
			       .weight_is = NS("duration"),
			       .number_is = PLAIN("kind")},
	[BRAID_JVM_THREAD_RENAME] = {.title = "Threads renamed", .choice = BRAID_WANT_THREAD, .name_is = PLAIN("name")},
	[BRAID_JVM_PHASE] = {.title = "Phases", .choice = BRAID_WANTS, .name_is = PLAIN("phase")},
	[BRAID_JVM_CHOSEN] = {.title = "Choices", .choice = BRAID_WANTS, .name_is = PLAIN("choices")},
};

const struct kind *kind_of(uint32_t kind)
{
	return kind < BRAID_JVM_EVENTS && kinds[kind].title ? &kinds[kind] : NULL;
}

/* "gc-pause" is "gc_pause". */
static bool same_name(const char *name, const char *typed)
{
	for (; *name && (*name == *typed || (*name == '_' && *typed == '-')); name++)
		typed++;
	return *name == *typed;
}

uint32_t kind_named(const char *name)
{
	for (uint32_t k = 0; k < BRAID_JVM_EVENTS; k++)
		if (kind_of(k) && same_name(jvm_event_name(k), name))
			return k;
	for (uint32_t k = 0; k < BRAID_JVM_EVENTS; k++)
		if (kind_of(k) && kinds[k].choice < BRAID_WANTS && strcmp(choice_name(kinds[k].choice), name) == 0)
			return k;
	return 0;
}
