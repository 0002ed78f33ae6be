// SPDX-License-Identifier: Apache-2.0
#include "types.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <analyze/kinds.h>
#include <trace/record.h>

#define JVM "Java Virtual Machine"
#define APPLICATION "Java Application"
#define OS "Operating System"

#define STRING(field, text, source)                                                                                    \
	{                                                                                                              \
		.name = field, .label = text, .type = JFR_STRING, .from = FROM_##source                                \
	}
#define CLASS(field, text, source)                                                                                     \
	{                                                                                                              \
		.name = field, .label = text, .type = JFR_CLASS, .from = FROM_##source                                 \
	}
#define THREAD(field, text, source)                                                                                    \
	{                                                                                                              \
		.name = field, .label = text, .type = JFR_THREAD, .from = FROM_##source                                \
	}
#define NUMBER(field, text, kind, source)                                                                              \
	{                                                                                                              \
		.name = field, .label = text, .type = JFR_##kind, .from = FROM_##source                                \
	}
#define AMOUNT(field, text, what, source)                                                                              \
	{                                                                                                              \
		.name = field, .label = text, .type = JFR_LONG, .unit = JFR_##what, .from = FROM_##source              \
	}

#define SHARE(field, text, source)                                                                                     \
	{                                                                                                              \
		.name = field, .label = text, .type = JFR_FLOAT32, .unit = JFR_SHARE, .from = FROM_##source            \
	}

#define BEGIN AMOUNT("startTime", "Start Time", TIME, TIME)
#define DURATION AMOUNT("duration", "Duration", SPAN, DURATION)
#define EVENT_THREAD THREAD("eventThread", "Event Thread", THREAD)
#define STACK                                                                                                          \
	{                                                                                                              \
		.name = "stackTrace", .label = "Stack Trace", .type = JFR_STACK_TRACE, .from = FROM_STACK              \
	}
#define JAVA_STACK                                                                                                     \
	{                                                                                                              \
		.name = "stackTrace", .label = "Stack Trace", .type = JFR_STACK_TRACE, .from = FROM_JAVA_STACK         \
	}
#define COUNT NUMBER("count", "Count", LONG, COUNT)
#define GC_ID NUMBER("gcId", "GC Identifier", INT, GC_ID)
#define PID NUMBER("process", "Process", LONG, FACT_PID)

#define VALUE(field, text, of)                                                                                         \
	{                                                                                                              \
		.name = field, .label = text, .type = JFR_##of                                                         \
	}

