// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <stddef.h>

#include <braid/ring.h>

static const struct {
	const char *name;
	const char *sentence;
} causes[CAUSE_COUNT] = {
	[BRAID_END_COMPLETE] = {"complete", "reached the thread's first frame"},
	[BRAID_END_DEPTH] = {"depth", "deeper than the walk may go"},
	[BRAID_END_NO_MAPPING] = {"no_mapping", "native code in no known mapping"},
	[BRAID_END_NO_TABLE] = {"no_table", "module without unwind table (yet)"},
	[BRAID_END_NO_CFI] = {"no_cfi", "no unwind rule for this instruction"},
	[BRAID_END_BAD_CFI] = {"bad_cfi", "unwind rule of a kind that braid does not know"},
	[BRAID_END_READ_FAULT] = {"read_fault", "stack memory could not be read"},
	[BRAID_END_BAD_RA] = {"bad_ra", "return address outside of all code"},
	[BRAID_END_NO_PROGRESS] = {"no_progress", "stack pointer did not move towards the root"},
	[BRAID_END_NO_BLOB] = {"no_blob", "code cache address without code"},
	[BRAID_END_BAD_INTERPRETER] = {"bad_interpreter", "interpreter frame failed its checks"},
	[BRAID_END_BAD_CODE] = {"bad_code", "compiled frame with an impossible caller"},
	[BRAID_END_NO_REGS] = {"no_regs", "user registers not available"},
	[BRAID_END_NO_PROCESS] = {"no_process", "process not known to the collector yet"},
	[BRAID_END_FROZEN] = {"frozen", "a virtual thread's frames in the heap could not be found"},
	[CAUSE_UNKNOWN] = {"unknown", "cause that this version does not know"},
	[CAUSE_NO_STACK] = {"no_stack", "sample without a stack"},
	[CAUSE_DAMAGED] = {"damaged", "a part of the stack is missing from the trace"},
};

const char *cause_name(uint32_t cause)
{
	return causes[cause < CAUSE_COUNT ? cause : CAUSE_UNKNOWN].name;
}

const char *cause_sentence(uint32_t cause)
{
	return causes[cause < CAUSE_COUNT ? cause : CAUSE_UNKNOWN].sentence;
}

static const struct {
	const char *name;
	const char *suffix;
	enum stack_domain domain;
} kinds[KIND_COUNT] = {
	[KIND_KERNEL] = {"kernel", "_[k]", DOMAIN_KERNEL},
	[KIND_NATIVE] = {"native", "", DOMAIN_NATIVE},
	[KIND_STUB] = {"stub", "", DOMAIN_STUB},
	[KIND_INTERPRETED] = {"interpreted", "_[0]", DOMAIN_JAVA},
	[KIND_C1] = {"C1", "_[1]", DOMAIN_JAVA},
	[KIND_C2] = {"C2", "_[j]", DOMAIN_JAVA},
	[KIND_COMPILED] = {"compiled", "_[j]", DOMAIN_JAVA},
	[KIND_INLINED] = {"inlined", "_[i]", DOMAIN_JAVA},
	/* async-profiler's suffix for classes of allocated or locked objects */
	[KIND_CLASS] = {"class", "_[i]", DOMAIN_CLASS},
	[KIND_INCOMPLETE] = {"incomplete", "", DOMAIN_INCOMPLETE},
};

const char *kind_name(enum stack_kind kind)
{
	return kinds[kind].name;
}

const char *kind_suffix(enum stack_kind kind)
{
	return kinds[kind].suffix;
}

enum stack_kind kind_of_most(const uint64_t weight[KIND_COUNT])
{
	enum stack_kind best = KIND_INCOMPLETE;
	uint64_t most = 0;

	for (int k = 0; k < KIND_COUNT; k++)
		if (weight[k] > most) {
			most = weight[k];
			best = (enum stack_kind)k;
		}
	return best;
}

enum stack_domain kind_domain(enum stack_kind kind)
{
	return kinds[kind].domain;
}

const char *domain_name(enum stack_domain domain)
{
	static const char *const names[] = {
		[DOMAIN_KERNEL] = "kernel", [DOMAIN_NATIVE] = "native", [DOMAIN_JAVA] = "java",
		[DOMAIN_STUB] = "stub",	    [DOMAIN_CLASS] = "class",	[DOMAIN_INCOMPLETE] = "incomplete"};

	return names[domain];
}

/* jvmtiCapabilities' one-bit fields, in the order of jvmti.h. */
static const char *const capabilities[CAPABILITY_COUNT] = {
	"can_tag_objects",
	"can_generate_field_modification_events",
	"can_generate_field_access_events",
	"can_get_bytecodes",
	"can_get_synthetic_attribute",
	"can_get_owned_monitor_info",
	"can_get_current_contended_monitor",
	"can_get_monitor_info",
	"can_pop_frame",
	"can_redefine_classes",
	"can_signal_thread",
	"can_get_source_file_name",
	"can_get_line_numbers",
	"can_get_source_debug_extension",
	"can_access_local_variables",
	"can_maintain_original_method_order",
	"can_generate_single_step_events",
	"can_generate_exception_events",
	"can_generate_frame_pop_events",
	"can_generate_breakpoint_events",
	"can_suspend",
	"can_redefine_any_class",
	"can_get_current_thread_cpu_time",
	"can_get_thread_cpu_time",
	"can_generate_method_entry_events",
	"can_generate_method_exit_events",
	"can_generate_all_class_hook_events",
	"can_generate_compiled_method_load_events",
	"can_generate_monitor_events",
	"can_generate_vm_object_alloc_events",
	"can_generate_native_method_bind_events",
	"can_generate_garbage_collection_events",
	"can_generate_object_free_events",
	"can_force_early_return",
	"can_get_owned_monitor_stack_depth_info",
	"can_get_constant_pool",
	"can_set_native_method_prefix",
	"can_retransform_classes",
	"can_retransform_any_class",
	"can_generate_resource_exhaustion_heap_events",
	"can_generate_resource_exhaustion_threads_events",
	"can_generate_early_vmstart",
	"can_generate_early_class_hook_events",
	"can_generate_sampled_object_alloc_events",
	"can_support_virtual_threads",
};

const char *capability_name(unsigned bit)
{
	return bit < CAPABILITY_COUNT ? capabilities[bit] : NULL;
}

const char *process_state_name(uint32_t what)
{
	static const char *const names[] = {
		"process_fork",
		"process_exec",
		"process_exit",
	};

	return what < sizeof(names) / sizeof(names[0]) ? names[what] : "process_state";
}

const char *setting_origin_name(uint32_t origin)
{
	static const char *const names[BRAID_SETTING_ORIGINS] = {
		[BRAID_SETTING_COMMAND_LINE] = "command line", [BRAID_SETTING_ENVIRONMENT] = "environment",
		[BRAID_SETTING_CONFIG_FILE] = "config file",   [BRAID_SETTING_MANAGEMENT] = "management",
		[BRAID_SETTING_ERGONOMIC] = "ergonomic",       [BRAID_SETTING_ATTACH] = "attach",
		[BRAID_SETTING_INTERNAL] = "internal",	       [BRAID_SETTING_IMAGE] = "image",
		[BRAID_SETTING_DEFAULT] = "default",
	};

	return origin < BRAID_SETTING_ORIGINS && names[origin] ? names[origin] : "unknown";
}
