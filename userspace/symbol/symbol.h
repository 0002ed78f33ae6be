// SPDX-License-Identifier: Apache-2.0
/* Names of native and kernel functions. */
#ifndef BRAID_SYMBOL_SYMBOL_H
#define BRAID_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
	uint64_t address;
	uint64_t size;
	const char *name; /* owned by the table it came from */
};

struct symbols; /* a sorted, searchable table */

/*
 * Symbols of the ELF image open at `fd`: .symtab, else the separate debug file (build-id under
 * `root`/usr/lib/debug/.build-id, .gnu_debuglink beside `path` or under /usr/lib/debug), else .dynsym and the mini
 * debug info's (.gnu_debugdata) when elfutils can read it. A debug file is used when it is of root, of the user who
 * records, or of the module's owner. Addresses are ELF virtual addresses. PLT slots are named
 * "function@plt". `root` is the directory under which the process sees its files ("/proc/PID/root" or ""), `path` the
 * module's path in there. Stripped functions that have a frame description are there with an empty name. An image
 * without any symbol gives an empty table, not an error.
 */
int symbols_open_elf(struct symbols **out, int fd, const char *root, const char *path);
int symbols_open_image(struct symbols **out, const void *data, size_t size); /* the vdso */
/* The same with a debug file that was found otherwise. */
int symbols_open_with(struct symbols **out, int fd, int debug_fd);
/* Neither the image nor a debug file had its .symtab. */
bool symbols_stripped(const struct symbols *s);

/* Has the user named debuginfod servers? */
bool debuginfod_configured(void);
/*
 * The debug file of a build-id (lower-case hex) from its cache or its servers, in no more than about limit_ns: an fd,
 * or a negative errno; -ENOENT also when it is not configured or not installed.
 */
int debuginfod_find(const char *build_id, uint64_t limit_ns);

/* /proc/kallsyms; -EPERM when the kernel hides the addresses (kptr_restrict). Module symbols get their "[module]"
 * dropped. */
int symbols_open_kernel(struct symbols **out);

/* The symbol that covers `address`: its size says so, or it is the nearest below of no size within the same section. */
bool symbols_find(const struct symbols *s, uint64_t address, struct symbol *out);

/*
 * Addresses and sizes of symbols of the given names, whatever they are; 0 where there is none. What they say counts for
 * every process that has the file mapped, so that a separate debug file is looked for in this program's own root only.
 */
int symbols_lookup(int fd, const char *path, struct symbol *query, size_t count);
/* The same of functions alone, as offsets in the file: 0 also where none of its frame descriptions begins. */
int symbols_functions(int fd, const char *path, struct symbol *query, size_t count);
/* The same of the file's dynamic symbols alone, which no file is stripped of. */
int symbols_exported(int fd, struct symbol *query, size_t count);
/* Calls back with the data whose names, as the linker has them, begin like that, until it is false. */
int symbols_of_data(int fd, const char *path, const char *prefix, bool (*fn)(void *ctx, const struct symbol *symbol),
		    void *ctx);

size_t symbols_count(const struct symbols *s);
size_t symbols_bytes(const struct symbols *s); /* of memory */
void symbols_free(struct symbols *s);

/*
 * The build-id of an ELF image as lower-case hex into `hex` (at least 41 bytes); 0, -ENODATA when it has none, or an
 * error.
 */
int build_id_of_fd(int fd, char *hex, size_t size);
int build_id_of_image(const void *data, size_t image_size, char *hex, size_t size);

/* C++ and Rust names as people write them; returns a malloc'ed string, or NULL when `name` is not mangled. */
char *symbol_demangle(const char *name);

#endif
