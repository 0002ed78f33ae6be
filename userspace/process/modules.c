// SPDX-License-Identifier: Apache-2.0
#include "process/modules.h"

#include "kernel/kernel_side.h"
#include "util/log.h"
#include "util/pair_map.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <uthash.h>

#define BOUND_MAX 65536U /* functions named by the native methods that were bound to them */

struct module_entry {
	struct module module;
	UT_hash_handle hh;
	char key[]; /* "major:minor:inode:path" */
};

struct modules {
	struct session *session;
	struct module_entry *by_key;
	struct pair_map symbol_ids; /* (module, address) */
	struct pair_map bound_at;   /* (module, address): in `bound`, plus one: names of native methods */
	char **bound;
	uint32_t bound_count;
	uint32_t last_module;
	uint32_t last_symbol;
	struct module kernel;
	bool tables_full_told;
	struct module_lines *lines;
};

int modules_new(struct modules **out, struct session *s)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->session = s;
	return 0;
}

void modules_free(struct modules *m)
{
	struct module_entry *e, *next;

	if (!m)
		return;
	HASH_ITER (hh, m->by_key, e, next) {
		HASH_DEL(m->by_key, e);
		symbols_free(e->module.symbols);
		if (e->module.fd >= 0)
			close(e->module.fd);
		if (e->module.debug_fd >= 0)
			close(e->module.debug_fd);
		free(e->module.path);
		free(e);
	}
	module_lines_free(m->lines);
	symbols_free(m->kernel.symbols);
	pair_map_free(&m->symbol_ids);
	pair_map_free(&m->bound_at);
	for (uint32_t i = 0; i < m->bound_count; i++)
		free(m->bound[i]);
	free(m->bound);
	free(m);
}

/* By map_files even a deleted file or one of another mount namespace opens; it needs privileges that path does not. */
int module_open(pid_t pid, const struct mapping_fact *fact)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)fact->start,
		 (unsigned long long)fact->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, fact->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		return fd;
	return open(fact->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* the process is gone; most share the root */
}

/* Executable ones first: linkers such as lld let segments share a page of the file, and mappings are of code. */
static void add_segments(struct module *module, const Elf64_Phdr *ph, size_t count)
{
	for (int others = 0; others < 2; others++)
		for (size_t i = 0; i < count && module->segment_count < MODULE_SEGMENTS; i++)
			if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X ? 0 : 1) == others) {
				module->segments[module->segment_count].offset = ph[i].p_offset;
				module->segments[module->segment_count].address = ph[i].p_vaddr;
				module->segments[module->segment_count++].size = ph[i].p_filesz;
			}
}

static bool is_elf64(const Elf64_Ehdr *eh)
{
	return memcmp(eh->e_ident, ELFMAG, SELFMAG) == 0 && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh->e_machine == EM_X86_64 && eh->e_phentsize == sizeof(Elf64_Phdr);
}

static void read_segments(struct module *module)
{
	Elf64_Phdr ph[64];
	Elf64_Ehdr eh;
	size_t count;

	if (pread(module->fd, &eh, sizeof(eh), 0) != sizeof(eh) || !is_elf64(&eh))
		return;
	count = eh.e_phnum < 64 ? eh.e_phnum : 64;
	if (pread(module->fd, ph, count * sizeof(*ph), (off_t)eh.e_phoff) == (ssize_t)(count * sizeof(*ph)))
		add_segments(module, ph, count);
}

static void upload(struct modules *m, struct module *module, struct unwind_table *t)
{
	module->table = kernel_side_add_table(m->session->kernel, t);
	unwind_table_free(t);
	if (module->table != BRAID_NO_TABLE || m->tables_full_told)
		return;
	m->tables_full_told = true;
	session_notice(m->session, 0, BRAID_NOTICE_WARNING,
		       "no room left for unwind tables at %s: its frames are walked by frame pointer", module->path);
}

static void load_file(struct modules *m, struct module *module, pid_t pid, const struct mapping_fact *fact)
{
	struct unwind_table *t = NULL;
	int err;

	module->fd = module_open(pid, fact);
	if (module->fd < 0) {
		log_debug("cannot open %s of process %d: %s", fact->path, pid, strerror(errno));
		return;
	}
	read_segments(module);
	if (build_id_of_fd(module->fd, module->build_id, sizeof(module->build_id)))
		module->build_id[0] = '\0';
	err = unwind_table_get(&t, module->fd, module->build_id);
	if (!err)
		upload(m, module, t);
	else
		log_debug("no unwind table for %s: %s", fact->path, strerror(-err));
}

