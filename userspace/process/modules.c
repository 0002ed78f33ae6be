// SPDX-License-Identifier: Apache-2.0
#include "modules.h"

#include "module_budget.h"
#include "module_file.h"
#include "module_load.h"
#include "processes.h"
#include "kernel/kernel_side.h"
#include "proc/jvm_proc.h"
#include "sink/records.h"
#include "symbol/context.h"
#include "util/descriptors.h"
#include "util/elf_file.h"
#include "util/log.h"
#include "util/owner.h"
#include "util/pair_map.h"
#include "util/stint.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <uthash.h>

#define QUICK_NS 20000000ULL /* CPU time for what the event loop reads of a file */
#define BOUND_MAX 65536U     /* functions that have the names of native methods bound to them */
#define BOUND_NAME_MAX 256U  /* bytes of such a name */
#define SYMBOL_IDS_MAX                                                                                                 \
	((3U << 17) - 1) /* ids remembered, three quarters of a power of two; beyond it, symbols are defined anew */

#define ANY_USER ((uid_t)-2)
#define NO_USER ((uid_t)-1) /* the process has ended */

struct module_entry {
	struct module module;
	uid_t user;		   /* whose processes map it, or ANY_USER */
	struct module_entry *next; /* the same key for another user */
	UT_hash_handle hh;
	char key[]; /* "major:minor:inode:path" */
};

/* Bytes that one file takes. The path is stored twice. */
#define ENTRY_BYTES(length) (sizeof(struct module_entry) + 2 * (length))

struct modules {
	struct sink *sink;
	struct loader *loader;
	bool lines; /* source lines are enabled */
	struct module_entry *by_key;
	struct pair_map symbol_ids; /* (module, address) */
	struct pair_map bound_at;   /* (module, address): index into `bound` plus one; names of native methods */
	char **bound;
	uint32_t bound_count;
	uint32_t last_module;
	uint32_t last_symbol;
	struct module kernel;
	struct kernel_side *kernel_side;
	bool kernel_failed; /* it has been said that its names cannot be found */
	struct module_lines *found;
};

int modules_new(struct modules **out, struct sink *sink, struct kernel_side *kernel, bool lines)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->sink = sink;
	(*out)->kernel_side = kernel;
	(*out)->lines = lines;
	return loader_new(&(*out)->loader, sink, kernel, modules_deferred_names(*out));
}

static void entry_free(struct module_entry *e)
{
	struct module_entry *next;

	for (; e; e = next) {
		next = e->next;
		symbols_free(e->module.symbols);
		if (e->module.fd >= 0)
			close(e->module.fd);
		if (e->module.debug_fd >= 0)
			close(e->module.debug_fd);
		free(e->module.context);
		free(e->module.path);
		free(e);
	}
}

void modules_count_for(struct modules *m, struct processes *processes)
{
	loader_count_for(m->loader, processes);
}

void modules_free(struct modules *m)
{
	struct module_entry *e, *next;

	if (!m)
		return;
	loader_free(m->loader);
	HASH_ITER (hh, m->by_key, e, next) {
		HASH_DEL(m->by_key, e);
		entry_free(e);
	}
	module_lines_free(m->found);
	pair_map_free(&m->symbol_ids);
	pair_map_free(&m->bound_at);
	for (uint32_t i = 0; i < m->bound_count; i++)
		free(m->bound[i]);
	free(m->bound);
	free(m);
}

/*
 * Executable segments come first, since mappings are of code: linkers such as lld let segments share a page of the
 * file.
 */
static void read_segments(struct module *module, struct elf_source from)
{
	Elf64_Phdr ph[64];
	size_t count = elf_program_headers(from, ph, sizeof(ph) / sizeof(ph[0]));

	for (int others = 0; others < 2; others++)
		for (size_t i = 0; i < count && module->segment_count < MODULE_SEGMENTS; i++)
			if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X ? 0 : 1) == others) {
				module->segments[module->segment_count].offset = ph[i].p_offset;
				module->segments[module->segment_count].address = ph[i].p_vaddr;
				module->segments[module->segment_count++].size = ph[i].p_filesz;
			}
}

/* What is needed at once: it takes little time. */
static void read_file(struct module *module)
{
	stint_begin(QUICK_NS, NULL);
	read_segments(module, elf_of_file(module->fd));
	if (build_id_of_fd(module->fd, module->build_id, sizeof(module->build_id)))
		module->build_id[0] = '\0';
	if (module->is_libjvm && vm_symbols_find(module->fd, module->vm))
		log_debug("cannot read the symbols of %s", module->path);
	module->context = context_symbols_read(module->fd);
	stint_end();
}