const struct jfr_value_type jfr_value_types[JFR_TYPES] = {
	[JFR_BOOLEAN] = {.name = "boolean"},
	[JFR_INT] = {.name = "int"},
	[JFR_LONG] = {.name = "long"},
	[JFR_FLOAT32] = {.name = "float"},
	[JFR_STRING] = {.name = "java.lang.String"},
	[JFR_THREAD] = {.name = "java.lang.Thread",
			.label = "Thread",
			.fields = {VALUE("osName", "OS Thread Name", STRING), VALUE("osThreadId", "OS Thread Id", LONG),
				   VALUE("javaName", "Java Thread Name", STRING),
				   VALUE("javaThreadId", "Java Thread Id", LONG),
				   VALUE("group", "Java Thread Group", THREAD_GROUP),
				   VALUE("virtual", "Virtual Thread", BOOLEAN)}},
	[JFR_THREAD_GROUP] = {.name = "jdk.types.ThreadGroup",
			      .label = "Thread Group",
			      .fields = {VALUE("parent", "Parent", THREAD_GROUP), VALUE("name", "Name", STRING)}},
	[JFR_STACK_TRACE] =
		{.name = "jdk.types.StackTrace",
		 .label = "Stacktrace",
		 .fields = {VALUE("truncated", "Truncated", BOOLEAN),
			    {.name = "frames", .label = "Stack Frames", .type = JFR_STACK_FRAME, .array = true}}},
	[JFR_METHOD] = {.name = "jdk.types.Method",
			.label = "Java Method",
			.fields = {VALUE("type", "Type", CLASS), VALUE("name", "Name", SYMBOL),
				   VALUE("descriptor", "Descriptor", SYMBOL),
				   VALUE("modifiers", "Access Modifiers", INT), VALUE("hidden", "Hidden", BOOLEAN)}},
	[JFR_CLASS] = {.name = "java.lang.Class",
		       .label = "Java Class",
		       .fields = {VALUE("name", "Name", SYMBOL), VALUE("package", "Package", PACKAGE)}},
	[JFR_CLASS_LOADER] = {.name = "jdk.types.ClassLoader",
			      .label = "Java Class Loader",
			      .fields = {VALUE("type", "Type", CLASS), VALUE("name", "Name", SYMBOL)}},
	[JFR_PACKAGE] = {.name = "jdk.types.Package", .label = "Package", .fields = {VALUE("name", "Name", SYMBOL)}},
	[JFR_SYMBOL] = {.name = "jdk.types.Symbol",
			.label = "Symbol",
			.simple = true,
			.fields = {VALUE("string", "String", STRING)}},
	[JFR_FRAME_TYPE] = {.name = "jdk.types.FrameType",
			    .label = "Frame type",
			    .simple = true,
			    .fields = {VALUE("description", "Description", STRING)}},
	[JFR_THREAD_STATE] = {.name = "jdk.types.ThreadState",
			      .label = "Java Thread State",
			      .simple = true,
			      .fields = {VALUE("name", "Name", STRING)}},
	[JFR_STACK_FRAME] = {.name = "jdk.types.StackFrame",
			     .fields = {VALUE("method", "Java Method", METHOD), VALUE("lineNumber", "Line Number", INT),
					/* Mission Control reads frames that have just these four. */
					VALUE("bytecodeIndex", "Bytecode Index", INT),
					VALUE("type", "Frame Type", FRAME_TYPE)}},
	[JFR_LABEL] = {.name = "jdk.jfr.Label", .fields = {VALUE("value", NULL, STRING)}},
	[JFR_CATEGORY] = {.name = "jdk.jfr.Category", .fields = {{.name = "value", .type = JFR_STRING, .array = true}}},
	[JFR_CONTENT_TYPE] = {.name = "jdk.jfr.ContentType", .label = "Content Type"},
	[JFR_TIMESTAMP] = {.name = "jdk.jfr.Timestamp", .label = "Timestamp", .fields = {VALUE("value", NULL, STRING)}},
	[JFR_TIMESPAN] = {.name = "jdk.jfr.Timespan", .label = "Timespan", .fields = {VALUE("value", NULL, STRING)}},
	[JFR_DATA_AMOUNT] = {.name = "jdk.jfr.DataAmount",
			     .label = "Data Amount",
			     .fields = {VALUE("value", NULL, STRING)}},
	[JFR_PERCENTAGE] = {.name = "jdk.jfr.Percentage", .label = "Percentage"},
};

#define SAMPLE_FIELDS                                                                                                  \
	BEGIN, THREAD("sampledThread", "Thread", THREAD), STACK,                                                       \
		{.name = "state", .label = "Thread State", .type = JFR_THREAD_STATE, .from = FROM_RUNNABLE},           \
		NUMBER("samples", "Samples", LONG, COUNT)

