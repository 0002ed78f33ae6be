// SPDX-License-Identifier: Apache-2.0
/* Whether all of a trace is there. edit.h is its interface. */
#include <errno.h>

#include <analyze/hash.h>

#include "edit.h"

struct object {
	bool defined;
	bool used; /* before it was defined */
};

struct verify {
	struct table objects[TRACE_ID_SPACES]; /* of struct object */
	struct verify_result *result;
	int err;
};

static uint32_t take_id(void *ctx, enum trace_id_space space, enum trace_id_role role, uint32_t id)
{
	struct verify *v = ctx;
	struct object *o = v->err ? NULL : table_put(&v->objects[space], id);

	if (!o) {
		v->err = -ENOMEM;
		return id;
	}
	if (role == TRACE_ID_DEFINED)
		o->defined = true;
	else
		o->used = o->used || !o->defined;
	return id;
}

static void count_undefined(struct verify *v)
{
	for (unsigned space = 0; space < TRACE_ID_SPACES; space++)
		for (size_t i = 0; i < v->objects[space].count; i++) {
			const struct object *o = table_row(&v->objects[space], i);

			v->result->undefined[space] += o->used && !o->defined;
			v->result->late[space] += o->used && o->defined;
		}
}

static int read_all(struct verify *v, struct trace_reader *r)
{
	struct trace_rec rec;
	int got;

	while ((got = trace_reader_next(r, &rec)) > 0 && !v->err) {
		v->result->records[rec.kind]++;
		v->result->ended = v->result->ended || rec.kind == TRACE_END;
		trace_ids_visit(&rec, take_id, v);
	}
	return v->err ? v->err : got;
}

int edit_verify(struct trace_reader *r, struct verify_result *result)
{
	struct verify v = {.result = result};
	int err;

	*result = (struct verify_result){0};
	for (unsigned i = 0; i < TRACE_ID_SPACES; i++)
		table_init(&v.objects[i], sizeof(struct object));
	trace_reader_rewind(r);
	err = read_all(&v, r);
	if (!err)
		count_undefined(&v);
	for (unsigned i = 0; i < TRACE_ID_SPACES; i++)
		table_free(&v.objects[i]);
	return err;
}
