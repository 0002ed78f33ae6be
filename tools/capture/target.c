// SPDX-License-Identifier: Apache-2.0
#include "target.h"

#include "hotspot/hotspot.h"
#include "symbol/symbol.h"
#include "unwind/table.h"

#include <elf.h>
#include <fcntl.h>
#include <libelf.h>
#include <gelf.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

struct target_module {
	uint32_t id;
	char *path;
	uint64_t inode;
	struct unwind_table *table; /* NULL: none */
	struct symbols *symbols;
	GElf_Phdr loads[8];
	size_t load_count;
};

#define TARGET_GROW(t, what)                                                                                           \
	snapshot_grow((void **)&(t)->what##s, &(t)->what##_count, &(t)->what##_room, sizeof(*(t)->what##s))

int target_open(struct target *t, pid_t pid)
{
	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->moment = 1;
	elf_version(EV_CURRENT);
	t->pages = calloc(TARGET_PAGES, sizeof(*t->pages));
	return t->pages ? 0 : -ENOMEM;
}

void target_close(struct target *t)
{
	for (size_t i = 0; i < t->module_count; i++) {
		unwind_table_free(t->modules[i]->table);
		symbols_free(t->modules[i]->symbols);
		free(t->modules[i]->path);
		free(t->modules[i]);
	}
	free(t->modules);
	free(t->mappings);
	free(t->pages);
	memset(t, 0, sizeof(*t));
}

int target_read_layout(struct target *t, const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = 0;

	if (!f)
		return -errno;
	t->has_layout = fread(&t->layout, sizeof(t->layout), 1, f) == 1;
	n = fread(t->version, 1, sizeof(t->version) - 1, f);
	t->version[n] = '\0';
	fclose(f);
	return t->has_layout ? 0 : -EBADMSG;
}

void target_moment(struct target *t)
{
	t->moment++;
}

/* ---- memory ---- */

static struct target_page *page_get(struct target *t, uint64_t address)
{
	struct target_page *p = &t->pages[(address / TARGET_PAGE) % TARGET_PAGES];
	struct iovec local = {.iov_base = p->bytes, .iov_len = TARGET_PAGE};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = TARGET_PAGE};

	if (p->address == address && p->moment == t->moment)
		return p;
	p->address = address;
	p->moment = t->moment;
	p->readable = process_vm_readv(t->pid, &local, 1, &remote, 1, 0) == TARGET_PAGE;
	return p;
}

int target_read(struct target *t, uint64_t address, void *to, size_t size)
{
	uint8_t *out = to;

	while (size) {
		uint64_t skip = address % TARGET_PAGE;
		size_t n = TARGET_PAGE - skip < size ? TARGET_PAGE - skip : size;
		struct target_page *p = page_get(t, address - skip);

		if (!p->readable)
			return -EFAULT;
		memcpy(out, p->bytes + skip, n);
		address += n;
		out += n;
		size -= n;
	}
	return 0;
}

static long op_read(void *ctx, void *to, __u32 size, __u64 address)
{
	struct target *t = ctx;
	int err = target_read(t, address, to, size);

	if (!err && t->recording)
		err = snapshot_put(t->recording, address, to, size);
	return err;
}

/* ---- modules ---- */

static void module_load_segments(struct target_module *module, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	size_t count = 0;

	if (elf && !elf_getphdrnum(elf, &count))
		for (size_t i = 0; i < count && module->load_count < 8; i++) {
			GElf_Phdr *ph = &module->loads[module->load_count];

			if (gelf_getphdr(elf, (int)i, ph) && ph->p_type == PT_LOAD)
				module->load_count++;
		}
	elf_end(elf);
}

static void module_load_file(struct target *t, struct target_module *module, uint64_t start, uint64_t end)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, t->pid, start, end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = open(module->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	module_load_segments(module, fd);
	if (unwind_table_get(&module->table, fd))
		module->table = NULL;
	if (symbols_open_elf(&module->symbols, fd, "", module->path))
		module->symbols = NULL;
	close(fd);
}