const struct jfr_event_type jfr_event_types[JFR_NAMED_EVENTS] = {
	[JFR_EXECUTION_SAMPLE] = {"jdk.ExecutionSample", "Java Execution Sample", {JVM, "Profiling"}, {SAMPLE_FIELDS}},
	[JFR_NATIVE_SAMPLE] = {"jdk.NativeMethodSample", "Native Sample", {JVM, "Profiling"}, {SAMPLE_FIELDS}},
	[JFR_HIT] = {"braid.Hit",
		     "Tracepoint or Probe",
		     {"braid"},
		     {BEGIN, EVENT_THREAD, STACK, STRING("event", "Event", NAME), STRING("values", "Values", TEXT),
		      COUNT}},
	[JFR_ALLOCATION] = {"jdk.ObjectAllocationSample",
			    "Object Allocation Sample",
			    {APPLICATION},
			    {BEGIN, EVENT_THREAD, JAVA_STACK, CLASS("objectClass", "Object Class", NAME_CLASS),
			     AMOUNT("weight", "Sample Weight", BYTES, WEIGHT),
			     AMOUNT("allocationSize", "Allocation Size", BYTES, VALUE)}},
	[JFR_MONITOR_ENTER] = {"jdk.JavaMonitorEnter",
			       "Java Monitor Blocked",
			       {APPLICATION},
			       {BEGIN, DURATION, EVENT_THREAD, JAVA_STACK,
				CLASS("monitorClass", "Monitor Class", NAME_CLASS),
				THREAD("previousOwner", "Previous Monitor Owner", OTHER),
				NUMBER("identityHash", "Identity Hash Code", LONG, NUMBER)}},
	[JFR_MONITOR_WAIT] = {"jdk.JavaMonitorWait",
			      "Java Monitor Wait",
			      {APPLICATION},
			      {BEGIN, DURATION, EVENT_THREAD, JAVA_STACK,
			       CLASS("monitorClass", "Monitor Class", NAME_CLASS),
			       THREAD("notifier", "Notifier Thread", OTHER),
			       AMOUNT("timeout", "Timeout", SPAN_MS, VALUE),
			       NUMBER("timedOut", "Timed Out", BOOLEAN, TIMED_OUT),
			       NUMBER("identityHash", "Identity Hash Code", LONG, NUMBER)}},
	[JFR_PARK] = {"jdk.ThreadPark",
		      "Java Thread Park",
		      {APPLICATION},
		      {BEGIN, DURATION, EVENT_THREAD, JAVA_STACK, CLASS("parkedClass", "Class Parked On", NAME_CLASS),
		       THREAD("other", "Owner or Waker", OTHER)}},
	[JFR_SLEEP] = {"jdk.ThreadSleep",
		       "Java Thread Sleep",
		       {APPLICATION},
		       {BEGIN, DURATION, EVENT_THREAD, JAVA_STACK}},
	[JFR_OFFCPU] = {"braid.OffCPU",
			"Off-CPU Time",
			{"braid"},
			{BEGIN,
			 DURATION,
			 EVENT_THREAD,
			 STACK,
			 STRING("reason", "Reason", NAME),
			 STRING("object", "Object", DETAIL),
			 THREAD("waker", "Waker", OTHER),
			 {.name = "wakerStackTrace",
			  .label = "Waker's Stack Trace",
			  .type = JFR_STACK_TRACE,
			  .from = FROM_OTHER_STACK},
			 STRING("wokenBy", "Woken by", TEXT),
			 AMOUNT("total", "Total", SPAN, WEIGHT),
			 NUMBER("idle", "Idle", BOOLEAN, IDLE),
			 COUNT}},
	[JFR_GC] = {"jdk.GarbageCollection",
		    "Garbage Collection",
		    {JVM, "GC", "Collector"},
		    {BEGIN, DURATION, GC_ID, STRING("name", "Name", NAME), STRING("cause", "Cause", DETAIL),
		     AMOUNT("sumOfPauses", "Sum of Pauses", SPAN, GC_PAUSES),
		     AMOUNT("longestPause", "Longest Pause", SPAN, GC_PAUSES)}},
	[JFR_GC_YOUNG] = {"jdk.YoungGarbageCollection",
			  "Young Garbage Collection",
			  {JVM, "GC", "Collector"},
			  {BEGIN, DURATION, GC_ID}},
	[JFR_GC_OLD] = {"jdk.OldGarbageCollection",
			"Old Garbage Collection",
			{JVM, "GC", "Collector"},
			{BEGIN, DURATION, GC_ID}},
	[JFR_GC_PAUSE] = {"jdk.GCPhasePause",
			  "GC Phase Pause",
			  {JVM, "GC", "Phases"},
			  {BEGIN, DURATION, GC_ID, STRING("name", "Name", TEXT)}},
	[JFR_GC_CONCURRENT] = {"jdk.GCPhaseConcurrent",
			       "GC Phase Concurrent",
			       {JVM, "GC", "Phases"},
			       {BEGIN, DURATION, GC_ID, STRING("name", "Name", NAME)}},
	[JFR_HEAP_SUMMARY] = {"jdk.GCHeapSummary",
			      "Heap Summary",
			      {JVM, "GC", "Heap"},
			      {BEGIN, GC_ID, STRING("when", "When", WHEN),
			       AMOUNT("heapUsed", "Heap Used", BYTES, HEAP_USED)}},
	[JFR_VM_OPERATION] = {"jdk.ExecuteVMOperation",
			      "VM Operation",
			      {JVM, "Runtime"},
			      {BEGIN, DURATION, STRING("operation", "Operation", NAME),
			       NUMBER("safepoint", "At Safepoint", BOOLEAN, YES), THREAD("caller", "Caller", NOTHING),
			       NUMBER("safepointId", "Safepoint Identifier", LONG, NUMBER)}},
	[JFR_SAFEPOINT_BEGIN] = {"jdk.SafepointBegin",
				 "Safepoint Begin",
				 {JVM, "Runtime", "Safepoint"},
				 {BEGIN, AMOUNT("duration", "Duration", SPAN, VALUE),
				  NUMBER("safepointId", "Safepoint Identifier", LONG, NUMBER)}},
	[JFR_THREAD_START] = {"jdk.ThreadStart",
			      "Java Thread Start",
			      {APPLICATION},
			      {BEGIN, EVENT_THREAD, STACK, THREAD("thread", "New Java Thread", THREAD),
			       THREAD("parentThread", "Parent Java Thread", NOTHING)}},
	[JFR_THREAD_END] = {"jdk.ThreadEnd",
			    "Java Thread End",
			    {APPLICATION},
			    {BEGIN, EVENT_THREAD, THREAD("thread", "Java Thread", THREAD)}},
	[JFR_CLASS_LOAD] = {"jdk.ClassLoad",
			    "Class Load",
			    {JVM, "Class Loading"},
			    {BEGIN,
			     EVENT_THREAD,
			     JAVA_STACK,
			     CLASS("loadedClass", "Loaded Class", NAME_CLASS),
			     {.name = "definingClassLoader",
			      .label = "Defining Class Loader",
			      .type = JFR_CLASS_LOADER,
			      .from = FROM_DETAIL_LOADER}}},
	[JFR_COMPILATION] = {"jdk.Compilation",
			     "Compilation",
			     {JVM, "Compiler"},
			     {BEGIN,
			      DURATION,
			      EVENT_THREAD,
			      NUMBER("compileId", "Compilation Identifier", INT, NUMBER),
			      {.name = "method", .label = "Method", .type = JFR_METHOD, .from = FROM_NAME_METHOD},
			      NUMBER("compileLevel", "Compilation Level", INT, LEVEL),
			      NUMBER("succeded", "Succeeded", BOOLEAN, SUCCEEDED),
			      NUMBER("isOsr", "On Stack Replacement", BOOLEAN, OSR),
			      AMOUNT("codeSize", "Compiled Code Size", BYTES, VALUE)}},
	[JFR_DEOPTIMIZATION] = {"jdk.Deoptimization",
				"Deoptimization",
				{JVM, "Compiler"},
				{BEGIN,
				 EVENT_THREAD,
				 JAVA_STACK,
				 NUMBER("compileId", "Compilation Identifier", INT, NUMBER),
				 {.name = "method", .label = "Method", .type = JFR_METHOD, .from = FROM_NAME_METHOD},
				 STRING("reason", "Reason", DETAIL),
				 STRING("action", "Action", TEXT)}},
#define THROWN                                                                                                         \
	{                                                                                                              \
		BEGIN, EVENT_THREAD, JAVA_STACK, STRING("message", "Message", NOTHING),                                \
			CLASS("thrownClass", "Class", NAME_CLASS), STRING("caughtIn", "Caught in", DETAIL),            \
			NUMBER("count", "Count", LONG, WEIGHT)                                                         \
	}
	[JFR_EXCEPTION] = {"jdk.JavaExceptionThrow", "Java Exception", {APPLICATION}, THROWN},
	[JFR_ERROR] = {"jdk.JavaErrorThrow", "Java Error", {APPLICATION}, THROWN},
	[JFR_CPU_LOAD] = {"jdk.CPULoad",
			  "CPU Load",
			  {OS, "Processor"},
			  {BEGIN, SHARE("jvmUser", "JVM User", LOAD_USER),
			   SHARE("jvmSystem", "JVM System", LOAD_SYSTEM),
			   SHARE("machineTotal", "Machine Total", LOAD_MACHINE),
			   NUMBER("process", "Process", LONG, PID)}},
	[JFR_JVM_INFORMATION] = {"jdk.JVMInformation",
				 "JVM Information",
				 {JVM},
				 {BEGIN, STRING("jvmName", "JVM Name", FACT_NAME),
				  STRING("jvmVersion", "JVM Version", FACT_VALUE),
				  STRING("jvmArguments", "JVM Command Line Arguments", NOTHING),
				  STRING("jvmFlags", "JVM Settings File Arguments", NOTHING),
				  STRING("javaArguments", "Java Application Arguments", FACT_MORE),
				  AMOUNT("jvmStartTime", "JVM Start Time", EPOCH_MS, FACT_NUMBER),
				  NUMBER("pid", "Process Identifier", LONG, FACT_PID)}},
	[JFR_OS_INFORMATION] = {"jdk.OSInformation",
				"OS Information",
				{OS},
				{BEGIN, STRING("osVersion", "OS Version", FACT_VALUE)}},
	[JFR_CPU_INFORMATION] = {"jdk.CPUInformation",
				 "CPU Information",
				 {OS, "Processor"},
				 {BEGIN, STRING("cpu", "Type", FACT_VALUE),
				  NUMBER("hwThreads", "Hardware Threads", INT, FACT_NUMBER)}},
	[JFR_PROPERTY] = {"jdk.InitialSystemProperty",
			  "Initial System Property",
			  {JVM},
			  {BEGIN, STRING("key", "Key", FACT_NAME), STRING("value", "Value", FACT_VALUE), PID}},
#define FLAG(value_field)                                                                                              \
	{                                                                                                              \
		BEGIN, STRING("name", "Name", FACT_NAME), value_field, STRING("origin", "Origin", FACT_MORE), PID      \
	}
	[JFR_BOOLEAN_FLAG] = {"jdk.BooleanFlag",
			      "Boolean Flag",
			      {JVM, "Flag"},
			      FLAG(NUMBER("value", "Value", BOOLEAN, FACT_NUMBER))},
	[JFR_LONG_FLAG] = {"jdk.LongFlag",
			   "Long Flag",
			   {JVM, "Flag"},
			   FLAG(NUMBER("value", "Value", LONG, FACT_NUMBER))},
	[JFR_STRING_FLAG] = {"jdk.StringFlag",
			     "String Flag",
			     {JVM, "Flag"},
			     FLAG(STRING("value", "Value", FACT_VALUE))},
	[JFR_ACTIVE_RECORDING] = {"jdk.ActiveRecording",
				  "Flight Recording",
				  {"Flight Recorder"},
				  {BEGIN, AMOUNT("recordingDuration", "Recording Duration", SPAN, FACT_NUMBER),
				   STRING("name", "Name", FACT_NAME), STRING("command", "Command", FACT_VALUE)}},
	[JFR_ACTIVE_SETTING] = {"jdk.ActiveSetting",
				"Recording Setting",
				{"Flight Recorder"},
				{BEGIN, NUMBER("id", "Event Id", LONG, FACT_NUMBER),
				 STRING("name", "Setting Name", FACT_NAME),
				 STRING("value", "Setting Value", FACT_VALUE)}},
};

