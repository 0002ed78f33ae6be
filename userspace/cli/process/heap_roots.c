// SPDX-License-Identifier: Apache-2.0
#include "heap_roots.h"

#include "cli/common.h"
#include "heap_dump.h"

#include "heapdump/by_root.h"
#include "util/json.h"
#include "util/quantity.h"
#include "util/utf8.h"

#include <inttypes.h>
#include <string.h>

#define NAME_TEXT 1024

static const struct {
	const char *text, *key;
} kinds[BY_ROOT_KINDS] = {
	[BY_ROOT_THREAD] = {"threads and their stacks", "thread"},
	[BY_ROOT_OTHER_STACKS] = {"stacks of virtual threads", "other_stacks"},
	[BY_ROOT_JNI_GLOBAL] = {"JNI globals", "jni_global"},
	[BY_ROOT_MONITOR] = {"monitors in use", "monitor"},
	[BY_ROOT_VM] = {"the VM", "vm"},
	[BY_ROOT_STATIC] = {"classes and their static fields", "static"},
};

static const char *class_text(char to[NAME_TEXT], const char *name)
{
	class_name_from_signature(to, NAME_TEXT, name, strlen(name));
	return to;
}

static const char *name_text(char to[NAME_TEXT], const struct by_root_row *row)
{
	if (row->kind == BY_ROOT_STATIC)
		return class_text(to, row->name);
	utf8_printable(to, NAME_TEXT, row->name, strlen(row->name));
	return to;
}

static struct by_root_row total_of(const struct by_root *r)
{
	struct by_root_row total = {0};

	for (int k = 0; k < BY_ROOT_KINDS; k++) {
		total.objects += r->kind_objects[k];
		total.bytes += r->kind_bytes[k];
	}
	return total;
}

/* ---- text ---- */

static void print_numbers(uint64_t bytes, uint64_t objects)
{
	char size[QUANTITY_TEXT];

	printf("    %11s  %11" PRIu64 "  ", size_text(size, bytes), objects);
}

static void print_row(const struct by_root_row *row)
{
	char name[NAME_TEXT], size[QUANTITY_TEXT];

	print_numbers(row->bytes, row->objects);
	if (row->kind == BY_ROOT_THREAD)
		printf("thread \"%s\"", name_text(name, row));
	else if (row->kind == BY_ROOT_STATIC)
		printf("class %s", name_text(name, row));
	else
		printf("%s", kinds[row->kind].text);
	printf("; %" PRIu64 " %s: %s\n", row->most_objects, class_text(name, row->most),
	       size_text(size, row->most_bytes));
}

static void print_text(const struct snapshot *s, const struct by_root *r, uint64_t pause_ns, unsigned rows)
{
	struct by_root_row total = total_of(r);
	char size[QUANTITY_TEXT], time[QUANTITY_TEXT];

	printf("process %d: %" PRIu64 " reachable object%s, %s; it stood still for %s\n", (int)s->pid, total.objects,
	       plural(total.objects), size_text(size, total.bytes), duration_text(time, pause_ns));
	printf("    %11s  %11s  first reached from\n", "bytes", "objects");
	for (int k = 0; k < BY_ROOT_KINDS; k++) {
		if (!r->kind_objects[k])
			continue;
		print_numbers(r->kind_bytes[k], r->kind_objects[k]);
		puts(kinds[k].text);
	}
	printf("\n    %11s  %11s  one by one; and the class with most bytes there\n", "bytes", "objects");
	for (size_t i = 0; i < r->rows.count && i < rows; i++)
		print_row(&r->rows.at[i]);
	if (r->rows.count + r->rest_rows > rows)
		printf("    and %" PRIu64 " more\n", r->rows.count + r->rest_rows - rows);
}

/* ---- JSON ---- */

static void json_row(struct json *j, const struct by_root_row *row)
{
	char name[NAME_TEXT];

	json_open(j, NULL, '{');
	json_string(j, "kind", kinds[row->kind].key);
	if (row->name)
		json_string(j, "name", name_text(name, row));
	else
		json_null(j, "name");
	json_number(j, "bytes", row->bytes);
	json_number(j, "objects", row->objects);
	json_open(j, "most", '{');
	json_string(j, "class", class_text(name, row->most));
	json_number(j, "bytes", row->most_bytes);
	json_number(j, "objects", row->most_objects);
	json_close(j, '}');
	json_close(j, '}');
}

static void print_json(const struct snapshot *s, const struct by_root *r, uint64_t pause_ns, unsigned rows)
{
	struct by_root_row total = total_of(r);
	struct json j = {.out = stdout};

	json_open(&j, NULL, '{');
	json_number(&j, "pid", (uint64_t)s->pid);
	json_seconds(&j, "pause_s", pause_ns);
	json_number(&j, "bytes", total.bytes);
	json_number(&j, "objects", total.objects);
	json_open(&j, "kinds", '[');
	for (int k = 0; k < BY_ROOT_KINDS; k++) {
		json_open(&j, NULL, '{');
		json_string(&j, "kind", kinds[k].key);
		json_number(&j, "bytes", r->kind_bytes[k]);
		json_number(&j, "objects", r->kind_objects[k]);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_open(&j, "roots", '[');
	for (size_t i = 0; i < r->rows.count && i < rows; i++)
		json_row(&j, &r->rows.at[i]);
	json_close(&j, ']');
	json_number(&j, "roots_in_all", r->rows.count + r->rest_rows);
	json_close(&j, '}');
	putchar('\n');
}

bool heap_roots(struct snapshot *s, unsigned rows)
{
	struct by_root r = {0};
	uint64_t pause_ns;
	bool ok = heap_dump_by_root(s, &r, &pause_ns);

	if (ok && s->as_json)
		print_json(s, &r, pause_ns, rows);
	else if (ok)
		print_text(s, &r, pause_ns, rows);
	by_root_free(&r);
	return ok && common_output_close(stdout, NULL, 0);
}