/* Loads the file. True when it is the same for all users. */
static bool load_file(struct modules *m, struct module *module, pid_t pid, const struct mapping_fact *fact)
{
	struct module_file file = module_open(pid, fact);
	bool same = file.fd >= 0 && file.certain && owner_trusted(&file.st);

	if (file.fd < 0) {
		log_debug("cannot open %s of process %d: %s", fact->path, pid, strerror(-file.fd));
		return same;
	}
	module->fd = file.fd;
	module->foreign = !same && module->share;
	read_file(module);
	loader_table(m->loader, module);
	if (descriptors_scarce(file.fd))
		loader_symbols(m->loader, module);
	return same;
}

/* Every 64-bit process of this kernel maps the same vdso, including this one. */
static const void *vdso_image(size_t *size)
{
	*size = 2 * 4096; /* it is mapped as whole pages; its ELF headers give the size used */
	return (const void *)getauxval(AT_SYSINFO_EHDR);
}

static void load_vdso(struct modules *m, struct module *module)
{
	struct unwind_table *t = NULL;
	const void *image;
	size_t size;

	image = vdso_image(&size);
	if (!image)
		return;
	read_segments(module, elf_of_image(image, size));
	if (build_id_of_image(image, size, module->build_id, sizeof(module->build_id)))
		module->build_id[0] = '\0';
	if (!unwind_table_build_image(&t, image, size))
		loader_upload(m->loader, module, t);
}

static void emit_module(struct modules *m, const struct module *module)
{
	sink_module(m->sink, &(struct trace_module){.module = module->id,
						    .kind = module->kind,
						    .path = trace_str_of(module->path),
						    .build_id = trace_str_of(module->build_id)});
}

static bool is_file(const struct mapping_fact *fact)
{
	return fact->inode && fact->path[0] == '/' && strncmp(fact->path, "//", 2) != 0;
}

/* The file may have been replaced since it was mapped. */
static bool is_libjvm(const char *path)
{
	const char *name = strrchr(path, '/');

	return strcmp(name, "/libjvm.so") == 0 || strcmp(name, "/libjvm.so (deleted)") == 0;
}

static const char *name_of_file(const struct mapping_fact *fact)
{
	return is_file(fact) || fact->path[0] == '[' ? fact->path : "//anon";
}

static uid_t user_of(pid_t pid)
{
	struct proc_status status;

	return proc_status_read(pid, &status) ? NO_USER : status.uid;
}

/* The module of this key for the process. Sets *user when it had to look up the process's user. */
static struct module_entry *entry_for(struct module_entry *first, pid_t pid, uid_t *user)
{
	struct module_entry *e = first;

	if (!first || first->user == ANY_USER)
		return first;
	*user = user_of(pid);
	while (e && e->user != ANY_USER && e->user != *user)
		e = e->next;
	return e;
}

static struct module_entry *entry_new(struct modules *m, pid_t pid, const struct mapping_fact *fact, const char *key,
				      size_t length)
{
	struct module_entry *e = calloc(1, sizeof(*e) + length + 1);

	if (!e)
		return NULL;
	memcpy(e->key, key, length);
	e->module.id = ++m->last_module;
	e->module.kind = TRACE_MODULE_ANON;
	e->module.table = BRAID_NO_TABLE;
	e->module.fd = e->module.debug_fd = -1;
	e->module.seen_in = pid;
	e->module.path = strdup(name_of_file(fact));
	if (e->module.path)
		return e;
	free(e);
	return NULL;
}

static void entry_load(struct modules *m, struct module_entry *e, pid_t pid, const struct mapping_fact *fact,
		       uid_t user)
{
	struct module *module = &e->module;
	struct share *share = module->share;

	e->user = ANY_USER;
	if (is_file(fact)) {
		module->is_libjvm = is_libjvm(fact->path);
		module->kind = TRACE_MODULE_ELF;
		if (!load_file(m, module, pid, fact))
			e->user = user;
		else
			module_is_for_all(share, ENTRY_BYTES(strlen(e->key)));
	} else if (strcmp(fact->path, "[vdso]") == 0) {
		module->kind = TRACE_MODULE_VDSO;
		load_vdso(m, module);
	}
}