/* ---- types of kinds ---- */

static void add(struct jfr_event_type *to, struct jfr_field field)
{
	unsigned i = 0;

	while (to->fields[i].name)
		i++;
	if (i < JFR_FIELDS - 1)
		to->fields[i] = field;
}

static void add_number(struct jfr_event_type *to, const struct kind_field *f, enum jfr_from from)
{
	static const enum jfr_unit units[] = {[UNIT_COUNT] = JFR_PLAIN, [UNIT_NS] = JFR_SPAN, [UNIT_BYTES] = JFR_BYTES};

	if (f->title)
		add(to, (struct jfr_field){.name = f->title,
					   .label = f->title,
					   .type = JFR_LONG,
					   .unit = (uint8_t)units[f->unit],
					   .from = (uint8_t)from});
}

static void add_reference(struct jfr_event_type *to, const struct kind_field *f, enum jfr_type type, enum jfr_from from)
{
	if (f->title)
		add(to, (struct jfr_field){
				.name = f->title, .label = f->title, .type = (uint8_t)type, .from = (uint8_t)from});
}

/* "braid.ThreadTime" of "thread_time" */
static void type_name(const char *kind, char name[JFR_KIND_NAME])
{
	size_t used = (size_t)snprintf(name, JFR_KIND_NAME, "braid.");

	for (bool begins = true; *kind && used < JFR_KIND_NAME - 1; kind++) {
		if (*kind != '_')
			name[used++] = begins ? (char)toupper((unsigned char)*kind) : *kind;
		begins = *kind == '_';
	}
	name[used] = 0;
}

