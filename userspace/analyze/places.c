// SPDX-License-Identifier: Apache-2.0
#include "places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <util/text.h>

#include "events.h"

static bool begins_one(const char *name, const char *const *with, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(name, with[i], strlen(with[i])) == 0)
			return true;
	return false;
}

#define BEGINS_ONE(name, with) begins_one(name, with, sizeof(with) / sizeof((with)[0]))

static bool of_jdk(const char *name)
{
	static const char *const packages[] = {"java.", "jdk.", "sun.", "javax.", "com.sun."};

	return BEGINS_ONE(name, packages);
}

/* Frames that exist only because the event is recorded. */
static bool is_event_frame(const char *name)
{
	static const char *const event_frames[] = {"Jvmti", "JVM_VirtualThread",
						   "MemAllocator::Allocation::notify_allocation",
						   "java.lang.BraidMethods.", "java.lang.BraidFields."};

	return BEGINS_ONE(name, event_frames);
}

/* Frames in which a Java thread stands still for a safepoint, or has asked for a VM operation and waits for its end. */
static bool is_safepoint_frame(const char *name)
{
	static const char *const safepoint_frames[] = {"SafepointSynchronize::block",
						       "SafepointMechanism::", "VMThread::execute("};

	return BEGINS_ONE(name, safepoint_frames);
}

static bool is_vm_lock_frame(const char *name)
{
	static const char *const lock_frames[] = {"Mutex::lock", "Monitor::lock"};

	return BEGINS_ONE(name, lock_frames);
}

/* How the VM's code waits: whatever calls these says more. */
static bool is_wait_frame(const char *name)
{
	static const char *const wait_frames[] = {
		"os::Platform", "os::PX::", "os::naked_", "Monitor::", "Mutex::", "Semaphore", "PosixSemaphore"};

	return BEGINS_ONE(name, wait_frames);
}

/* How native code, and the VM's, passes a request for memory on. */
static bool is_memory_frame(const char *name)
{
	static const char *const memory_frames[] = {
		"operator new", "os::malloc",  "os::realloc", "AllocateHeap", "ReallocateHeap",
		"Chunk::",	"ChunkPool::", "Arena::",     "AnyObj::",     "ResourceObj::",
		"CHeapObj",	"__gnu_cxx::", "std::"};

	return BEGINS_ONE(name, memory_frames);
}

enum frame_owner frame_owner(const struct analysis *an, const struct frame_row *f)
{
	static const char *const libc[] = {"libc.", "libc-", "libpthread", "ld-", "[vdso]"};
	const char *name = text_base_name(analysis_module_path(an, f->module));

	if (f->kind != BRAID_FRAME_NATIVE || BEGINS_ONE(name, libc))
		return OWNER_NONE;
	return strcmp(name, "libjvm.so") == 0 ? OWNER_VM : OWNER_OTHER;
}

static enum idle_rule rule_of(const struct places *pl, const struct analysis *an, uint32_t sym)
{
	uint8_t *rule = &pl->rules[sym];

	if (!*rule)
		*rule = (uint8_t)(idle_frame(an->filter, analysis_sym_name(an, sym)) + 1);
	return (enum idle_rule)(*rule - 1);
}

static void place_java(struct place *p, uint32_t xframe, bool foreign)
{
	p->java = xframe;
	if (foreign)
		p->own = xframe;
	p->vm = p->native = p->safepoint = p->vm_lock = false;
}

static void place_native(struct place *p, const char *name, enum frame_owner owner)
{
	p->safepoint = p->safepoint || is_safepoint_frame(name);
	p->vm_lock = p->vm_lock || (owner == OWNER_VM && is_vm_lock_frame(name));
	p->vm = p->vm || owner == OWNER_VM;
	p->native = p->native || (owner == OWNER_OTHER && p->java != ROW_NONE);
}

