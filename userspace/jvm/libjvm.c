// SPDX-License-Identifier: Apache-2.0
#include "libjvm.h"

#include "process/module_file.h"
#include "util/log.h"
#include "util/owner.h"
#include "util/search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const data_names[LIBJVM_DATA] = {
	[OPERATION] = "_ZN8VMThread17_cur_vm_operationE",
	[SAFEPOINT_TYPE] = "_ZN16SafepointTracing13_current_typeE",
	[SAFEPOINT_BEGIN] = "_ZN16SafepointTracing29_last_safepoint_begin_time_nsE",
	[SAFEPOINT_REACHED] = "_ZN16SafepointTracing28_last_safepoint_sync_time_nsE",
	[SAFEPOINT_END] = "_ZN16SafepointTracing27_last_safepoint_end_time_nsE",
	[OPERATIONS] = "_ZN12VM_Operation6_namesE",
	[REASONS] = "_ZN14Deoptimization17_trap_reason_nameE",
	[ACTIONS] = "_ZN14Deoptimization17_trap_action_nameE",
	[JVMCI_STRUCTS] = "jvmciHotSpotVMStructs",
};

static const struct vm_field fields[LIBJVM_FIELDS] = {
	[TASK_ID] = {.type = "CompileTask", .name = "_compile_id"},
	[TASK_METHOD] = {.type = "CompileTask", .name = "_method"},
	[TASK_OSR_BCI] = {.type = "CompileTask", .name = "_osr_bci"},
	[TASK_LEVEL] = {.type = "CompileTask", .name = "_comp_level"},
	[BLOCK_LENGTH] = {.type = "HeapBlock::Header", .name = "_length"},
	[BLOCK_USED] = {.type = "HeapBlock::Header", .name = "_used"},
};

static const struct vm_field jfr_fields[JFR_FIELDS] = {
	[JFR_THREAD] = {.type = "Thread", .name = "_jfr_thread_local"},
	[JFR_VIRTUAL] = {.type = "JfrThreadLocal", .name = "_vthread"},
	[JFR_NUMBER] = {.type = "JfrThreadLocal", .name = "_vthread_id"},
};

const struct process_mapping *libjvm_mapping(const struct process *process)
{
	for (uint32_t i = 0; i < process->mappings.count; i++)
		if (process->mappings.at[i].module->is_libjvm)
			return &process->mappings.at[i];
	return NULL;
}

static size_t strings_in(const struct symbol *array)
{
	size_t count = array->size / sizeof(uint64_t);

	return count < LIBJVM_NAMES_MAX ? count : LIBJVM_NAMES_MAX;
}

/* Finds the data, and the functions that probes may be set at: in one look at the file, which has 60,000 symbols. */
static int find_symbols(struct libjvm *l, const char *const *names, size_t count)
{
	struct symbol data[LIBJVM_DATA] = {0}, *functions = calloc(count + 1, sizeof(*functions));
	int err = -ENOMEM;

	l->functions = calloc(count + 1, sizeof(*l->functions));
	if (!functions || !l->functions)
		goto out;
	for (int i = 0; i < LIBJVM_DATA; i++)
		data[i].name = data_names[i];
	for (size_t i = 0; i < count; i++)
		functions[i].name = names[i];
	err = symbols_lookup(l->fd, l->module->path, data, LIBJVM_DATA, functions, count);
	for (int i = 0; i < LIBJVM_DATA && !err; i++) {
		l->at[i] = data[i].address;
		l->strings[i] = strings_in(&data[i]);
	}
	for (size_t i = 0; i < count && !err; i++)
		l->functions[i] = functions[i].address;
out:
	free(functions);
	return err;
}

struct libjvm *libjvm_open(const struct process *process, const struct process_mapping *m, const char *const *names,
			   size_t count)
{
	struct libjvm *l = calloc(1, sizeof(*l));
	struct mapping_fact fact = m->fact;
	struct module_file file;
	int err = -ENOMEM;

	if (!l)
		goto out;
	fact.path = m->module->path;
	file = module_open(process->pid, &fact);
	l->trusted = file.fd >= 0 && owner_trusted(&file.st);
	l->owner = file.st.st_uid;
	l->module = m->module;
	l->fd = file.fd;
	err = l->fd < 0 ? l->fd : find_symbols(l, names, count);
	if (!err)
		return l;
out:
	log_debug("cannot read %s of process %d: %s", m->module->path, process->pid, strerror(-err));
	libjvm_free(l);
	return NULL;
}

