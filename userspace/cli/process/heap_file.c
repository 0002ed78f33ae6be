// SPDX-License-Identifier: Apache-2.0
#include "heap_file.h"

#include "cli/common.h"

#include "report/hprof.h"
#include "util/log.h"
#include "util/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_PATH = 0x200, OPT_CLASS, OPT_LEVELS, OPT_SUSPECTS, OPT_MEMORY };

static const struct argp_option options[] = {
	{0, 0, NULL, 0, "Of a heap dump:", 1},
	{"path", OPT_PATH, "ADDRESS", 0, "Print only what holds the object at ADDRESS: the shortest way from a root",
	 1},
	{"class", OPT_CLASS, "NAME", 0,
	 "Print only what holds the objects of this class: the ways from roots to some of them", 1},
	{"levels", OPT_LEVELS, "N", 0, "Levels of the tree of dominators (default 5)", 1},
	{"suspects", OPT_SUSPECTS, "PERCENT", 0, "The least share of a leak suspect (default 10)", 1},
	{"memory", OPT_MEMORY, "SIZE", 0,
	 "Memory to work in (default 256m); what exceeds it is in temporary files, in $TMPDIR or beside FILE", 1},
	{0},
};

static uint64_t address(struct argp_state *state, const char *arg)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(arg, &end, 16);
	if (errno || end == arg || *end || *arg == '-' || *arg == '+')
		argp_error(state, "--path: '%s' is no address; the reports have them as 0x7f00c0de", arg);
	return value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct heap_file *f = state->input;

	switch (key) {
	case OPT_PATH:
		f->option = "path";
		f->one = true;
		f->address = address(state, arg);
		return 0;
	case OPT_CLASS:
		f->option = "class";
		f->class_name = arg;
		return 0;
	case OPT_LEVELS:
		f->option = "levels";
		f->levels = common_number(state, f->option, "levels", arg);
		return 0;
	case OPT_SUSPECTS:
		f->option = "suspects";
		f->percent = common_number(state, f->option, "percents", arg);
		if (f->percent < 1 || f->percent > 100)
			argp_error(state, "--suspects: not from 1 to 100: '%s'", arg);
		return 0;
	case OPT_MEMORY:
		f->option = "memory";
		if (size_parse(arg, &f->memory))
			argp_error(state, "--memory: '%s' is no size; a size is 512m or 4g", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp heap_file_argp = {.options = options, .parser = parse};

static int print_path(struct hprof_report *r, const struct heap_file *f, bool as_json)
{
	uint32_t number = hprof_find(&r->h->dump, f->address);

	if (number == HPROF_NONE) {
		log_error("%s: it has no object at 0x%" PRIx64, f->path, f->address);
		return -ENOENT;
	}
	return as_json ? hprof_path_json(stdout, r, number) : hprof_path_text(stdout, r, number);
}

static int print_holders(struct hprof_report *r, const struct heap_file *f, bool as_json)
{
	struct hprof_holders found;
	int err = hprof_holders_find(&found, &r->paths, f->class_name);

	if (!err && !found.held.objects) {
		log_error("%s: nothing holds an object of a class %s", f->path, f->class_name);
		err = -ENOENT;
	}
	if (!err)
		err = as_json ? hprof_holders_json(stdout, r, f->class_name, &found)
			      : hprof_holders_text(stdout, r, f->class_name, &found);
	hprof_holders_free(&found);
	return err;
}

static int print_by_root(struct hprof_report *r, bool as_json)
{
	struct hprof_by_root b;
	int err = hprof_by_root_read(&b, r->h);

	if (!err)
		err = as_json ? hprof_by_root_json(stdout, r, &b) : hprof_by_root_text(stdout, r, &b);
	hprof_by_root_free(&b);
	return err;
}

static int print_report(struct hprof_report *r, bool as_json)
{
	int err = hprof_suspects_find(&r->suspects, r->h, r->percent);

	if (!err)
		err = as_json ? hprof_json(stdout, r) : hprof_text(stdout, r);
	hprof_suspects_free(&r->suspects);
	return err;
}

static int print(struct hprof *h, const struct heap_file *f, unsigned rows, bool as_json)
{
	struct hprof_report r = {.path = f->path, .h = h, .rows = rows, .levels = f->levels, .percent = f->percent};
	int err = hprof_paths_init(&r.paths, h);

	if (!err)
		err = f->one	      ? print_path(&r, f, as_json)
		      : f->class_name ? print_holders(&r, f, as_json)
		      : f->by_root    ? print_by_root(&r, as_json)
				      : print_report(&r, as_json);
	hprof_paths_free(&r.paths);
	return err;
}

bool heap_file_print(const struct heap_file *f, unsigned rows, bool as_json)
{
	struct hprof h;
	int err = hprof_open(&h, f->path, f->memory);

	if (err)
		log_error("%s: %s", f->path, h.dump.why);
	else if (h.dump.duplicates)
		log_warning("%s: %" PRIu64 " objects have the address of another one, and are left out", f->path,
			    h.dump.duplicates);
	if (!err) {
		err = print(&h, f, rows, as_json);
		if (err && err != -ENOENT)
			log_error("%s: %s", f->path, h.dump.items.why ? h.dump.items.why : strerror(-err));
	}
	hprof_close(&h);
	return !err && common_output_close(stdout, NULL, 0);
}
