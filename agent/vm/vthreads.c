// SPDX-License-Identifier: Apache-2.0
/*
 * The code that enters and thaws continuations: JVM TI announces its addresses, and its instructions have the offsets
 * in its frames. objects.c finds the offsets in Java objects. See vthreads.h.
 */
#include "vthreads.h"

#include "layout.h"
#include "mem.h"
#include "core/state.h"

#include <braid/layout.h>

#include <pthread.h>
#include <string.h>

#define STUB_NAME_MAX 64
#define CODE_MAX 2048U

static struct {
	pthread_mutex_t mutex;
	struct braid_vthreads now;
	uint64_t thaw; /* start of the stub that enterSpecial calls */
	uint64_t enter_code;
	uint32_t enter_size;
} vt = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* mov rsp, [r15+n] is the barrier's first instruction (StubGenerator::generate_cont_thaw). */
static bool barrier_read(uint64_t address)
{
	uint8_t code[7];

	if (!mem_read(code, address, sizeof(code)) || code[0] != 0x49 || code[1] != 0x8b || code[2] != 0xa7 ||
	    u32_at(code + 3) > UINT16_MAX)
		return false;
	vt.now.barrier = address;
	vt.now.thread_entry = (uint16_t)u32_at(code + 3);
	return true;
}

/*
 * sharedRuntime_x86_64.cpp, gen_continuation_enter: the frame is push rbp; mov rbp, rsp; sub rsp, n. Then it fills in
 * the entry: parent from [r15+thread_entry] through rax, continuation from rsi, flags from ecx.
 */
static void entry_read(const uint8_t *c, uint32_t size)
{
	struct braid_vthreads *v = &vt.now;

	v->enter_size = v->entry_parent = v->entry_cont = v->entry_flags = 0;
	v->enter_return = 0;
	for (uint32_t i = 0; i + 16 <= size; i++) {
		const uint8_t *p = c + i;

		if (p[0] == 0x55 && p[1] == 0x48 && (p[2] == 0x8b || p[2] == 0x89) && p[4] == 0x48 && p[5] == 0x83 &&
		    p[6] == 0xec)
			v->enter_size = (uint16_t)(p[7] + 16);
		else if (p[0] == 0x49 && p[1] == 0x8b && p[2] == 0x87 && u32_at(p + 3) == v->thread_entry &&
			 p[7] == 0x48 && p[8] == 0x89 && p[9] == 0x44 && p[10] == 0x24)
			v->entry_parent = p[11];
		else if (p[0] == 0x48 && p[1] == 0x89 && p[2] == 0x74 && p[3] == 0x24)
			v->entry_cont = p[4];
		else if (p[0] != 0x48 && p[1] == 0x89 && p[2] == 0x4c && p[3] == 0x24)
			v->entry_flags = p[4];
		else if (p[0] == 0xe8 && vt.enter_code + i + 5 + (uint64_t)(int64_t)(int32_t)u32_at(p + 1) == vt.thaw)
			v->enter_return = vt.enter_code + i + 5;
	}
}

/* The caller holds the lock. It succeeds when both the stubs and enterSpecial are known. */
static void code_read(void)
{
	struct braid_vthreads *v = &vt.now;
	uint8_t code[CODE_MAX];

	if (!vt.thaw || !v->barrier || !vt.enter_code || vt.enter_size > sizeof(code) ||
	    !mem_read(code, vt.enter_code, vt.enter_size))
		return;
	entry_read(code, vt.enter_size);
	if (!v->enter_return || v->enter_size < 48 || v->entry_cont < 8 || v->entry_cont + 24 > v->enter_size ||
	    v->entry_parent + 24 > v->enter_size)
		return;
	v->enter_start = vt.enter_code;
	v->enter_end = vt.enter_code + vt.enter_size;
	v->flags |= BRAID_VTHREADS_WALK;
}

/*
 * "Cont thaw", "Cont thaw return barrier", ... in 21; "cont_thaw", "cont_returnBarrier", ... in 25; "Stub Generator
 * cont_thaw_stub", ... in 26; "cont_thaw_stub (stub gen)", ... in 27. `stub` gets the part after "cont".
 */
static bool stub_name(const char *name, char stub[STUB_NAME_MAX])
{
	static const char before[] = "Stub Generator ", behind[] = " (stub gen)";
	size_t length;

	if (!name)
		return false;
	if (!strncmp(name, before, sizeof(before) - 1))
		name += sizeof(before) - 1;
	length = strlen(name);
	if (length >= sizeof(behind) && !strcmp(name + length - (sizeof(behind) - 1), behind))
		length -= sizeof(behind) - 1;
	if (length < 9 || length - 5 >= STUB_NAME_MAX || (name[0] | 0x20) != 'c' || strncmp(name + 1, "ont", 3) ||
	    (name[4] != '_' && name[4] != ' '))
		return false;
	memcpy(stub, name + 5, length - 5);
	stub[length - 5] = '\0';
	return true;
}

void vthreads_on_stub(const char *name, uint64_t address, uint32_t size)
{
	struct braid_vthreads *v = &vt.now;
	char stub[STUB_NAME_MAX];

	if (!stub_name(name, stub))
		return;
	pthread_mutex_lock(&vt.mutex);
	if (!v->stubs_start || address < v->stubs_start)
		v->stubs_start = address;
	if (address + size > v->stubs_end)
		v->stubs_end = address + size;
	if (!strcmp(stub, "thaw") || !strcmp(stub, "thaw_stub"))
		vt.thaw = address;
	else if (!strcmp(stub, "thaw return barrier") || !strcmp(stub, "returnBarrier") ||
		 !strcmp(stub, "returnBarrier_stub"))
		barrier_read(address);
	code_read();
	layout_vthreads_set(v);
	pthread_mutex_unlock(&vt.mutex);
}

void vthreads_on_code(jmethodID method, uint64_t address, uint32_t size)
{
	char *name = NULL, *signature = NULL;
	bool enters = false, yields = false;

	if (!vt.now.barrier)
		return;
	if (!(*agent.jvmti)->GetMethodName(agent.jvmti, method, &name, &signature, NULL)) {
		enters = !strcmp(name, "enterSpecial") && !strcmp(signature, "(Ljdk/internal/vm/Continuation;ZZ)V");
		yields = !strcmp(name, "doYield") && !strcmp(signature, "()I");
		agent_release(name);
		agent_release(signature);
	}
	if (!enters && !yields)
		return;
	pthread_mutex_lock(&vt.mutex);
	if (enters) {
		vt.enter_code = address;
		vt.enter_size = size;
		code_read();
	} else {
		vt.now.yield_start = address;
		vt.now.yield_end = address + size;
	}
	layout_vthreads_set(&vt.now);
	pthread_mutex_unlock(&vt.mutex);
	link_wake(&agent.link); /* walks are incomplete until the kernel side has it */
}

void vthreads_fields_set(const struct braid_vthreads *fields)
{
	struct braid_vthreads *v = &vt.now;

	pthread_mutex_lock(&vt.mutex);
	v->flags |= fields->flags;
	v->cont_target = fields->cont_target;
	v->cont_tail = fields->cont_tail;
	v->chunk_parent = fields->chunk_parent;
	v->chunk_sp = fields->chunk_sp;
	v->chunk_bottom = fields->chunk_bottom;
	v->chunk_stack = fields->chunk_stack;
	v->task_thread = fields->task_thread;
	v->thread_cont = fields->thread_cont;
	v->thread_owner = fields->thread_owner;
	layout_vthreads_set(v);
	pthread_mutex_unlock(&vt.mutex);
}
