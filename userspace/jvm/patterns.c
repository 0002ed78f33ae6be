// SPDX-License-Identifier: Apache-2.0
#include "patterns.h"

#include "config/method_pattern.h"
#include "jvm_state.h"
#include "jvms.h"

#include <string.h>

static bool is_text(const struct braid_method_pattern *p, const char *text, size_t length)
{
	return strnlen(p->text, sizeof(p->text)) == length && memcmp(p->text, text, length) == 0;
}

/* Nothing is kept of texts that are none of the configuration. */
bool patterns_on_pattern(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_pattern *r = (const void *)rec;
	const char *at = (const char *)(r + 1), *end = (const char *)rec + size, *text;
	const struct braid_event_config *c = &j->jvms->config;

	if (size < sizeof(*r) || !jvm_take_string(&at, end, r->text_len, &text))
		return false;
	for (int i = 0; i < (r->is_field ? BRAID_FIELD_PATTERNS : BRAID_METHOD_PATTERNS); i++) {
		const struct braid_method_pattern *p = r->is_field ? &c->fields[i] : &c->methods[i];
		struct pattern_marks *m = (r->is_field ? j->jvms->field_marks : j->jvms->method_marks) + i;

		if (!*p->text || !is_text(p, text, r->text_len))
			continue;
		if (!is_text(p, m->text, strnlen(m->text, sizeof(m->text))))
			*m = (struct pattern_marks){0};
		memcpy(m->text, p->text, sizeof(m->text));
		m->looked_for = true;
		m->matches |= r->matches != 0;
	}
	return true;
}

static const char *advice(const struct braid_method_pattern *p, bool is_field)
{
	if (method_pattern_never_timed(p->text, strnlen(p->text, sizeof(p->text))))
		return "classes of java.lang, java.util.concurrent.atomic, jdk.internal and sun.misc, and below, are left "
		       "out";
	if (is_field)
		return "the name is CLASS.FIELD, with the class's package, and a class that writes the field has to be loaded";
	if (*p->text == '/' || *p->text == '@')
		return "names of classes and annotations include the package, and a class has to be loaded; native and "
		       "abstract methods are not timed";
	return "the name is CLASS.METHOD, with the class's package, and the class has to be loaded; native and abstract "
	       "methods are not timed";
}

static void warn(struct jvms *jvms, const struct braid_method_pattern *p, const struct pattern_marks *m, bool is_field)
{
	if (!*p->text || !m->looked_for || m->matches || !is_text(p, m->text, strnlen(m->text, sizeof(m->text))))
		return;
	sink_notice(jvms->sink, 0, BRAID_NOTICE_WARNING, "%s=%.*s matched nothing while this was recorded: %s",
		    is_field ? "field" : "method", (int)sizeof(p->text), p->text, advice(p, is_field));
}

void patterns_end(struct jvms *jvms)
{
	for (int i = 0; i < BRAID_METHOD_PATTERNS; i++)
		warn(jvms, &jvms->config.methods[i], &jvms->method_marks[i], false);
	for (int i = 0; i < BRAID_FIELD_PATTERNS; i++)
		warn(jvms, &jvms->config.fields[i], &jvms->field_marks[i], true);
}