/* Every 64-bit process of this kernel maps the same vdso, this one too. */
static const void *vdso_image(size_t *size)
{
	*size = 2 * 4096; /* mapped as whole pages; its ELF headers say what is used */
	return (const void *)getauxval(AT_SYSINFO_EHDR);
}

static void load_vdso(struct modules *m, struct module *module)
{
	struct unwind_table *t = NULL;
	const Elf64_Ehdr *eh;
	const void *image;
	size_t size;

	image = vdso_image(&size);
	if (!image)
		return;
	eh = image;
	if (is_elf64(eh))
		add_segments(module, (const Elf64_Phdr *)((const char *)image + eh->e_phoff), eh->e_phnum);
	if (build_id_of_image(image, size, module->build_id, sizeof(module->build_id)))
		module->build_id[0] = '\0';
	if (!unwind_table_build_image(&t, image, size))
		upload(m, module, t);
}

static void emit_module(struct modules *m, const struct module *module)
{
	session_emit(m->session, &(struct trace_rec){.kind = TRACE_MODULE,
						     .module = {.module = module->id,
								.kind = module->kind,
								.path = trace_str_of(module->path),
								.build_id = trace_str_of(module->build_id)}});
}

static bool is_file(const struct mapping_fact *fact)
{
	return fact->inode && fact->path[0] == '/' && strncmp(fact->path, "//", 2) != 0;
}

struct module *modules_get(struct modules *m, pid_t pid, const struct mapping_fact *fact)
{
	struct module_entry *e;
	char key[4200];
	int length;

	length = snprintf(key, sizeof(key), "%x:%x:%llu:%s", fact->major, fact->minor, (unsigned long long)fact->inode,
			  is_file(fact) || fact->path[0] == '[' ? fact->path : "//anon");
	if (length >= (int)sizeof(key))
		length = sizeof(key) - 1;
	HASH_FIND(hh, m->by_key, key, (unsigned)length, e);
	if (e)
		return &e->module;
	e = calloc(1, sizeof(*e) + (size_t)length + 1);
	if (!e)
		return NULL;
	memcpy(e->key, key, (size_t)length);
	e->module.id = ++m->last_module;
	e->module.kind = TRACE_MODULE_ANON;
	e->module.table = BRAID_NO_TABLE;
	e->module.fd = e->module.debug_fd = -1;
	e->module.seen_in = pid;
	e->module.path = strdup(is_file(fact) || fact->path[0] == '[' ? fact->path : "//anon");
	if (!e->module.path) {
		free(e);
		return NULL;
	}
	if (is_file(fact)) {
		e->module.kind = TRACE_MODULE_ELF;
		load_file(m, &e->module, pid, fact);
	} else if (strcmp(fact->path, "[vdso]") == 0) {
		e->module.kind = TRACE_MODULE_VDSO;
		load_vdso(m, &e->module);
	}
	HASH_ADD_KEYPTR(hh, m->by_key, e->key, (unsigned)length, e);
	emit_module(m, &e->module);
	return &e->module;
}

uint64_t module_bias(const struct module *module, const struct mapping_fact *fact)
{
	/* A mapping begins at a page of the file; the segment that it belongs to begins in or before its last page. */
	for (uint32_t i = 0; i < module->segment_count; i++) {
		uint64_t page = module->segments[i].offset & ~4095ULL;

		if (fact->file_offset >= page &&
		    fact->file_offset < module->segments[i].offset + module->segments[i].size)
			return fact->start - fact->file_offset + module->segments[i].offset -
			       module->segments[i].address;
	}
	return fact->start - fact->file_offset;
}

static void load_symbols(const struct modules *m, struct module *module)
{
	char root[64];
	size_t size;
	const void *image;

	module->symbols_tried = true;
	if (module->kind == TRACE_MODULE_VDSO) {
		image = vdso_image(&size);
		if (image && symbols_open_image(&module->symbols, image, size))
			module->symbols = NULL;
		return;
	}
	if (module->fd < 0)
		return;
	snprintf(root, sizeof(root), "/proc/%d/root", module->seen_in);
	if (access(root, F_OK))
		root[0] = '\0';
	if (symbols_open_elf(&module->symbols, module->fd, root, module->path))
		module->symbols = NULL;
	if (modules_late_names(m))
		return;
	close(module->fd);
	module->fd = -1;
}

