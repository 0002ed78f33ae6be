// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzzes the reader of heap dumps: the input is one, behind a byte that says what becomes of it: it is printed, with
 * the way to objects and who holds those of classes, as text or JSON, or only read.
 */
#include <stdint.h>

#include "report/hprof.h"

#include "input.h"

enum { FUZZ_JSON = 1, FUZZ_PRINTED = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY (64U << 20)
#define PATHS 16 /* objects */

static void print_holders(struct hprof_report *r, int json, FILE *out)
{
	char name[HPROF_NAME];
	struct hprof_holders f;

	for (uint32_t class = 0; class < r->h->dump.classes.count && class < PATHS; class ++) {
		hprof_class_text(&r->h->dump, class, name);
		if (!hprof_holders_find(&f, &r->paths, name))
			(void)(json ? hprof_holders_json : hprof_holders_text)(out, r, name, &f);
		hprof_holders_free(&f);
	}
}

static void print_all(struct hprof *h, int json, FILE *out)
{
	struct hprof_report r = {.path = "fuzz", .h = h, .rows = 10, .levels = 5, .percent = 1};

	if (!hprof_paths_init(&r.paths, h) && !hprof_suspects_find(&r.suspects, h, r.percent)) {
		(void)(json ? hprof_json(out, &r) : hprof_text(out, &r));
		for (uint32_t number = 0; number < h->dump.count && number < PATHS; number++)
			(void)(json ? hprof_path_json(out, &r, number) : hprof_path_text(out, &r, number));
		print_holders(&r, json, out);
	}
	hprof_suspects_free(&r.suspects);
	hprof_paths_free(&r.paths);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory_file file;
	struct hprof h;

	if (size < 2)
		return 0;
	setenv("TMPDIR", "/dev/shm", 0);
	memory_file_set(&file, data + 1, size - 1);
	if (hprof_open(&h, file.path, MEMORY))
		must(h.dump.why[0], "no reason given");
	else if (data[0] & FUZZ_PRINTED)
		print_all(&h, data[0] & FUZZ_JSON, nowhere());
	hprof_close(&h);
	return 0;
}
