// SPDX-License-Identifier: Apache-2.0
/* Where the methods of a flame graph are in their sources: for each name, the place with the largest weight. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <util/compare.h>

#include "page.h"

bool page_can_link(const char *pattern)
{
	const char *scheme[] = {"http://", "https://"};

	for (size_t i = 0; i < 2; i++)
		if (strncmp(pattern, scheme[i], strlen(scheme[i])) == 0)
			return strstr(pattern, "{path}") != NULL;
	return false;
}

struct source_place {
	const char *name, *file;
	uint64_t weight;
	uint32_t line;
	uint8_t domain;
};

typedef VEC(struct source_place) place_list;

static int compare(const void *x, const void *y)
{
	const struct source_place *p = x, *q = y;

	return strcmp(p->name, q->name) ?: compare_u64(q->weight, p->weight)
		?: strcmp(p->file, q->file) ?: compare_u64(p->line, q->line);
}

static int collect(const struct tree *t, place_list *to)
{
	uint64_t *weights = calloc(t->labels.count + 1, sizeof(*weights));
	int err = weights ? 0 : -ENOMEM;

	for (size_t i = 1; i < t->nodes.count && !err; i++)
		weights[t->nodes.at[i].label] = add_saturating(weights[t->nodes.at[i].label], t->nodes.at[i].total);
	for (size_t i = 0; i < t->labels.count && !err; i++) {
		const struct tree_label *l = &t->labels.at[i];

		if (l->line && l->file && *l->file)
			err = VEC_PUSH(to, (struct source_place){l->text, l->file, weights[i], l->line,
								 (uint8_t)kind_domain((enum stack_kind)l->kind)});
	}
	free(weights);
	return err;
}

/* A Java file lies in the directory of its package. */
static int put_path(struct json *j, const struct source_place *p)
{
	const char *method = strrchr(p->name, '.'), *file = p->file;
	size_t size = strlen(p->name) + strlen(file) + 2, length = 0;
	char *path;

	while (*file == '/')
		file++;
	path = malloc(size);
	if (!path)
		return -ENOMEM;
	if (p->domain == DOMAIN_JAVA && method && !strchr(file, '/'))
		for (const char *at = p->name; at < method; at++)
			if (*at == '.')
				length = (size_t)(at - p->name) + 1;
	for (size_t i = 0; i < length; i++)
		path[i] = p->name[i] == '.' ? '/' : p->name[i];
	memcpy(path + length, file, strlen(file) + 1);
	json_string(j, NULL, path);
	free(path);
	return 0;
}

int page_sources(struct json *j, const struct analysis *an, const struct profile *profile)
{
	static const struct tree_options options = {.labels = TREE_FRAMES};
	place_list places = {0};
	struct tree *t;
	int err = tree_new(&t, an, profile, &options) ?: collect(t, &places);

	VEC_SORT(&places, compare);
	json_open(j, "sources", '[');
	for (size_t i = 0; i < places.count && !err; i++) {
		if (i && strcmp(places.at[i].name, places.at[i - 1].name) == 0)
			continue;
		json_string(j, NULL, places.at[i].name);
		err = put_path(j, &places.at[i]);
		json_number(j, NULL, places.at[i].line);
	}
	json_close(j, ']');
	free(places.at);
	tree_free(t);
	return err;
}