void libjvm_free(struct libjvm *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		close(l->fd);
	free(l->functions);
	free(l->classes);
	free(l);
}

/* ---- one process's copy ---- */

static void libjvm_names_free(struct libjvm_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->text[i]);
	n->count = 0;
}

void libjvm_copy_free(struct libjvm_copy *c)
{
	libjvm_names_free(&c->operations);
	libjvm_names_free(&c->reasons);
	libjvm_names_free(&c->actions);
}

static int libjvm_names_read(const struct libjvm_copy *c, struct libjvm_names *to, pid_t pid, enum libjvm_data array)
{
	const struct libjvm *l = c->file;
	int err;

	if (!l->at[array] || to->count)
		return 0;
	err = vm_strings_read(pid, c->bias, c->bias + l->at[array], l->strings[array], to->text);
	to->count = err ? 0 : l->strings[array];
	return err;
}

/* These fields are optional. */
static void jfr_read(struct libjvm_copy *c, pid_t pid)
{
	uint64_t at[VM_SYMBOLS];

	memcpy(at, c->file->module->vm, sizeof(at));
	at[VM_STRUCTS] = c->file->at[JVMCI_STRUCTS];
	memcpy(c->jfr, jfr_fields, sizeof(c->jfr));
	(void)vm_process_read(pid, c->bias, at, c->jfr, JFR_FIELDS, NULL, 0);
}

uint16_t libjvm_jfr_offset(const struct libjvm_copy *c, enum libjvm_jfr_field field)
{
	const struct vm_field *f = c->jfr;
	uint64_t offset = f[JFR_THREAD].offset + f[field].offset;

	return f[JFR_THREAD].found && f[JFR_VIRTUAL].found && f[JFR_NUMBER].found && offset <= UINT16_MAX
		       ? (uint16_t)offset
		       : 0;
}

int libjvm_copy_read(struct libjvm_copy *c, pid_t pid)
{
	int err;

	memcpy(c->field, fields, sizeof(c->field));
	err = vm_process_read(pid, c->bias, c->file->module->vm, c->field, LIBJVM_FIELDS, NULL, 0);
	if (err == -EAGAIN)
		return err;
	for (int i = 0; i < LIBJVM_FIELDS; i++)
		c->field[i].found = c->field[i].found && c->field[i].offset <= UINT16_MAX;
	jfr_read(c, pid);
	err = libjvm_names_read(c, &c->operations, pid, OPERATIONS);
	err = err ?: libjvm_names_read(c, &c->reasons, pid, REASONS);
	return err ?: libjvm_names_read(c, &c->actions, pid, ACTIONS);
}

/* ---- classes of operations ---- */

#define CLASSES_MAX 1024
#define VTABLE "_ZTV"

/* For example "_ZTV24VM_G1CollectForAllocation". */
static bool take_class(void *ctx, const struct symbol *symbol)
{
	const char *name = symbol->name + sizeof(VTABLE) - 1;
	struct libjvm *l = ctx;
	struct libjvm_class *c = &l->classes[l->class_count];

	name += strspn(name, "0123456789");
	if (strncmp(name, "VM_", 3) == 0 &&
	    (size_t)snprintf(c->name, sizeof(c->name), "%s", name + 3) < sizeof(c->name)) {
		c->vtable = symbol->address;
		c->size = symbol->size;
		l->class_count++;
	}
	return l->class_count < CLASSES_MAX;
}

static int by_vtable(const void *a, const void *b)
{
	const struct libjvm_class *x = a, *y = b;

	return (x->vtable > y->vtable) - (x->vtable < y->vtable);
}

static void classes_read(struct libjvm *l)
{
	l->classes_read = true;
	l->classes = calloc(CLASSES_MAX, sizeof(*l->classes));
	if (!l->classes)
		return;
	if (symbols_of_data(l->fd, l->module->path, VTABLE, take_class, l))
		log_debug("the operations of %s have no names", l->module->path);
	qsort(l->classes, l->class_count, sizeof(*l->classes), by_vtable);
}

/* An object points to the address after the head of its class's table. */
const char *libjvm_operation_of(struct libjvm *l, uint64_t vtable)
{
	size_t low;

	if (!l->classes_read)
		classes_read(l);
	low = SEARCH(i, 0, l->class_count, l->classes[i].vtable <= vtable);
	return low && vtable - l->classes[low - 1].vtable < l->classes[low - 1].size ? l->classes[low - 1].name : "";
}