/* Its parent is known. */
static void place_stack(const struct places *pl, const struct analysis *an, uint32_t row)
{
	const struct stack *s = &an->stacks[row];
	struct place *p = &pl->at[row];
	const struct expansion *e = s->frame == ROW_NONE ? NULL : &an->expansions[s->frame];
	enum frame_owner owner = e ? frame_owner(an, table_row(&an->a->frames, s->frame)) : OWNER_NONE;

	*p = s->parent == ROW_NONE ? (struct place){.known = true,
						    .own = ROW_NONE,
						    .java = ROW_NONE,
						    .any = ROW_NONE,
						    .code = ROW_NONE,
						    .caller = ROW_NONE}
				   : pl->at[s->parent];
	/* What is inlined in such a frame is one, too. */
	if (s->parent == ROW_NONE || !e || !e->count ||
	    !is_event_frame(analysis_sym_name(an, an->xframes.at[e->first].sym)))
		p->seen = row;
	for (uint32_t i = 0; e && i < e->count; i++) {
		uint32_t x = (uint32_t)e->first + i, sym = an->xframes.at[x].sym;
		enum stack_domain domain = kind_domain((enum stack_kind)an->syms.at[sym].kind);
		const char *name = analysis_sym_name(an, sym);
		bool foreign = domain == DOMAIN_JAVA && !of_jdk(name);

		p->any = x;
		if (domain == DOMAIN_JAVA ||
		    (domain == DOMAIN_NATIVE && owner != OWNER_NONE && !(owner == OWNER_VM && is_wait_frame(name))))
			p->code = x;
		if (domain == DOMAIN_JAVA || (domain == DOMAIN_NATIVE && owner != OWNER_NONE && !is_memory_frame(name)))
			p->caller = x;
		p->why = (uint8_t)blocked_frame((enum blocked_why)p->why, name, domain);
		idle_add(&p->idling, rule_of(pl, an, sym), foreign);
		if (domain == DOMAIN_JAVA)
			place_java(p, x, foreign);
		else if (domain == DOMAIN_NATIVE)
			place_native(p, name, owner);
	}
}

int places_new(struct places *pl, const struct analysis *an)
{
	pl->at = calloc(an->a->nodes.count + 1, sizeof(*pl->at));
	pl->rules = calloc(an->syms.count + 1, sizeof(*pl->rules));
	if (pl->at && pl->rules)
		return 0;
	places_free(pl);
	return -ENOMEM;
}

void places_free(struct places *pl)
{
	free(pl->at);
	free(pl->rules);
	*pl = (struct places){0};
}

const struct place *places_get(const struct places *pl, const struct analysis *an, uint32_t stack)
{
	uint32_t unknown[STACK_DEPTH_MAX], count = 0;

	for (uint32_t row = stack; row != ROW_NONE && !pl->at[row].known; row = an->stacks[row].parent)
		unknown[count++] = row;
	while (count)
		place_stack(pl, an, unknown[--count]);
	return &pl->at[stack];
}

enum blocked_why place_why(const struct place *p, uint32_t flags)
{
	enum blocked_why why = p ? blocked_why_of((enum blocked_why)p->why, flags) : BLOCKED_CALL;

	if (why == BLOCKED_SLEEPING && (p->safepoint || p->vm_lock))
		return BLOCKED_CALL;
	return why == BLOCKED_PARKED && p->safepoint ? BLOCKED_CALL : why;
}

uint32_t events_site(const struct analysis *an, uint32_t stack)
{
	const struct place *p = place_of(an, stack);

	if (!p)
		return ROW_NONE;
	return p->own != ROW_NONE ? p->own : p->java != ROW_NONE ? p->java : p->any;
}

uint32_t wait_site(const struct analysis *an, uint32_t stack)
{
	const struct place *p = place_of(an, stack);

	return p && p->java == ROW_NONE && p->code != ROW_NONE ? p->code : events_site(an, stack);
}

const char *events_site_name(const struct analysis *an, uint32_t site)
{
	return site == ROW_NONE ? "[no stack]" : analysis_sym_name(an, an->xframes.at[site].sym);
}

int wait_site_length(const struct analysis *an, uint32_t site)
{
	const char *name = events_site_name(an, site);
	const struct sym *sym = site == ROW_NONE ? NULL : &an->syms.at[an->xframes.at[site].sym];
	size_t cut = sym && kind_domain((enum stack_kind)sym->kind) == DOMAIN_NATIVE ? strcspn(name, "(") : 0;

	return (int)(cut ? cut : strlen(name));
}
