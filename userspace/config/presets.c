// SPDX-License-Identifier: Apache-2.0
/* Names for several event types. */
#include "event_config.h"

static const struct preset {
	const char *name;
	uint32_t enabled;
} presets[] = {
	{"cpu", BRAID_EVENT_TYPE(CPU) | BRAID_EVENT_TYPE(GC) | BRAID_EVENT_TYPE(THREAD) | BRAID_EVENT_TYPE(JIT)},
	{"latency", BRAID_EVENT_TYPE(CPU) | BRAID_EVENT_TYPE(LOCK) | BRAID_EVENT_TYPE(WAIT) | BRAID_EVENT_TYPE(GC) |
			    BRAID_EVENT_TYPE(SAFEPOINT) | BRAID_EVENT_TYPE(THREAD)},
	{"memory", BRAID_EVENT_TYPE(CPU) | BRAID_EVENT_TYPE(ALLOC) | BRAID_EVENT_TYPE(LIVE) | BRAID_EVENT_TYPE(GC) |
			   BRAID_EVENT_TYPE(RESOURCE)},
	{"startup", BRAID_EVENT_TYPE(CPU) | BRAID_EVENT_TYPE(CLASS) | BRAID_EVENT_TYPE(JIT) | BRAID_EVENT_TYPE(GC) |
			    BRAID_EVENT_TYPE(THREAD) | BRAID_EVENT_TYPE(SAFEPOINT) | BRAID_EVENT_TYPE(EXCEPTION) |
			    BRAID_EVENT_TYPE(NATIVE_BIND)},
	{"wall", BRAID_EVENT_TYPE(CPU) | BRAID_EVENT_TYPE(OFFCPU) | BRAID_EVENT_TYPE(LOCK) | BRAID_EVENT_TYPE(WAIT) |
			 BRAID_EVENT_TYPE(GC) | BRAID_EVENT_TYPE(SAFEPOINT) | BRAID_EVENT_TYPE(THREAD)},
	{"all", BRAID_EVENT_TYPES_ALL},
};

#define PRESETS (sizeof(presets) / sizeof(presets[0]))

const char *preset_name(size_t preset)
{
	return preset < PRESETS ? presets[preset].name : NULL;
}

uint32_t preset_types(size_t preset)
{
	return preset < PRESETS ? presets[preset].enabled : 0;
}