struct module *modules_get(struct modules *m, const struct process *process, const struct mapping_fact *fact)
{
	struct share *share = NULL;
	pid_t pid = process->pid;
	struct module_entry *first, *e;
	uid_t user = ANY_USER;
	char key[4200];
	int length;

	length = snprintf(key, sizeof(key), "%x:%x:%llu:%s", fact->major, fact->minor, (unsigned long long)fact->inode,
			  name_of_file(fact));
	if (length >= (int)sizeof(key))
		length = sizeof(key) - 1;
	HASH_FIND(hh, m->by_key, key, (unsigned)length, first);
	e = entry_for(first, pid, &user);
	if (e) {
		loader_again(m->loader, &e->module, process);
		return &e->module;
	}
	if (is_file(fact)) {
		user = user == ANY_USER ? user_of(pid) : user;
		share = module_share(process->account.share);
		if (!module_may_exist(share, ENTRY_BYTES((size_t)length))) {
			loader_left_out(m->loader, share, pid, fact->path, "module");
			return modules_get(m, process, &(struct mapping_fact){.path = ""});
		}
	}
	e = entry_new(m, pid, fact, key, (size_t)length);
	if (!e)
		return NULL;
	e->module.share = share;
	entry_load(m, e, pid, fact, user);
	if (first) {
		e->next = first->next;
		first->next = e;
	} else {
		HASH_ADD_KEYPTR(hh, m->by_key, e->key, (unsigned)length, e);
	}
	emit_module(m, &e->module);
	return &e->module;
}

uint64_t module_bias(const struct module *module, const struct mapping_fact *fact)
{
	/* A mapping begins at a page of the file; its segment begins in its last page or before. */
	for (uint32_t i = 0; i < module->segment_count; i++) {
		uint64_t page = module->segments[i].offset & ~4095ULL;

		if (fact->file_offset >= page &&
		    fact->file_offset < module->segments[i].offset + module->segments[i].size)
			return fact->start - fact->file_offset + module->segments[i].offset -
			       module->segments[i].address;
	}
	return fact->start - fact->file_offset;
}

static void load_symbols(struct modules *m, struct module *module)
{
	const void *image;
	size_t size;

	if (module->kind != TRACE_MODULE_VDSO) {
		loader_symbols(m->loader, module);
		return;
	}
	module->symbols_tried = true;
	image = vdso_image(&size);
	if (image && symbols_open_image(&module->symbols, image, size))
		module->symbols = NULL;
}

/* A function without a symbol of its own has the name of the native method that is bound to it. */
static const char *module_name_of(const struct modules *m, const struct module *module, const struct symbol *sym)
{
	const struct pair_entry *e = sym->name[0] ? NULL : pair_find(&m->bound_at, module->id, sym->address);

	return e ? m->bound[e->value - 1] : sym->name;
}

static void emit_symbol(struct modules *m, const struct module *module, const struct symbol *sym, uint32_t id)
{
	sink_symbol(m->sink, &(struct trace_symbol){.symbol = id,
						    .module = module->id,
						    .address = sym->address,
						    .size = sym->size,
						    .name = trace_str_of(module_name_of(m, module, sym))});
}

/* A debug file from a server has other names, hence other ids. */
static uint64_t symbol_owner(const struct module *module)
{
	return (uint64_t)(module->debug_fd >= 0) << 32 | module->id;
}

static uint32_t symbol_id(struct modules *m, const struct module *module, const struct symbol *sym)
{
	uint64_t owner = symbol_owner(module);
	struct pair_entry *e = pair_find(&m->symbol_ids, owner, sym->address);

	if (e)
		return e->value;
	if (m->symbol_ids.count >= SYMBOL_IDS_MAX)
		pair_map_free(&m->symbol_ids);
	if (!pair_put(&m->symbol_ids, owner, sym->address, ++m->last_symbol))
		return 0;
	emit_symbol(m, module, sym, m->last_symbol);
	return m->last_symbol;
}

uint32_t modules_symbol(struct modules *m, struct module *module, uint64_t vaddr)
{
	struct symbol sym;

	if (!module->symbols_tried)
		load_symbols(m, module);
	return module->symbols && symbols_find(module->symbols, vaddr, &sym) ? symbol_id(m, module, &sym) : 0;
}

uint32_t modules_symbol_named(struct modules *m, const struct module *module, const struct symbol *symbol)
{
	emit_symbol(m, module, symbol, ++m->last_symbol);
	return m->last_symbol;
}