void jfr_kind_type(uint32_t kind, struct jfr_event_type *type, char name[JFR_KIND_NAME])
{
	const struct kind *k = kind_of(kind);

	type_name(jvm_event_name(kind), name);
	*type = (struct jfr_event_type){.name = name, .label = k->title, .category = {"braid"}};
	add(type, (struct jfr_field)BEGIN);
	if (!k->weight_is.title || strcmp(k->weight_is.title, "duration") != 0) /* a sum has that */
		add(type, (struct jfr_field)DURATION);
	add(type, (struct jfr_field)EVENT_THREAD);
	if (k->stack)
		add(type, (struct jfr_field)STACK);
	add_reference(type, &k->name_is, JFR_STRING, FROM_NAME);
	add_reference(type, &k->detail_is, JFR_STRING, FROM_DETAIL);
	add_number(type, &k->value_is, FROM_VALUE);
	add_number(type, &k->weight_is, k->weight == WEIGHT_ESTIMATE ? FROM_WEIGHT : FROM_ROW_WEIGHT);
	add_number(type, &k->number_is, FROM_NUMBER);
	add_reference(type, &k->other_is, JFR_THREAD, FROM_OTHER);
	add_reference(type, &k->text_is, JFR_STRING, FROM_TEXT);
	if (k->flagged || k->ages)
		add_number(type, &(struct kind_field){k->ages ? "collections" : "flags", UNIT_COUNT}, FROM_FLAGS);
}