/* Every 64-bit process of one kernel has the same vdso. */
static void module_load_vdso(struct target_module *module)
{
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);

	if (image && unwind_table_build_image(&module->table, image, 2UL * TARGET_PAGE))
		module->table = NULL;
	if (image && symbols_open_image(&module->symbols, image, 2UL * TARGET_PAGE))
		module->symbols = NULL;
}

static struct target_module *module_get(struct target *t, const char *path, uint64_t inode, uint64_t start,
					uint64_t end)
{
	struct target_module *module, **to;

	for (size_t i = 0; i < t->module_count; i++)
		if (t->modules[i]->inode == inode && strcmp(t->modules[i]->path, path) == 0)
			return t->modules[i];
	module = calloc(1, sizeof(*module));
	to = module ? TARGET_GROW(t, module) : NULL;
	if (!to) {
		free(module);
		return NULL;
	}
	*to = module;
	module->id = (uint32_t)t->module_count - 1;
	module->path = strdup(path);
	module->inode = inode;
	if (inode && path[0] == '/')
		module_load_file(t, module, start, end);
	else if (strcmp(path, "[vdso]") == 0)
		module_load_vdso(module);
	return module;
}

static uint64_t module_bias_at(const struct target_module *module, uint64_t start, uint64_t offset)
{
	for (size_t i = 0; i < module->load_count; i++) {
		const GElf_Phdr *ph = &module->loads[i];

		if (offset >= (ph->p_offset & ~(TARGET_PAGE - 1ULL)) && offset < ph->p_offset + ph->p_filesz)
			return start - offset + ph->p_offset - ph->p_vaddr;
	}
	return start - offset;
}

static void mapping_add(struct target *t, char *line)
{
	unsigned long long start, end, offset, inode;
	struct target_module *module;
	struct target_mapping *to;
	char prot[8];
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%llx-%llx %7s %llx %*x:%*x %llu %n", &start, &end, prot, &offset, &inode, &path) < 5 || !path)
		return;
	if (prot[2] != 'x' || start >> 47)
		return;
	module = module_get(t, line + path, inode, start, end);
	to = module ? TARGET_GROW(t, mapping) : NULL;
	if (!to)
		return;
	to->module = module;
	to->m = (struct braid_mapping){.start = start,
				       .end = end,
				       .bias = module_bias_at(module, start, offset),
				       .table = module->table ? module->id : BRAID_NO_TABLE};
}

static void mappings_load(struct target *t)
{
	char path[64], line[4500];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", t->pid);
	f = fopen(path, "r");
	t->mapping_count = 0;
	t->mappings_moment = t->moment;
	while (f && fgets(line, sizeof(line), f))
		mapping_add(t, line);
	if (f)
		fclose(f);
}

/* A missing mapping may be newer than the list, which is read again at most once per moment. */
static const struct target_mapping *mapping_find(struct target *t, uint64_t pc)
{
	for (int again = 0; again < 2; again++) {
		size_t low = 0, high = t->mapping_count;

		while (low < high) {
			size_t middle = (low + high) / 2;

			if (pc >= t->mappings[middle].m.end)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < t->mapping_count && pc >= t->mappings[low].m.start)
			return &t->mappings[low];
		if (t->mappings_moment == t->moment)
			break;
		mappings_load(t);
	}
	return NULL;
}

static bool op_mapping(void *ctx, __u64 pc, struct braid_mapping *m)
{
	struct target *t = ctx;
	const struct target_mapping *found = mapping_find(t, pc);

	if (!found)
		return false;
	*m = found->m;
	if (t->recording)
		snapshot_add_mapping(t->recording, m);
	return true;
}

static void rule_record(struct snapshot *s, const struct unwind_table *table, uint32_t id, uint64_t vaddr,
			uint32_t rule)
{
	struct snapshot_rule r = {.table = id, .rule = rule, .from = 0, .to = UINT32_MAX};
	uint32_t low = 0, high = table->row_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (table->rows[middle].pc <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low)
		r.from = table->rows[low - 1].pc;
	if (low < table->row_count)
		r.to = table->rows[low].pc;
	snapshot_add_rule(s, &r);
}

