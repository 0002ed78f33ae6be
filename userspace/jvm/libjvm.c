// SPDX-License-Identifier: Apache-2.0
#include "jvm/libjvm.h"

#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const data_names[TABLES] = {
	[OPERATION] = "_ZN8VMThread17_cur_vm_operationE",
	[SAFEPOINT_TYPE] = "_ZN16SafepointTracing13_current_typeE",
	[SAFEPOINT_BEGIN] = "_ZN16SafepointTracing29_last_safepoint_begin_time_nsE",
	[SAFEPOINT_REACHED] = "_ZN16SafepointTracing28_last_safepoint_sync_time_nsE",
	[SAFEPOINT_END] = "_ZN16SafepointTracing27_last_safepoint_end_time_nsE",
	[OPERATIONS] = "_ZN12VM_Operation6_namesE",
	[REASONS] = "_ZN14Deoptimization17_trap_reason_nameE",
	[ACTIONS] = "_ZN14Deoptimization17_trap_action_nameE",
};

static const struct vm_offset fields[LIBJVM_FIELDS] = {
	[TASK_ID] = {.type = "CompileTask", .name = "_compile_id"},
	[TASK_METHOD] = {.type = "CompileTask", .name = "_method"},
	[TASK_OSR_BCI] = {.type = "CompileTask", .name = "_osr_bci"},
	[TASK_LEVEL] = {.type = "CompileTask", .name = "_comp_level"},
	[BLOCK_LENGTH] = {.type = "HeapBlock::Header", .name = "_length"},
	[BLOCK_USED] = {.type = "HeapBlock::Header", .name = "_used"},
};

const struct process_mapping *libjvm_mapping(const struct process *process)
{
	for (uint32_t i = 0; i < process->mapping_count; i++) {
		const struct process_mapping *m = &process->mappings[i];
		const char *slash = strrchr(m->module->path, '/');

		if (slash && strcmp(slash, "/libjvm.so") == 0)
			return m;
	}
	return NULL;
}

/* Where in the file an ELF address is; 0 when nowhere. */
static uint64_t file_offset(const struct module *m, uint64_t address)
{
	for (uint32_t i = 0; i < m->segment_count; i++)
		if (address - m->segments[i].address < m->segments[i].size)
			return address - m->segments[i].address + m->segments[i].offset;
	return 0;
}

static size_t strings_in(const struct symbol *array)
{
	size_t count = array->size / sizeof(uint64_t);

	return count < LIBJVM_NAMES_MAX ? count : LIBJVM_NAMES_MAX;
}

static void take_symbols(struct libjvm *l, const struct symbol *found, size_t functions)
{
	const struct symbol *data = found + functions;

	for (size_t i = 0; i < functions; i++)
		l->functions[i] = found[i].address ? file_offset(l->module, found[i].address) : 0;
	for (int i = 0; i < LIBJVM_DATA; i++) {
		l->at[i] = data[i].address;
		l->strings[i] = strings_in(&data[i]);
	}
}

static int find_symbols(struct libjvm *l, const char *const *names, size_t count)
{
	struct symbol *wanted = calloc(count + LIBJVM_DATA, sizeof(*wanted));
	int err;

	l->functions = calloc(count, sizeof(*l->functions));
	if (!wanted || !l->functions) {
		free(wanted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		wanted[i].name = names[i];
	for (size_t i = 0; i < LIBJVM_DATA; i++)
		wanted[count + i].name = i < TABLES ? data_names[i] : vm_symbols[i - TABLES];
	err = symbols_lookup(l->fd, l->root, l->module->path, wanted, count + LIBJVM_DATA);
	if (!err)
		take_symbols(l, wanted, count);
	free(wanted);
	return err;
}

struct libjvm *libjvm_open(const struct process *process, const struct process_mapping *m, const char *const *names,
			   size_t count)
{
	struct libjvm *l = calloc(1, sizeof(*l));
	struct mapping_fact fact = m->fact;
	int err = -ENOMEM;

	if (!l)
		goto out;
	fact.path = m->module->path;
	l->module = m->module;
	memcpy(l->field, fields, sizeof(l->field));
	snprintf(l->root, sizeof(l->root), "/proc/%d/root", (int)process->pid);
	l->fd = module_open(process->pid, &fact);
	err = l->fd < 0 ? -errno : find_symbols(l, names, count);
	if (!err)
		return l;
out:
	log_debug("cannot read %s of process %d: %s", m->module->path, process->pid, strerror(-err));
	libjvm_free(l);
	return NULL;
}

static void names_free(struct libjvm_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->text[i]);
}

void libjvm_free(struct libjvm *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		close(l->fd);
	names_free(&l->operations);
	names_free(&l->reasons);
	names_free(&l->actions);
	free(l->functions);
	free(l);
}

static int names_read(const struct libjvm *l, struct libjvm_names *to, pid_t pid, uint64_t bias, enum libjvm_data array)
{
	int err;

	if (!l->at[array] || to->count)
		return 0;
	err = vm_strings_read(pid, bias, bias + l->at[array], l->strings[array], to->text);
	to->count = err == -EAGAIN ? 0 : l->strings[array];
	return err;
}

int libjvm_read_tables(struct libjvm *l, pid_t pid, uint64_t bias)
{
	uint64_t at[VM_SYMBOLS];
	int err;

	if (l->read)
		return 0;
	for (int i = 0; i < VM_SYMBOLS; i++)
		at[i] = l->at[TABLES + i] ? bias + l->at[TABLES + i] : 0;
	err = vm_offsets_read(pid, bias, at, l->field, LIBJVM_FIELDS);
	if (err == -EAGAIN)
		return err;
	err = names_read(l, &l->operations, pid, bias, OPERATIONS);
	err = err ?: names_read(l, &l->reasons, pid, bias, REASONS);
	err = err ?: names_read(l, &l->actions, pid, bias, ACTIONS);
	l->read = err != -EAGAIN;
	return err;
}

/* "_ZTV24VM_G1CollectForAllocation" */
static void operation_name(const char *symbol, char *to, size_t size)
{
	static const char prefix[] = "_ZTV";

	to[0] = '\0';
	if (strncmp(symbol, prefix, sizeof(prefix) - 1) != 0)
		return;
	symbol += sizeof(prefix) - 1;
	symbol += strspn(symbol, "0123456789");
	symbol += strncmp(symbol, "VM_", 3) == 0 ? 3 : 0;
	snprintf(to, size, "%s", symbol);
}

const char *libjvm_operation_of(struct libjvm *l, uint64_t vtable)
{
	char symbol[256];
	size_t i;

	for (i = 0; i < l->operations_asked; i++)
		if (l->operation[i].vtable == vtable)
			return l->operation[i].name;
	if (i == LIBJVM_NAMES_MAX)
		return "";
	if (symbols_data_at(l->fd, l->root, l->module->path, vtable, symbol, sizeof(symbol)))
		symbol[0] = '\0';
	l->operation[i].vtable = vtable;
	operation_name(symbol, l->operation[i].name, sizeof(l->operation[i].name));
	l->operations_asked++;
	return l->operation[i].name;
}
