// SPDX-License-Identifier: Apache-2.0
#include "vm/vmstructs.h"

#include "core/glibc.h"
#include <errno.h>
#include <string.h>

/* More entries than any JDK has: the tables end with an entry without a name. */
#define ENTRIES_MAX 20000U
#define STRIDE_MAX 256U

/* The VM exports the entries' own layout too, as uint64_t variables. */
static bool number(void *libjvm, const char *symbol, uint64_t *out)
{
	const uint64_t *p = dlsym(libjvm, symbol);

	if (p)
		*out = *p;
	return p && *out <= STRIDE_MAX;
}

static const char *entry_string(const uint8_t *entry, uint64_t offset)
{
	const char *s;

	memcpy(&s, entry + offset, sizeof(s));
	return s;
}

static uint64_t entry_number(const uint8_t *entry, uint64_t offset)
{
	uint64_t n;

	memcpy(&n, entry + offset, sizeof(n));
	return n;
}

static const uint8_t *table_start(void *libjvm, const char *symbol)
{
	const uint8_t *const *p = dlsym(libjvm, symbol);

	return p ? *p : NULL;
}

static bool fields_read(void *libjvm, struct vm_field *fields, size_t count)
{
	const uint8_t *entry = table_start(libjvm, "gHotSpotVMStructs");
	uint64_t stride, type, name, type_string, is_static, offset, address;
	int32_t stat;

	if (!entry || !number(libjvm, "gHotSpotVMStructEntryArrayStride", &stride) ||
	    !number(libjvm, "gHotSpotVMStructEntryTypeNameOffset", &type) ||
	    !number(libjvm, "gHotSpotVMStructEntryFieldNameOffset", &name) ||
	    !number(libjvm, "gHotSpotVMStructEntryTypeStringOffset", &type_string) ||
	    !number(libjvm, "gHotSpotVMStructEntryIsStaticOffset", &is_static) ||
	    !number(libjvm, "gHotSpotVMStructEntryOffsetOffset", &offset) ||
	    !number(libjvm, "gHotSpotVMStructEntryAddressOffset", &address))
		return false;

	for (uint32_t i = 0; i < ENTRIES_MAX && entry_string(entry, type); i++, entry += stride) {
		const char *t = entry_string(entry, type);
		const char *f = entry_string(entry, name);

		for (size_t k = 0; f && k < count; k++) {
			if (strcmp(fields[k].type, t) || strcmp(fields[k].name, f))
				continue;
			memcpy(&stat, entry + is_static, sizeof(stat));
			fields[k].found = true;
			fields[k].offset = stat ? 0 : entry_number(entry, offset);
			fields[k].address = stat ? entry_number(entry, address) : 0;
			fields[k].type_string = entry_string(entry, type_string);
		}
	}
	return true;
}

static bool types_read(void *libjvm, struct vm_type *types, size_t count)
{
	const uint8_t *entry = table_start(libjvm, "gHotSpotVMTypes");
	uint64_t stride, name, size;

	if (!entry || !number(libjvm, "gHotSpotVMTypeEntryArrayStride", &stride) ||
	    !number(libjvm, "gHotSpotVMTypeEntryTypeNameOffset", &name) ||
	    !number(libjvm, "gHotSpotVMTypeEntrySizeOffset", &size))
		return false;

	for (uint32_t i = 0; i < ENTRIES_MAX && entry_string(entry, name); i++, entry += stride) {
		const char *t = entry_string(entry, name);

		for (size_t k = 0; k < count; k++) {
			if (strcmp(types[k].name, t))
				continue;
			types[k].found = true;
			types[k].size = entry_number(entry, size);
		}
	}
	return true;
}

void *vmstructs_library(JavaVM *vm)
{
	void *handle = NULL;
	Dl_info info;

	if (dladdr((void *)(uintptr_t)(*vm)->GetEnv, &info) && info.dli_fname)
		handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	/* A VM that is linked into its program, or whose file has another name by now */
	return handle ? handle : RTLD_DEFAULT;
}

int vmstructs_read(void *libjvm, struct vm_field *fields, size_t field_count, struct vm_type *types, size_t type_count)
{
	if (!fields_read(libjvm, fields, field_count) || !types_read(libjvm, types, type_count))
		return -ENOENT;
	return 0;
}
