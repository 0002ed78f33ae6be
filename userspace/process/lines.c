// SPDX-License-Identifier: Apache-2.0
/* Source lines of modules, as places in the trace. modules.c calls it; a child process reads the debug information. */
#include "modules.h"

#include "lines_reader.h"
#include "sink/records.h"
#include "util/pair_map.h"

#include <string.h>
#include <xxhash.h>

struct module_lines {
	struct lines_reader *lines; /* of `module` */
	const struct module *module;
	uint64_t address; /* the last one looked up; its result: */
	uint32_t count;
	struct trace_scope scopes[LINES_DEPTH_MAX];
	struct pair_map places; /* (hash of the name, hash of the file) */
	uint32_t last_place;
};

struct module_lines *module_lines_new(void)
{
	return calloc(1, sizeof(struct module_lines));
}

void module_lines_free(struct module_lines *ml)
{
	if (!ml)
		return;
	lines_reader_end(ml->lines);
	pair_map_free(&ml->places);
	free(ml);
}

static uint32_t place_id(struct module_lines *ml, struct sink *sink, const struct line_place *p)
{
	uint64_t name = XXH3_64bits(p->name, strlen(p->name)), file = XXH3_64bits(p->file, strlen(p->file));
	struct pair_entry *e = pair_find(&ml->places, name, file);

	if (e)
		return e->value;
	if (!pair_put(&ml->places, name, file, ++ml->last_place))
		return 0;
	sink_place(sink, &(struct trace_place){.place = ml->last_place,
					       .name = trace_str_of(p->name),
					       .file = trace_str_of(p->file)});
	return ml->last_place;
}

static void open_lines(struct module_lines *ml, const struct module *module)
{
	lines_reader_end(ml->lines);
	ml->module = module;
	ml->count = 0;
	ml->address = UINT64_MAX;
	ml->lines = module->fd < 0 ? NULL : lines_reader_start(module);
}

static void given_up(struct sink *sink, const struct module *module)
{
	sink_loss(sink, 0, "collector", "lines", 1);
	sink_notice(
		sink, 0, BRAID_NOTICE_WARNING,
		"the debug information of %s needs more time or memory than allowed, or is damaged: frames in it have "
		"no source lines",
		module->path);
}

uint32_t module_lines_find(struct module_lines *ml, struct sink *sink, const struct module *module, uint64_t vaddr,
			   const struct trace_scope **scopes)
{
	struct line_place places[LINES_DEPTH_MAX];
	bool ended;
	size_t n;

	if (ml->module != module)
		open_lines(ml, module);
	*scopes = ml->scopes;
	if (!ml->lines || vaddr == ml->address)
		return ml->count;
	n = lines_reader_find(ml->lines, vaddr, places, &ended);
	if (ended)
		given_up(sink, module);
	for (size_t i = 0; i < n; i++)
		ml->scopes[i] = (struct trace_scope){.method = place_id(ml, sink, &places[i]),
						     .bci = places[i].line > 0 ? places[i].line : -1};
	ml->address = vaddr;
	ml->count = (uint32_t)n;
	return ml->count;
}
