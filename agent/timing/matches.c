// SPDX-License-Identifier: Apache-2.0
#include "matches.h"

#include "core/publish.h"

/* Hashes of the patterns that are known to match; one of another configuration is no other pattern's. */
static _Atomic uint64_t reported_methods[BRAID_METHOD_PATTERNS], reported_fields[BRAID_FIELD_PATTERNS];

static void report(const struct braid_method_pattern *p, bool is_field, bool matches)
{
	struct braid_rec_pattern r = {.is_field = is_field, .matches = matches};

	record_init(&r.hdr, BRAID_REC_PATTERN, 0);
	r.text_len = (uint16_t)strnlen(p->text, sizeof(p->text));
	publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(p->text, r.text_len)}, 2);
}

static bool is_reported(_Atomic uint64_t *reported, const struct braid_method_pattern *p)
{
	return atomic_load(reported) == patterns_hash(p);
}

static void report_match(_Atomic uint64_t *reported, const struct braid_method_pattern *p, bool is_field)
{
	uint64_t hash = patterns_hash(p);

	if (atomic_exchange(reported, hash) != hash)
		report(p, is_field, true);
}

void matches_begin(const struct braid_event_config *c, bool methods, bool fields)
{
	for (size_t i = 0; methods && i < BRAID_METHOD_PATTERNS && *c->methods[i].text; i++) {
		atomic_store(&reported_methods[i], 0);
		report(&c->methods[i], false, false);
	}
	for (size_t i = 0; fields && i < BRAID_FIELD_PATTERNS && *c->fields[i].text; i++) {
		atomic_store(&reported_fields[i], 0);
		report(&c->fields[i], true, false);
	}
}

void matches_method(const struct braid_event_config *c, const struct subject *s, int first)
{
	for (int i = first; i < BRAID_METHOD_PATTERNS && *c->methods[i].text; i++)
		if (!is_reported(&reported_methods[i], &c->methods[i]) && patterns_matches(&c->methods[i], s))
			report_match(&reported_methods[i], &c->methods[i], false);
}

void matches_field(const struct braid_event_config *c, struct text class, struct text name, int first)
{
	for (int i = first; i < BRAID_FIELD_PATTERNS && *c->fields[i].text; i++)
		if (!is_reported(&reported_fields[i], &c->fields[i]) &&
		    patterns_matches_field(&c->fields[i], class, name))
			report_match(&reported_fields[i], &c->fields[i], true);
}
