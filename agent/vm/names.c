// SPDX-License-Identifier: Apache-2.0
/* Reads from vmStructs what naming frames needs; the agent itself does not use it. See names.h. */
#include "names.h"

#include "mem.h"
#include "perfdata.h"
#include "vmstructs.h"
#include "core/state.h"

#include <braid/names.h>

#include "core/glibc.h"
#include <string.h>

enum {
	F_CONST_SIZE,
	F_CONST_FLAGS,
	F_CONST_FLAGS_WIDE,
	F_POOL_SOURCE,
	F_KLASS_SOURCE,
	F_ENTRY_BCI,
	F_STATE,
	F_SCOPES_POINTER,
	F_SCOPES_OFFSET,
	F_SCOPES_PCS,
	F_DEPENDENCIES,
	F_METADATA,
	F_IMMUTABLE,
	F_IMMUTABLE_SIZE,
	F_MUTABLE,
	F_MUTABLE_SIZE,
	F_RELOCATION_SIZE,
	F_DATA,
	F_PC_OFFSET,
	F_PC_SCOPE,
	FIELDS
};

enum { T_PC_DESC, TYPES };

static struct vm_field field[FIELDS] = {
	[F_CONST_SIZE] = {.type = "ConstMethod", .name = "_constMethod_size"},
	[F_CONST_FLAGS] = {.type = "ConstMethod", .name = "_flags"},
	[F_CONST_FLAGS_WIDE] = {.type = "ConstMethod", .name = "_flags._flags"}, /* 21 and later */
	[F_POOL_SOURCE] = {.type = "ConstantPool", .name = "_source_file_name_index"},
	[F_KLASS_SOURCE] = {.type = "InstanceKlass", .name = "_source_file_name_index"},
	[F_ENTRY_BCI] = {.type = "nmethod", .name = "_entry_bci"},
	[F_STATE] = {.type = "nmethod", .name = "_state"},
	[F_SCOPES_POINTER] = {.type = "CompiledMethod", .name = "_scopes_data_begin"}, /* 9 to 22 */
	[F_SCOPES_OFFSET] = {.type = "nmethod", .name = "_scopes_data_offset"},	       /* 8, 23 and later */
	[F_SCOPES_PCS] = {.type = "nmethod", .name = "_scopes_pcs_offset"},
	[F_DEPENDENCIES] = {.type = "nmethod", .name = "_dependencies_offset"}, /* before 23 */
	[F_METADATA] = {.type = "nmethod", .name = "_metadata_offset"},		/* before 25 */
	[F_IMMUTABLE] = {.type = "nmethod", .name = "_immutable_data"},
	[F_IMMUTABLE_SIZE] = {.type = "nmethod", .name = "_immutable_data_size"},
	[F_MUTABLE] = {.type = "CodeBlob", .name = "_mutable_data"},
	[F_MUTABLE_SIZE] = {.type = "CodeBlob", .name = "_mutable_data_size"},
	[F_RELOCATION_SIZE] = {.type = "CodeBlob", .name = "_relocation_size"},
	[F_DATA] = {.type = "CodeBlob", .name = "_data_offset"},
	[F_PC_OFFSET] = {.type = "PcDesc", .name = "_pc_offset"},
	[F_PC_SCOPE] = {.type = "PcDesc", .name = "_scope_decode_offset"},
};

static struct vm_type type[TYPES] = {[T_PC_DESC] = {.name = "PcDesc"}};

static struct {
	bool readable;
	struct braid_names now;
	_Atomic bool redefined;
} names;

static bool names_take(uint16_t *to, int f)
{
	if (!field[f].found || field[f].offset > UINT16_MAX)
		return false;
	*to = (uint16_t)field[f].offset;
	return true;
}

static void lines_take(struct braid_names *n)
{
	names_take(&n->const_method_size, F_CONST_SIZE);
	if (names_take(&n->const_flags, F_CONST_FLAGS_WIDE))
		n->flags |= BRAID_NAMES_WIDE_FLAGS;
	else
		names_take(&n->const_flags, F_CONST_FLAGS);
	if (!names_take(&n->pool_source, F_POOL_SOURCE))
		names_take(&n->klass_source, F_KLASS_SOURCE);
}

