// SPDX-License-Identifier: Apache-2.0
/* Compiled code and stubs, which every recording needs. These handlers get no JNIEnv and must not use JNI, least of all
 * during GenerateEvents. */
#include "handlers.h"
#include "core/helper.h"
#include "vm/layout.h"
#include "vm/names.h"
#include "vm/vthreads.h"

#include <string.h>

#define ACC_NATIVE 0x0100

static uint8_t tier_of(const struct layout_nmethod *n, jmethodID method)
{
	jint modifiers = 0;

	if (n->found && n->native)
		return BRAID_TIER_NATIVE_WRAPPER;
	if (n->found && n->level >= 0 && n->level <= BRAID_TIER_C2)
		return (uint8_t)n->level;
	if ((*agent.jvmti)->GetMethodModifiers(agent.jvmti, method, &modifiers) == JVMTI_ERROR_NONE &&
	    modifiers & ACC_NATIVE)
		return BRAID_TIER_NATIVE_WRAPPER;
	return BRAID_TIER_UNKNOWN;
}

static bool load_publish(const struct scopes *s, const struct layout_nmethod *n, uint32_t id, jmethodID method,
			 uint64_t address, uint32_t size, uint16_t flags)
{
	struct braid_rec_code_load r = {
		.address = address,
		/* 8 and 11 report the instructions only, but a deoptimised frame's pc is in the handler after them. */
		.code_size = n->found && n->code_size > size ? n->code_size : size,
		.method = id,
		.compile_id = n->found ? n->compile_id : 0,
		.scope_rows = s->rows,
		.tier = tier_of(n, method),
		.is_osr = n->found && n->osr,
		.doubts = (s->outer_only ? BRAID_CODE_OUTER_ONLY : 0) |
			  (n->found && !names_in_use(n->blob) ? BRAID_CODE_STALE : 0),
		.frame_words = n->found ? n->frame_words : 0,
	};

	record_init(&r.hdr, BRAID_REC_CODE_LOAD, flags | (s->truncated ? BRAID_REC_TRUNCATED : 0));
	return publish_definition((struct iovec[]){PART(&r, sizeof(r))}, 1);
}

static void JNICALL code_on_load(jvmtiEnv *env, jmethodID method, jint code_size, const void *code_addr,
				 jint map_length, const jvmtiAddrLocationMap *map, const void *compile_info)
{
	uint64_t address = (uint64_t)(uintptr_t)code_addr;
	uint32_t size = (uint32_t)code_size;
	struct layout_nmethod n;
	struct scopes s = {.event = methods_event()};
	uint16_t flags;
	uint32_t id;

	if (!code_addr || code_size <= 0 || !agent_enter_event(env))
		return;
	helper_pace();
	flags = helper_is_self() ? BRAID_REC_REPLAY : 0;
	id = methods_id(method, s.event);
	scopes_from_inlining(&s, compile_info, code_addr, size);
	if (!compile_info && id)
		scopes_from_map(&s, id, map, map_length, code_addr, size);

	layout_publish(false);
	layout_nmethod_find(&n, address);
	layout_check(&n, address, size);
	n.found = layout_agrees(&n, address, size);
	if (n.native || !n.found)
		vthreads_on_code(method, address, size);
	if (load_publish(&s, &n, id, method, address, size, flags)) {
		scopes_publish(&s, address, flags);
		atomic_fetch_add(&agent.code_loads, 1);
	}
	scopes_free(&s);
	agent_leave();
}

static void JNICALL code_on_unload(jvmtiEnv *env, jmethodID method, const void *code_addr)
{
	struct braid_rec_code_unload r = {.address = (uint64_t)(uintptr_t)code_addr};

	(void)method;
	if (!agent_enter_event(env))
		return;
	atomic_fetch_add(&agent.code_unloads, 1);
	record_init(&r.hdr, BRAID_REC_CODE_UNLOAD, 0);
	publish_definition((struct iovec[]){PART(&r, sizeof(r))}, 1);
	agent_leave();
}

static void JNICALL code_on_stub(jvmtiEnv *env, const char *name, const void *address, jint length)
{
	struct braid_rec_stub r = {.address = (uint64_t)(uintptr_t)address, .size = (uint32_t)length};

	if (length < 0 || !agent_enter_event(env))
		return;
	helper_pace();
	layout_publish(false);
	vthreads_on_stub(name, r.address, r.size);
	record_init(&r.hdr, BRAID_REC_STUB, helper_is_self() ? BRAID_REC_REPLAY : 0);
	r.name_len = string_cut(name, &r.hdr.flags);
	if (publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(name, r.name_len)}, 2))
		atomic_fetch_add(&agent.stubs, 1);
	agent_leave();
}

const struct kind code_kind = {
	.events = {{JVMTI_EVENT_DYNAMIC_CODE_GENERATED, KIND_HANDLER(code_on_stub), 0, 0},
		   {JVMTI_EVENT_COMPILED_METHOD_LOAD, KIND_HANDLER(code_on_load), CAP_COMPILED_METHOD_LOAD, 0},
		   {JVMTI_EVENT_COMPILED_METHOD_UNLOAD, KIND_HANDLER(code_on_unload), CAP_COMPILED_METHOD_LOAD, 0}},
	.caps = {{CAP_COMPILED_METHOD_LOAD, false, 0, NULL, 0}},
};
