// SPDX-License-Identifier: Apache-2.0
/*
 * One libjvm.so file: addresses of functions and data in it, which are the same in all processes that map it. struct
 * libjvm_copy has what the tables in one process's memory contain, which is valid for no other process. layouts.c,
 * code_cache.c and the files of the probes use this.
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

/* What is looked up in the VM's data. */
enum libjvm_data {
	OPERATION,	/* VMThread::_cur_vm_operation */
	SAFEPOINT_TYPE, /* SafepointTracing (13 and later): VMOp_Type, and times */
	SAFEPOINT_BEGIN,
	SAFEPOINT_REACHED,
	SAFEPOINT_END,
	OPERATIONS, /* arrays of names */
	REASONS,
	ACTIONS,
	JVMCI_STRUCTS, /* a second table of fields, like gHotSpotVMStructs; not exported */
	LIBJVM_DATA
};

/* Fields of CompileTask, and of the header of every block in a code heap. */
enum libjvm_field { TASK_ID, TASK_METHOD, TASK_OSR_BCI, TASK_LEVEL, BLOCK_LENGTH, BLOCK_USED, LIBJVM_FIELDS };
#define TASK_FIELDS BLOCK_LENGTH

/* Fields that only the second table has: those of JFR in a Thread. */
enum libjvm_jfr_field { JFR_THREAD, JFR_VIRTUAL, JFR_NUMBER, JFR_FIELDS };

struct libjvm_class {
	uint64_t vtable, size;
	char name[64]; /* without "VM_" */
};

struct libjvm {
	const struct module *module;
	int fd;
	bool trusted; /* only root or the recording user can have created it */
	uid_t owner;
	uint64_t *functions;	     /* file offsets of the requested functions; 0: not found */
	uint64_t at[LIBJVM_DATA];    /* ELF addresses of data; 0: none */
	size_t strings[LIBJVM_DATA]; /* of arrays */
	/* Classes of operations by the ELF addresses of their vtables, sorted. They are read at the first look-up. */
	struct libjvm_class *classes;
	size_t class_count;
	bool classes_read;
};

/* The copy in one process. */
struct libjvm_copy {
	struct libjvm *file;
	uint64_t bias;
	struct libjvm_names operations, reasons, actions;
	struct vm_field field[LIBJVM_FIELDS];
	struct vm_field jfr[JFR_FIELDS];
};

/* The mapping of its code in a process; NULL: none. */
const struct process_mapping *libjvm_mapping(const struct process *process);

/* Opens it and looks up functions by their linker names. */
struct libjvm *libjvm_open(const struct process *process, const struct process_mapping *m, const char *const *names,
			   size_t count);
void libjvm_free(struct libjvm *l);

/* Reads the tables of a process; `file` and `bias` are set. -EAGAIN: too early. */
int libjvm_copy_read(struct libjvm_copy *copy, pid_t pid);
void libjvm_copy_free(struct libjvm_copy *copy);
/* The offset of a JFR field in a Thread; 0: not known. */
uint16_t libjvm_jfr_offset(const struct libjvm_copy *copy, enum libjvm_jfr_field field);

/* The name of the operation class whose vtable is at an ELF address, without "VM_"; "": none. */
const char *libjvm_operation_of(struct libjvm *l, uint64_t vtable);

#endif
