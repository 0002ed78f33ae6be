// SPDX-License-Identifier: Apache-2.0
#include "copies.h"

#include "symbol/symbol.h"

#include <stdio.h>
#include <string.h>

#define FILE_NAME "/libbraid-agent.so"
#define DELETED " (deleted)"

/* The length of the library's path, or 0. Another build-id may use another protocol. */
static size_t path_length(const struct module *m, const char *build_id)
{
	size_t length = strlen(m->path), end = strlen(DELETED), name = strlen(FILE_NAME);

	if (strcmp(m->build_id, build_id))
		return 0;
	if (length > end && strcmp(m->path + length - end, DELETED) == 0)
		length -= end;
	return length > name && strncmp(m->path + length - name, FILE_NAME, name) == 0 ? length : 0;
}

/*
 * The loader finds a loaded library by its DT_SONAME, whatever path it was loaded from, and even when its file is gone:
 * that is the first copy. It also finds each copy by the path that it was loaded from, if that path has no links.
 */
bool copies_name(const struct process *p, uint32_t number, char *to, size_t size)
{
	extern const char agent_blob_start[], agent_blob_end[];
	const struct module *nth = NULL, *last = NULL;
	uint32_t count = 0;
	char ours[41];

	if (build_id_of_image(agent_blob_start, (size_t)(agent_blob_end - agent_blob_start), ours, sizeof(ours)))
		return false;
	for (uint32_t i = 0; i < p->mappings.count && count < COPIES_MAX; i++) {
		const struct module *m = p->mappings.at[i].module;

		if (m == last || !path_length(m, ours))
			continue;
		last = m;
		if (++count == number)
			nth = m;
	}
	if (count && !number)
		return snprintf(to, size, "braid-agent") < (int)size;
	return count > 1 && nth && snprintf(to, size, "%.*s", (int)path_length(nth, ours), nth->path) < (int)size;
}