/* Functions without a name of their own have that of the native method that was bound to them. */
static const char *name_of(const struct modules *m, const struct module *module, const struct symbol *sym)
{
	const struct pair_entry *e = sym->name[0] ? NULL : pair_find(&m->bound_at, module->id, sym->address);

	return e ? m->bound[e->value - 1] : sym->name;
}

static void emit_symbol(struct modules *m, const struct module *module, const struct symbol *sym, uint32_t id)
{
	session_emit(m->session, &(struct trace_rec){.kind = TRACE_SYMBOL,
						     .symbol = {.symbol = id,
								.module = module->id,
								.address = sym->address,
								.size = sym->size,
								.name = trace_str_of(name_of(m, module, sym))}});
}

/* Names from a server are others. */
static uint64_t symbol_owner(const struct module *module)
{
	return (uint64_t)(module->debug_fd >= 0) << 32 | module->id;
}

static uint32_t symbol_id(struct modules *m, const struct module *module, uint64_t address)
{
	const struct symbol *sym = symbols_find(module->symbols, address);
	uint64_t owner = symbol_owner(module);
	struct pair_entry *e;

	if (!sym)
		return 0;
	e = pair_find(&m->symbol_ids, owner, sym->address);
	if (e)
		return e->value;
	if (!pair_put(&m->symbol_ids, owner, sym->address, ++m->last_symbol))
		return 0;
	emit_symbol(m, module, sym, m->last_symbol);
	return m->last_symbol;
}

uint32_t modules_symbol(struct modules *m, struct module *module, uint64_t vaddr)
{
	if (!module->symbols_tried)
		load_symbols(m, module);
	return module->symbols ? symbol_id(m, module, vaddr) : 0;
}

static bool bind(struct modules *m, const struct module *module, uint64_t vaddr, const char *name)
{
	if (m->bound_count == BOUND_MAX || pair_find(&m->bound_at, module->id, vaddr))
		return false;
	if (!m->bound && !(m->bound = calloc(BOUND_MAX, sizeof(*m->bound))))
		return false;
	m->bound[m->bound_count] = strdup(name);
	if (!m->bound[m->bound_count] || !pair_put(&m->bound_at, module->id, vaddr, m->bound_count + 1)) {
		free(m->bound[m->bound_count]);
		return false;
	}
	m->bound_count++;
	return true;
}

const char *modules_bind(struct modules *m, struct module *module, uint64_t vaddr, const char *name)
{
	const struct symbol *sym;
	struct pair_entry *e;

	if (!module->symbols_tried)
		load_symbols(m, module);
	sym = module->symbols ? symbols_find(module->symbols, vaddr) : NULL;
	if (!sym || sym->name[0] || sym->address != vaddr)
		return sym ? sym->name : "";
	e = bind(m, module, vaddr, name) ? pair_find(&m->symbol_ids, symbol_owner(module), vaddr) : NULL;
	if (e) /* it was hit already */
		emit_symbol(m, module, sym, e->value);
	return "";
}

bool modules_late_names(const struct modules *m)
{
	return m->session->options->lines || debuginfod_configured();
}

bool modules_ask_servers(struct module *module, uint64_t limit_ns)
{
	struct symbols *symbols = NULL;
	int err;

	if (module->asked || module->fd < 0 || (module->symbols && !symbols_stripped(module->symbols)))
		return module->debug_fd >= 0;
	module->asked = true;
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
	if (!m->lines)
		m->lines = module_lines_new();
	return m->lines ? module_lines_find(m->lines, m->session, module, vaddr, scopes) : 0;
}

void modules_lines_done(struct modules *m)
{
	module_lines_free(m->lines);
	m->lines = NULL;
}

void modules_load_kernel(struct modules *m)
{
	int err = symbols_open_kernel(&m->kernel.symbols);

	m->kernel.id = ++m->last_module;
	m->kernel.kind = TRACE_MODULE_KERNEL;
	m->kernel.debug_fd = -1;
	m->kernel.path = (char *)"[kernel]";
	emit_module(m, &m->kernel);
	if (err) {
		m->kernel.symbols = NULL;
		session_notice(
			m->session, 0, BRAID_NOTICE_WARNING,
			"kernel frames have no names: cannot read /proc/kallsyms: %s (sysctl kernel.kptr_restrict)",
			strerror(-err));
	}
}

uint32_t modules_kernel_symbol(struct modules *m, uint64_t address, uint32_t *module_id)
{
	*module_id = m->kernel.id;
	return m->kernel.symbols ? symbol_id(m, &m->kernel, address) : 0;
}
