// SPDX-License-Identifier: Apache-2.0
/*
 * One libjvm.so: where in it things are, which the file says and which counts for all processes that have it mapped.
 * And what its tables say, which is in each process's own copy and counts for no other process.
 */
#ifndef BRAID_JVM_LIBJVM_H
#define BRAID_JVM_LIBJVM_H

#include "hotspot/vm_tables.h"
#include "process/modules.h"
#include "process/processes.h"

#include <braid/probe.h>

#define LIBJVM_NAMES_MAX 256

/* An array of C strings in the VM's data. */
struct libjvm_names {
	char *text[LIBJVM_NAMES_MAX];
	size_t count;
};

/* What is looked for in the VM's data. */
enum libjvm_data {
	OPERATION,	/* VMThread::_cur_vm_operation */
	SAFEPOINT_TYPE, /* SafepointTracing (13 and later): VMOp_Type, and times */
	SAFEPOINT_BEGIN,
	SAFEPOINT_REACHED,
	SAFEPOINT_END,
	OPERATIONS, /* arrays of names */
	REASONS,
	ACTIONS,
	JVMCI_STRUCTS, /* a second table of fields, made as gHotSpotVMStructs is; not exported */
	LIBJVM_DATA
};

/* Fields of CompileTask, and of what is in front of every block of a code heap. */
enum libjvm_field { TASK_ID, TASK_METHOD, TASK_OSR_BCI, TASK_LEVEL, BLOCK_LENGTH, BLOCK_USED, LIBJVM_FIELDS };
#define TASK_FIELDS BLOCK_LENGTH

/* Fields that only the second table has: in a Thread, what JFR keeps of it. */
enum libjvm_jfr_field { JFR_THREAD, JFR_VIRTUAL, JFR_NUMBER, JFR_FIELDS };

struct libjvm_class {
	uint64_t vtable, size;
	char name[64]; /* without "VM_" */
};

struct libjvm {
	const struct module *module;
	int fd;
	bool trusted; /* nobody but root and the user who records can have made it */
	uid_t owner;
	uint64_t *functions;	     /* file offsets of what was asked for; 0: it has none of that name */
	uint64_t at[LIBJVM_DATA];    /* ELF addresses of data, 0: none */
	size_t strings[LIBJVM_DATA]; /* of arrays */
	/* Classes of operations by the ELF addresses of their vtables, sorted; looked for when one is asked for. */
	struct libjvm_class *classes;
	size_t class_count;
	bool classes_read;
};

/* The copy of one process. */
struct libjvm_copy {
	struct libjvm *file;
	uint64_t bias;
	struct libjvm_names operations, reasons, actions;
	struct vm_field field[LIBJVM_FIELDS];
	struct vm_field jfr[JFR_FIELDS];
};

/* The mapping of its code in a process; NULL when it has none. */
const struct process_mapping *libjvm_mapping(const struct process *process);

/* Opens it, and looks for functions: `names` are as the linker has them. */
struct libjvm *libjvm_open(const struct process *process, const struct process_mapping *m, const char *const *names,
			   size_t count);
void libjvm_free(struct libjvm *l);

/* Reads the tables of a process; `file` and `bias` are set. -EAGAIN: too early. */
int libjvm_copy_read(struct libjvm_copy *copy, pid_t pid);
void libjvm_copy_free(struct libjvm_copy *copy);
/* Where in a Thread a field of JFR's is; 0: not known. */
uint16_t libjvm_jfr_offset(const struct libjvm_copy *copy, enum libjvm_jfr_field field);

/* The name of the class of operations whose vtable is at an ELF address, without "VM_": empty when there is none. */
const char *libjvm_operation_of(struct libjvm *l, uint64_t vtable);

#endif
