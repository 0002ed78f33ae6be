// SPDX-License-Identifier: Apache-2.0
/*
 * The types of a JFR file: those of values, of constant pools and of annotations, which every chunk declares, and the
 * event types that braid writes. A file declares its own types, so the numbers are braid's; names are the JDK's.
 */
#ifndef BRAID_JFR_TYPES_H
#define BRAID_JFR_TYPES_H

#include <stdbool.h>
#include <stdint.h>

enum jfr_type {
	JFR_METADATA = 0, /* these two are the format's */
	JFR_CHECKPOINT = 1,
	JFR_BOOLEAN,
	JFR_INT,
	JFR_LONG,
	JFR_FLOAT32,
	JFR_STRING,
	/* of constant pools, each of which refers to those behind it */
	JFR_THREAD,
	JFR_THREAD_GROUP,
	JFR_STACK_TRACE,
	JFR_METHOD,
	JFR_CLASS,
	JFR_CLASS_LOADER,
	JFR_PACKAGE,
	JFR_SYMBOL,
	JFR_FRAME_TYPE,
	JFR_THREAD_STATE,
	JFR_STACK_FRAME,
	/* annotations */
	JFR_LABEL,
	JFR_CATEGORY,
	JFR_CONTENT_TYPE,
	JFR_TIMESTAMP,
	JFR_TIMESPAN,
	JFR_DATA_AMOUNT,
	JFR_PERCENTAGE,
	JFR_TYPES,
	JFR_FIRST_EVENT = 64,
};

#define JFR_FIRST_POOL JFR_THREAD
#define JFR_LAST_POOL JFR_THREAD_STATE

/* What a number is, as annotations say it. */
enum jfr_unit { JFR_PLAIN, JFR_TIME, JFR_SPAN, JFR_SPAN_MS, JFR_EPOCH_MS, JFR_BYTES, JFR_SHARE };

/* Where an event's field comes from. */
enum jfr_from {
	FROM_NOTHING,
	FROM_TIME,
	FROM_DURATION,
	FROM_THREAD,
	FROM_OTHER,
	FROM_STACK,
	FROM_JAVA_STACK, /* from the innermost Java frame, as the JDK's events have it */
	FROM_OTHER_STACK,
	FROM_RUNNABLE, /* the state of a thread that runs */
	FROM_COUNT,
	FROM_WEIGHT,	 /* as analyzed */
	FROM_ROW_WEIGHT, /* as recorded, like the following ones */
	FROM_VALUE,
	FROM_NUMBER,
	FROM_FLAGS,
	FROM_NAME,
	FROM_DETAIL,
	FROM_TEXT,
	FROM_NAME_CLASS,
	FROM_NAME_METHOD,
	FROM_DETAIL_LOADER,
	FROM_GC_ID,
	FROM_GC_PAUSES, /* their sum, where the collection is one pause */
	FROM_WHEN,	/* before or after the collection */
	FROM_HEAP_USED,
	FROM_TIMED_OUT,
	FROM_THROWN,
	FROM_LEVEL,
	FROM_OSR,
	FROM_SUCCEEDED,
	FROM_IDLE,
	FROM_YES,
	FROM_PID,
	FROM_LOAD_USER, /* of what the CPUs had */
	FROM_LOAD_SYSTEM,
	FROM_LOAD_MACHINE, /* both, of the machine */
	FROM_FACT_NAME,	   /* of a fact about a process, not of a timed event */
	FROM_FACT_VALUE,
	FROM_FACT_NUMBER,
	FROM_FACT_MORE,
	FROM_FACT_PID,
};

struct jfr_field {
	const char *name, *label;
	uint8_t type; /* enum jfr_type */
	uint8_t unit; /* enum jfr_unit */
	uint8_t from; /* enum jfr_from */
	bool array;
};

#define JFR_FIELDS 16
struct jfr_event_type {
	const char *name, *label;
	const char *category[3];
	struct jfr_field fields[JFR_FIELDS]; /* up to the first without a name */
};

struct jfr_value_type {
	const char *name;
	const char *label;
	bool simple; /* readers show its only field in its place */
	struct jfr_field fields[7];
};
extern const struct jfr_value_type jfr_value_types[JFR_TYPES];

/* The event types with a name of their own; others are made from braid's kinds: jfr_kind_type(). */
enum jfr_event_id {
	JFR_EXECUTION_SAMPLE,
	JFR_NATIVE_SAMPLE,
	JFR_HIT,
	JFR_ALLOCATION,
	JFR_MONITOR_ENTER,
	JFR_MONITOR_WAIT,
	JFR_PARK,
	JFR_SLEEP,
	JFR_OFFCPU,
	JFR_GC,
	JFR_GC_YOUNG,
	JFR_GC_OLD,
	JFR_GC_PAUSE,
	JFR_GC_CONCURRENT,
	JFR_HEAP_SUMMARY,
	JFR_VM_OPERATION,
	JFR_SAFEPOINT_BEGIN,
	JFR_THREAD_START,
	JFR_THREAD_END,
	JFR_CLASS_LOAD,
	JFR_COMPILATION,
	JFR_DEOPTIMIZATION,
	JFR_EXCEPTION,
	JFR_ERROR,
	JFR_CPU_LOAD,
	JFR_JVM_INFORMATION,
	JFR_OS_INFORMATION,
	JFR_CPU_INFORMATION,
	JFR_PROPERTY,
	JFR_BOOLEAN_FLAG,
	JFR_LONG_FLAG,
	JFR_STRING_FLAG,
	JFR_ACTIVE_RECORDING,
	JFR_ACTIVE_SETTING,
	JFR_NAMED_EVENTS,
};
extern const struct jfr_event_type jfr_event_types[JFR_NAMED_EVENTS];

/* Makes the type "braid.Name" of a kind of JVM events; `name` gets the type's name. */
#define JFR_KIND_NAME 64
void jfr_kind_type(uint32_t kind, struct jfr_event_type *type, char name[JFR_KIND_NAME]);

#endif
