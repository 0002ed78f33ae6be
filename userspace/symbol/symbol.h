// SPDX-License-Identifier: Apache-2.0
/*
 * Names of native functions, from ELF files, and of the kernel's, as it prints them. process/, probes and the unwind
 * tables' code use it.
 */
#ifndef BRAID_SYMBOL_SYMBOL_H
#define BRAID_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
	uint64_t address;
	uint64_t size;
	const char *name; /* the table owns it */
};

struct symbols; /* a sorted, searchable table */

/*
 * Symbols of the ELF image open at `fd`: .symtab, else the separate debug file (build-id under
 * `root`/usr/lib/debug/.build-id, .gnu_debuglink beside `path` or under /usr/lib/debug), else .dynsym and the mini
 * debug info's (.gnu_debugdata) when elfutils can read it. A debug file is used when it belongs to root, to the
 * recording user, or to the module's owner. Addresses are ELF virtual addresses. PLT slots are named "function@plt".
 * `root` is the directory under which the process sees its files ("/proc/PID/root" or ""), `path` the module's path in
 * there. Stripped functions with a frame description get an empty name. An image without any symbol gives an empty
 * table, not an error.
 */
int symbols_open_elf(struct symbols **out, int fd, const char *root, const char *path);
int symbols_open_image(struct symbols **out, const void *data, size_t size); /* the vdso */
/* The same with a debug file from another source. */
int symbols_open_with(struct symbols **out, int fd, int debug_fd);
/* Whether neither the image nor a debug file had a .symtab. */
bool symbols_stripped(const struct symbols *s);

/* Whether the user has set debuginfod servers. */
bool debuginfod_configured(void);
/*
 * The debug file of a build-id (lower-case hex) from the cache or the servers, in at most about limit_ns: an fd, or a
 * negative errno; -ENOENT also when debuginfod is not configured or not installed.
 */
int debuginfod_find(const char *build_id, uint64_t limit_ns);

/*
 * What the kernel prints of an address, "name+0xOFFSET/0xSIZE [module]", which is cut behind the name; *out refers to
 * it. False: it has no name.
 */
bool symbol_from_kernel(char *text, uint64_t address, struct symbol *out);

/* The symbol that covers `address` by its size or, without one, is the nearest below in the same section. */
bool symbols_find(const struct symbols *s, uint64_t address, struct symbol *out);

/*
 * Addresses and sizes of symbols with the given names; 0 for those not found, and of "". `any` may be of any type.
 * Those of `functions` are file offsets: also 0 where no frame description of the file begins. The result counts for
 * every process with the file mapped, so only this program's own root is searched for a separate debug file.
 */
int symbols_lookup(int fd, const char *path, struct symbol *any, size_t any_count, struct symbol *functions,
		   size_t function_count);
/*
 * The file offset of one function of the file's own tables that has a size, and that no frame description covers: such
 * as those written in assembler, and of libraries that are built without them.
 */
int symbols_undescribed(int fd, struct symbol *query);
/* Addresses and sizes of the file's dynamic symbols only, which strip never removes. */
int symbols_exported(int fd, struct symbol *query, size_t count);
/* Calls back with the data whose linker names begin with `prefix`, until the callback returns false. */
int symbols_of_data(int fd, const char *path, const char *prefix, bool (*fn)(void *ctx, const struct symbol *symbol),
		    void *ctx);

size_t symbols_count(const struct symbols *s);
size_t symbols_bytes(const struct symbols *s); /* of memory */
void symbols_free(struct symbols *s);

/*
 * The build-id of an ELF image as lower-case hex into `hex` (at least 41 bytes); 0, -ENODATA without one, or an error.
 */
int build_id_of_fd(int fd, char *hex, size_t size);
int build_id_of_image(const void *data, size_t image_size, char *hex, size_t size);

/* Demangles C++ and Rust names; returns a malloc'ed string, or NULL when `name` is not mangled. */
char *symbol_demangle(const char *name);

#endif