static __u32 op_rule(void *ctx, const struct braid_mapping *m, __u64 vaddr)
{
	struct target *t = ctx;
	const struct unwind_table *table = m->table < t->module_count ? t->modules[m->table]->table : NULL;
	uint32_t rule;

	if (!table)
		return BRAID_CFA_NONE;
	rule = unwind_table_rule(table, vaddr);
	if (t->recording)
		rule_record(t->recording, table, m->table, vaddr, rule);
	return rule;
}

const struct host_walk_ops target_ops = {.read = op_read, .mapping = op_mapping, .rule = op_rule};

/* ---- names ---- */

static int read_for_hotspot(void *ctx, uint64_t address, void *to, size_t size)
{
	return target_read(ctx, address, to, size);
}

void target_blob_find(struct target *t, uint64_t pc, struct target_blob *b)
{
	struct hotspot_blob found;

	memset(b, 0, sizeof(*b));
	if (!t->has_layout || hotspot_blob_find(&t->layout, read_for_hotspot, t, pc, &found))
		return;
	b->found = true;
	b->address = found.address;
	b->code = found.code_begin;
	b->size = found.size;
	b->tier = found.method ? found.tier : 0;
	snprintf(b->name, sizeof(b->name), "%s", found.name);
}

static void method_name(struct target *t, const char *kind, uint64_t method, char *to, size_t size)
{
	struct hotspot_method m;

	if (hotspot_method_read(&t->layout, read_for_hotspot, t, method, &m))
		snprintf(to, size, "%s ?", kind);
	else
		snprintf(to, size, "%s %.100s.%.50s", kind, m.class_name, m.name);
}

static void native_name(struct target *t, uint64_t pc, char *to, size_t size)
{
	const struct target_mapping *m = mapping_find(t, pc);
	struct symbol sym = {.name = "?"};
	const char *file = m ? strrchr(m->module->path, '/') : NULL;

	if (m && m->module->symbols && !symbols_find(m->module->symbols, pc - m->m.bias, &sym))
		sym.name = "?";
	snprintf(to, size, "native %.100s (%.40s)", sym.name, file ? file + 1 : m ? m->module->path : "?");
}

static void code_name(struct target *t, uint64_t pc, char *to, size_t size)
{
	static const char *const tiers[] = {"code", "C1", "C1", "C1", "C2"};
	struct hotspot_blob b;

	if (hotspot_blob_find(&t->layout, read_for_hotspot, t, pc, &b))
		snprintf(to, size, "code ?");
	else if (b.method)
		method_name(t,
			    strcmp(b.name, "native nmethod") == 0	? "wrapper"
			    : b.tier < sizeof(tiers) / sizeof(tiers[0]) ? tiers[b.tier]
									: "code",
			    b.method, to, size);
	else
		snprintf(to, size, "stub %.60s+%" PRIx64, b.name, pc - b.code_begin);
}

void target_frame_name(struct target *t, uint64_t frame, char *to, size_t size)
{
	uint64_t pc = frame & BRAID_FRAME_EXACT ? braid_frame_addr(frame) : braid_frame_addr(frame) - 1;
	uint64_t kind = braid_frame_kind(frame);
	char kind_name[32];

	if (kind == BRAID_FRAME_INTERPRETED) {
		snprintf(kind_name, sizeof(kind_name), "interpreted@%d",
			 braid_frame_bci(frame) == BRAID_FRAME_BCI_NONE ? -1 : (int)braid_frame_bci(frame));
		method_name(t, kind_name, braid_frame_method(frame), to, size);
	} else if (kind == BRAID_FRAME_CODE_CACHE) {
		code_name(t, pc, to, size);
	} else {
		native_name(t, pc, to, size);
	}
}
