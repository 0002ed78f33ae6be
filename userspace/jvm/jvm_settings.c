// SPDX-License-Identifier: Apache-2.0
/* The JVM's flags and system properties on their way into the trace. */
#include "jvm_state.h"

#include "sink/names.h"
#include "sink/records.h"
#include "util/secret.h"
#include "util/utf8.h"

#include <string.h>

#define NAME_MAX_BYTES 256
#define VALUE_MAX_BYTES (3 * BRAID_STR_MAX + 1) /* an invalid byte becomes a character of three */
#define CUT "..."				/* behind a value of which the agent has sent only the beginning */
#define SETTINGS_MAX_BYTES (512U << 10)		/* of a JVM, of which JDKs have 35 KiB; the others are counted */

bool settings_on_setting(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_setting *r = (const void *)rec;
	const char *at = (const char *)(r + 1), *end = (const char *)rec + size, *name, *value;
	char key[NAME_MAX_BYTES], text[VALUE_MAX_BYTES + sizeof(CUT)], masked[sizeof(text)];
	struct trace_setting s = {.process = j->process->id};

	if (size < sizeof(*r) || !jvm_take_string(&at, end, r->name_len, &name) ||
	    !jvm_take_string(&at, end, r->value_len, &value))
		return false;
	if (!j->jvms->options->properties)
		return true;
	if (j->settings == TRACE_SETTINGS_MAX || j->settings_bytes + r->name_len + r->value_len > SETTINGS_MAX_BYTES) {
		sink_loss(j->jvms->sink, j->process->id, "collector", "setting", 1);
		return true;
	}
	j->settings++;
	j->settings_bytes += (uint32_t)r->name_len + r->value_len;
	utf8_printable(key, sizeof(key), name, r->name_len);
	utf8_printable(text, VALUE_MAX_BYTES, value, r->value_len);
	if (r->hdr.flags & BRAID_REC_TRUNCATED)
		strcat(text, CUT);
	secret_mask(masked, sizeof(masked), text);
	s.origin = r->origin;
	s.key = names_id(j->jvms->names, &j->process->account, trace_str_of(key));
	s.value = names_id(j->jvms->names, &j->process->account, trace_str_of(secret_key(key) ? SECRET_MASK : masked));
	if (s.key)
		sink_setting(j->jvms->sink, &s);
	return true;
}
