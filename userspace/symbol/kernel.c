// SPDX-License-Identifier: Apache-2.0
/* Reads /proc/kallsyms (kernel/kallsyms.c: s_show): "address type name" and, for modules, a tab and "[module]". */
#include "set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A hundred times the size in a distribution's kernel. */
#define TEXT_MAX (1UL << 30)
#define PAGE_BYTES 4096ULL

struct line {
	uint64_t address;
	char type;
	char *name;
	const char *module; /* "" for the kernel itself */
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Splits one line, [at, end); it may write to `end`. */
static bool line_parse(char *at, char *end, struct line *line)
{
	char *tab;

	line->address = 0;
	for (int digit; at < end && (digit = hex_digit(*at)) >= 0; at++)
		line->address = line->address << 4 | (unsigned int)digit;
	if (end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return false;
	line->type = at[1];
	line->name = at + 3;
	line->module = "";
	*end = '\0';
	tab = memchr(line->name, '\t', (size_t)(end - line->name));
	if (tab) {
		*tab = '\0';
		line->module = tab + 1;
	}
	return true;
}

static bool is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* The last function of the kernel or of a module ends with its page, because its end is unknown. */
static void group_end(struct symbol_set *set, size_t first)
{
	uint64_t last = 0;

	for (size_t i = first; i < set->list.count; i++)
		if (set->list.at[i].address > last)
			last = set->list.at[i].address;
	for (size_t i = first; i < set->list.count; i++)
		set->list.at[i].limit = last >= UINT64_MAX - PAGE_BYTES ? UINT64_MAX : (last | (PAGE_BYTES - 1)) + 1;
}

/* The lines of one module are consecutive; the kernel's come first. */
static int lines_read(struct symbol_set *set, char *text, size_t size)
{
	char *end = text + size, *newline;
	const char *module = "";
	bool shown = false;
	size_t group = 0;
	int err = 0;

	for (char *at = text; at < end && !err; at = newline + 1) {
		struct line line;

		newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			newline = end; /* text[size] exists */
		if (!line_parse(at, newline, &line))
			continue;
		shown |= line.address != 0;
		if (!is_code(line.type) || !line.address || !line.name[0])
			continue;
		if (strcmp(line.module, module) != 0) {
			group_end(set, group);
			group = set->list.count;
			module = line.module;
		}
		err = set_add(set,
			      &(struct symbol_candidate){.address = line.address,
							 .name = line.name,
							 .binding = line.type == 't' ? SYMBOL_LOCAL : SYMBOL_GLOBAL});
	}
	group_end(set, group);
	return err ? err : shown ? 0 : -EPERM;
}

int symbols_from_kallsyms(struct symbols **out, const char *text, size_t size)
{
	struct symbol_set set = {0};
	char *copy = set_blob(&set, size + 1);
	int err = -ENOMEM;

	if (copy) {
		memcpy(copy, text, size);
		err = lines_read(&set, copy, size);
		if (!err)
			err = set_finish(out, &set);
	}
	set_clear(&set);
	return err;
}

/* The file has no known size. `text` gets room for one byte more than `size`. */
static int read_text(int fd, char **text, size_t *size)
{
	size_t capacity = 0;
	ssize_t n;

	*text = NULL;
	*size = 0;
	do {
		if (capacity - *size < 65536) {
			char *bigger;

			capacity = capacity ? capacity * 2 : 8UL << 20;
			bigger = capacity <= TEXT_MAX ? realloc(*text, capacity) : NULL;
			if (!bigger)
				return -ENOMEM;
			*text = bigger;
		}
		n = read(fd, *text + *size, capacity - *size - 1);
		if (n > 0)
			*size += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : 0;
}

int symbols_open_kernel(struct symbols **out)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t size;
	int err;

	if (fd < 0)
		return -errno;
	err = read_text(fd, &text, &size);
	close(fd);
	if (!err)
		err = symbols_from_kallsyms(out, text, size);
	free(text);
	return err;
}
