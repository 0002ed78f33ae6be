// SPDX-License-Identifier: Apache-2.0
#include "probe_file.h"

#include "symbol/symbol.h"
#include "symbol/usdt.h"
#include "unwind/code.h"
#include "util/log.h"
#include "util/owner.h"
#include "util/root_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOP 0x90
#define OFFSET_MAX (1U << 20) /* bytes in a function */

/* Whether an instruction begins at `at`, when those before it are decoded one by one. */
static bool is_reached(const uint8_t *code, size_t size, size_t at)
{
	size_t pc = 0;

	while (code && pc < at) {
		struct code_insn insn;

		machine_decode(&insn, code + pc, size - pc);
		if (insn.kind == CODE_INVALID)
			break;
		pc += insn.length;
	}
	return code && pc == at && at < size;
}

static bool is_nop(void *ctx, const struct usdt_place *p)
{
	bool *good = ctx;

	*good = is_reached(p->code, p->size, p->before) && p->code[p->before] == NOP && p->counter_fits;
	return *good;
}

bool probe_file_usdt(int fd, const char *provider, const char *name)
{
	bool good = false;

	return !usdt_places(fd, provider, name, is_nop, &good) && good;
}

/* Whether an instruction of the function begins at this offset in it. */
static bool is_instruction(int fd, const struct symbol *function, uint64_t offset)
{
	uint8_t code[4096];
	size_t size = sizeof(code), at = 0;
	uint64_t from = 0;

	if (offset >= OFFSET_MAX || (function->size && offset >= function->size))
		return false;
	while (from < offset) { /* in pieces that end at an instruction */
		ssize_t n = pread(fd, code, size, (off_t)(function->address + from));

		for (at = 0; n > 0 && at + 16 <= (size_t)n && from + at < offset;) {
			struct code_insn insn;

			machine_decode(&insn, code + at, (size_t)n - at);
			if (insn.kind == CODE_INVALID)
				return false;
			at += insn.length;
		}
		if (!at)
			return false;
		from += at;
	}
	return from == offset;
}

static int find_function(int fd, const struct probe_spec *spec, uint64_t *offset)
{
	struct symbol function = {.name = spec->name};
	int err = symbols_lookup(fd, spec->path, NULL, 0, &function, 1);

	if (!err && !function.address)
		err = symbols_undescribed(fd, &function);
	if (err || !function.address) {
		log_error("no function '%s' in %s%s%s; `nm %s` and `nm -D %s` list the names of functions", spec->name,
			  spec->path, err ? ": " : "", err ? strerror(-err) : "", spec->path, spec->path);
		return -ENOENT;
	}
	if (!is_instruction(fd, &function, spec->offset)) {
		log_error(
			"'%s': no instruction of the function begins at +0x%llx; `objdump -d %s` shows where they begin",
			spec->text, (unsigned long long)spec->offset, spec->path);
		return -EINVAL;
	}
	*offset = function.address + spec->offset;
	return 0;
}

static int find_usdt(int fd, const struct probe_spec *spec, const char *name)
{
	if (probe_file_usdt(fd, spec->group, name))
		return 0;
	log_error("no USDT probe '%s:%s' in %s; `readelf -n %s` lists them", spec->group, name, spec->path, spec->path);
	return -ENOENT;
}

static int find(int fd, const struct probe_spec *spec, uint64_t *offset)
{
	switch (spec->type) {
	case PROBE_USDT:
		return find_usdt(fd, spec, spec->name);
	case PROBE_MALLOC:
		return find_usdt(fd, spec, spec->name) ?: find_usdt(fd, spec, "free");
	default:
		return find_function(fd, spec, offset);
	}
}

/* Probes of one process change that process alone, and its user could have changed the code himself. */
static bool is_their_own(const struct stat *file, const struct record_options *o)
{
	for (int i = 0; i < o->pid_count; i++) {
		struct stat process;
		char path[32];

		snprintf(path, sizeof(path), "/proc/%d", (int)o->pids[i]);
		if (stat(path, &process) || process.st_uid != file->st_uid)
			return false;
	}
	return o->pid_count > 0;
}

int probe_file_open(const struct probe_spec *spec, const struct record_options *o, uint64_t *offset)
{
	struct stat st = {0};
	int fd = regular_open(spec->path, &st), err = fd < 0 ? fd : 0;

	if (err) {
		log_error("cannot set probes in '%s': %s", spec->path,
			  st.st_mode && !S_ISREG(st.st_mode) ? "it is not a regular file" : strerror(-err));
	} else if (!owner_trusted(&st) && !is_their_own(&st, o)) {
		log_error("no probes are set in %s: it is a file of another user, or others can write it; make it "
			  "root's (chown root, chmod go-w), or record processes of its owner alone with -p",
			  spec->path);
		err = -EPERM;
	} else {
		err = find(fd, spec, offset);
	}
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}