static bool metadata_take(struct braid_names *n)
{
	const char *t = field[F_METADATA].declared;

	if (names_take(&n->blob_mutable, F_MUTABLE)) {
		n->flags |= BRAID_NAMES_MUTABLE;
		return names_take(&n->blob_mutable_size, F_MUTABLE_SIZE) &&
		       names_take(&n->blob_relocation_size, F_RELOCATION_SIZE);
	}
	if (!strcmp(t, "u2"))
		n->flags |= BRAID_NAMES_SHORT_METADATA;
	return names_take(&n->nmethod_metadata, F_METADATA) && names_take(&n->blob_data, F_DATA);
}

static bool scopes_take(struct braid_names *n)
{
	bool ok = names_take(&n->nmethod_scopes_pcs, F_SCOPES_PCS) && names_take(&n->pc_offset, F_PC_OFFSET) &&
		  names_take(&n->pc_scope, F_PC_SCOPE) && type[T_PC_DESC].found && type[T_PC_DESC].size <= UINT16_MAX;

	n->pc_size = (uint16_t)type[T_PC_DESC].size;
	names_take(&n->nmethod_entry_bci, F_ENTRY_BCI);
	if (names_take(&n->nmethod_scopes_data, F_SCOPES_POINTER))
		n->flags |= BRAID_NAMES_POINTER;
	else
		ok = names_take(&n->nmethod_scopes_data, F_SCOPES_OFFSET) && ok;
	if (names_take(&n->nmethod_immutable, F_IMMUTABLE)) {
		n->flags |= BRAID_NAMES_IMMUTABLE;
		ok = names_take(&n->nmethod_immutable_size, F_IMMUTABLE_SIZE) && ok;
	} else {
		ok = names_take(&n->nmethod_dependencies, F_DEPENDENCIES) && ok;
	}
	return metadata_take(n) && ok;
}

void names_open(void *libjvm, jint jvmti_version)
{
	struct braid_names *n = &names.now;

	if (vmstructs_read(libjvm, field, FIELDS, type, TYPES))
		return;
	names.readable = true;
	lines_take(n);
	if (scopes_take(n))
		n->flags |= BRAID_NAMES_SCOPES;
	/* unsigned5.hpp; JDK-8292758 changed its encoding */
	if ((jvmti_version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR >= 20)
		n->flags |= BRAID_NAMES_NO_ZERO;
}

/* The first state in 8; in later JDKs the first after "not installed", which is negative. */
#define IN_USE 0

bool names_in_use(uint64_t nmethod)
{
	int8_t state;

	return !field[F_STATE].found || (mem_read(&state, nmethod + field[F_STATE].offset, 1) && state == IN_USE);
}

static bool counter_take(const struct perf_counter *c, void *to)
{
	struct braid_names *n = to;

	if (c->type == 'J' && !strcmp(c->name, "java.cls.unloadedClasses"))
		n->class_unloads = c->data;
	else if (c->type == 'B' && !strcmp(c->name, "sun.gc.cause"))
		n->gc_cause = c->data;
	return !n->class_unloads || !n->gc_cause;
}

void names_publish(void)
{
	struct braid_rec_names r = {.names = names.now};

	r.names.code_unloads = (uint64_t)(uintptr_t)&agent.code_unloads;
	if (!names.readable)
		return;
	/* Both stay 0 while the VM has no counters, or with -XX:-UsePerfData. */
	perfdata_each(counter_take, &r.names);
	if (atomic_load(&names.redefined))
		r.names.class_unloads = 0;
	record_init(&r.hdr, BRAID_REC_NAMES, 0);
	publish_definition((struct iovec[]){PART(&r, sizeof(r))}, 1);
}

void names_get(struct braid_names *n)
{
	*n = names.now;
}

/* The counter of unloaded classes does not count old versions, whose memory is reused: it must not be relied on. */
void names_redefined(void)
{
	if (!atomic_exchange(&names.redefined, true))
		names_publish();
}