static bool bind(struct modules *m, const struct module *module, uint64_t vaddr, const char *name)
{
	if (m->bound_count == BOUND_MAX || pair_find(&m->bound_at, module->id, vaddr) ||
	    !module_may_bind(module->foreign ? module->share : NULL))
		return false;
	if (!m->bound && !(m->bound = calloc(BOUND_MAX, sizeof(*m->bound))))
		return false;
	m->bound[m->bound_count] = strndup(name, BOUND_NAME_MAX);
	if (!m->bound[m->bound_count] || !pair_put(&m->bound_at, module->id, vaddr, m->bound_count + 1)) {
		free(m->bound[m->bound_count]);
		return false;
	}
	m->bound_count++;
	return true;
}

const char *module_function(const struct module *module, uint64_t vaddr)
{
	struct symbol sym;

	return module->symbols && symbols_find(module->symbols, vaddr, &sym) ? sym.name : "";
}

void modules_bind(struct modules *m, struct module *module, uint64_t vaddr, const char *name)
{
	struct pair_entry *e;
	struct symbol sym;

	if (!module->symbols_tried)
		load_symbols(m, module);
	if (module->wants_symbols) /* it counts if they have no name there */
		(void)bind(m, module, vaddr, name);
	if (!module->symbols || !symbols_find(module->symbols, vaddr, &sym) || sym.name[0] || sym.address != vaddr)
		return;
	e = bind(m, module, vaddr, name) ? pair_find(&m->symbol_ids, symbol_owner(module), vaddr) : NULL;
	if (e) /* a sample has hit it before */
		emit_symbol(m, module, &sym, e->value);
}

bool modules_deferred_names(const struct modules *m)
{
	return m->lines || debuginfod_configured();
}

bool modules_query_servers(struct module *module, uint64_t limit_ns)
{
	struct symbols *symbols = NULL;
	int err;

	if (module->queried || module->fd < 0 || (module->symbols && !symbols_stripped(module->symbols)))
		return module->debug_fd >= 0;
	module->queried = true;
	module->debug_fd = debuginfod_find(module->build_id, limit_ns);
	if (module->debug_fd < 0) {
		module->debug_fd = -1;
		return false;
	}
	err = symbols_open_with(&symbols, module->fd, module->debug_fd);
	if (err) {
		log_debug("the debug file of %s that a server sent: %s", module->path, strerror(-err));
		close(module->debug_fd);
		module->debug_fd = -1;
		return false;
	}
	symbols_free(module->symbols);
	module->symbols = symbols;
	return true;
}

uint32_t modules_lines(struct modules *m, struct module *module, uint64_t vaddr, const struct trace_scope **scopes)
{
	if (!m->found)
		m->found = module_lines_new();
	return m->found ? module_lines_find(m->found, m->sink, module, vaddr, scopes) : 0;
}

void modules_lines_done(struct modules *m)
{
	module_lines_free(m->found);
	m->found = NULL;
}

void modules_add_kernel(struct modules *m)
{
	m->kernel.id = ++m->last_module;
	m->kernel.kind = TRACE_MODULE_KERNEL;
	m->kernel.debug_fd = -1;
	m->kernel.path = (char *)"[kernel]";
	emit_module(m, &m->kernel);
}

static void kernel_failed(struct modules *m, int err)
{
	if (!m->kernel_failed)
		sink_notice(m->sink, 0, BRAID_NOTICE_WARNING,
			    "kernel frames have no names: cannot ask the kernel for them: %s", strerror(-err));
	m->kernel_failed = true;
}

uint32_t modules_kernel(const struct modules *m)
{
	return m->kernel.id;
}

uint32_t modules_kernel_symbol(struct modules *m, uint64_t address)
{
	struct symbol sym;
	char *text;
	int err = kernel_side_symbol(m->kernel_side, address, &text);

	if (err)
		kernel_failed(m, err);
	return !err && symbol_from_kernel(text, address, &sym) ? symbol_id(m, &m->kernel, &sym) : 0;
}

void modules_start(struct modules *m, struct sources *sources)
{
	loader_start(m->loader, sources);
}

void modules_tick(struct modules *m)
{
	loader_tick(m->loader);
}

void modules_wait(struct modules *m)
{
	loader_wait(m->loader);
}

bool modules_reading(const struct modules *m)
{
	return loader_works(m->loader);
}

uint64_t modules_results(const struct modules *m)
{
	return loader_results(m->loader);
}

void modules_finish(struct modules *m)
{
	loader_finish(m->loader);
}
