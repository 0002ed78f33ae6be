// SPDX-License-Identifier: Apache-2.0
/* Finds the VM's library and passes its tables to <braid/vm_tables.h>; see vmstructs.h. */
#include "vmstructs.h"

#include "core/glibc.h"

void *vmstructs_library(JavaVM *vm)
{
	void *handle = NULL;
	Dl_info info;

	if (dladdr((void *)(uintptr_t)(*vm)->GetEnv, &info) && info.dli_fname)
		handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	/* No handle: the VM is linked into the program, or its file has been renamed. */
	return handle ? handle : RTLD_DEFAULT;
}

/* The tables are constants of the VM in this process, so reading them needs no check. */
static int own_read(void *ctx, uint64_t address, void *to, size_t size)
{
	(void)ctx;
	memcpy(to, (const void *)(uintptr_t)address, size);
	return 0;
}

int vmstructs_read(void *libjvm, struct vm_field *fields, size_t field_count, struct vm_type *types, size_t type_count)
{
	struct vm_tables t = {.read = own_read};

	for (int i = 0; i < VM_SYMBOLS; i++)
		t.at[i] = (uintptr_t)dlsym(libjvm, vm_symbol_name(i));
	return vm_tables_read(&t, fields, field_count, types, type_count);
}
