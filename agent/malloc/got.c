// SPDX-License-Identifier: Apache-2.0
/*
 * All of it runs in a callback of dl_iterate_phdr, under the lock without which the linker unmaps nothing. Objects that
 * are being loaded are in the list already, and the linker writes their slots without that lock:
 *   - in a segment that becomes read-only (RELRO), slots are left alone until some of it is: only then the linker is
 *     done, and to protect it earlier would make the linker fault. Another tool may have made pages of it writable
 *     again, for good: each page stays what it is;
 *   - elsewhere, a slot is replaced only if it leads to the function, or to the object's own code that binds it when it
 *     is called (lazily). Before the linker has relocated the slot, it does neither.
 * An object's tables are what its file says, so they are used only within its segments.
 */
#include "got.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096UL
#define MAPS_BYTES 4096
#define PIECES 32 /* of RELRO that are read-only; another tool's changes leave a few */

struct object {
	const struct dl_phdr_info *info;
	const ElfW(Sym) * symbols;
	const char *names;
	size_t names_size;
	struct relocations {
		const ElfW(Rela) * at;
		size_t bytes;
	} plt, other;
	uintptr_t relro, relro_end; /* whole pages; equal: none */
	uintptr_t span;		    /* the end of its last segment, from its begin on */
};

struct change {
	const struct got_function *functions;
	struct got_result *result;
	enum got_way way;
};

/* ---- an object's tables ---- */

/* Whether the bytes are in one loaded segment with these permissions. */
static bool is_loaded(const struct dl_phdr_info *info, uintptr_t at, size_t bytes, uint32_t flags)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && (p->p_flags & flags) == flags && at >= from && at - from <= p->p_memsz &&
		    bytes <= p->p_memsz - (at - from))
			return true;
	}
	return false;
}

/* The linker has made most addresses of a dynamic section absolute; those of the kernel's object are not. */
static uintptr_t absolute(const struct dl_phdr_info *info, uintptr_t at)
{
	return at < info->dlpi_addr ? info->dlpi_addr + at : at;
}

static void take_entry(struct object *o, const ElfW(Dyn) * d)
{
	uintptr_t at = absolute(o->info, d->d_un.d_ptr);

	switch (d->d_tag) {
	case DT_SYMTAB:
		o->symbols = (const void *)at;
		break;
	case DT_STRTAB:
		o->names = (const void *)at;
		break;
	case DT_STRSZ:
		o->names_size = d->d_un.d_val;
		break;
	case DT_JMPREL:
		o->plt.at = (const void *)at;
		break;
	case DT_PLTRELSZ:
		o->plt.bytes = d->d_un.d_val;
		break;
	case DT_RELA:
		o->other.at = (const void *)at;
		break;
	case DT_RELASZ:
		o->other.bytes = d->d_un.d_val;
		break;
	default:
		break;
	}
}

static void check_relocations(const struct object *o, struct relocations *r)
{
	if (!r->at || (uintptr_t)r->at % _Alignof(ElfW(Rela)) || !is_loaded(o->info, (uintptr_t)r->at, r->bytes, PF_R))
		r->bytes = 0;
}

/* False when nothing of it can be used. */
static bool read_object(struct object *o, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *d = NULL;
	size_t count = 0;

	*o = (struct object){.info = info};
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_DYNAMIC && is_loaded(info, at, p->p_memsz, PF_R)) {
			d = (const void *)at;
			count = p->p_memsz / sizeof(*d);
		} else if (p->p_type == PT_GNU_RELRO && is_loaded(info, at, p->p_memsz, PF_R)) {
			o->relro = at & ~(PAGE - 1);
			o->relro_end = (at + p->p_memsz) & ~(PAGE - 1);
		} else if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > o->span) {
			o->span = p->p_vaddr + p->p_memsz;
		}
	}
	for (size_t i = 0; i < count && d[i].d_tag != DT_NULL; i++)
		take_entry(o, &d[i]);
	check_relocations(o, &o->plt);
	check_relocations(o, &o->other);
	return o->symbols && o->names && is_loaded(info, (uintptr_t)o->names, o->names_size, PF_R);
}

/* ---- slots ---- */

static const ElfW(Sym) * symbol_of(const struct object *o, const ElfW(Rela) * r)
{
	const ElfW(Sym) *s = &o->symbols[ELF64_R_SYM(r->r_info)];

	return (uintptr_t)s % _Alignof(ElfW(Sym)) || !is_loaded(o->info, (uintptr_t)s, sizeof(*s), PF_R) ? NULL : s;
}

