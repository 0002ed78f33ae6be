// SPDX-License-Identifier: Apache-2.0
/* Reads the byte codes of VirtualThread.runContinuation: the JVM has neither a field nor a flag for the answer. */
#include "mounts.h"

#include "core/state.h"

#include <stdlib.h>
#include <string.h>

#define INVOKEVIRTUAL 0xb6
#define INVOKESPECIAL 0xb7

enum { UTF8 = 1, LONG = 5, DOUBLE = 6, METHODREF = 10, NAME_AND_TYPE = 12 };

/* A constant pool in the class file format (JVMS 4.4). */
struct pool {
	unsigned char *bytes;
	jint size, count;
	uint32_t *at; /* offset plus one of each entry; 0: none begins there */
};

static uint32_t u16_at(const unsigned char *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

/* The size of the entry at p, of which `left` bytes are there; 0: its tag is unknown or it is cut. */
static uint32_t entry_size(const unsigned char *p, uint32_t left)
{
	static const uint8_t sizes[21] = {
		[3] = 5,	 [4] = 5,  [LONG] = 9,		[DOUBLE] = 9, [7] = 3,	[8] = 3,  [9] = 5,
		[METHODREF] = 5, [11] = 5, [NAME_AND_TYPE] = 5, [15] = 4,     [16] = 3, [17] = 5, [18] = 5,
		[19] = 3,	 [20] = 3};
	uint32_t size;

	if (left < 3)
		return 0;
	size = p[0] == UTF8 ? 3 + u16_at(p + 1) : p[0] < sizeof(sizes) ? sizes[p[0]] : 0;
	return size <= left ? size : 0;
}

static bool pool_index(struct pool *p)
{
	uint32_t size, end = (uint32_t)p->size;

	p->at = calloc((size_t)p->count + 1, sizeof(*p->at));
	for (uint32_t at = 0, i = 1; p->at && i < (uint32_t)p->count && at < end; at += size, i++) {
		size = entry_size(p->bytes + at, end - at);
		if (!size)
			return false;
		p->at[i] = at + 1;
		i += p->bytes[at] == LONG || p->bytes[at] == DOUBLE; /* takes two indexes */
	}
	return p->at;
}

static const unsigned char *entry(const struct pool *p, uint32_t index, int tag)
{
	uint32_t at = index < (uint32_t)p->count ? p->at[index] : 0;

	return at && p->bytes[at - 1] == tag ? p->bytes + at - 1 : NULL;
}

static bool is_text(const struct pool *p, uint32_t index, const char *text)
{
	const unsigned char *e = entry(p, index, UTF8);

	return e && u16_at(e + 1) == strlen(text) && memcmp(e + 3, text, strlen(text)) == 0;
}

/* The only method of this name and type that VirtualThread calls is its own. */
static bool is_mount(const struct pool *p, uint32_t index)
{
	const unsigned char *method = entry(p, index, METHODREF);
	const unsigned char *name = method ? entry(p, u16_at(method + 3), NAME_AND_TYPE) : NULL;

	return name && is_text(p, u16_at(name + 1), "mount") && is_text(p, u16_at(name + 3), "()V");
}

/* Tests every byte without decoding: an operand that looks like the call would have to name the same method. */
static bool calls_mount(const struct pool *p, const unsigned char *code, jint size)
{
	for (jint i = 0; i + 2 < size; i++)
		if ((code[i] == INVOKEVIRTUAL || code[i] == INVOKESPECIAL) && is_mount(p, u16_at(code + i + 1)))
			return true;
	return false;
}

static jmethodID run_continuation(jclass class)
{
	jmethodID *methods = NULL, found = NULL;
	char *name, *signature;
	jint count = 0;

	if ((*agent.jvmti)->GetClassMethods(agent.jvmti, class, &count, &methods))
		return NULL;
	for (jint i = 0; i < count && !found; i++) {
		if ((*agent.jvmti)->GetMethodName(agent.jvmti, methods[i], &name, &signature, NULL))
			continue;
		if (!strcmp(name, "runContinuation") && !strcmp(signature, "()V"))
			found = methods[i];
		agent_release(name);
		agent_release(signature);
	}
	agent_release(methods);
	return found;
}

static bool read_mounts(jclass class)
{
	jmethodID method = run_continuation(class);
	struct pool p = {0};
	unsigned char *code = NULL;
	jint size = 0;
	bool yes = false;

	if (method && !(*agent.jvmti)->GetBytecodes(agent.jvmti, method, &size, &code) &&
	    !(*agent.jvmti)->GetConstantPool(agent.jvmti, class, &p.count, &p.size, &p.bytes))
		yes = p.count > 0 && p.size > 0 && pool_index(&p) && calls_mount(&p, code, size);
	agent_release(code);
	agent_release(p.bytes);
	free(p.at);
	return yes;
}

/* These capabilities cost nothing while unused, and only this function needs them. */
bool mounts_around(jclass virtual_thread)
{
	const jvmtiCapabilities rights = {.can_get_bytecodes = 1, .can_get_constant_pool = 1};
	bool yes;

	if ((*agent.jvmti)->AddCapabilities(agent.jvmti, &rights))
		return false;
	yes = read_mounts(virtual_thread);
	(*agent.jvmti)->RelinquishCapabilities(agent.jvmti, &rights);
	return yes;
}
