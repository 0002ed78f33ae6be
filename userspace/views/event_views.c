// SPDX-License-Identifier: Apache-2.0
#include "event_views.h"

#include <errno.h>
#include <stdlib.h>

int event_views_new(struct event_views **out, const struct analysis *an)
{
	struct event_views *v = calloc(1, sizeof(*v));
	int err = v ? kind_views_new(&v->kinds, an) : -ENOMEM;

	if (!err)
		err = event_views_threads(v, an);
	if (!err)
		err = event_views_jit(v, an);
	if (!err)
		err = event_views_start(v, an);
	if (!err)
		err = event_views_methods(v, an);
	if (!err)
		err = event_views_writes(v, an);
	if (!err)
		err = event_views_jni(v, an);
	if (!err)
		err = event_views_sites(v, an);
	if (!err)
		err = event_views_natives(v, an);
	if (err) {
		event_views_free(v);
		v = NULL;
	}
	*out = v;
	return err;
}

void event_views_free(struct event_views *v)
{
	if (!v)
		return;
	kind_views_free(v->kinds);
	free(v->blockers.at);
	free(v->pools.at);
	strpool_free(&v->texts);
	free(v->lives.at);
	free(v->compiles.at);
	free(v->storms.at);
	free(v->heaps.at);
	free(v->binds.at);
	free(v->starts.at);
	free(v->classes.at);
	free(v->methods.at);
	free(v->distributions.at);
	free(v->calls.at);
	free(v->writes.at);
	free(v->jni.at);
	free(v->held.at);
	free(v->sites.at);
	free(v->died.at);
	free(v->suspects.at);
	free(v->natives.at);
	free(v);
}