static const char *name_of(const struct object *o, const ElfW(Sym) * s)
{
	if (!s || s->st_name >= o->names_size || !memchr(o->names + s->st_name, 0, o->names_size - s->st_name))
		return "";
	return o->names + s->st_name;
}

static const struct got_function *function_of(const struct object *o, const struct change *c, const ElfW(Rela) * r)
{
	uint32_t type = ELF64_R_TYPE(r->r_info);
	const char *name;

	if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) || r->r_addend)
		return NULL;
	name = name_of(o, symbol_of(o, r));
	for (const struct got_function *f = c->functions; f->name; f++)
		if (f->own && strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

static _Atomic uintptr_t *slot_of(const struct object *o, const ElfW(Rela) * r)
{
	uintptr_t at = o->info->dlpi_addr + r->r_offset;

	return at % sizeof(at) || !is_loaded(o->info, at, sizeof(at), PF_R | PF_W) ? NULL : (_Atomic uintptr_t *)at;
}

enum leads { LEADS_NOWHERE, LEADS_TO_OWN, LEADS_TO_HOOK, LEADS_TO_BINDING, LEADS_ELSEWHERE };

/* Before the linker has relocated it, a slot has an address as in the file, which is below the object. */
static bool is_relocated(const struct object *o, uintptr_t value)
{
	return value >= PAGE && (!o->info->dlpi_addr || value >= o->span);
}

/*
 * Whether the slot is bound when it is called. What an object defines itself may be bound to that, or is already
 * (RTLD_DEEPBIND), except for the process's own function in the object that has it.
 */
static bool is_lazy(const struct object *o, const struct got_function *f, const ElfW(Rela) * r)
{
	const ElfW(Sym) *s = symbol_of(o, r);

	return ELF64_R_TYPE(r->r_info) == R_X86_64_JUMP_SLOT && s &&
	       (s->st_shndx == SHN_UNDEF || o->info->dlpi_addr + s->st_value == f->own);
}

static enum leads leads(const struct object *o, const struct got_function *f, const ElfW(Rela) * r, uintptr_t value)
{
	if (value == f->own)
		return LEADS_TO_OWN;
	if (value == f->hook)
		return LEADS_TO_HOOK;
	if (!is_relocated(o, value))
		return LEADS_NOWHERE;
	return is_loaded(o->info, value, 1, PF_X) && is_lazy(o, f, r) ? LEADS_TO_BINDING : LEADS_ELSEWHERE;
}

/* What the slots of an object need. */
struct needs {
	uint32_t changes, elsewhere;
	uintptr_t from, to; /* whole pages of RELRO that have slots to change; `to` is 0: none */
};

static void take_page(struct needs *needs, uintptr_t page)
{
	needs->from = needs->to && needs->from < page ? needs->from : page;
	needs->to = needs->to > page ? needs->to : page + PAGE;
}

static void slot_change(const struct object *o, const struct change *c, const ElfW(Rela) * r, struct needs *needs)
{
	const struct got_function *f = function_of(o, c, r);
	_Atomic uintptr_t *slot = f ? slot_of(o, r) : NULL;
	uintptr_t value = slot ? atomic_load_explicit(slot, memory_order_relaxed) : 0;
	enum leads to = slot ? leads(o, f, r, value) : LEADS_NOWHERE;

	if (c->way == GOT_BACK ? to != LEADS_TO_HOOK : to != LEADS_TO_OWN && to != LEADS_TO_BINDING) {
		if (needs)
			needs->elsewhere += to == LEADS_ELSEWHERE;
		return;
	}
	if (needs) {
		needs->changes++;
		if ((uintptr_t)slot >= o->relro && (uintptr_t)slot < o->relro_end)
			take_page(needs, (uintptr_t)slot & ~(PAGE - 1));
	} else {
		c->result->changed +=
			atomic_compare_exchange_strong(slot, &value, c->way == GOT_BACK ? f->own : f->hook);
	}
}

static void slots_of(const struct object *o, const struct change *c, struct needs *needs)
{
	for (size_t i = 0; i < o->plt.bytes / sizeof(ElfW(Rela)); i++)
		slot_change(o, c, &o->plt.at[i], needs);
	for (size_t i = 0; i < o->other.bytes / sizeof(ElfW(Rela)); i++)
		slot_change(o, c, &o->other.at[i], needs);
}

/* ---- protection ---- */

/* An object's RELRO as it is now. */
struct protection {
	uintptr_t known, end; /* looked at up to `known` */
	uint32_t count;
	struct {
		uintptr_t from, to;
	} read_only[PIECES];
};

/* Takes a line "from-to r--p.." of the process's mappings, which come in ascending order. */
static void take_line(const char *line, struct protection *p)
{
	char *end;
	uintptr_t from = strtoul(line, &end, 16), to = *end == '-' ? strtoul(end + 1, &end, 16) : 0;
	bool read_only = strncmp(end, " r--", 4) == 0;

	if (from > p->known || to <= p->known || (!read_only && strncmp(end, " rw", 3) != 0) || p->count == PIECES)
		return;
	to = to < p->end ? to : p->end;
	if (read_only) {
		p->read_only[p->count].from = p->known;
		p->read_only[p->count++].to = to;
	}
	p->known = to;
}

/* True when all of it is known. */
static bool protection_read(struct protection *p)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char text[MAPS_BYTES + 1];
	size_t used = 0;
	ssize_t got = 0;

	while (fd >= 0 && p->known < p->end && (got = read(fd, text + used, MAPS_BYTES - used)) > 0) {
		char *line = text, *end;

		used += (size_t)got;
		text[used] = '\0';
		for (; p->known < p->end && (end = strchr(line, '\n')); line = end + 1)
			take_line(line, p);
		used -= (size_t)(line - text);
		if (used == MAPS_BYTES) /* no such line is that long */
			break;
		memmove(text, line, used);
	}
	if (fd >= 0)
		close(fd);
	return p->known == p->end;
}

