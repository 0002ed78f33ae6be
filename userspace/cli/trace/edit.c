// SPDX-License-Identifier: Apache-2.0
#include "edit.h"

#include <sys/stat.h>

#include <util/log.h>
#include <util/quantity.h>

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "The new trace", 0},
	{0},
};

static error_t output_parse(int key, char *arg, struct argp_state *state)
{
	struct edit_output *o = state->input;

	if (key == 'o') {
		o->path = common_output_name(state, "-o", arg);
		return 0;
	}
	if (key == ARGP_KEY_END && !o->path)
		argp_error(state, "name the new trace with -o");
	return key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}

const struct argp edit_argp = {.options = options, .parser = output_parse};

struct trace_writer *edit_output_open(const char *path, const char *const *inputs, size_t count)
{
	struct trace_writer *w = NULL;
	int err;

	for (size_t i = 0; i < count; i++)
		if (!common_output_keeps(path, inputs[i]))
			return NULL;
	err = trace_writer_open(&w, path);
	if (err)
		log_error("cannot write %s: %s", path, trace_writer_why(err));
	return w;
}

bool edit_output_close(struct trace_writer *w, const char *path, const struct edit_counts *c, int err)
{
	bool on_stdout = trace_writer_on_stdout(w);
	char size[QUANTITY_TEXT], of[32] = "";
	struct stat st;
	int closed = trace_writer_close(w);

	if (err || closed) {
		log_error("%s: %s; it is not complete", path, trace_writer_why(err ? err : closed));
		return false;
	}
	if (!c->unread)
		snprintf(of, sizeof(of), " of %llu", (unsigned long long)c->events);
	if (!on_stdout && stat(path, &st) == 0 && S_ISREG(st.st_mode))
		printf("%s: %llu%s samples and events, %s\n", path, (unsigned long long)c->events_kept, of,
		       size_text(size, (uint64_t)st.st_size));
	return true;
}
