// SPDX-License-Identifier: Apache-2.0
/* One libjvm.so: where in it things are, and what its tables say. Shared by all processes that have it mapped. */
#ifndef BRAID_COLLECT_LIBJVM_H
#define BRAID_COLLECT_LIBJVM_H

#include "process/modules.h"
#include "process/processes.h"
#include "hotspot/vm_tables.h"

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
	TABLES, /* vm_symbols */
	LIBJVM_DATA = TABLES + VM_SYMBOLS
};

/* Fields of CompileTask, and of what is in front of every block of a code heap. */
enum libjvm_field { TASK_ID, TASK_METHOD, TASK_OSR_BCI, TASK_LEVEL, BLOCK_LENGTH, BLOCK_USED, LIBJVM_FIELDS };
#define TASK_FIELDS BLOCK_LENGTH

struct libjvm {
	const struct module *module;
	int fd;
	char root[32];		     /* "/proc/PID/root" of the process that it was found in */
	uint64_t *functions;	     /* file offsets of what was asked for; 0: it has none of that name */
	uint64_t at[LIBJVM_DATA];    /* ELF addresses of data, 0: none */
	size_t strings[LIBJVM_DATA]; /* of arrays */
	bool read;		     /* tables were */
	struct libjvm_names operations, reasons, actions;
	struct vm_offset field[LIBJVM_FIELDS];
	/* Of classes of operations, by the addresses of their vtables: what was asked for. */
	struct {
		uint64_t vtable;
		char name[64]; /* empty: it has none */
	} operation[LIBJVM_NAMES_MAX];
	size_t operations_asked;
};

/* The mapping of its code in a process; NULL when it has none. */
const struct process_mapping *libjvm_mapping(const struct process *process);

/* Opens it, and looks for functions: `names` are as the linker has them. */
struct libjvm *libjvm_open(const struct process *process, const struct process_mapping *m, const char *const *names,
			   size_t count);
void libjvm_free(struct libjvm *l);

/* Reads the tables in a process that has it, once. -EAGAIN: too early. */
int libjvm_read_tables(struct libjvm *l, pid_t pid, uint64_t bias);

/* The name of the class whose vtable is at an ELF address, without "VM_": empty when there is none. */
const char *libjvm_operation_of(struct libjvm *l, uint64_t vtable);

#endif