/* Of the read-only pieces, what has slots to change. */
static bool protect(const struct protection *p, const struct needs *needs, int access)
{
	bool done = true;

	for (uint32_t i = 0; i < p->count; i++) {
		uintptr_t from = p->read_only[i].from > needs->from ? p->read_only[i].from : needs->from;
		uintptr_t to = p->read_only[i].to < needs->to ? p->read_only[i].to : needs->to;

		if (from < to && mprotect((void *)from, to - from, access))
			done = false;
	}
	return done;
}

static void note_name(struct got_result *result, const struct object *o, uint32_t *count)
{
	if (!result->name[0])
		snprintf(result->name, sizeof(result->name), "%s",
			 *o->info->dlpi_name ? o->info->dlpi_name : "the program");
	(*count)++;
}

static void object_change(const struct object *o, const struct change *c, const struct needs *needs)
{
	struct protection p = {.known = o->relro, .end = o->relro_end};

	if (!needs->to) {
		slots_of(o, c, NULL);
	} else if (!protection_read(&p)) {
		note_name(c->result, o, &c->result->refused);
	} else if (!p.count && c->way == GOT_HOOKS) {
		c->result->later++;
	} else {
		if (protect(&p, needs, PROT_READ | PROT_WRITE))
			slots_of(o, c, NULL);
		else
			note_name(c->result, o, &c->result->refused);
		(void)protect(&p, needs, PROT_READ);
	}
}

/* ---- objects ---- */

/*
 * Not this library, or a copy of it, whose own allocations are none of the program's; not the linker; and not an
 * allocator, which may call its functions from each other: but libc, which calls malloc like any other object, is.
 */
static bool is_left_out(const struct change *c, const struct dl_phdr_info *info)
{
	uintptr_t libc = (uintptr_t)getpid;

	if (is_loaded(info, c->functions[0].hook, 1, PF_X) || strstr(info->dlpi_name, "/libbraid-agent.so") ||
	    info->dlpi_addr == getauxval(AT_BASE))
		return true;
	return is_loaded(info, c->functions[0].own, 1, PF_X) && !is_loaded(info, libc, 1, PF_X);
}

static int on_object(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct change *c = data;
	struct needs needs = {0};
	struct object o;

	(void)size;
	if (is_left_out(c, info) || !read_object(&o, info))
		return 0;
	slots_of(&o, c, &needs);
	if (needs.elsewhere && c->way != GOT_BACK)
		note_name(c->result, &o, &c->result->foreign);
	else if (needs.changes)
		object_change(&o, c, &needs);
	return 0;
}

struct got_result got_change(const struct got_function *functions, enum got_way way)
{
	struct got_result result = {0};
	struct change c = {functions, &result, way};

	dl_iterate_phdr(on_object, &c);
	return result;
}

static int on_count(struct dl_phdr_info *info, size_t size, void *data)
{
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs))
		*(uint64_t *)data = (uint64_t)(info->dlpi_adds + info->dlpi_subs);
	return 1; /* all have the same counts */
}

uint64_t got_objects(void)
{
	uint64_t count = 0;

	dl_iterate_phdr(on_count, &count);
	return count;
}
